#pragma once
/// A project on disk: `project.yml`, the main file, and the modules on its module path.
///
/// A module `a` is a folder with the model in `model/_init.cf` (namespace `a`), `model/b.cf` or
/// `model/b/_init.cf` (namespace `a::b`). Both upstream layouts are found:
///   V1  `libs/a/module.yml`, `libs/a/model/`, `libs/a/plugins/`
///   V2  `libs/x/setup.cfg` or `pyproject.toml` that names `inmanta-module-a`, with `model/` and
///       `inmanta_plugins/a/` beside it; or installed as `inmanta_plugins/a/model/` in the active
///       environment of Python (`$VIRTUAL_ENV`), in `.env` of the project, or in the project. One
///       that an environment has hides those on the module path.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "value/value.h"

namespace fettle::model {

struct Module {
  std::string name;
  Path folder;   ///< with `templates/` and `files/`
  Path model;    ///< with `_init.cf`
  Path plugins;  ///< where its plugins are; may not exist
  Path hides{};  ///< the folder of another one of that name, which is not used; may be empty
};

struct Project {
  Path folder;  ///< of `project.yml`; without one the folder of the main file
  bool has_file = false;
  Path main;              ///< `main.cf`
  std::string main_name;  ///< the main file as errors print it
  std::string name;
  std::vector<Path> module_path;
  std::vector<std::string> needs;       ///< `requires`
  std::vector<std::string> precedence;  ///< `relation_precedence_policy`, `A.r before B.s`
  Value settings;                       ///< all of `project.yml`

  /// The module of that name; none when no folder has it.
  std::optional<Module> find_module(std::string_view module_name) const;
  /// The same, without those that are installed in an environment of Python.
  std::optional<Module> module_on_path(std::string_view module_name) const;
};

/// Checks that a module is described as it has to be: one with the first layout needs a
/// `module.yml` with its name, version and license. Error (`Blame::user`): what is wrong with it.
Status check_module(const Module& module);

/// The project of a main file: `project.yml` is looked for in its folder and above. Without one,
/// the file stands alone. `-` is standard input, in the working folder. Errors (`Blame::user`): a
/// wrong `project.yml`.
Result<Project> project_of(const std::string& main_file);

/// Whether a folder, or one above it, has a `project.yml`.
bool is_in_project(const Path& folder);

/// The project around a folder, with its `main.cf`. Error (`Blame::user`): there is none.
Result<Project> project_around(const Path& folder);

/// Makes `project.yml`, `main.cf` and `libs/` in the folder. The model has a file of this machine
/// and a container of the image. Error: one of them exists.
Status make_project(const Path& folder, std::string_view name, std::string_view image);

}  // namespace fettle::model
