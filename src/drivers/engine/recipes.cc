#include "drivers/engine/recipes.h"

#include <atomic>

#include "base/text.h"
#include "drivers/engine/endpoint.h"
#include "drivers/engine/exec.h"
#include "drivers/engine/inside_request.h"
#include "drivers/engine/last_line.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/probe.h"
#include "jq/extract.h"
#include "kinds/recipe.h"
#include "value/json.h"
#include "value/mask.h"
#include "value/starlark_text.h"
#include "value/with.h"

namespace fettle {
namespace {

constexpr size_t longest_output = 64 << 20;
constexpr size_t longest_shown = 4'096;
constexpr Duration request_limit = 60s, last_moment = 500ms;
/// This takes some seconds.
constexpr uint64_t most_extract_steps = 100'000'000, most_extract_bytes = 256'000'000;

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> found;
  if (list.is_list())
    for (const Value& item : list.items())
      found.push_back(starlark_text(item));
  return found;
}

/// The values that the expressions of a recipe find in an answer.
Result<Value> extracted(const Value& recipe, std::string_view text, jq::Input input,
                        const std::stop_token& stop) {
  const Value& wanted = recipe.at("extract");
  if (!wanted.is_dict())
    return Value::dict({});
  std::atomic<bool> cancelled = false;
  const std::stop_callback end(stop, [&] { cancelled = true; });
  std::vector<Entry> values;
  for (const Entry& entry : wanted.entries()) {
    Result<Value> value = jq::extract(
        to_text(entry.value), text, input,
        {.steps = most_extract_steps, .bytes = most_extract_bytes, .cancelled = &cancelled});
    if (!value && cancelled)
      return cancelled_error();
    values.push_back(
        {entry.key, TRY(std::move(value).context(cat("extracting `", entry.key, "`")))});
  }
  return Value::dict(std::move(values));
}

/// `answer` is the answer, even if nothing could be extracted from it.
Result<Value> run_command(const Site& site, const Record& host, const Value& recipe,
                          const ProgressSink& progress, const Duration limit,
                          const std::stop_token& stop, Value& answer) {
  std::string output;
  LastLine line(progress);
  const auto take = [&](OutputStream, std::string_view bytes) {
    line.take(bytes);
    return sink_to(output, longest_output)(bytes);
  };
  const int64_t code =
      TRY(run_exec(site.engine, host.remote_id,
                   {.command = texts(recipe.at("command")), .time_limit = limit}, take, stop));
  answer = Value::dict({{"code", code}, {"output", output}});
  return with(answer, {{"extract", TRY(extracted(recipe, output, jq::Input::text, stop))}});
}

/// Sends to the service's own address, as its neighbours see it.
Result<Value> send_request(const Site& site, const Record& host, const Value& recipe,
                           const Duration limit, const std::stop_token& stop, Value& answer) {
  const std::string_view id = recipe.text_at("port");
  const Value& port = host.outputs.at("ports").at(id);
  if (!port.is_dict())
    return user_error(cat("service `", host.applied->key.name, "` has no port `", id, "`"));
  const Value& attributes = host.applied->attributes.at("ports").at(id);
  const bool secure = lower_case(attributes.text_at("application")) == "https";
  const std::string address(host.outputs.text_at("ip_address"));
  const std::string endpoint = TRY(encoded_endpoint(recipe.text_at("endpoint")));
  HttpRequest request;
  request.url =
      cat(secure ? "https" : "http", "://", address, ":", port.integer_at("number"), endpoint);
  request.follow_redirects = true;
  request.connect_limit = site.engine.limits().connect;
  request.silence_limit = site.engine.limits().silence;
  request.time_limit = limit > 0s ? std::min(limit, request_limit) : request_limit;
  for (const auto& [name, value] : texts_of(recipe.at("headers")))
    request.headers.push_back({name, value});
  if (recipe.text_at("type") == "post") {
    request.method = "POST";
    request.body = starlark_text(recipe.at("body"));
    request.headers.push_back({"Content-Type", to_text(recipe.at("content_type"))});
  }
  // The request comes from within the container if the engine is on another machine.
  const HttpResponse response =
      is_reachable(site.engine, address)
          ? TRY(site.http.send(std::move(request), stop))
          : TRY(send_inside(site.http, site.engine, host.remote_id, address,
                            static_cast<int>(port.integer_at("number")), std::move(request), stop));
  answer = Value::dict({{"code", response.status}, {"body", response.body}});
  return with(answer, {{"extract", TRY(extracted(recipe, response.body, jq::Input::json, stop))}});
}

/// Runs within this time.
Result<Value> run_recipe(const Site& site, const Record& host, const Value& recipe,
                         const Duration limit, const std::stop_token& stop, Value& answer) {
  return recipe.text_at("type") == "exec" ? run_command(site, host, recipe, {}, limit, stop, answer)
                                          : send_request(site, host, recipe, limit, stop, answer);
}

/// The last answer of a wait, on lines of its own. Empty: there was none.
std::string text_of_answer(const Value& answer) {
  if (!answer.is_dict())
    return "";
  const bool is_command = answer.find("output") != nullptr;
  const std::string_view text = trim(answer.text_at(is_command ? "output" : "body"));
  return cat("\nthe last answer had code ", answer.integer_at("code"), " and ",
             text.empty() ? "no " : "the ", is_command ? "output" : "body",
             text.empty() ? "" : ":\n", clipped(text, longest_shown));
}

}  // namespace

