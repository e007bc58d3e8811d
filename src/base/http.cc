#include "base/http.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/http_library.h"
#include "base/http_tls.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr long most_idle_connections = 64;

constexpr Duration last_moment = 500ms;

using SteadyTime = std::chrono::steady_clock::time_point;

long milliseconds(Duration duration) {
  return static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

/// The name of a request in messages, without a password.
std::string name_of(const HttpRequest& request) {
  const std::string_view url = request.url;
  return cat("`", request.method, " ", request.unix_socket, request.unix_socket.empty() ? "" : " ",
             shown_url(url), url.substr(std::min(url.find('?'), url.size())), "`");
}

/// One exchange, from the request to its answer.
struct Job {
  Job(const HttpLibrary& library, HttpRequest request_, std::stop_token stop_,
      HttpClient::Done done_)
      : curl(library),
        request(std::move(request_)),
        stop(std::move(stop_)),
        done(std::move(done_)) {}
  ~Job() {
    curl.easy_cleanup(easy);
    curl.slist_free_all(header_list);
    curl.slist_free_all(connect_to);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void prepare();
  void prepare_connection();
  void prepare_message();
  template <typename Value>
  void set(CURLoption option, Value value) const {
    curl.easy_setopt(easy, option, value);
  }
  void add_header(const std::string& line) {
    header_list = curl.slist_append(header_list, line.c_str());
  }
  void note_sign_of_life() const {
    if (heard != nullptr)
      *heard = std::chrono::steady_clock::now();
  }
  /// A byte of the answer has come.
  void note_answer() {
    note_sign_of_life();
    if (request.idle_limit > 0s)
      received = std::chrono::steady_clock::now();
  }
  /// When it is given up unless something comes; never without a limit. libcurl keeps the limit of
  /// the whole, but not while a request waits for a connection that it could share.
  SteadyTime given_up_at() const {
    SteadyTime at = SteadyTime::max();
    if (request.idle_limit > 0s)
      at = received + request.idle_limit;
    if (request.time_limit > 0s)
      at = std::min<SteadyTime>(at, begun + request.time_limit + last_moment);
    return at;
  }
  bool is_too_late() const {
    return request.send_before && std::chrono::steady_clock::now() >= *request.send_before;
  }
  void note_progress(curl_off_t bytes);
  size_t take_header(std::string_view line);
  size_t take_body(std::string_view bytes);
  size_t give_body(std::span<char> into);
  /// The outcome, given what libcurl says.
  Result<HttpResponse> finish(CURLcode code);

  const HttpLibrary& curl;
  HttpRequest request;
  std::stop_token stop;
  HttpClient::Done done;
  HttpResponse response;
  CURL* easy = nullptr;
  curl_slist* header_list = nullptr;
  curl_slist* connect_to = nullptr;
  std::array<char, CURL_ERROR_SIZE> message{};
  std::shared_ptr<std::atomic<SteadyTime>> heard;  ///< when a byte came or went; may be none
  curl_off_t moved = 0;                            ///< bytes of bodies, both ways
  size_t sent = 0;                                 ///< bytes of a body that is sent once
  bool has_head = false;                           ///< the empty line after the headers has come
  SteadyTime begun;                                ///< when libcurl got it
  SteadyTime received;                             ///< when the last byte of the answer came
  std::optional<Error> failure;                    ///< of a source or a sink
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

size_t on_header(char* bytes, size_t size, size_t count, void* job) {
  return static_cast<Job*>(job)->take_header({bytes, size * count});
}
size_t on_body(char* bytes, size_t size, size_t count, void* job) {
  return static_cast<Job*>(job)->take_body({bytes, size * count});
}
size_t on_read(char* bytes, size_t size, size_t count, void* job) {
  return static_cast<Job*>(job)->give_body({bytes, size * count});
}

int on_socket(void* job, curl_socket_t socket, curlsocktype) {
  const auto limit =
      static_cast<unsigned>(milliseconds(static_cast<const Job*>(job)->request.dead_peer_limit));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);  // others have none
  return CURL_SOCKOPT_OK;
}

int on_progress(void* job, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent) {
  static_cast<Job*>(job)->note_progress(received + sent);
  return 0;
}

void Job::note_progress(curl_off_t bytes) {
  if (bytes != moved)
    note_sign_of_life();
  moved = bytes;
}

size_t Job::take_header(std::string_view line) {
  note_answer();
  const std::string_view text = trim(line);
  const size_t colon = text.find(':');
  if (text.starts_with("HTTP/")) {
    has_head = false;
    response.headers.clear();
    response.status =
        std::atoi(std::string(text.substr(std::min(text.find(' '), text.size()))).c_str());
  } else if (colon != text.npos) {
    (has_head ? response.trailers : response.headers)
        .push_back({std::string(text.substr(0, colon)), std::string(trim(text.substr(colon + 1)))});
  } else if (text.empty()) {
    has_head = true;
  }
  return line.size();
}

size_t Job::take_body(std::string_view bytes) {
  note_answer();
  const bool to_sink = request.sink && response.status >= 200 && response.status < 300;
  const Status taken =
      to_sink ? request.sink(bytes) : sink_to(response.body, request.body_limit)(bytes);
  if (taken)
    return bytes.size();
  failure = taken.error();
  return 0;  // anything but the size ends the transfer
}

size_t Job::give_body(std::span<char> into) {
  if (!request.source) {
    const size_t count = request.body.copy(into.data(), into.size(), sent);
    sent += count;
    return count;
  }
  const Result<size_t> given = request.source(into);
  if (given)
    return *given;
  failure = given.error();
  return CURL_READFUNC_ABORT;
}

void Job::prepare() {
  easy = curl.easy_init();
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // who is cancelled does not wait for an answer about a name
  set(CURLOPT_ERRORBUFFER, message.data());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_PATH_AS_IS, 1L);
  prepare_connection();
  set_tls(curl, easy, request.tls);
  if (request.time_limit > 0s)
    set(CURLOPT_TIMEOUT_MS, milliseconds(request.time_limit));
  if (heard != nullptr) {
    set(CURLOPT_XFERINFOFUNCTION, &on_progress);
    set(CURLOPT_XFERINFODATA, static_cast<void*>(this));
    set(CURLOPT_NOPROGRESS, 0L);
  }
  if (request.follow_redirects) {
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 10L);
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  }
  prepare_message();
  begun = received = std::chrono::steady_clock::now();
}

