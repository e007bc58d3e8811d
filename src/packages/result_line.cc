/// The lines that scripts read, byte for byte as Kurtosis prints them. Each instruction makes its
/// own (`Instruction::result`); what they share is here.

#include "base/text.h"
#include "kinds/artifact.h"
#include "kinds/print.h"
#include "packages/instructions/instruction.h"
#include "value/starlark_text.h"

namespace fettle {
namespace {

constexpr size_t longest_line = 64 << 10;

}  // namespace

const Outputs& outputs_of(const Key& key, const Known& known) {
  static const Outputs none = Value::dict({});
  const auto found = known.find(key);
  return found == known.end() ? none : found->second->outputs;
}

const Outputs& EndedStatement::outputs(std::string_view kind) const {
  static const Outputs none = Value::dict({});
  for (const Key& key : statement.keys)
    if (key.kind == kind)
      return outputs_of(key, known);
  return none;
}

bool EndedStatement::has(std::string_view kind) const {
  return std::ranges::any_of(statement.keys, [&](const Key& key) { return key.kind == kind; });
}

/// Files that were there before are updated, or found to be the same.
std::string stored_files_line(const EndedStatement& ended) {
  const std::string name = cat("Files with artifact name '", ended.detail("artifact"), "' ");
  const Name uuid = read_one<&ArtifactOutputs::uuid>(ended.outputs("artifact"));
  switch (ended.made) {
    case Novelty::changed:
      return cat(name, "with artifact UUID '", uuid, "' updated");
    case Novelty::the_same:
      return cat(name, "resolved with artifact UUID '", uuid, "' as content were matching");
    case Novelty::anew:
      break;
  }
  return cat(name, "uploaded with artifact UUID '", uuid, "'");
}

std::string result_line(const Statement& statement, const Known& known, Novelty made,
                        size_t created) {
  const Instruction* const instruction = find_instruction(statement.name);
  const EndedStatement ended{statement, known, made, created};
  std::string line = instruction != nullptr && instruction->result != nullptr
                         ? instruction->result(ended)
                         : starlark_text(read_one<&Message::message>(ended.outputs("print")));
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
