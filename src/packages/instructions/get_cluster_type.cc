#include "base/text.h"
#include "packages/instructions/instruction.h"

namespace fettle {
namespace {

/// Docker and Podman are one to a package.
constexpr std::string_view cluster_type = "docker";

Result<starlark::Value> interpret_get_cluster_type(InstructionCall& call) {
  Resource& told =
      call.draft.add("print", call.draft.action_name("cluster"),
                     Value::dict({{"message", cat("Fetched cluster type '", cluster_type, "'")}}));
  told.driver = "host";
  return call.thread.heap().text(cluster_type);
}

}  // namespace

Instruction get_cluster_type_instruction() {
  return {"get_cluster_type", {}, interpret_get_cluster_type, [](const Value&) {
            return std::string("Fetching cluster type");
          }};
}

}  // namespace fettle
