#include "model/project/project.h"

#include <cctype>
#include <cstdlib>

#include "base/text.h"
#include "programs/python.h"
#include "value/yaml.h"

namespace fettle::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* project_file = "project.yml";

Error wrong(const Path& file, std::string_view what) {
  return user_error(cat("`", what, "`"), {file.string(), 0, 0});
}

/// Reads a text, or a list of texts; null counts as an empty list.
Result<std::vector<std::string>> texts(const Value& settings, std::string_view key,
                                       const Path& file) {
  std::vector<std::string> found;
  const Value* value = settings.is_dict() ? settings.find(key) : nullptr;
  if (value == nullptr || value->is_null())
    return found;
  if (value->is_text())
    return std::vector<std::string>{std::string(value->text().view())};
  if (!value->is_list())
    return wrong(file, cat(key, "` must be a list of strings; it is `", to_string(value->type())));
  for (const Value& item : value->items()) {
    if (!item.is_text())
      return wrong(file, cat(key, "` must be a list of strings; one is `", to_string(item.type())));
    found.emplace_back(item.text().view());
  }
  return found;
}

Result<Project> read_project(const Path& folder) {
  const Path file = folder / project_file;
  Project project;
  project.folder = folder;
  project.has_file = true;
  project.settings = TRY(read_yaml(TRY(read_file(file)), file.string(), YamlSchema::pyyaml));
  if (!project.settings.is_dict())
    return user_error("a project file must be a mapping with `name` and `modulepath`",
                      {file.string(), 1, 1});
  const std::vector<std::string> names = TRY(texts(project.settings, "name", file));
  if (names.size() != 1)
    return user_error("the project has no `name`", {file.string(), 1, 1});
  project.name = names[0];
  for (const std::string& path : TRY(texts(project.settings, "modulepath", file)))
    project.module_path.push_back(folder / path);
  project.needs = TRY(texts(project.settings, "requires", file));
  project.precedence = TRY(texts(project.settings, "relation_precedence_policy", file));
  return project;
}

std::optional<Path> folder_of_project(Path folder) {
  std::error_code ignored;
  folder = fs::absolute(folder, ignored).lexically_normal();
  for (;; folder = folder.parent_path()) {
    if (file_exists(folder / project_file))
      return folder;
    if (folder == folder.parent_path())
      return std::nullopt;
  }
}

/// `[metadata] name = inmanta-module-x` of setup.cfg, or `name = "inmanta-module-x"` of
/// pyproject.toml; empty for anything else.
std::string module_name_of(const Path& folder) {
  for (const char* file : {"setup.cfg", "pyproject.toml"}) {
    const Result<std::string> text = read_file(folder / file);
    if (!text)
      continue;
    for (const std::string_view line : split(*text, '\n')) {
      const size_t equals = line.find('=');
      if (equals == std::string_view::npos || trim(line.substr(0, equals)) != "name")
        continue;
      std::string_view value = trim(line.substr(equals + 1));
      if (value.size() >= 2 && (value.front() == '"' || value.front() == '\''))
        value = value.substr(1, value.size() - 2);
      constexpr std::string_view prefix = "inmanta-module-";
      if (value.starts_with(prefix))
        return replace_all(value.substr(prefix.size()), "-", "_");
    }
  }
  return "";
}

std::vector<Path> folders_in(const Path& folder) {
  std::vector<Path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_directory(error))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<Module> installed_module(const Path& packages, std::string_view name) {
  const Path folder = packages / "inmanta_plugins" / name;
  if (!file_exists(folder / "model" / "_init.cf"))
    return std::nullopt;
  return Module{std::string(name), folder, folder / "model", folder, {}};
}

std::optional<Module> source_module(const Path& folder, std::string_view name) {
  if (!file_exists(folder / "model" / "_init.cf"))
    return std::nullopt;
  const Path package = folder / "inmanta_plugins" / name;
  const bool is_v2 = fs::is_directory(package);
  return Module{std::string(name),
                is_v2 ? package : folder,
                folder / "model",
                is_v2 ? package : folder / "plugins",
                {}};
}

}  // namespace

