/// The lines that scripts read, byte for byte as Kurtosis prints them.

#include "base/text.h"
#include "kinds/kinds.h"
#include "packages/interpret.h"
#include "value/json.h"
#include "value/starlark_text.h"

namespace fettle {
namespace {

constexpr size_t longest_line = 64 << 10;

const Value& outputs(const Key& key, const Known& known) {
  static const Value none = Value::dict({});
  const auto found = known.find(key);
  return found == known.end() ? none : found->second->outputs;
}

bool has(const Statement& statement, std::string_view kind) {
  return std::any_of(statement.keys.begin(), statement.keys.end(),
                     [&](const Key& key) { return key.kind == kind; });
}

/// What the last key of a statement of a kind put out.
const Value& outputs_of(const Statement& statement, std::string_view kind, const Known& known) {
  static const Value none = Value::dict({});
  for (const Key& key : statement.keys)
    if (key.kind == kind)
      return outputs(key, known);
  return none;
}

std::string exec_line(const Value& result) {
  const std::string code = to_text(result.at("code")), output = to_text(result.at("output"));
  if (output.empty())
    return cat("Command returned with exit code '", code, "' with no output");
  if (output.find('\n') == output.npos)
    return cat("Command returned with exit code '", code, "' and the following output: ", output);
  const std::string rule(20, '-');
  return cat("Command returned with exit code '", code, "' and the following output:\n", rule, "\n",
             output, "\n", rule);
}

std::string request_line(const Value& result) {
  std::string line = cat("Request had response code '", to_text(result.at("code")), "' and body ",
                         write_json(to_text(result.at("body"))));
  if (const Value& extract = result.at("extract");
      extract.is_dict() && !extract.entries().empty()) {
    line += ", with extracted fields:";
    for (const Entry& entry : extract.entries())
      line += cat("\n'extract.", entry.key, "': ", starlark_repr(entry.value));
  }
  return line;
}

std::string wait_line(const Value& result) {
  const std::string recipe =
      result.find("body") != nullptr ? request_line(result) : exec_line(result);
  return cat("Wait took ", to_text(result.at("tries")), " tries (", to_text(result.at("duration")),
             " in total). Assertion passed with following:\n", recipe);
}

/// Kurtosis: the heading counts the new services only, and all are listed.
std::string services_line(const Statement& statement, const Known& known, size_t created) {
  std::string line = cat("Successfully added the following '", created, "' services:");
  for (const Key& key : statement.keys)
    if (key.kind == "service")
      line += cat("\n  Service '", service_name(key), "' added with UUID '",
                  outputs(key, known).text_at("uuid"), "'");
  return line;
}

/// Files that were there before are updated, or found to be the same.
std::string files_line(std::string_view artifact, std::string_view uuid, Made made) {
  const std::string name = cat("Files with artifact name '", artifact, "' ");
  switch (made) {
    case Made::changed:
      return cat(name, "with artifact UUID '", uuid, "' updated");
    case Made::the_same:
      return cat(name, "resolved with artifact UUID '", uuid, "' as content were matching");
    case Made::anew:
      break;
  }
  return cat(name, "uploaded with artifact UUID '", uuid, "'");
}

std::string full_line(const Statement& statement, const Known& known, Made made, size_t created) {
  const std::string_view name = statement.name, service = statement.detail.text_at("service");
  const std::string_view artifact = statement.detail.text_at("artifact");
  const auto uuid = [&](std::string_view kind) {
    return outputs_of(statement, kind, known).text_at("uuid");
  };
  if (name == "add_service")
    return cat("Service '", service, "' added with service UUID '", uuid("service"), "'");
  if (name == "add_services")
    return services_line(statement, known, created);
  if (name == "set_service")
    return cat("Set service config on service '", service, "'.");
  if (name == "remove_service")
    return cat("Service '", service, "' with service UUID '",
               uuid(has(statement, "remove") ? "remove" : "service"), "' removed");
  if (name == "start_service")
    return cat("Service '", service, "' started");
  if (name == "stop_service")
    return cat("Service '", service, "' stopped");
  if (name == "exec")
    return exec_line(outputs_of(statement, "exec", known));
  if (name == "run_sh" || name == "run_python")
    return exec_line(outputs_of(statement, "task", known));
  if (name == "request")
    return request_line(outputs_of(statement, "request", known));
  if (name == "wait")
    return wait_line(outputs_of(statement, "wait", known));
  if (name == "verify" || name == "assert")
    return cat("Verification succeeded. Value is '",
               starlark_text(outputs_of(statement, "verify", known).at("value")), "'.");
  if (name == "upload_files" || name == "store_service_files")
    return files_line(artifact, uuid("artifact"), made);
  if (name == "render_templates")
    return cat("Templates artifact name '", artifact, "' rendered with artifact UUID '",
               uuid("artifact"), "'");
  return starlark_text(outputs_of(statement, "print", known).at("message"));
}

}  // namespace

std::string result_line(const Statement& statement, const Known& known, Made made, size_t created) {
  std::string line = full_line(statement, known, made, created);
  if (line.size() > longest_line) {
    line.resize(longest_line);
    while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xC0) == 0x80)
      line.pop_back();
    line += "...";
  }
  return line;
}

std::string description_of(const Statement& statement) {
  return std::string(statement.detail.text_at("description"));
}

}  // namespace fettle
