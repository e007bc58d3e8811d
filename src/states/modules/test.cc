/// `test.*`: states that pretend.

#include "base/text.h"
#include "states/modules/functions.h"

namespace fettle::states {
namespace {

/// What they pretend to have changed.
Value pretended() {
  return Value::dict(
      {{"testing", Value::dict({{"old", "Unchanged"}, {"new", "Something pretended to change"}})}});
}

/// Unknown in test mode.
Verdict unless_test(const ModuleCall& call, bool result) {
  return call.is_test ? Verdict() : Verdict(result);
}

/// True, false, or drawn when the argument is `Random`.
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

/// Takes so long, without holding anybody up.
ModuleAnswer lasting(const ModuleCall& call, Duration time) {
  if (call.is_test)
    return {.ret = ret_of({}, "Success!")};
  if (call.so_far.is_null())
    return {.ret = {}, .again = time, .so_far = Value::dict({{"begun", true}})};
  return {.ret = ret_of(true, "Success!")};
}

}  // namespace

Answer test_nop(const ModuleCall& call) {
  return ModuleAnswer{.ret = ret_of(unless_test(call, true), "Success!")};
}

Answer test_succeed_with_comment(const ModuleCall& call) {
  return ModuleAnswer{.ret =
                          with(ret_of(unless_test(call, true), ""), "comment", call.at("comment"))};
}

Answer test_succeed_with_changes(const ModuleCall& call) {
  const Value ret = with(ret_of(unless_test(call, true), "Success!"), "changes", pretended());
  return ModuleAnswer{.ret = with(ret, "new_state", pretended())};
}

Answer test_succeed_with_arg_bind(const ModuleCall& call) {
  return ModuleAnswer{.ret = with(ret_of(unless_test(call, true), "Success!"), "new_state",
                                  Value::dict({{"testing", call.at("parameters")}}))};
}

Answer test_none(const ModuleCall&) { return ModuleAnswer{.ret = ret_of({}, "Success!")}; }

Answer test_fail(const ModuleCall& call) {
  return ModuleAnswer{.ret = ret_of(unless_test(call, false), "Failure!")};
}

Answer test_fail_with_changes(const ModuleCall& call) {
  return ModuleAnswer{
      .ret = with(ret_of(unless_test(call, false), "Failure!"), "changes", pretended())};
}

Answer test_configurable(const ModuleCall& call) {
  const bool changes = TRY(chosen(call, "changes"));
  const bool result = TRY(chosen(call, "result"));
  const Verdict verdict = !call.is_test ? Verdict(result) : changes ? Verdict() : Verdict(true);
  const Value ret = with(ret_of(verdict, ""), "comment", call.at("comment"));
  return ModuleAnswer{.ret = changes ? with(ret, "changes", pretended()) : ret};
}

Answer test_echo(const ModuleCall& call) {
  const Value& told = call.at("old_state");
  const Value& before = told.is_null() ? call.old_state : told;
  const Value& after = call.at("new_state");
  const Value& given = call.at("result");
  if (!given.is_bool() && !given.is_null())
    return user_error(cat("`result` must be true, false or null, not ", to_text(given)));
  const bool changes = before != after;
  const Verdict verdict =
      given.is_null() || (call.is_test && changes) ? Verdict() : Verdict(given.boolean());
  Value ret = ret_of(verdict, "", before, after);
  if (!call.at("force_save").is_null())
    ret = with(ret, "force_save", call.at("force_save"));
  return ModuleAnswer{.ret = ret};
}

/// Blocks: what waits to be called again holds nobody up, and this one is to be alone.
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
                                                      {"name", "king_arthur"}})}});
  return answer;
}

Answer test_mod_watch(const ModuleCall& call) {
  return ModuleAnswer{.ret = with(ret_of(unless_test(call, true), "Watch ran!"), "changes",
                                  Value::dict({{"watch", true}}))};
}

Answer test_acct(const ModuleCall& call) {
  return ModuleAnswer{
      .ret = with(ret_of(unless_test(call, true), "Success!"), "new_state", call.acct)};
}

}  // namespace fettle::states
