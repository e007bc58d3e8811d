#include "states/builtins.h"

#include <algorithm>

#include "value/json.h"

namespace fettle::states {
namespace {

const std::vector<ModuleRow>& module_rows() {
  static const std::vector<ModuleRow> rows{
      test_module(), cmd_module(),  file_module(),    container_module(), http_module(),
      time_module(), data_module(), trigger_module(), template_module(),  render_module(),
      exec_module(), sls_module(),  acct_module(),
  };
  return rows;
}

Module module_of(const ModuleRow& row) {
  Module made{row.ref, std::string(row.text), {}, row.implied, row.unique, Value()};
  made.providers.push_back(row.ref);
  made.is_instant = row.is_instant;
  for (const FunctionRow& function : row.functions) {
    Function& added = made.functions.emplace_back(Function{function.name,
                                                           std::string(function.text),
                                                           {},
                                                           function.rest == Rest::any,
                                                           std::string(function.test_mode)});
    for (const ParameterRow& parameter : function.parameters)
      added.parameters.push_back({parameter.name,
                                  parameter.otherwise.empty()
                                      ? std::nullopt
                                      : std::optional(*read_json(parameter.otherwise)),
                                  std::string(parameter.text), parameter.shape});
  }
  return made;
}

}  // namespace

const ModuleRow* find_builtin(std::string_view state) {
  const auto found = std::ranges::find(module_rows(), state, &ModuleRow::ref);
  return found == module_rows().end() ? nullptr : &*found;
}

const FunctionRow* find_builtin(std::string_view state, std::string_view function) {
  const ModuleRow* module = find_builtin(state);
  if (module == nullptr)
    return nullptr;
  const auto found = std::ranges::find(module->functions, function, &FunctionRow::name);
  return found == module->functions.end() ? nullptr : &*found;
}

const Catalogue& builtin_states() {
  static const std::unique_ptr<Catalogue> catalogue = [] {
    std::vector<Module> modules;
    for (const ModuleRow& row : module_rows())
      modules.push_back(module_of(row));
    return catalogue_of(std::move(modules));
  }();
  return *catalogue;
}

}  // namespace fettle::states
