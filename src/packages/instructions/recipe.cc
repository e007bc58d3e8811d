#include "packages/instructions/recipe.h"

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/recipe.h"
#include "value/json.h"
#include "value/starlark_text.h"

namespace fettle {

starlark::Value result_value(InstructionCall& call, const Key& key, const Value& recipe) {
  starlark::HeapAccess heap = call.thread.heap();
  std::vector<std::string> names{"code", recipe.text_at("type") == "exec" ? "output" : "body"};
  if (const Value& extract = recipe.at("extract"); extract.is_dict())
    for (const Entry& entry : extract.entries())
      names.push_back(cat("extract.", entry.key));
  std::vector<starlark::NamedValue> entries;
  for (const std::string& name : names)
    entries.push_back({name, heap.text(call.draft.references.to(key, name))});
  return heap.dict(entries);
}

std::string exec_line(const Outputs& outputs) {
  const ExecOutputs result = read<ExecOutputs>(outputs);
  const std::string code = std::to_string(result.code), output = to_text(result.output);
  if (output.empty())
    return cat("Command returned with exit code '", code, "' with no output");
  if (output.find('\n') == output.npos)
    return cat("Command returned with exit code '", code, "' and the following output: ", output);
  const std::string rule(20, '-');
  return cat("Command returned with exit code '", code, "' and the following output:\n", rule, "\n",
             output, "\n", rule);
}

std::string request_line(const Outputs& outputs) {
  const RequestOutputs result = read<RequestOutputs>(outputs);
  std::string line = cat("Request had response code '", result.code, "' and body ",
                         write_json(to_text(result.body)));
  if (!result.extract.empty()) {
    line += ", with extracted fields:";
    for (const Entry& entry : result.extract.entries())
      line += cat("\n'extract.", entry.key, "': ", starlark_repr(entry.value));
  }
  return line;
}

std::string service_argument(InstructionCall& call, size_t i) {
  return call.draft.references.with_host_names(call.text(i));
}

}  // namespace fettle
