/// `http.*`: checks the answers of servers.

#include <algorithm>

#include "base/text.h"
#include "states/builtins.h"
#include "states/modules/functions.h"
#include "value/json.h"
#include "value/mask.h"

namespace fettle::states {
namespace {

constexpr size_t most_body = size_t{4} << 20;
constexpr size_t most_shown = 200;

Result<HttpRequest> request_of(const ModuleCall& call) {
  HttpRequest request;
  request.url = call.at("url").is_null() ? call.name : TRY(text_argument(call, "url"));
  if (!request.url.starts_with("http://") && !request.url.starts_with("https://"))
    return user_error(
        cat("the URL must begin with http:// or https://, not be `", request.url, "`"));
  request.method = TRY(text_argument(call, "method"));
  const Value headers = reveal(TRY(dict_argument(call, "headers")));
  for (const Entry& header : headers.entries())
    request.headers.push_back({header.key.str(), to_text(header.value)});
  const Value data = reveal(call.at("data"));
  if (!data.is_null())
    request.body = data.is_text() ? data.text().str() : write_json(data);
  request.body_limit = most_body;
  request.follow_redirects = true;
  return request;
}

/// The status codes that are good. If none are given: 200 to 299.
Result<std::vector<int64_t>> wanted_statuses(const ModuleCall& call) {
  const Value& given = call.at("status");
  const std::vector<Value> items =
      given.is_integer() ? std::vector<Value>{given} : TRY(list_argument(call, "status"));
  std::vector<int64_t> statuses;
  for (const Value& item : items) {
    const std::optional<int64_t> status = item.is_integer() ? item.integer() : std::nullopt;
    if (!status || *status < 100 || *status > 599)
      return user_error(cat("`status` must be a code such as 200, not ", to_text(given)));
    statuses.push_back(*status);
  }
  return statuses;
}

/// The fault of an answer. Empty: it has none.
std::string complaint(const HttpResponse& response, const std::vector<int64_t>& statuses,
                      const std::string& match) {
  const bool is_wanted = statuses.empty() ? response.status >= 200 && response.status < 300
                                          : std::find(statuses.begin(), statuses.end(),
                                                      response.status) != statuses.end();
  if (!is_wanted)
    return cat("the response has status ", response.status);
  if (response.body.find(match) == response.body.npos)
    return cat("the response does not contain `", clipped(match, most_shown), "`");
  return {};
}

Value state_of(const HttpResponse& response) {
  return Value::dict({{"status", response.status},
                      {"text", is_valid_utf8(response.body) ? Value(response.body) : Value()}});
}

Answer http_query(const ModuleCall& call) {
  HttpRequest request = TRY(request_of(call));
  const std::vector<int64_t> statuses = TRY(wanted_statuses(call));
  const std::string match =
      call.at("match").is_null() ? std::string() : TRY(text_argument(call, "match"));
  if (call.is_test)
    return ModuleAnswer{.ret = ret_of({}, cat("Would send a request to ", request.url))};
  if (call.world == nullptr || !call.world->request)
    return user_error("no network is available here");
  const std::string url = request.url;
  const Result<HttpResponse> response = call.world->request(std::move(request));
  if (!response)
    return ModuleAnswer{.ret = ret_of(false, cat(url, ": ", to_string(response.error())))};
  const std::string wrong = complaint(*response, statuses, match);
  return ModuleAnswer{
      .ret = with(ret_of(wrong.empty(), wrong.empty() ? cat(url, " responded as expected")
                                                      : cat(url, ": ", wrong)),
                  "new_state", state_of(*response))};
}

Answer http_wait(const ModuleCall& call) {
  const double longest = TRY(seconds_argument(call, "wait_for"));
  const double interval = std::max(0.05, TRY(seconds_argument(call, "request_interval")));
  ModuleAnswer answer = TRY(http_query(call));
  const Value& waited = call.so_far.at("waited");
  const double until_now = waited.is_real() ? waited.real() : 0;
  if (answer.ret.at("result") != Value(false) || until_now + interval > longest)
    return answer;
  return ModuleAnswer{.ret = std::move(answer.ret),
                      .again = Duration(static_cast<int64_t>(interval * 1e9)),
                      .so_far = Value::dict({{"waited", until_now + interval}})};
}

}  // namespace

ModuleRow http_module() {
  const std::vector<ParameterRow> query{
      {"url", "null", "the URL (default: the name)", Shape::url},
      {"method", "\"GET\"", "the method", Shape::method},
      {"headers", "null", "a dictionary", Shape::headers},
      {"data", "null", "the body: a string, or a value that is sent as JSON"},
      {"status", "null", "the expected status code, or a list of them (default: 200 to 299)",
       Shape::statuses},
      {"match", "null", "a string that the response must contain", Shape::text}};
  std::vector<ParameterRow> wait = query;
  wait.push_back({"wait_for", "300", "seconds: how long to repeat the request", Shape::seconds});
  wait.push_back({"request_interval", "1", "seconds between two requests", Shape::seconds});
  return {"http",
          "Requests to servers. The new state has `status` and `text`.",
          {{"query", Rest::none, http_query, "Sends one request.",
            "None: it would send the request", query},
           {"wait_for_successful_query", Rest::none, http_wait,
            "Repeats the request until the response is as expected.",
            "None: it would send the request", wait}}};
}

}  // namespace fettle::states
