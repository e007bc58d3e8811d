#include "base/text.h"
#include "packages/instructions/instruction.h"
#include "packages/service_config.h"

namespace fettle {

// Each has a file.
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

const std::vector<Instruction>& instructions() {
  static const std::vector<Instruction> all{add_service_instruction(),
                                            add_services_instruction(),
                                            get_service_instruction(),
                                            get_services_instruction(),
                                            set_service_instruction(),
                                            remove_service_instruction(),
                                            start_service_instruction(),
                                            stop_service_instruction(),
                                            exec_instruction(),
                                            request_instruction(),
                                            wait_instruction(),
                                            verify_instruction(),
                                            assert_instruction(),
                                            print_instruction(),
                                            upload_files_instruction(),
                                            render_templates_instruction(),
                                            store_service_files_instruction(),
                                            get_files_artifact_instruction(),
                                            run_sh_instruction(),
                                            run_python_instruction(),
                                            get_cluster_type_instruction()};
  return all;
}

const Instruction* find_instruction(std::string_view name) {
  const auto found = std::ranges::find(instructions(), name, &Instruction::name);
  return found == instructions().end() ? nullptr : &*found;
}

const OverlapRule& overlap_rule(std::string_view type) {
  static const OverlapRule plain;
  const Instruction* const instruction = find_instruction(type);
  return instruction == nullptr ? plain : instruction->overlap;
}

bool InstructionCall::has(size_t i) const {
  return !arguments[i].is_unset() && starlark::type_of(arguments[i]) != starlark::Type::none;
}

std::string InstructionCall::text(size_t i, std::string_view otherwise) const {
  return std::string(has(i) ? starlark::text_of(arguments[i]) : otherwise);
}

bool InstructionCall::flag(size_t i) const { return has(i) && starlark::truth_of(arguments[i]); }

Result<Value> InstructionCall::plain(size_t i) const {
  return has(i) ? TRY(plain_with_holes(draft, thread, arguments[i])) : Value();
}

Result<Value> InstructionCall::codes(size_t i) const {
  const Value codes = TRY(plain(i));
  if (codes.is_list())
    for (size_t n = 0; n < codes.items().size(); ++n)
      if (!codes.items()[n].is_integer())
        return user_error(cat("`acceptable_codes` must be a list of whole numbers, item ", n,
                              " is ", starlark::type_name(starlark::item_of(arguments[i], n))));
  return codes;
}

}  // namespace fettle
