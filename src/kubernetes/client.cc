#include "kubernetes/client.h"

#include <algorithm>

#include "base/text.h"
#include "base/wait.h"
#include "kubernetes/go_json.h"
#include "value/json.h"

namespace fettle::kubernetes {
namespace {

constexpr size_t largest_answer = size_t{1} << 30;
constexpr size_t longest_line = size_t{64} << 20;
constexpr Duration shortest_pause = 100ms;

using Parameters = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// A path and the parameters that have a value.
std::string with_query(std::string path, Parameters parameters) {
  for (const auto& [name, value] : parameters)
    if (!value.empty())
      add_parameter(path, name, value);
  return path;
}

std::string_view content_type_of(PatchType how) {
  switch (how) {
    case PatchType::json:
      return "application/json-patch+json";
    case PatchType::merge:
      return "application/merge-patch+json";
    case PatchType::strategic:
      return "application/strategic-merge-patch+json";
    case PatchType::apply:
      return "application/apply-patch+yaml";
  }
  return {};
}

std::string_view word_of(Propagation propagation) {
  switch (propagation) {
    case Propagation::by_default:
      return "";
    case Propagation::background:
      return "Background";
    case Propagation::foreground:
      return "Foreground";
    case Propagation::orphan:
      return "Orphan";
  }
  return {};
}

std::string doing_of(std::string_view method, const ResourceType& type, const ObjectName& name,
                     std::string_view subresource = {}) {
  return cat(method, " ", type.plural, subresource.empty() ? "" : "/", subresource,
             name.name.empty() && name.space.empty() ? "" : " ", to_string(name));
}

Value delete_body(const DeleteOptions& options) {
  std::vector<Entry> body{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  std::vector<Entry> needed;
  if (!options.uid.empty())
    needed.push_back({"uid", options.uid});
  if (!options.resource_version.empty())
    needed.push_back({"resourceVersion", options.resource_version});
  if (!needed.empty())
    body.push_back({"preconditions", Value::dict(std::move(needed))});
  if (const std::string_view word = word_of(options.propagation); !word.empty())
    body.push_back({"propagationPolicy", word});
  if (options.grace)
    body.push_back({"gracePeriodSeconds", *options.grace / Duration(1s)});
  if (options.is_dry_run)
    body.push_back({"dryRun", Value::list({"All"})});
  return Value::dict(std::move(body));
}

/// A server that hears no more of us gives up as well: webhooks and its store may take longer than
/// we wait, and what a cut connection ended for us goes on there.
void tell_limit(HttpRequest& request) {
  if (request.method != "GET")
    add_parameter(request.url, "timeout", fettle::to_string(request.time_limit));
}

/// A budget of pods refuses an eviction with 429, too; the server itself is fine.
bool is_of_disruption_budget(const ApiError& error) {
  return std::ranges::any_of(items_of(error.details.at("causes")), [](const Value& cause) {
    return cause.text_at("reason") == "DisruptionBudget";
  });
}

ApiError not_permitted(std::string_view doing) {
  ApiError error(world_error(cat(doing, ": not sent, for somebody else may be writing")));
  error.reason = ApiReason::not_permitted;
  return error;
}

}  // namespace

bool ends_initial_events(const WatchEvent& event) {
  return event.type == WatchEvent::Type::bookmark &&
         event.object.at("metadata").at("annotations").text_at("k8s.io/initial-events-end") ==
             "true";
}

Client::Client(std::unique_ptr<Transport> transport, ClientSettings settings)
    : settings_(std::move(settings)),
      budget_(settings_.qps, settings_.burst),
      transport_(std::move(transport)) {}

Status Client::await_turn(Urgency urgency, const std::stop_token& stop) {
  if (urgency == Urgency::free)
    return {};
  std::unique_lock lock(mutex_);
  const RequestBudget::Ticket own = budget_.join(urgency);
  // Whoever waits also admits others.
  while (!admitted_.contains(own)) {
    const Instant now = instant_from_clock();
    bool others = false;
    while (const auto ticket = budget_.admit(now)) {
      admitted_.insert(*ticket);
      others = others || *ticket != own;
    }
    if (others)
      turn_.notify_all();
    if (admitted_.contains(own))
      break;
    if (stop.stop_requested()) {
      budget_.leave(own);
      turn_.notify_all();
      return cancelled_error();
    }
    turn_.wait_until(lock, stop, budget_.due(now).value_or(now + Duration(1s)),
                     [&] { return admitted_.contains(own); });
  }
  admitted_.erase(own);
  return {};
}

void Client::hold_back(Duration pause) {
  const std::lock_guard lock(mutex_);
  budget_.pause_until(instant_from_clock() + pause);
}

/// What was not sent is no write.
void Client::count(const ApiCall& call, const ApiResult<HttpResponse>& sent) {
  if (call.method == "GET")
    return;
  if (sent)
    write_counts_.add(call.urgency, sent->status);
  else if (sent.error().unknown_outcome || (sent.error().reason != ApiReason::not_permitted &&
                                            sent.error().reason != ApiReason::cancelled))
    write_counts_.add(call.urgency, 0);
}

std::optional<Duration> Client::pause_after(const ApiError& error,
                                            const std::string& method) const {
  const bool is_refused =
      error.reason == ApiReason::too_many_requests && !is_of_disruption_budget(error);
  const bool is_read_later = method == "GET" && error.may_retry() && error.retry_after;
  if (!is_refused && !is_read_later)
    return {};
  return std::max<Duration>(error.retry_after.value_or(1s), shortest_pause);
}

ApiResult<HttpResponse> Client::send(const ApiCall& call, const std::string& doing,
                                     std::stop_token stop) {
  HttpRequest request{.method = call.method, .url = call.path};
  request.headers = {{"Accept", call.accept}, {"User-Agent", settings_.user_agent}};
  if (!call.body.empty())
    request.headers.push_back({"Content-Type", call.content_type});
  request.body = call.body;
  request.time_limit = call.limit > 0s ? call.limit : settings_.request_limit;
  request.body_limit = largest_answer;
  request.is_sent_once = call.method != "GET";
  TRY(await_turn(call.urgency, stop));
  if (settings_.permit && call.method != "GET" && call.urgency != Urgency::free)
    return send_permitted(std::move(request), doing, std::move(stop));
  tell_limit(request);
  Result<HttpResponse> answer = transport_->send(std::move(request), std::move(stop));
  if (!answer)
    return ApiError(std::move(answer).error().context(doing));
  return *answer;
}

class Client::WriteUnderWay {
 public:
  explicit WriteUnderWay(Client& client) : client_(client) {
    const std::lock_guard lock(client_.mutex_);
    ++client_.under_way_;
  }
  ~WriteUnderWay() {
    const std::lock_guard lock(client_.mutex_);
    --client_.under_way_;
    client_.ended_.notify_all();
  }
  WriteUnderWay(const WriteUnderWay&) = delete;
  WriteUnderWay& operator=(const WriteUnderWay&) = delete;