void Job::prepare_connection() {
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, keep_alive_idle);
  set(CURLOPT_TCP_KEEPINTVL, keep_alive_interval);
  set(CURLOPT_CONNECTTIMEOUT_MS,
      request.connect_limit > 0s ? milliseconds(request.connect_limit) : no_limit_ms);
  if (request.dead_peer_limit > 0s) {
    set(CURLOPT_SOCKOPTFUNCTION, &on_socket);
    set(CURLOPT_SOCKOPTDATA, static_cast<void*>(this));
  }
  if (request.tls.server_name.empty()) {
    set(CURLOPT_URL, request.url.c_str());
  } else {
    const OtherName other = under_name(request.url, request.tls.server_name);
    connect_to = curl.slist_append(nullptr, other.connect_to.c_str());
    set(CURLOPT_URL, other.url.c_str());
    set(CURLOPT_CONNECT_TO, connect_to);
    add_header("Host: " + other.host);
  }
  const bool is_secured = lower_case(request.url.substr(0, 6)) == "https:";
  if (!request.unix_socket.empty()) {
    set(CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
    set(CURLOPT_PROXY, "");
  }
  if (request.is_http2 && is_secured) {
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(CURLOPT_PIPEWAIT, 1L);
  } else if (request.is_http2) {
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
    set(CURLOPT_FRESH_CONNECT, 1L);
    set(CURLOPT_FORBID_REUSE, 1L);
  } else if (!request.unix_socket.empty()) {
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  }
}

void Job::prepare_message() {
  if (request.source) {
    set(CURLOPT_FRESH_CONNECT, 1L);  // what was pulled cannot be sent again on another connection
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_READFUNCTION, &on_read);
    set(CURLOPT_READDATA, static_cast<void*>(this));
  } else if (request.is_sent_once && !request.body.empty()) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_READFUNCTION, &on_read);  // without a function to seek, it cannot begin again
    set(CURLOPT_READDATA, static_cast<void*>(this));
  } else if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
    set(CURLOPT_POSTFIELDS, request.body.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method == "HEAD")
    set(CURLOPT_NOBODY, 1L);
  set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  add_header("Expect:");  // no round trip before a body
  bool typed = false;
  for (const HttpHeader& header : request.headers) {
    typed = typed || lower_case(header.name) == "content-type";
    add_header(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  if (!typed)
    add_header("Content-Type:");  // libcurl would claim a form
  set(CURLOPT_HTTPHEADER, header_list);
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
}

Result<HttpResponse> Job::finish(CURLcode code) {
  if (failure)
    return std::move(*failure);
  if (code == CURLE_OK)
    return std::move(response);
  std::string why(code == CURLE_SEND_FAIL_REWIND ? "the connection broke before an answer came"
                                                 : trim(message.data()));
  if (why.empty())
    why = curl.easy_strerror(code);
  if (why.size() < 2 || why[1] < 'A' || why[1] > 'Z')  // but not `HTTP/2 …`
    why = lower_case(why.substr(0, 1)) + why.substr(1);
  const bool refused = code == CURLE_COULDNT_CONNECT;
  if (refused && !request.unix_socket.empty())
    return world_error(cat("nothing answers at the socket `", request.unix_socket, "`"));
  Error error = world_error(cat(name_of(request), ": ", why));
  error.unknown_outcome = !refused && code != CURLE_COULDNT_RESOLVE_HOST;
  return error;
}

}  // namespace

