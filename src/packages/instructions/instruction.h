#pragma once
/// What the methods of `plan` have in common. To add one: a file here with its row, a line in
/// `table.cc`, a chunk in `tests/packages/`.

#include "packages/draft.h"
#include "packages/sources.h"
#include "starlark/starlark.h"

namespace fettle {

/// One call of an instruction while a package is interpreted. Arguments stand in the order of the
/// row's parameters; `is_unset()` where none was given.
struct InstructionCall {
  Draft& draft;
  starlark::Thread& thread;
  Sources& sources;
  const Locator& module;  ///< the file that the call stands in
  std::span<const starlark::Value> arguments;

  bool has(size_t i) const;  ///< given, and not None
  std::string text(size_t i, std::string_view otherwise = {}) const;
  bool flag(size_t i) const;
  /// As attributes: with holes; null when it was not given.
  Result<Value> plain(size_t i) const;
  /// `acceptable_codes`: a list of whole numbers.
  Result<Value> codes(size_t i) const;
};

struct Instruction {
  std::string name;
  std::vector<starlark::Parameter> parameters;  ///< `description?` is added to each
  Result<starlark::Value> (*interpret)(InstructionCall& call);
  /// What a person reads when the script gives no description.
  std::string (*describe)(const Value& arguments);
};

/// Every instruction, in the order of the manual.
const std::vector<Instruction>& instructions();

Instruction add_service_instruction();
Instruction add_services_instruction();
Instruction get_service_instruction();
Instruction get_services_instruction();
Instruction set_service_instruction();
Instruction remove_service_instruction();
Instruction start_service_instruction();
Instruction stop_service_instruction();
Instruction exec_instruction();
Instruction request_instruction();
Instruction wait_instruction();
Instruction verify_instruction();
Instruction assert_instruction();
Instruction print_instruction();
Instruction upload_files_instruction();
Instruction render_templates_instruction();
Instruction store_service_files_instruction();
Instruction get_files_artifact_instruction();
Instruction run_sh_instruction();
Instruction run_python_instruction();
Instruction get_cluster_type_instruction();

}  // namespace fettle
