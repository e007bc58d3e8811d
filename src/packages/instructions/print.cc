#include "packages/instructions/instruction.h"

#include "kinds/print.h"

namespace fettle {
namespace {

/// A text is printed as it is, everything else as Starlark shows it.
Result<starlark::Value> interpret_print(InstructionCall& call) {
  const std::string text = TRY(starlark::str_of(call.thread, call.arguments[0]));
  const Value message = call.draft.references.text_with_holes(text);
  Resource& print = call.draft.add("print", call.draft.action_name(""), write(Message{message}));
  print.driver = "host";
  return starlark::Value::none();
}

}  // namespace

Instruction print_instruction() {
  return {"print", {{"msg", starlark::Want::any}}, interpret_print, [](const Value&) {
            return std::string("Printing a message");
          }};
}

}  // namespace fettle
