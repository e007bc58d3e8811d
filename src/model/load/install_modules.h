#pragma once
/// Installs what the modules of a project need in its environment of Python. Nothing else fetches
/// modules: a compile only says what is missing.

#include "base/process.h"
#include "model/project/project.h"

namespace fettle::model {

struct InstallPlan {
  Path environment;                      ///< the folder; the active one, else `.env` of the project
  std::string creator{};                 ///< the interpreter that makes it; empty: it is there
  std::vector<std::string> arguments{};  ///< of `pip install`; empty: nothing is needed
  std::vector<std::string> constraints{};  ///< lines of a file of constraints
};

/// What is to be installed: the requirements of the project and of its modules, modules of the
/// second layout, and those that nothing has: what `project.yml` requires and `main.cf` imports.
/// `requires` of `project.yml` limits the versions.
InstallPlan plan_install(const Project& project);

/// Does it. `show` gets what pip prints. Errors (`Blame::world`): there is no interpreter, or pip
/// failed, with its last lines.
Status install_modules(const InstallPlan& plan, const ByteSink& show, std::stop_token stop);

}  // namespace fettle::model
