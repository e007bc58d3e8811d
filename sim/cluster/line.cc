#include "sim/cluster/line.h"

#include "base/condition.h"
#include "base/text.h"
#include "base/wait.h"
#include "value/json.h"

namespace fettle::sim {
namespace {

using kubernetes::ApiAnswer;
using kubernetes::ApiRequest;
using kubernetes::refusal;

/// A dead peer is found out by its system.
constexpr Duration dead_peer_limit = 4s;
constexpr Duration look_pause = 10s;  ///< bookmarks come, and limits end, without any change
constexpr Duration least_way = 200us;

ApiRequest asked(const HttpRequest& request, const std::string& who) {
  ApiRequest asked{.method = request.method, .target = request.url, .body = request.body};
  asked.user_agent = who;
  for (const HttpHeader& header : request.headers) {
    if (header.name == "Content-Type")
      asked.content_type = header.value;
    if (header.name == "Accept")
      asked.accept = header.value;
  }
  return asked;
}

HttpResponse response_of(const ApiAnswer& answer) {
  HttpResponse response{.status = answer.status,
                        .body = write_json(answer.body, {.show_secrets = true})};
  for (const auto& [name, value] : answer.headers)
    response.headers.push_back({name, value});
  return response;
}

Error broken_connection() {
  Error error = world_error("the connection broke");
  error.unknown_outcome = true;
  return error;
}

}  // namespace

/// A request under way. Sent ones are in nobody's hands: they arrive also when their process is
/// dead or paused.
struct Line::Exchange {
  ApiRequest request;
  std::mutex mutex{};
  Condition come{};
  std::optional<Result<HttpResponse>> answer{};
  bool is_dropped = false;
};

/// What becomes of it.
struct Line::Fate {
  bool is_done = true;
  bool is_lost = false;               ///< the answer
  std::optional<ApiAnswer> answer{};  ///< instead of the server's
};

Line::Line(World& world, std::string who)
    : world_(world), who_(std::move(who)), number_(++world.last_line) {
  world_.lines.emplace(number_, this);
  look_at_all();
}

Line::~Line() {
  self_.reset();
  world_.lines.erase(number_);
}

void Line::after(Duration pause, std::function<void()> act) {
  world_.turns.after(pause, [self = std::weak_ptr(self_), act = std::move(act)] {
    if (!self.expired())
      act();
  });
}

Duration Line::way() {
  const Wildness& wild = world_.wildness;
  const Duration most = world_.prng.chance(wild.far) ? wild.longest_way : Duration(3ms);
  return least_way +
         Duration(static_cast<int64_t>(world_.prng.below(static_cast<uint64_t>(most.count()))));
}

Line::Fate Line::draw(const HttpRequest& request) {
  Prng& prng = world_.prng;
  const Wildness& wild = world_.wildness;
  const bool is_write = request.method != "GET";
  Fate fate;
  if (is_parted_ || world_.is_away || prng.chance(wild.lost)) {
    fate.is_done = false;
    fate.is_lost = true;
  } else if (prng.chance(wild.unanswered)) {
    fate.is_lost = true;
  } else if (prng.chance(wild.doubtful)) {
    fate.answer = prng.chance(50) ? refusal(504, "Timeout", "it took too long")
                                  : refusal(500, "InternalError", "etcd is somewhere");
  } else if (prng.chance(wild.refused)) {
    fate.is_done = false;
    const uint64_t which = prng.below(is_write ? 4 : 3);
    fate.answer = which == 0   ? refusal(429, "TooManyRequests", "too many requests")
                  : which == 1 ? refusal(500, "InternalError", "etcd is away")
                  : which == 2 ? refusal(503, "ServiceUnavailable", "the server starts")
                               : refusal(409, "Conflict", "the object has been modified");
    if (which == 0)
      fate.answer->headers.emplace_back("Retry-After", "1");
  }
  const bool is_bad = !fate.is_done || fate.is_lost || fate.answer;
  world_.faults += is_bad ? 1 : 0;
  if (is_bad && is_write && !is_parted_ && !world_.is_away)
    world_.note(cat(who_, " FAULT ", request.method, " ", request.url, fate.is_done ? ", done" : "",
                    fate.is_lost ? ", no answer" : "",
                    fate.answer ? cat(", ", fate.answer->status) : std::string()));
  return fate;
}

Result<HttpResponse> Line::send(HttpRequest request, std::stop_token stop) {
  std::ignore = pause_for(Duration(0), {});  // it may be paused before it begins
  const Instant now = instant_from_clock();
  if (request.send_before && now >= *request.send_before)
    return world_error("it was not begun in time");
  if (is_cut_)
    return world_error("nobody answers");
  const Fate fate = draw(request);
  const auto exchange = std::make_shared<Exchange>();
  exchange->request = asked(request, who_);
  const Number number = ++last_;
  exchanges_.emplace(number, exchange);
  const bool never_arrives = !fate.is_done && fate.is_lost;
  if (!never_arrives)
    // The line may be gone by then, the request is not.
    world_.turns.after(
        way(), [this, self = std::weak_ptr(self_), exchange, fate, &world = world_, who = who_] {
          if (!self.expired())
            arrive(exchange, fate);
          else if (!exchange->is_dropped && fate.is_done)
            world.handle(exchange->request, who);
        });
  else if (!is_parted_)
    after(way(), [this, exchange] { arrive(exchange, {.is_done = false, .is_lost = true}); });
  Duration limit = request.time_limit > 0s ? request.time_limit : Duration(1h);
  if (is_parted_)
    limit = std::min(limit, dead_peer_limit);
  std::unique_lock lock(exchange->mutex);
  const bool is_there = exchange->come.wait_until(lock, stop, now + limit,
                                                  [&] { return exchange->answer.has_value(); });
  exchanges_.erase(number);
  if (is_there)
    return *std::move(exchange->answer);
  if (stop.stop_requested()) {
    exchange->is_dropped = true;  // the server hears of it
    return cancelled_error();
  }
  Error error = world_error("no answer in time");
  error.unknown_outcome = true;
  return error;
}

void Line::arrive(const std::shared_ptr<Exchange>& exchange, const Fate& fate) {
  if (exchange->is_dropped)
    return;
  std::optional<ApiAnswer> answer = fate.answer;
  if (fate.is_done) {
    ApiAnswer done = world_.handle(exchange->request, who_);
    if (!answer)
      answer = std::move(done);
    if (exchange->request.method != "GET")
      count_write();
  }
  if (is_cut_)
    return;
  Result<HttpResponse> told =
      fate.is_lost ? Result<HttpResponse>(broken_connection()) : response_of(*answer);
  after(way(), [exchange, told = std::move(told)] {
    const std::lock_guard lock(exchange->mutex);
    if (!exchange->answer)
      exchange->answer = told;
    exchange->come.notify_all();
  });
}

void Line::count_write() {
  if (!writes_left_ || *writes_left_ == 0 || --*writes_left_ > 0)
    return;
  writes_left_.reset();
  if (world_.prng.chance(50))
    cut();
  else
    after(10ms, [this] { cut(); });
}

void Line::cut() {
  if (is_cut_)
    return;
  is_cut_ = true;
  world_.note(cat(who_, " is cut off"));
  for (const auto& [number, exchange] : exchanges_) {
    exchange->is_dropped = world_.prng.chance(50);
    const std::lock_guard lock(exchange->mutex);
    if (!exchange->answer)
      exchange->answer = Result<HttpResponse>(broken_connection());
    exchange->come.notify_all();
  }
  while (!streams_.empty())
    end_stream(streams_.begin()->first, broken_connection());
}

void Line::hold(bool is_held) {
  is_held_ = is_held;
  if (!is_held)
    note_change();
}

void Line::break_streams() {
  std::vector<Number> numbers;
  for (const auto& [number, stream] : streams_)
    numbers.push_back(number);
  for (const Number number : numbers) {
    const auto found = streams_.find(number);
    if (found == streams_.end())
      continue;
    if (world_.prng.chance(50) && found->second.request.sink)
      std::ignore = found->second.request.sink(R"({"type":"MODIFIED","object":{"met)");
    end_stream(number, broken_connection());
  }
}

void Line::start(HttpRequest request, std::stop_token stop, HttpClient::Done done) {
  const Number number = ++last_;
  if (is_cut_)
    return done(world_error("nobody answers"));
  // Nobody waits here, so it is opened as soon as it has arrived.
  after(way(), [this, number, request = std::move(request), stop = std::move(stop),
                done = std::move(done)]() mutable {
    open_stream(number, std::move(request), std::move(stop), std::move(done));
  });
}

void Line::open_stream(Number number, HttpRequest request, std::stop_token stop,
                       HttpClient::Done done) {
  const Fate fate = draw(request);
  if (is_cut_ || fate.is_lost)
    return done(broken_connection());
  if (fate.answer)
    return done(response_of(*fate.answer));
  const ApiAnswer answer = world_.handle(asked(request, who_), who_);
  if (!answer.watch)
    return done(response_of(answer));
  Stream& stream = streams_[number];
  stream.request = std::move(request);
  stream.watch = *answer.watch;
  stream.done = std::move(done);
  stream.heard = instant_from_clock();
  stream.on_stop = std::make_unique<std::stop_callback<std::function<void()>>>(
      stop,
      [this, number] { after(0s, [this, number] { end_stream(number, cancelled_error()); }); });
  if (streams_.contains(number))
    look_later(number, way());
}

void Line::note_change() {
  const auto most = static_cast<uint64_t>(world_.wildness.longest_watch_way.count());
  for (auto& [number, stream] : streams_)
    if (!stream.is_expected)
      look_later(number, least_way + Duration(static_cast<int64_t>(world_.prng.below(most))));
}

void Line::look_later(Number number, Duration pause) {
  streams_.at(number).is_expected = true;
  after(pause, [this, number] { look(number); });
}

void Line::look(Number number) {
  const auto found = streams_.find(number);
  if (found == streams_.end())
    return;
  Stream& stream = found->second;
  stream.is_expected = false;
  const Instant now = instant_from_clock();
  const Duration idle_limit = stream.request.idle_limit;
  if (idle_limit > 0s && now - stream.heard >= idle_limit)
    return end_stream(number, world_error("nothing was heard for long"));
  if (is_parted_ || is_held_)
    return;
  std::string lines;
  const bool goes_on = world_.server.take_lines(stream.watch, lines, world_.turns.now().wall);
  if (!lines.empty()) {
    stream.heard = now;
    if (const Status taken = stream.request.sink(lines); !taken)
      return end_stream(number, taken.error());
  }
  if (!goes_on)
    end_stream(number, HttpResponse{.status = 200});
}

void Line::look_at_all() {
  std::vector<Number> numbers;
  for (const auto& [number, stream] : streams_)
    if (!stream.is_expected)
      numbers.push_back(number);
  for (const Number number : numbers)
    look(number);
  if (!is_cut_)
    after(look_pause, [this] { look_at_all(); });
}

void Line::end_stream(Number number, Result<HttpResponse> how) {
  auto ended = streams_.extract(number);
  if (ended.empty())
    return;
  world_.server.leave(ended.mapped().watch);
  ended.mapped().on_stop.reset();
  ended.mapped().done(std::move(how));
}

}  // namespace fettle::sim
