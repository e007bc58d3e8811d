#include "packages/instructions/recipe.h"

#include "base/text.h"
#include "kinds/kinds.h"

namespace fettle {

starlark::Value result_value(InstructionCall& call, const Key& key, const Value& recipe) {
  starlark::HeapAccess heap = call.thread.heap();
  std::vector<std::string> names{"code", recipe.text_at("type") == "exec" ? "output" : "body"};
  if (const Value& extract = recipe.at("extract"); extract.is_dict())
    for (const Entry& entry : extract.entries())
      names.push_back(cat("extract.", entry.key));
  std::vector<starlark::Named> entries;
  for (const std::string& name : names)
    entries.push_back({name, heap.text(call.draft.references.to(key, name))});
  return heap.dict(entries);
}

std::string service_argument(InstructionCall& call, size_t i) {
  return call.draft.references.with_host_names(call.text(i));
}

}  // namespace fettle