std::string_view HttpResponse::header(std::string_view name) const {
  const std::string wanted = lower_case(name);
  for (const HttpHeader& header : headers)
    if (lower_case(header.name) == wanted)
      return header.value;
  return {};
}

/// The thread that owns libcurl's multi handle. Others leave jobs and cancellations in two lists
/// and wake it.
class HttpClient::Worker {
 public:
  Worker() : library_(http_library()) {
    if (!library_)
      return;
    multi_ = curl().multi_init();
    curl().multi_setopt(multi_, CURLMOPT_MAXCONNECTS, most_idle_connections);
    thread_ = std::thread([this] { run(); });
  }

  ~Worker() {
    if (!library_)
      return;
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    curl().multi_wakeup(multi_);
    thread_.join();
    curl().multi_cleanup(multi_);
  }

  void add(HttpRequest request, const std::stop_token& stop, Done done,
           std::shared_ptr<std::atomic<SteadyTime>> heard) {
    if (!library_)
      return done(library_.error());
    if (stop.stop_requested())
      return done(cancelled_error());
    auto job = std::make_unique<Job>(curl(), std::move(request), stop, std::move(done));
    job->heard = std::move(heard);
    Job* const id = job.get();
    if (stop.stop_possible())
      job->on_stop.emplace(stop, [this, id] { leave(cancelled_, id); });
    leave(added_, std::move(job));
  }

 private:
  const HttpLibrary& curl() const { return **library_; }

  template <typename List, typename Item>
  void leave(List& list, Item item) {
    {
      const std::lock_guard lock(mutex_);
      list.push_back(std::move(item));
    }
    curl().multi_wakeup(multi_);
  }

  void run() {
    while (take_messages()) {
      int running = 0;
      curl().multi_perform(multi_, &running);
      finish_done();
      curl().multi_poll(multi_, nullptr, 0, end_idle(), nullptr);
    }
    while (!jobs_.empty())
      finish(jobs_.begin()->first, cancelled_error());
  }

  /// False when the client is being closed.
  bool take_messages() {
    std::vector<std::unique_ptr<Job>> added;
    std::vector<Job*> dropped;
    bool closing = false;
    {
      const std::lock_guard lock(mutex_);
      added.swap(added_);
      dropped.swap(cancelled_);
      closing = closing_;
    }
    for (auto& job : added) {
      job->prepare();
      curl().multi_add_handle(multi_, job->easy);
      Job* const id = job.get();
      idle_look_ = std::min(idle_look_, id->given_up_at());
      jobs_.emplace(id, std::move(job));
      if (id->stop.stop_requested())  // the cancellation may have been read before the job was
        finish(id, cancelled_error());
      else if (id->is_too_late())
        finish(id, world_error(cat(name_of(id->request), ": not sent, for it was too late")));
    }
    for (Job* const id : dropped)
      finish(id, cancelled_error());
    return !closing;
  }