 private:
  Client& client_;
};

bool Client::await_writes(Duration limit) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, limit, [this] { return under_way_ == 0; });
}

ApiResult<HttpResponse> Client::send_permitted(HttpRequest request, const std::string& doing,
                                               std::stop_token stop) {
  const WriteUnderWay counted(*this);  // before the permit is asked, or it could slip through
  const std::optional<Instant> until = settings_.permit();
  if (!until || instant_from_clock() >= *until)
    return not_permitted(doing);
  request.time_limit = std::min(request.time_limit, settings_.permitted_limit);
  tell_limit(request);
  request.send_before = until;  // to sign in, for one, may take long
  Result<HttpResponse> answer = transport_->send(std::move(request), stop);
  if (answer)
    return *answer;
  const bool may_be_sent = answer.error().unknown_outcome || stop.stop_requested();
  if (!may_be_sent && instant_from_clock() >= *until)
    return not_permitted(doing);
  return ApiError(std::move(answer).error().context(doing));
}

ApiResult<Value> Client::call(const ApiCall& call, std::stop_token stop) {
  const std::string doing =
      call.doing.empty() ? cat(call.method, " ", shown_url(call.path)) : call.doing;
  for (int tries = 1;; ++tries) {
    ApiResult<HttpResponse> sent = send(call, doing, stop);
    count(call, sent);
    const HttpResponse answer = TRY(std::move(sent));
    if (answer.status >= 200 && answer.status < 300) {
      if (answer.body.empty())
        return Value();
      Result<Value> read = read_by(call.read, answer.body);
      if (!read)
        return unreadable_error(cat(doing, ": the answer is no JSON: ", read.error().message));
      if (!read->is_dict())
        return unreadable_error(cat(doing, ": the answer is no object"));
      return *read;
    }
    ApiError error = read_api_error(answer, doing);
    const std::optional<Duration> pause = pause_after(error, call.method);
    if (!pause || tries >= settings_.tries || call.urgency == Urgency::free)
      return error;
    if (error.reason == ApiReason::too_many_requests)
      hold_back(*pause);
    TRY(pause_for(*pause, stop));
  }
}

ApiResult<Value> Client::get(const ResourceType& type, const ObjectName& name, std::stop_token stop,
                             std::string_view subresource) {
  return call(
      {.path = path_of(type, name, subresource), .doing = doing_of("GET", type, name, subresource)},
      std::move(stop));
}