Result<const Record*> host_of(const Act& act) {
  const std::string_view name = act.attributes.text_at("service");
  for (const RecordPointer& record : act.needs)
    if (record->applied && record->applied->key.kind == "service" &&
        record->applied->key.name == name)
      return record.get();
  return world_error(cat("`", to_string(act.key), "` does not depend on the service `", name, "`"));
}

Status check_code(const Value& attributes, std::string_view what, int64_t code,
                  std::string_view output) {
  const Value& acceptable = attributes.at("acceptable_codes");
  if (attributes.bool_at("skip_code_check") || !acceptable.is_list())
    return {};
  std::string codes;
  for (const Value& item : acceptable.items()) {
    if (item == Value(code))
      return {};
    codes += cat(codes.empty() ? "" : " ", to_text(item));
  }
  // Kurtosis' words: scripts look for this sentence.
  const std::string_view shown = trim(output.substr(0, longest_shown));
  return world_error(cat(what, " '", code, "' that is not part of the acceptable status codes '[",
                         codes, "]'", shown.empty() ? ", with no output" : ", with output:\n",
                         shown));
}

Result<Outcome> run_exec_act(const Site& site, const Act& act, const ProgressSink& progress,
                             std::stop_token stop) {
  const Record& host = *TRY(host_of(act));
  const Value attributes = reveal(act.attributes);
  Value answer;
  const Value result =
      TRY(run_command(site, host, attributes.at("recipe"), progress, 0s, stop, answer));
  TRY(check_code(attributes, "Exec returned exit code", result.integer_at("code"),
                 result.text_at("output")));
  // A command may end its container; then nobody can say.
  const uint64_t life = life_of(site.engine, host.remote_id, stop).value_or(0);
  return Outcome(Done{.outputs = result, .remote_id = {}, .life = life});
}

Result<Outcome> run_request_act(const Site& site, const Act& act, std::stop_token stop) {
  const Record& host = *TRY(host_of(act));
  const Value attributes = reveal(act.attributes);
  Value answer;
  const Value result = TRY(send_request(site, host, attributes.at("recipe"), 0s, stop, answer));
  TRY(check_code(attributes, "Request returned status code", result.integer_at("code"),
                 result.text_at("body")));
  return Outcome(Done{.outputs = result, .remote_id = {}});
}

Result<Outcome> run_wait_act(const Site& site, const Act& act, std::stop_token stop) {
  const Record& host = *TRY(host_of(act));
  const Value attributes = reveal(act.attributes);
  const Duration interval = TRY(parse_duration(attributes.text_at("interval", "1s")));
  const Duration limit = TRY(parse_duration(attributes.text_at("timeout", "10s")));
  const Instant began = instant_from_clock();
  const int64_t tries = act.so_far.integer_at("tries") + 1;
  // A try that begins when the time is up still has a moment.
  const Duration left =
      std::max(limit - Duration(act.so_far.integer_at("waited")), Duration(last_moment));

  Value answer;
  const auto attempt = [&]() -> Result<Value> {
    Value result = TRY(run_recipe(site, host, attributes.at("recipe"), left, stop, answer));
    const Value field = TRY(result_field(result, attributes.text_at("field")));
    TRY(check_assertion(field, attributes.text_at("assertion"), attributes.at("target")));
    return result;
  };
  const Result<Value> result = attempt();
  // Time in which no process ran does not count.
  const Duration waited =
      Duration(act.so_far.integer_at("waited")) + (instant_from_clock() - began);
  const std::string told =
      to_string(waited < 1ms ? Duration(std::chrono::round<std::chrono::microseconds>(waited))
                             : Duration(std::chrono::round<std::chrono::milliseconds>(waited)));
  if (result)
    return Outcome(
        Done{.outputs = with(*result, {{"tries", tries}, {"duration", told}}), .remote_id = {}});
  if (is_cancelled(result.error()) || result.error().blame != Blame::world)
    return result.error();
  if (waited >= limit)
    return world_error(cat("gave up after ", tries, tries == 1 ? " try in " : " tries in ", told,
                           ": ", to_string(result.error()), text_of_answer(answer)));
  // A command costs some 50 ms of work, a request nearly nothing.
  const Duration first = attributes.at("recipe").text_at("type") == "exec" ? 50ms : 10ms;
  const Duration grown = first * (int64_t{1} << std::min<int64_t>(tries - 1, 20));
  const Duration pause = std::min({grown, interval, limit - waited});
  return Outcome(
      Pending{.what = cat("`", act.attributes.text_at("service"), "`: ", result.error().message),
              .retry_after = pause,
              .so_far = Value::dict({{"tries", tries}, {"waited", (waited + pause).count()}})});
}

}  // namespace fettle
