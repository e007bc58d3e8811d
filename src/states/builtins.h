#pragma once
/// The states that ship: a module says what its functions are called and take, and what does each.
/// To add a state: a row in the module's function, and beside it what does it. To add a module: a
/// function below, and its call in `builtins.cc`.

#include <string_view>
#include <variant>
#include <vector>

#include "states/catalogue.h"
#include "states/modules/module.h"
#include "states/types.h"

namespace fettle::states {

struct ParameterRow {
  std::string_view name;
  std::string_view otherwise;  ///< JSON; empty: required
  std::string_view text;
  Shape shape = Shape::any;
};

enum class Rest : bool { none, any };

struct FunctionRow {
  std::string_view name;
  Rest rest;
  /// A call that is made, or the kind of the engine that it is a matter of.
  std::variant<Result<ModuleAnswer> (*)(const ModuleCall& call), MappedState> act;
  std::string_view text;
  std::string_view test_mode;
  std::vector<ParameterRow> parameters{};
};

struct ModuleRow {
  std::string_view ref;
  std::string_view text;
  std::vector<FunctionRow> functions;
  std::vector<ImpliedNeeds> implied{};
  std::vector<Name> unique{};
  bool is_instant = false;
};

// What `--test` answers.
inline constexpr std::string_view would_change = "None, with the changes that it would make";
inline constexpr std::string_view as_always = "the same as without";

// types.cc
ModuleRow cmd_module();
ModuleRow file_module();
ModuleRow container_module();
// modules/test.cc
ModuleRow test_module();
// modules/http.cc
ModuleRow http_module();
// modules/run.cc: what concerns the rest of the run
ModuleRow time_module();
ModuleRow render_module();
ModuleRow sls_module();
ModuleRow acct_module();
// modules/write.cc: what values and templates come to
ModuleRow data_module();
ModuleRow trigger_module();
ModuleRow template_module();
// modules/call.cc
ModuleRow exec_module();

/// None: there is no such function.
const FunctionRow* find_builtin(std::string_view state, std::string_view function);

/// None: there is no such module.
const ModuleRow* find_builtin(std::string_view state);

}  // namespace fettle::states