ApiResult<ListPage> Client::list(const ResourceType& type, const std::string& space,
                                 const ListOptions& options, std::stop_token stop) {
  const std::string path = with_query(path_of(type, {space, ""}),
                                      {{"labelSelector", options.label_selector},
                                       {"fieldSelector", options.field_selector},
                                       {"limit", options.limit > 0 ? cat(options.limit) : ""},
                                       {"continue", options.rest},
                                       {"resourceVersion", options.resource_version},
                                       {"resourceVersionMatch", options.version_match}});
  const std::string doing = doing_of("LIST", type, {space, ""});
  const Value all =
      TRY(call({.path = path, .doing = doing, .read = options.read}, std::move(stop)));
  const Value& about = all.at("metadata");
  ListPage page{.items = {},
                .resource_version = std::string(about.text_at("resourceVersion")),
                .rest = std::string(about.text_at("continue"))};
  if (page.resource_version.empty())
    return unreadable_error(cat(doing, ": the answer is no list"));
  for (const Value& item : items_of(all.at("items")))
    page.items.push_back(item);
  return page;
}

ApiResult<Value> Client::write(std::string method, const ResourceType& type, const ObjectName& name,
                               std::string content_type, const Value& body,
                               const WriteOptions& options, std::stop_token stop) {
  const bool is_apply = content_type == content_type_of(PatchType::apply);
  return call({.method = method,
               .path = with_query(path_of(type, name, options.subresource),
                                  {{"fieldManager", options.field_manager},
                                   {"force", is_apply && options.is_forced ? "true" : ""},
                                   {"dryRun", options.is_dry_run ? "All" : ""}}),
               .doing = doing_of(method, type, name, options.subresource),
               .content_type = std::move(content_type),
               .body = write_go_json(body),
               .urgency = options.urgency,
               .limit = options.limit},
              std::move(stop));
}

ApiResult<Value> Client::create(const ResourceType& type, const ObjectName& name,
                                const Value& object, const WriteOptions& options,
                                std::stop_token stop) {
  // Only a subresource, such as `eviction`, is created under a name.
  const ObjectName at = options.subresource.empty() ? ObjectName{name.space, ""} : name;
  return write("POST", type, at, "application/json", object, options, std::move(stop));
}

ApiResult<Value> Client::replace(const ResourceType& type, const ObjectName& name,
                                 const Value& object, const WriteOptions& options,
                                 std::stop_token stop) {
  return write("PUT", type, name, "application/json", object, options, std::move(stop));
}

ApiResult<Value> Client::patch(const ResourceType& type, const ObjectName& name, PatchType how,
                               const Value& change, const WriteOptions& options,
                               std::stop_token stop) {
  return write("PATCH", type, name, std::string(content_type_of(how)), change, options,
               std::move(stop));
}

ApiResult<Value> Client::remove(const ResourceType& type, const ObjectName& name,
                                const DeleteOptions& options, std::stop_token stop) {
  return write("DELETE", type, name, "application/json", delete_body(options),
               {.urgency = options.urgency}, std::move(stop));
}

void Client::watch(const ResourceType& type, const std::string& space, const WatchOptions& options,
                   WatchLines::Take take, std::stop_token stop, WatchDone done) {
  const bool sends_all = options.sends_initial_events;
  HttpRequest request{
      .url = with_query(
          path_of(type, {space, ""}),
          {{"watch", "true"},
           {"allowWatchBookmarks", "true"},
           {"labelSelector", options.label_selector},
           {"fieldSelector", options.field_selector},
           {"resourceVersion", options.resource_version},
           {"timeoutSeconds", options.limit > 0s ? cat(options.limit / Duration(1s)) : ""},
           {"sendInitialEvents", sends_all ? "true" : ""},
           {"resourceVersionMatch", sends_all ? "NotOlderThan" : ""}})};
  struct Stream {
    explicit Stream(const JsonReader& reader) : lines(longest_line, reader) {}
    WatchLines lines;
    std::optional<ApiError> failure;
  };
  const auto stream = std::make_shared<Stream>(options.read);
  request.headers = {{"Accept", "application/json"}, {"User-Agent", settings_.user_agent}};
  request.idle_limit = options.idle_limit;
  request.sink = [stream, take = std::move(take)](std::string_view bytes) -> Status {
    ApiResult<void> fed = stream->lines.feed(bytes, take);
    if (fed)
      return {};
    stream->failure = fed.error();
    return std::move(fed).error();
  };
  const std::string doing = doing_of("WATCH", type, {space, ""});
  transport_->start(std::move(request), std::move(stop),
                    [stream, doing, done = std::move(done)](Result<HttpResponse> answer) {
                      if (stream->failure)
                        done(*stream->failure);
                      else if (!answer)
                        done(ApiError(std::move(answer).error().context(doing)));
                      else if (answer->status < 200 || answer->status >= 300)
                        done(read_api_error(*answer, doing));
                      else
                        done({});
                    });
}

}  // namespace fettle::kubernetes
