#include "base/text.h"
#include "packages/instructions/instruction.h"

namespace fettle {
namespace {

Result<starlark::Value> interpret_get_files_artifact(InstructionCall& call) {
  const std::string name = call.text(0);
  call.draft.need_artifact(name);
  Resource& told =
      call.draft.add("print", call.draft.action_name(name),
                     Value::dict({{"message", cat("Fetched files artifact '", name, "'")}}));
  told.driver = "host";
  return call.thread.heap().text(name);
}

}  // namespace

Instruction get_files_artifact_instruction() {
  return {"get_files_artifact",
          {{"name", starlark::Want::text}},
          interpret_get_files_artifact,
          [](const Value& arguments) {
            return cat("Fetching files artifact '", arguments.text_at("name"), "'");
          },
          nullptr,
          {.depends_on = OverlapRule::DependsOn::mounts, .reads_its_artifact = true}};
}

}  // namespace fettle
