#include "packages/instructions/instruction.h"

namespace fettle {
namespace {

/// A text is printed as it is, everything else as Starlark shows it.
Result<starlark::Value> interpret(InstructionCall& call) {
  const Value message = call.draft.references.text_with_holes(starlark::str_of(call.arguments[0]));
  Resource& print =
      call.draft.add("print", call.draft.action_name(""), Value::dict({{"message", message}}));
  print.driver = "host";
  return starlark::Value::none();
}

}  // namespace

Instruction print_instruction() {
  return {"print", {{"msg", starlark::Want::any}}, interpret, [](const Value&) {
            return std::string("Printing a message");
          }};
}

}  // namespace fettle
