#include "base/text.h"
#include "kinds/artifact.h"
#include "kinds/kinds.h"
#include "packages/instructions/recipe.h"
#include "packages/names.h"

namespace fettle {
namespace {

Result<starlark::Value> interpret_store_service_files(InstructionCall& call) {
  Draft& draft = call.draft;
  const std::string service_name = service_argument(call, 0), path = call.text(1);
  const std::string name = call.has(2) ? call.text(2) : draft.unnamed_artifact();
  if (Status fine = check_artifact_name(name); !fine)
    draft.finding(fine.error().message);
  if (path.empty())
    draft.finding("the path to store is empty");
  else if (!path.starts_with('/'))
    draft.finding(cat("the path to store, `", printable(path), "`, is not absolute"));
  const ServiceState* service = draft.need_service(service_name);
  draft.detail("artifact", name);
  Artifact copied;
  copied.source = "service";
  copied.service = service == nullptr ? Name() : service->key.name;
  copied.path = path;
  Resource& artifact = draft.make_artifact(name, copied, Author::maker);
  if (service != nullptr)
    draft.inside(artifact, *service);
  return call.thread.heap().text(name);
}

}  // namespace

Instruction store_service_files_instruction() {
  return {"store_service_files",
          {{"service_name", starlark::Want::text},
           {"src", starlark::Want::text},
           {"name??", starlark::Want::text},
           {"depends_on??", starlark::Want::any}},
          interpret_store_service_files,
          [](const Value& arguments) {
            return cat("Storing files from service '", arguments.text_at("service_name"),
                       "' at path '", arguments.text_at("src"), "' to files artifact with name '",
                       arguments.text_at("name"), "'");
          },
          stored_files_line,
          {.identity = OverlapRule::Identity::artifacts,
           .depends_on = OverlapRule::DependsOn::services}};
}

}  // namespace fettle
