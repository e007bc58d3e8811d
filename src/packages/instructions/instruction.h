#pragma once
/// What the methods of `plan` have in common. To add one: a file here with its row, its
/// declaration and a line in `table.cc`, a chunk in `tests/packages/`.

#include "packages/draft.h"
#include "packages/interpret.h"
#include "packages/sources.h"
#include "plan/overlap.h"
#include "starlark/starlark.h"

namespace fettle {

/// One call of an instruction while a package is interpreted. Arguments have the order of the row's
/// parameters; one that was not given `is_unset()`.
struct InstructionCall {
  Draft& draft;
  starlark::Thread& thread;
  Sources& sources;
  const Locator& module;  ///< the file that the call stands in
  std::span<const starlark::Value> arguments;

  bool has(size_t i) const;  ///< given, and not None
  std::string text(size_t i, std::string_view otherwise = {}) const;
  bool flag(size_t i) const;
  /// An argument as attributes, with holes. Null: it was not given.
  Result<Value> plain(size_t i) const;
  /// `acceptable_codes`: a list of whole numbers.
  Result<Value> codes(size_t i) const;
};

/// The known outputs of a resource. An empty dict: there are none.
const Outputs& outputs_of(const Key& key, const Known& known);

/// A statement that has ended, for its result line.
struct EndedStatement {
  const Statement& statement;
  const Known& known;
  Novelty made;    ///< whether what it makes was there before
  size_t created;  ///< how many of its services were not there before

  /// The outputs of its first key of a kind. An empty dict: there are none.
  const Outputs& outputs(std::string_view kind) const;
  bool has(std::string_view kind) const;
  std::string_view detail(std::string_view name) const { return statement.detail.text_at(name); }
};

struct Instruction {
  std::string name;
  std::vector<starlark::Parameter> parameters;  ///< `description?` is added to each
  Result<starlark::Value> (*interpret)(InstructionCall& call);
  /// The text for people, if the script gives no description.
  std::string (*describe)(const Value& arguments);
  /// The line that scripts read when it has ended, byte for byte as Kurtosis prints it; null: the
  /// message that it told.
  std::string (*result)(const EndedStatement& ended) = nullptr;
  OverlapRule overlap{};  ///< for `--resolver overlap`
};

/// Every instruction, in the order of the manual.
const std::vector<Instruction>& instructions();
/// The instruction of a name. Null: there is none.
const Instruction* find_instruction(std::string_view name);
/// The rule of a type of instruction; of an unknown one, that of `print`.
const OverlapRule& overlap_rule(std::string_view type);
/// A service that a command added, as the resolver sees it.
ListedInstruction listed_service(std::string_view name, const Value& config);

/// The result line of what makes a files artifact from files that exist.
std::string stored_files_line(const EndedStatement& ended);

}  // namespace fettle