std::optional<Module> Project::find_module(std::string_view module_name) const {
  std::optional<Module> found = module_on_path(module_name);
  for (const Path& packages : installed_packages(folder))
    if (std::optional<Module> installed = installed_module(packages, module_name)) {
      if (found)
        installed->hides = found->folder;
      return installed;
    }
  return found;
}

std::optional<Module> Project::module_on_path(std::string_view module_name) const {
  for (const Path& path : module_path) {
    if (std::optional<Module> found = source_module(path / module_name, module_name))
      return found;
    if (std::optional<Module> found = installed_module(path, module_name))
      return found;
    for (const Path& candidate : folders_in(path))
      if (module_name_of(candidate) == module_name)
        if (std::optional<Module> found = source_module(candidate, module_name))
          return found;
  }
  return installed_module(folder, module_name);
}

Status check_module(const Module& module) {
  if (module.plugins != module.folder / "plugins")
    return {};
  const Path file = module.folder / "module.yml";
  const Result<std::string> text = read_file(file);
  if (!text)
    return user_error(cat("the module has no `", file.string(), "`"));
  const Value metadata = TRY(read_yaml(*text, file.string(), YamlSchema::pyyaml));
  if (!metadata.is_dict())
    return user_error(cat("`", file.string(), "` must be a map"));
  for (const char* field : {"name", "version", "license"}) {
    const Value* const value = metadata.find(field);
    if (value == nullptr || value->is_null() || to_text(*value).empty())
      return user_error(cat("`", file.string(), "` has no `", field, "`"));
  }
  const std::string version = to_text(metadata.at("version"));
  if (!std::isdigit(static_cast<unsigned char>(version[version.starts_with('v') ? 1 : 0])))
    return user_error(cat("`", file.string(), "`: `", version, "` is not a version"));
  return {};
}

Result<Project> project_of(const std::string& main_file) {
  const bool is_input = main_file == "-";
  const Path folder = Path(main_file).parent_path();
  Project project;
  if (const std::optional<Path> found = folder_of_project(folder))
    project = TRY(read_project(*found));
  else
    project.folder = folder;
  project.main = is_input ? "/dev/stdin" : main_file;
  project.main_name = is_input ? "<stdin>" : main_file;
  return project;
}

bool is_in_project(const Path& folder) { return folder_of_project(folder).has_value(); }

Result<Project> project_around(const Path& folder) {
  const std::optional<Path> found = folder_of_project(folder);
  if (!found)
    return user_error(cat("no `project.yml` in `", fs::weakly_canonical(folder).string(),
                          "` or above; `fettle project init` creates one, `-f FILE` compiles one "
                          "file"));
  Project project = TRY(read_project(*found));
  project.main = *found / "main.cf";
  std::error_code ignored;
  project.main_name = fs::equivalent(*found, folder, ignored) ? "./main.cf" : project.main.string();
  return project;
}

Status make_project(const Path& folder, std::string_view name, std::string_view image) {
  for (const char* file : {"project.yml", "main.cf"})
    if (file_exists(folder / file))
      return user_error(cat("`", (folder / file).string(), "` already exists"));
  TRY(make_directories(folder / "libs"));
  TRY(write_file(folder / "project.yml", cat("name: ", name, "\nmodulepath: libs\n")));
  return write_file(folder / "main.cf", cat(R"(import fs
import container
folder = std::get_env("PWD")
host = std::Host(name="here", os=std::linux)
std::AgentConfig(agentname="here", uri="local:")
page = fs::File(host=host, path="{{ folder }}/index.html", content="hello, model\n", mode=644)
container::Container(host=host, name="web", image=")",
                                            image, R"(", ports={"http": 80}, requires=[page],
    mounts={"/www": folder}, command=["httpd", "-f", "-p", "80", "-h", "/www"])
)"));
}

}  // namespace fettle::model