  void finish_done() {
    int left = 0;
    while (const CURLMsg* const message = curl().multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE)
        continue;
      const CURLcode code = message->data.result;
      char* id = nullptr;
      curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &id);
      Job* const job = reinterpret_cast<Job*>(id);
      finish(job, job->finish(code));
    }
  }

  /// Ends jobs about which nothing was heard for too long. For how many milliseconds there may be
  /// nothing to do; bytes that arrive only make it later.
  int end_idle() {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (now >= idle_look_) {
      std::vector<Job*> idle;
      idle_look_ = SteadyTime::max();
      for (const auto& [id, job] : jobs_) {
        if (const SteadyTime end = job->given_up_at(); end > now)
          idle_look_ = std::min(idle_look_, end);
        else
          idle.push_back(id);
      }
      for (Job* const id : idle)
        give_up(id);
    }
    const Duration longest = 1s;
    return static_cast<int>(milliseconds(std::min<Duration>(longest, idle_look_ - now)));
  }

  void give_up(Job* id) {
    const HttpRequest& request = id->request;
    const bool is_late =
        request.time_limit > 0s &&
        std::chrono::steady_clock::now() >= id->begun + request.time_limit + last_moment;
    Error error = world_error(cat(
        name_of(request), is_late
                              ? cat(": timed out after ", to_string(request.time_limit))
                              : cat(": nothing was received for ", to_string(request.idle_limit))));
    error.unknown_outcome = true;
    id->set(CURLOPT_FORBID_REUSE, 1L);
    finish(id, std::move(error));
  }

  /// A job that is known no more was finished before its cancellation was read.
  void finish(Job* id, Result<HttpResponse> outcome) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end())
      return;
    const std::unique_ptr<Job> job = std::move(found->second);
    jobs_.erase(found);
    curl().multi_remove_handle(multi_, job->easy);
    job->on_stop.reset();
    forget_cancellation(id);
    job->done(std::move(outcome));
  }

  /// The address of a job may be used again, so that nothing about it may be left behind.
  void forget_cancellation(Job* id) {
    const std::lock_guard lock(mutex_);
    std::erase(cancelled_, id);
  }

  Result<const HttpLibrary*> library_;
  CURLM* multi_ = nullptr;
  std::map<Job*, std::unique_ptr<Job>> jobs_;
  SteadyTime idle_look_ = SteadyTime::max();  ///< no job is idle before
  std::mutex mutex_;
  std::vector<std::unique_ptr<Job>> added_;
  std::vector<Job*> cancelled_;
  bool closing_ = false;
  std::thread thread_;
};

HttpClient::HttpClient() : begun_(std::make_unique<std::once_flag>()) {}
HttpClient::~HttpClient() = default;

HttpClient::Worker& HttpClient::worker() {
  std::call_once(*begun_, [this] { worker_ = std::make_unique<Worker>(); });
  return *worker_;
}

void HttpClient::start(HttpRequest request, std::stop_token stop, Done done) {
  worker().add(std::move(request), stop, std::move(done), nullptr);
}

namespace {

/// An answer that one thread leaves and another one waits for.
class Mailbox {
 public:
  void put(Result<HttpResponse> answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
    arrived_.notify_one();
  }
  Result<HttpResponse> take() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return answer_.has_value(); });
    return std::move(*answer_);
  }
  /// Whether it is there by then.
  bool is_there_by(SteadyTime time) {
    std::unique_lock lock(mutex_);
    return arrived_.wait_until(lock, time, [&] { return answer_.has_value(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<Result<HttpResponse>> answer_;
};

}  // namespace

Result<HttpResponse> HttpClient::send(HttpRequest request, std::stop_token stop) {
  Mailbox mailbox;
  const auto leave = [&](Result<HttpResponse> answer) { mailbox.put(std::move(answer)); };
  const Duration silence = request.silence_limit;
  const auto still_at_it = request.still_at_it;
  const std::string name = name_of(request);
  if (silence <= 0s) {
    worker().add(std::move(request), stop, leave, nullptr);
    return mailbox.take();
  }
  const auto heard = std::make_shared<std::atomic<SteadyTime>>(std::chrono::steady_clock::now());
  std::stop_source end;
  const std::stop_callback passed_on(stop, [&] { end.request_stop(); });
  worker().add(std::move(request), end.get_token(), leave, heard);
  while (!mailbox.is_there_by(heard->load() + silence)) {
    if (std::chrono::steady_clock::now() < heard->load() + silence)
      continue;
    Status asked =
        still_at_it
            ? still_at_it(stop)
            : Status(world_error(cat(name, ": nothing was received for ", to_string(silence))));
    // If the work ended while somebody asked about it, the answer is about to arrive.
    const Duration moment = still_at_it ? last_moment : 0s;
    if (!asked && !mailbox.is_there_by(std::chrono::steady_clock::now() + moment)) {
      end.request_stop();
      const Result<HttpResponse> answer = mailbox.take();
      Error error = stop.stop_requested() ? cancelled_error() : std::move(asked).error();
      error.unknown_outcome = true;
      return answer ? answer : error;
    }
    *heard = std::chrono::steady_clock::now();
  }
  return mailbox.take();
}

std::string shown_url(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const size_t scheme = url.find("://");
  if (scheme == url.npos)
    return std::string(url);
  const size_t host = scheme + 3;
  const size_t sign_in = url.substr(host, url.find('/', host) - host).rfind('@');
  return cat(url.substr(0, host), url.substr(sign_in == url.npos ? host : host + sign_in + 1));
}

std::string percent_encode(std::string_view text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      encoded.push_back(c);
    else
      encoded.append({'%', hex[byte >> 4], hex[byte & 15]});
  }
  return encoded;
}

void add_parameter(std::string& url, std::string_view name, std::string_view value) {
  url += cat(url.find('?') == std::string::npos ? "?" : "&", name, "=", percent_encode(value));
}

}  // namespace fettle
