#include "kinds/state.h"

#include "core/open_payload.h"
#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {

const Members& StateInvocation::members() {
  static const Members all{
      required<&StateInvocation::state>("state", "where the function is, as `cloud.vpc`"),
      required<&StateInvocation::function>("function", "`present`"),
      required<&StateInvocation::id>("id", "its declaration"),
      required<&StateInvocation::name>("name", "text"),
      member<&StateInvocation::arguments>("arguments", "{parameter: value}"),
      member<&StateInvocation::settings>("settings", "checks and conditions around the call"),
      member<&StateInvocation::failure>(
          "failure", "a text with which it fails instead of being called, or empty")};
  return all;
}

const Members& StateOutputs::members() {
  static const Members all{
      given<&StateOutputs::new_state>("new_state", "any"),
      given<&StateOutputs::old_state>("old_state", "any"),
      given<&StateOutputs::changes>("changes", "{\"old\", \"new\"}"),
      given<&StateOutputs::result>("result", "true, false or null"),
      given<&StateOutputs::comment>("comment", "text, or [text]"),
      given<&StateOutputs::rerun_data>("rerun_data", "given to the next call"),
      given<&StateOutputs::memory>("memory", "the memory, if it is not the new state"),
      extra<&StateOutputs::called>("called",
                                   "{\"name\", \"resource_id\"} where a removal needs them"),
      extra<&StateOutputs::is_held>("held", "its conditions kept it from being called"),
      extra<&StateOutputs::replaced>("replaced", "[old state that it has replaced]"),
      extra<&StateOutputs::removed>("removed", "[old state that it has removed]")};
  return all;
}

Value remembered(const Outputs& outputs) {
  Value memory = read_one<&StateOutputs::memory>(outputs);
  return memory.is_null() ? read_one<&StateOutputs::new_state>(outputs) : memory;
}

bool has_unknown_result(const Outputs& outputs) {
  const Value* const result = dict_of(outputs).find("result");
  return result != nullptr && result->is_null();
}

const Members& CalledAs::members() {
  static const Members all{given<&CalledAs::name>("name", "text"),
                           given<&CalledAs::resource_id>("resource_id", "any")};
  return all;
}

const TypedKind& state_kind() {
  static const KindOf<StateInvocation, StateOutputs> kind("state", Sort::ensuring);
  return kind;
}

}  // namespace fettle
