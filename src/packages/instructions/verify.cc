#include "kinds/verify.h"
#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/recipe.h"
#include "packages/instructions/instruction.h"
#include "value/starlark_text.h"

namespace fettle {
namespace {

Result<starlark::Value> interpret_verify(InstructionCall& call) {
  const std::string assertion = call.text(1);
  TRY(check_assertion_name(assertion));
  const Value target = TRY(call.plain(2));
  if ((assertion == "IN" || assertion == "NOT_IN") && !target.is_list())
    return user_error(cat("`", assertion, "` needs a list as its target value, got ",
                          starlark::type_name(call.arguments[2])));
  const Verify wanted{TRY(call.plain(0)), assertion, target};
  Resource& verify = call.draft.add("verify", call.draft.action_name(""), write(wanted));
  verify.driver = "host";
  return starlark::Value::none();
}

Instruction make(std::string name) {
  return {std::move(name),
          {{"value", starlark::Want::text},
           {"assertion", starlark::Want::text},
           {"target_value", starlark::Want::any}},
          interpret_verify,
          [](const Value& arguments) {
            return cat("Verifying whether two values meet a certain condition '",
                       arguments.text_at("assertion"), "'");
          },
          [](const EndedStatement& ended) {
            return cat("Verification succeeded. Value is '",
                       starlark_text(read<VerifyOutputs>(ended.outputs("verify")).value), "'.");
          }};
}

}  // namespace

Instruction verify_instruction() { return make("verify"); }
/// The former name of `verify`.
Instruction assert_instruction() { return make("assert"); }

}  // namespace fettle
