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
#include "kinds/exec.h"
#include "kinds/request.h"
#include "kinds/service.h"
#include "kinds/transition.h"
#include "kinds/wait.h"
#include "value/json.h"
#include "value/mask.h"
#include "value/starlark_text.h"

namespace fettle {
namespace {

constexpr size_t longest_output = 64 << 20;
constexpr size_t longest_shown = 4'096;
constexpr Duration request_limit = 60s, last_moment = 500ms;
/// This takes some seconds.
constexpr uint64_t most_extract_steps = 100'000'000, most_extract_bytes = 256'000'000;

std::vector<std::string> texts(const List& list) {
  std::vector<std::string> found;
  for (const Value& item : list.items())
    found.push_back(starlark_text(item));
  return found;
}

/// What the expressions of a recipe give for an answer.
Result<Value> extracted(const Recipe& recipe, std::string_view text, jq::Input input,
                        const std::stop_token& stop) {
  std::atomic<bool> cancelled = false;
  const std::stop_callback end(stop, [&] { cancelled = true; });
  std::vector<Entry> values;
  for (const Entry& entry : recipe.extract.entries()) {
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

/// What came back, also when nothing could be extracted from it; none before anything has.
using Answer = std::variant<std::monostate, ExecOutputs, RequestOutputs>;

Result<ExecOutputs> run_command(const Site& site, const Record& host, const Recipe& recipe,
                                const ProgressSink& progress, const Duration limit,
                                const std::stop_token& stop, Answer& answer) {
  std::string output;
  LastLine line(progress);
  const auto take = [&](OutputStream, std::string_view bytes) {
    line.take(bytes);
    return sink_to(output, longest_output)(bytes);
  };
  const int64_t code =
      TRY(run_exec(site.engine, host.remote_id,
                   {.command = texts(recipe.command), .time_limit = limit}, take, stop));
  ExecOutputs outputs{code, output, {}};
  answer = outputs;
  outputs.extract = TRY(extracted(recipe, output, jq::Input::text, stop));
  return outputs;
}

/// To the service's own address, as its neighbours see it.
Result<RequestOutputs> send_request(const Site& site, const Record& host, const Recipe& recipe,
                                    const Duration limit, const std::stop_token& stop,
                                    Answer& answer) {
  const std::string_view id = recipe.port.view();
  const ServiceOutputs service = read<ServiceOutputs>(host.outputs);
  const Value* const found = service.ports.find(id);
  if (found == nullptr)
    return user_error(cat("service `", host.applied->key.name, "` has no port `", id, "`"));
  const int64_t number = read<PortOutputs>(*found).number;
  const Dict asked = read_one<&Service::ports>(host.applied->attributes);
  const bool secure = lower_case(read_one<&Port::application>(asked.at(id)).view()) == "https";
  const std::string address = service.ip_address.str();
  const std::string endpoint = TRY(encoded_endpoint(recipe.endpoint.view()));
  HttpRequest request;
  request.url = cat(secure ? "https" : "http", "://", address, ":", number, endpoint);
  request.follow_redirects = true;
  request.connect_limit = site.engine.limits().connect;
  request.silence_limit = site.engine.limits().silence;
  request.time_limit = limit > 0s ? std::min(limit, request_limit) : request_limit;
  for (const auto& [name, value] : texts_of(recipe.headers.value()))
    request.headers.push_back({name, value});
  if (recipe.type == "post") {
    request.method = "POST";
    request.body = starlark_text(recipe.body.value());
    request.headers.push_back({"Content-Type", to_text(recipe.content_type.value())});
  }
  // The request comes from within the container if the engine is on another machine.
  const HttpResponse response =
      is_reachable(site.engine, address)
          ? TRY(site.http.send(std::move(request), stop))
          : TRY(send_inside(site.http, site.engine, host.remote_id, address,
                            static_cast<int>(number), std::move(request), stop));
  RequestOutputs outputs{response.status, response.body, {}};
  answer = outputs;
  outputs.extract = TRY(extracted(recipe, response.body, jq::Input::json, stop));
  return outputs;
}

/// Of a service that has ended. Error (`Blame::world`): it has not.
Result<ExecOutputs> exit_of(const Site& site, const Record& host, const std::stop_token& stop,
                            Answer& answer) {
  const auto state = TRY(inspect_container(site.engine, host.remote_id, stop));
  if (!state)
    return world_error("its container is gone");
  if (state->status != "exited" && state->status != "dead")
    return world_error("it has not ended yet");
  const ExecOutputs outputs{state->exit_code.value_or(-1),
                            last_log_lines(site.engine, host.remote_id, shown_log_lines, stop),
                            {}};
  answer = outputs;
  return outputs;
}

/// In at most that time.
Result<Value> run_recipe(const Site& site, const Record& host, const Recipe& recipe,
                         const Duration limit, const std::stop_token& stop, Answer& answer) {
  if (recipe.is_exit())
    return write(TRY(exit_of(site, host, stop, answer)));
  if (recipe.is_command())
    return write(TRY(run_command(site, host, recipe, {}, limit, stop, answer)));
  return write(TRY(send_request(site, host, recipe, limit, stop, answer)));
}

/// The last answer of a wait, on lines of its own; empty when there was none.
std::string text_of_answer(const Answer& answer) {
  if (std::holds_alternative<std::monostate>(answer))
    return "";
  const auto* const command = std::get_if<ExecOutputs>(&answer);
  const auto* const request = std::get_if<RequestOutputs>(&answer);
  const std::string said = to_text(command != nullptr ? command->output : request->body);
  const std::string_view text = trim(said);
  return cat("\nthe last answer had code ", command != nullptr ? command->code : request->code,
             " and ", text.empty() ? "no " : "the ", command != nullptr ? "output" : "body",
             text.empty() ? "" : ":\n", clipped(text, longest_shown));
}

/// A service's name is the first member of all that happen inside one.
Name service_of(const Act& act) { return read<Transition>(act.attributes).service.get(); }

}  // namespace

Result<const Record*> host_of(const Act& act) {
  const Name name = service_of(act);
  for (const RecordPointer& record : act.needs)
    if (record->applied && record->applied->key.kind == "service" &&
        record->applied->key.name == name)
      return record.get();
  return world_error(cat("`", to_string(act.key), "` does not depend on the service `", name, "`"));
}

Status check_code(const std::optional<List>& acceptable, std::string_view what, int64_t code,
                  std::string_view output) {
  if (!acceptable)
    return {};
  std::string codes;
  for (const Value& item : acceptable->items()) {
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
  const Exec exec = read<Exec>(reveal(act.attributes));
  Answer answer;
  const ExecOutputs result = TRY(run_command(site, host, exec.recipe, progress, 0s, stop, answer));
  TRY(check_code(acceptable_codes(exec), "Exec returned exit code", result.code,
                 to_text(result.output)));
  // A command may end its container; then nobody can tell.
  const uint64_t life = life_of(site.engine, host.remote_id, stop).value_or(0);
  return Outcome(Done{.outputs = write(result), .remote_id = {}, .life = life});
}

Result<Outcome> run_request_act(const Site& site, const Act& act, std::stop_token stop) {
  const Record& host = *TRY(host_of(act));
  const ServiceRequest request = read<ServiceRequest>(reveal(act.attributes));
  Answer answer;
  const RequestOutputs result = TRY(send_request(site, host, request.recipe, 0s, stop, answer));
  TRY(check_code(acceptable_codes(request), "Request returned status code", result.code,
                 to_text(result.body)));
  return Outcome(Done{.outputs = write(result), .remote_id = {}});
}

Result<Outcome> run_wait_act(const Site& site, const Act& act, std::stop_token stop) {
  const Record& host = *TRY(host_of(act));
  const WaitFor until = read<WaitFor>(reveal(act.attributes));
  const Duration interval = TRY(parse_duration(until.interval.view()));
  const Duration limit = TRY(parse_duration(until.timeout.view()));
  const Instant began = instant_from_clock();
  const int64_t tries = act.so_far.integer_at("tries") + 1;
  // A try that begins when the time is up still has a moment.
  const Duration left =
      std::max(limit - Duration(act.so_far.integer_at("waited")), Duration(last_moment));

  Answer answer;
  const auto attempt = [&]() -> Result<Value> {
    Value result = TRY(run_recipe(site, host, until.recipe, left, stop, answer));
    const Value field = TRY(result_field(result, until.field.view()));
    TRY(check_assertion(field, until.assertion.view(), until.target));
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
        Done{.outputs = with_members(*result, WaitOutputs{tries, told}), .remote_id = {}});
  if (is_cancelled(result.error()) || result.error().blame != Blame::world)
    return result.error();
  // What has ended does not end in another way by waiting.
  if (until.recipe.is_exit() && std::holds_alternative<ExecOutputs>(answer))
    return world_error(
        cat("`", service_of(act), "` has ended: ", result.error().message, text_of_answer(answer)));
  if (waited >= limit)
    return world_error(cat("gave up after ", tries, tries == 1 ? " try in " : " tries in ", told,
                           ": ", to_string(result.error()), text_of_answer(answer)));
  // A command costs some 50 ms of work, a request nearly nothing.
  const Duration first = until.recipe.is_command() ? 50ms : 10ms;
  const Duration grown = first * (int64_t{1} << std::min<int64_t>(tries - 1, 20));
  const Duration pause = std::min({grown, interval, limit - waited});
  return Outcome(
      Pending{.what = cat("`", service_of(act), "`: ", result.error().message),
              .retry_after = pause,
              .so_far = Value::dict({{"tries", tries}, {"waited", (waited + pause).count()}})});
}

}  // namespace fettle
