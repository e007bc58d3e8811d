/// Plugins for the files of modules. The first step of a path is the module; `./` is the one that
/// calls.

#include "base/file.h"
#include "base/text.h"
#include "model/std/groups.h"
#include "model/std/places.h"

namespace fettle::model {
namespace {

/// The file or folder that `path` names below `kind` (`files`, `templates`) of its module.
bool locate(PluginCall& call, std::string_view kind, Path& found) {
  const Program& program = call.context.program();
  const std::string_view path = call.text(0);
  const size_t slash = path.find('/');
  std::string module(path.substr(0, slash));
  if (path.empty() || slash == 0) {
    found = program.folder / kind / path.substr(path.empty() ? 0 : 1);
    return true;
  }
  if (module == ".") {
    module = module_of(program, call.node.at.file);
    if (module == "__config__")
      return call.fail(cat("Exception: Unable to determine current module for path ", path,
                           ", called from __config__"));
  }
  const Module* const found_module = find_module(program, module);
  if (found_module == nullptr)
    return call.fail(cat("Exception: Module ", module, " does not exist for path ", path));
  const Path rest = slash == path.npos ? Path() : Path(path.substr(slash + 1));
  for (const Path& step : rest)
    if (step == "..")
      return call.fail(cat("Exception: ", path, " leaves the folder of its module"));
  found = found_module->folder / kind / rest;
  return true;
}

bool source(PluginCall& call) {
  Path file;
  if (!locate(call, "files", file))
    return false;
  if (!std::filesystem::is_regular_file(file))
    return call.fail(cat("Exception: ", call.text(0), " isn't a valid file (", file.string(), ")"));
  const Result<std::string> text = read_file(file);
  return text ? call.give_text(*text) : call.fail(cat("OSError: ", text.error().message));
}

bool file(PluginCall& call) {
  Path path;
  if (!locate(call, "files", path))
    return false;
  if (!std::filesystem::is_regular_file(path))
    return call.fail(cat("Exception: ", path.string(), " isn't a valid file"));
  return call.give_text(cat("imp-module-source:file://", std::filesystem::absolute(path).string()));
}

bool list_files(PluginCall& call) {
  Path folder;
  if (!locate(call, "files", folder))
    return false;
  std::set<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.is_regular_file())
      names.insert(entry.path().filename().string());
  if (failed)
    return call.fail(
        cat("Exception: ", call.text(0), " isn't a valid directory (", folder.string(), ")"));
  std::vector<Datum> items;
  for (const std::string& name : names)
    items.push_back(call.context.make_text(name));
  return call.give_list(items);
}

constexpr std::array files_rows{
    PluginRow{"source", "(path: string) -> string", source},
    PluginRow{"file", "(path: string) -> string", file},
    PluginRow{"list_files", "(path: string) -> list", list_files},
};

}  // namespace

std::span<const PluginRow> files_plugins() { return files_rows; }

}  // namespace fettle::model
