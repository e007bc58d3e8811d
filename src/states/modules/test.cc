/// `test.*`: states that pretend, like those in Idem 19.1; later versions do not have the file.

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "states/builtins.h"
#include "states/modules/functions.h"
#include "value/empty.h"

namespace fettle::states {
namespace {

/// The changes that they pretend to have made.
Value pretended() {
  return Value::dict(
      {{"testing", Value::dict({{"old", "Unchanged"}, {"new", "Something pretended to change"}})}});
}

/// The result, which is unknown in test mode.
Verdict unless_test(const ModuleCall& call, bool result) {
  return call.is_test ? Verdict() : Verdict(result);
}

/// Adds these changes. Before them there was nothing.
Value with_changes(Value ret, const Value& changes) {
  return with(with(with(ret, "changes", changes), "new_state", changes), "old_state",
              Value::dict({}));
}

/// The value of `result`. Error: it is no result.
Result<Verdict> given_verdict(const ModuleCall& call) {
  const Value& given = call.at("result");
  if (!given.is_bool() && !given.is_null())
    return user_error(cat("`result` must be true, false or null, not ", to_text(given)));
  return given.is_null() ? Verdict() : Verdict(given.boolean());
}

/// The answer of a resource that went from one state to another.
Answer echoed(const ModuleCall& call, const Value& before, const Value& after) {
  const Verdict verdict = TRY(given_verdict(call));
  static const Value no_comments = Value::list({});
  return ModuleAnswer{.ret = ret_of(verdict, no_comments, before, after)};
}

/// Drops what the contract of resources adds (computed changes, comments as a list): it applies to
/// `present` and `absent` only.
Answer without_contract(Answer answer) {
  if (answer)
    answer->ret = with(with(answer->ret, "changes", Value::dict({})), "comment", Value());
  return answer;
}

/// True, false, or a random one if the argument is `Random`.
Result<bool> chosen(const ModuleCall& call, std::string_view parameter) {
  const Value& given = call.at(parameter);
  if (given.is_null())
    return true;
  if (given.is_bool())
    return given.boolean();
  if (given != Value("Random"))
    return user_error(
        cat("`", parameter, "` must be true, false or `Random`, not ", to_text(given)));
  if (call.world == nullptr || !call.world->draw)
    return user_error("no random numbers are available here");
  return (call.world->draw() & 1) == 1;
}

/// Takes this time without holding anybody up.
ModuleAnswer lasting(const ModuleCall& call, Duration time) {
  if (call.is_test)
    return {.ret = ret_of({}, "Success!")};
  if (call.so_far.is_null())
    return {.ret = {}, .again = time, .so_far = Value::dict({{"begun", true}})};
  return {.ret = ret_of(true, "Success!")};
}

Answer test_nop(const ModuleCall& call) {
  return ModuleAnswer{.ret = ret_of(unless_test(call, true), "Success!")};
}

Answer test_succeed(const ModuleCall&) { return ModuleAnswer{.ret = ret_of(true, "Success!")}; }

Answer test_succeed_with_comment(const ModuleCall& call) {
  return ModuleAnswer{.ret = with(ret_of(true, ""), "comment", call.at("comment"))};
}

Answer test_succeed_with_changes(const ModuleCall&) {
  const Value made =
      with(pretended(), "tests", Value::list({Value::list({Value::dict({{"new", "new_test"}})})}));
  return ModuleAnswer{.ret = with_changes(ret_of(true, "Success!"), made)};
}

Answer test_succeed_with_arg_bind(const ModuleCall& call) {
  const Value& given = call.at("parameters");
  const Value made = Value::dict({{"testing", given.is_null() ? Value::dict({}) : given}});
  return ModuleAnswer{.ret = with_changes(ret_of(true, "Success!"), made)};
}

Answer test_none(const ModuleCall&) { return ModuleAnswer{.ret = ret_of({}, "Success!")}; }

Answer test_fail(const ModuleCall&) { return ModuleAnswer{.ret = ret_of(false, "Failure!")}; }

Answer test_fail_with_changes(const ModuleCall&) {
  return ModuleAnswer{.ret = with(ret_of(false, "Failure!"), "changes", pretended())};
}

Answer test_configurable(const ModuleCall& call) {
  const bool changes = TRY(chosen(call, "changes"));
  const bool result = TRY(chosen(call, "result"));
  const bool has_changes = call.at("changes") != Value(false);
  const Verdict verdict = !call.is_test ? Verdict(result) : has_changes ? Verdict() : Verdict(true);
  const Value& said = call.at("comment");
  const Value comment = call.is_test && is_empty(said) ? Value("This is a test") : said;
  const Value ret = with(ret_of(verdict, ""), "comment", comment);
  return ModuleAnswer{.ret = changes ? with(ret, "changes", pretended()) : ret};
}

/// Answers with its `changes`, `old_state` and `new_state`. If these are not given, the remembered
/// state is the old one, and the changes are those between both.
Answer test_present(const ModuleCall& call) {
  const Value& told = call.at("old_state");
  ModuleAnswer answer =
      TRY(echoed(call, told.is_null() ? call.old_state : told, call.at("new_state")));
  answer.ret = with(answer.ret, "changes", call.at("changes"));
  if (!call.at("force_save").is_null())
    answer.ret = with(answer.ret, "force_save", call.at("force_save"));
  return answer;
}

Answer test_absent(const ModuleCall& call) {
  return echoed(call, call.old_state, call.at("new_state"));
}

/// The remembered state with one or two parameters set.
Answer test_update(const ModuleCall& call) {
  Value after = call.old_state.is_dict() ? call.old_state : Value::dict({});
  for (const char* parameter : {"param_1", "param_2"})
    if (const Value& given = call.at(parameter);
        !given.is_null() || std::string_view(parameter) == "param_1")
      after = with(after, parameter, given);
  return without_contract(echoed(call, call.old_state, after));
}

/// The state in the world: `remote_state` with the wanted values that are not null.
Answer test_present_resource(const ModuleCall& call) {
  Value after = TRY(dict_argument(call, "remote_state"));
  for (const Entry& wanted : TRY(dict_argument(call, "enforce_state")).entries())
    if (!wanted.value.is_null())
      after = with(after, wanted.key.view(), wanted.value);
  return without_contract(echoed(call, call.old_state, after));
}

/// Blocks: an act that waits to be called again holds nobody up, and this one has to be alone.
Answer test_unique_op(const ModuleCall& call) {
  if (!call.is_test && call.world != nullptr && call.world->pause)
    TRY(call.world->pause(2s));
  return ModuleAnswer{.ret = ret_of(unless_test(call, true), "Success!")};
}

Answer test_parallel_state(const ModuleCall& call) { return lasting(call, 1s); }

Answer test_update_low(const ModuleCall& call) {
  ModuleAnswer answer{.ret = ret_of(unless_test(call, true), "Success!")};
  if (!call.is_test)
    answer.adds = Value::dict({{"chunk", Value::dict({{"state", "test"},
                                                      {"fun", "nop"},
                                                      {"__id__", "king_arthur"},
                                                      {"name", "totally_extra_alls"}})}});
  return answer;
}

Answer test_mod_watch(const ModuleCall&) {
  return ModuleAnswer{
      .ret = with(ret_of(true, "Watch ran!"), "changes", Value::dict({{"watch", true}}))};
}

Answer test_acct(const ModuleCall& call) {
  const Value ret = with(ret_of(!is_empty(call.acct), ""), "comment", Value());
  return ModuleAnswer{.ret = with(ret, "new_state", call.acct)};
}

/// States whose result is what they are called.
std::vector<FunctionRow> outcome_rows() {
  return {{"nop", Rest::any, test_nop, "Does nothing and succeeds.", "None"},
          {"anop", Rest::any, test_nop, "The same as `nop`; in Idem it is asynchronous.", "None"},
          {"succeed_with_comment",
           Rest::any,
           test_succeed_with_comment,
           "Succeeds with a comment.",
           as_always,
           {{"comment", "", "the comment"}}},
          {"succeed_without_changes", Rest::any, test_succeed, "Succeeds and changes nothing.",
           as_always},
          {"succeed_with_changes", Rest::any, test_succeed_with_changes,
           "Succeeds with made-up changes.", as_always},
          {"succeed_with_arg_bind",
           Rest::any,
           test_succeed_with_arg_bind,
           "Succeeds and returns its `parameters` as `testing` in its new state.",
           as_always,
           {{"parameters", "null", "what it returns"}}},
          {"none_without_changes", Rest::any, test_none, "Returns None and changes nothing.",
           as_always},
          {"fail_without_changes", Rest::any, test_fail, "Fails and changes nothing.", as_always},
          {"fail_with_changes", Rest::any, test_fail_with_changes, "Fails with made-up changes.",
           as_always},
          {"configurable_test_state",
           Rest::any,
           test_configurable,
           "Has the result and the changes of its arguments.",
           "None when it has changes, else True",
           {{"changes", "true", "true (default), false or `Random`", Shape::outcome},
            {"result", "true", "true (default), false or `Random`", Shape::outcome},
            {"comment", "\"\"", "the comment"}}}};
}

/// States that have a thing that they remember.
std::vector<FunctionRow> thing_rows() {
  const ParameterRow new_state{"new_state", "null", "the new state that it reports"},
      result{"result", "true", "the result that it returns"};
  return {{"present",
           Rest::none,
           test_present,
           "A resource that has the attributes given.",
           as_always,
           {{"old_state", "null", "the old state that it reports (default: what is remembered)"},
            {"changes", "null", "the changes that it reports (default: those between its states)"},
            new_state,
            result,
            {"force_save", "null", "remember the new state even when the state failed"}}},
          {"absent",
           Rest::none,
           test_absent,
           "A resource that does not exist.",
           as_always,
           {new_state, result}},
          {"update",
           Rest::none,
           test_update,
           "Sets parameters in what is remembered.",
           as_always,
           {{"param_1", "", "a parameter"}, {"param_2", "null", "another one"}, result}},
          {"present_resource",
           Rest::none,
           test_present_resource,
           "A resource of a provider: what is there, with what is wanted.",
           as_always,
           {{"enforce_state", "null", "what is wanted, a dictionary", Shape::dict},
            {"remote_state", "null", "what is there, a dictionary", Shape::dict},
            {"resource_id", "null", "the provider's ID of the resource"},
            result}}};
}

/// States that show how a run treats others.
std::vector<FunctionRow> run_rows() {
  return {
      {"unique_op", Rest::any, test_unique_op, "Takes two seconds, one at a time.", "None"},
      {"parallel_state", Rest::any, test_parallel_state,
       "Takes a second; all of them run at the same time.", "None"},
      {"update_low", Rest::any, test_update_low, "Adds a state to the run.", "None"},
      {"mod_watch", Rest::any, test_mod_watch, "What `watch` calls when something changed.",
       as_always},
      {"treq", Rest::any, test_succeed, "Needs every `test.nop` of the run implicitly.", as_always},
      {"acct", Rest::any, test_acct,
       "Returns the credentials that it was given, masked; fails without any.", as_always}};
}

}  // namespace

ModuleRow test_module() {
  std::vector<FunctionRow> rows = outcome_rows();
  std::ranges::move(thing_rows(), std::back_inserter(rows));
  std::ranges::move(run_rows(), std::back_inserter(rows));
  return {"test",          "States for trying out requisites, loops and outputs.",
          std::move(rows), {{"treq", {"test.nop"}}},
          {"unique_op"},   true};
}

}  // namespace fettle::states
