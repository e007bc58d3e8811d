/// `exec.run` and `exec.stateful`: call functions that are no states.

#include "base/text.h"
#include "states/builtins.h"
#include "states/modules/functions.h"

namespace fettle::states {
namespace {

/// The call as one would write it by hand, with masked secrets.
std::string spelled(const ExecCall& call) {
  std::string text = cat("fettle exec ", call.path);
  for (const Value& value : call.positional)
    text += cat(" ", to_text(value));
  for (const Entry& entry : call.named.entries())
    text += cat(" ", entry.key, "=", to_text(entry.value));
  return text;
}

Result<Value> called(const ModuleCall& call, const ExecCall& what) {
  if (call.world == nullptr || !call.world->exec)
    return user_error("there are no exec functions here");
  Value answer = TRY(call.world->exec(what));
  if (answer.find("result") == nullptr || answer.find("ret") == nullptr)
    return user_error(cat("`", what.path, "` did not return a dictionary of result, comment, ret"));
  return answer;
}

/// The call, and the message of the function.
Value comments(const ExecCall& call, const Value& answer) {
  std::vector<Value> made{Value(spelled(call))};
  const Value& said = answer.at("comment");
  if (said.is_list())
    made.insert(made.end(), said.items().begin(), said.items().end());
  else if (!said.is_null() && said != Value(""))
    made.push_back(said);
  return Value::list(std::move(made));
}

Value failed(const ExecCall& call, const Error& error, const Value& before) {
  return with(ret_of(false, "", before, before), "comment",
              Value::list({Value(spelled(call)), Value(to_string(error))}));
}

bool is_good(const Value& answer) { return answer.bool_at("result"); }

/// `a.b.get` of `a.b.update`.
std::string getter_of(std::string_view path) {
  const size_t dot = path.rfind('.');
  return cat(path.substr(0, dot == path.npos ? 0 : dot + 1), "get");
}

/// In Idem, exec functions of these names read. So a preview may call them, and what uses their
/// answers sees values; Idem itself calls all others, too, whatever they change.
bool only_looks(std::string_view path) {
  const std::string_view function = path.substr(path.rfind('.') + 1);
  return function == "get" || function == "list";
}

Result<ExecCall> looking(const ModuleCall& call, const Value& named) {
  ExecCall made{.path = call.at("get_path").is_null() ? getter_of(TRY(text_argument(call, "path")))
                                                      : TRY(text_argument(call, "get_path")),
                .positional = TRY(list_argument(call, "get_args"))};
  made.only_known = call.at("get_kwargs").is_null();
  made.named = made.only_known ? named : TRY(dict_argument(call, "get_kwargs"));
  return made;
}

Answer exec_run(const ModuleCall& call) {
  const ExecCall what{
      .path = call.at("path").is_null() ? call.name : TRY(text_argument(call, "path")),
      .positional = TRY(list_argument(call, "args")),
      .named = TRY(dict_argument(call, "kwargs")),
      .state_name = call.name};
  if (call.is_test && !only_looks(what.path))
    return ModuleAnswer{.ret = ret_of({}, cat("Would call ", spelled(what)))};
  const Result<Value> answer = called(call, what);
  if (!answer)
    return ModuleAnswer{.ret = failed(what, answer.error(), Value())};
  const Value& made = answer->at("ret");
  const Value ret = with(ret_of(is_good(*answer), ""), "comment", comments(what, *answer));
  return ModuleAnswer{.ret = with(with(ret, "new_state", made), "changes",
                                  made.is_null() ? Value::dict({}) : Value::dict({{"new", made}}))};
}

Answer exec_stateful(const ModuleCall& call) {
  Value named = TRY(dict_argument(call, "kwargs"));
  const Value& given_id = call.at("resource_id");
  const Value& id = given_id.is_null() ? call.old_state.at("resource_id") : given_id;
  const ExecCall look = TRY(looking(call, id.is_null() ? named : with(named, "resource_id", id)));
  const ExecCall what{.path = TRY(text_argument(call, "path")),
                      .positional = TRY(list_argument(call, "args")),
                      .named = std::move(named)};
  ModuleAnswer answer;
  if (!call.at("esm_state_id").is_null())
    answer.memory_of =
        Value::dict({{"id", call.at("esm_state_id")},
                     {"name", call.at("esm_state_name").is_null() ? call.at("esm_state_id")
                                                                  : call.at("esm_state_name")}});
  const Result<Value> before = called(call, look);
  if (!before || !is_good(*before)) {
    answer.ret = before ? with(ret_of(false, ""), "comment", comments(look, *before))
                        : failed(look, before.error(), Value());
    return answer;
  }
  const Value& was = before->at("ret");
  if (call.is_test) {
    answer.ret = ret_of({}, cat("Would call ", spelled(what)), was, was);
    return answer;
  }
  const Result<Value> done = called(call, what);
  const Result<Value> after = called(call, look);
  if (!done)
    answer.ret = failed(what, done.error(), was);
  else
    answer.ret = with(
        ret_of(is_good(*done) && after && is_good(*after), "", was, after ? after->at("ret") : was),
        "comment", comments(what, *done));
  return answer;
}

}  // namespace

ModuleRow exec_module() {
  return {"exec",
          "Functions that are not states.",
          {{"run",
            Rest::none,
            exec_run,
            "Calls a function. Its result is the new state. A preview only calls `get` and `list`.",
            "None",
            {{"path", "null", "the function (default: the name)", Shape::text},
             {"args", "null", "a list", Shape::list},
             {"kwargs", "null", "a dictionary", Shape::dict}}},
           {"stateful",
            Rest::none,
            exec_stateful,
            "Reads the state, calls a function, and reads the state again.",
            "None",
            {{"path", "", "the function", Shape::text},
             {"resource_id", "null", "the provider's ID of the resource"},
             {"get_path", "null", "the function that reads the state", Shape::text},
             {"args", "null", "a list", Shape::list},
             {"kwargs", "null", "a dictionary", Shape::dict},
             {"get_args", "null", "a list (default: empty)", Shape::list},
             {"get_kwargs", "null", "a dictionary (default: the `kwargs` that it accepts)",
              Shape::dict},
             {"esm_state_id", "null", "the ID of the state whose memory this is"},
             {"esm_state_name", "null", "the name of that state"}}}}};
}

}  // namespace fettle::states
