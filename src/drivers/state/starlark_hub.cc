#include "drivers/state/starlark_hub.h"

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

using starlark::Call;
using starlark::Signature;
using starlark::Want;

Result<Value> ask(const Call& call, const HubCall& asking, Value what) {
  if (asking.call == nullptr || !asking.call->on_ask)
    return call.thread.error(cat(call.function, ": there is no host program to ask"));
  Result<Value> answer = asking.call->on_ask(what);
  if (!answer)
    return call.thread.error(cat(call.function, ": ", to_string(answer.error())));
  return answer;
}

Result<starlark::Value> given(const Call& call, const Value& value) {
  return call.heap().json(write_json(value, {.show_secrets = true}));
}

Result<starlark::Value> call_path(Call& call, const HubCall& asking) {
  if (call.positional.empty() || starlark::type_of(call.positional[0]) != starlark::Type::text)
    return call.thread.error("call: the first argument must be a path such as \"exec.test.ping\"");
  std::vector<Value> positional;
  for (const starlark::Value value : call.positional.subspan(1))
    positional.push_back(TRY(starlark::to_value(call.thread, value)));
  std::vector<Entry> named;
  for (size_t i = 0; i < call.named.size(); ++i)
    named.push_back(
        {starlark::text_of(call.names[i]), TRY(starlark::to_value(call.thread, call.named[i]))});
  return given(call, TRY(ask(call, asking,
                             Value::dict({{"call", starlark::text_of(call.positional[0])},
                                          {"positional", Value::list(std::move(positional))},
                                          {"arguments", Value::dict(std::move(named))},
                                          {"context", asking.call->context}}))));
}

Result<starlark::Value> end_with(Call& call, HubCall& asking, PluginAnswer::Verdict verdict) {
  static const Signature signature("reason",
                                   {{"reason", Want::text}, {"watch??", Want::list | Want::tuple}});
  const auto given = TRY(signature.bind(call));
  asking.why = starlark::text_of(given[0]);
  asking.watch = given[1].is_unset() ? Value() : TRY(starlark::to_value(call.thread, given[1]));
  asking.verdict = verdict;
  return call.thread.error(cat(call.function, ": ", asking.why));
}

Result<starlark::Value> is_pending(Call& call, const HubCall& asking) {
  static const Signature signature("is_pending", {{"ret"}});
  const Value ret = TRY(starlark::to_value(call.thread, TRY(signature.bind(call))[0]));
  if (!ret.is_dict())
    return call.thread.error("is_pending: for parameter ret: want a result, which is a dict");
  return given(call, TRY(ask(call, asking, Value::dict({{"is_pending", ret}}))));
}

Result<starlark::Value> apply(Call& call, HubCall& asking) {
  static const Signature signature("apply", {{"tags??", Want::list | Want::tuple}});
  const starlark::Value given_tags = TRY(signature.bind(call))[0];
  const Value tags =
      given_tags.is_unset() ? Value() : TRY(starlark::to_value(call.thread, given_tags));
  const Value answer = TRY(ask(
      call, asking,
      Value::dict({{"apply",
                    Value::dict({{"name", asking.call->arguments.at("name")}, {"tags", tags}})}})));
  asking.running = answer.at("running");
  return given(call, asking.running);
}

Result<starlark::Value> sleep(Call& call, const HubCall& asking) {
  static const Signature signature("sleep", {{"seconds", Want::number}});
  const std::optional<double> seconds = starlark::real_of(TRY(signature.bind(call))[0]);
  if (!seconds || !(*seconds >= 0))
    return call.thread.error("sleep: for parameter seconds: want a number from 0 on");
  TRY(ask(call, asking, Value::dict({{"sleep", *seconds}})));
  return starlark::Value::none();
}

}  // namespace

void lend_host(starlark::Session& session, HubCall& asking) {
  using Verdict = PluginAnswer::Verdict;
  session.predeclare(
      "call", session.native("call", [&asking](Call& call) { return call_path(call, asking); }));
  session.predeclare("not_ready", session.native("not_ready", [&asking](Call& call) {
    return end_with(call, asking, Verdict::not_ready);
  }));
  session.predeclare("throttled", session.native("throttled", [&asking](Call& call) {
    return end_with(call, asking, Verdict::throttled);
  }));
}

starlark::Value hub_of(starlark::Thread& thread, HubCall& asking) {
  starlark::HeapAccess heap = thread.heap();
  const auto native = [&](std::string_view name, auto function) {
    return starlark::NamedValue{name, heap.native(name, [&asking, function](Call& call) {
                                  return function(call, asking);
                                })};
  };
  return heap.module(
      "hub",
      std::vector<starlark::NamedValue>{
          native("call", call_path), native("is_pending", is_pending), native("apply", apply),
          native("sleep", sleep), native("results", [](Call& call, const HubCall& known) {
            return given(call, known.running.is_dict() ? known.running : Value::dict({}));
          })});
}

Result<starlark::Value> context_of(starlark::Thread& thread, const Value& context) {
  std::map<std::string, Value> fields{
      {"test", false}, {"old_state", Value()}, {"rerun_data", Value()}, {"acct", Value::dict({})},
      {"tag", ""},     {"run_name", ""}};
  if (context.is_dict())
    for (const Entry& entry : context.entries())
      fields[entry.key.str()] = entry.value;
  std::vector<starlark::NamedValue> named;
  for (const auto& [name, value] : fields)
    named.push_back({name, TRY(thread.heap().json(write_json(value, {.show_secrets = true})))});
  return thread.heap().structure(named);
}

}  // namespace fettle
