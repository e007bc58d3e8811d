#include "model/load/install_modules.h"

#include <algorithm>
#include <set>

#include "base/tail.h"
#include "base/text.h"
#include "model/std/modules.h"
#include "programs/python.h"

namespace fettle::model {
namespace {

namespace fs = std::filesystem;

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// `net` of `net >= 1.0`.
std::string name_in(std::string_view requirement) {
  const auto end = std::ranges::find_if_not(requirement, is_name_part);
  return std::string(requirement.begin(), end);
}

/// The package of a module, with the limits of its version.
std::string package_of(std::string_view requirement) {
  const std::string name = name_in(requirement);
  return cat("inmanta-module-", replace_all(name, "_", "-"), trim(requirement.substr(name.size())));
}

bool is_shipped(std::string_view name) {
  return name == "std" ||
         std::ranges::any_of(shipped_modules(), [&](const auto& one) { return one.space == name; });
}

/// The modules that a model imports in its first file.
std::set<std::string> imports_of(const Path& main) {
  std::set<std::string> found;
  const Result<std::string> text = read_file(main);
  if (text)
    for (const std::string_view line : split(*text, '\n'))
      if (constexpr std::string_view head = "import "; line.starts_with(head))
        found.insert(name_in(trim(line.substr(head.size()))));
  found.erase("");
  return found;
}

void add_requirements(const Path& folder, std::vector<std::string>& arguments) {
  if (const Path file = folder / "requirements.txt"; file_exists(file)) {
    arguments.emplace_back("-r");
    arguments.push_back(file.string());
  }
}

std::vector<Path> subfolders(const Path& folder) {
  std::vector<Path> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.is_directory(failed))
      found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

/// `pip` of `project.yml`: where packages come from.
void add_sources(const Value& settings, std::vector<std::string>& arguments) {
  const Value& pip = settings.is_dict() ? settings.at("pip") : settings;
  const auto add = [&](const char* flag, const Value& value) {
    if (value.is_text()) {
      arguments.emplace_back(flag);
      arguments.emplace_back(value.text().view());
    }
  };
  if (!pip.is_dict())
    return;
  for (const char* key : {"index-url", "index_url"})
    add("--index-url", pip.at(key));
  for (const char* key : {"extra-index-url", "extra_index_url"})
    if (const Value& more = pip.at(key); more.is_list())
      for (const Value& one : more.items())
        add("--extra-index-url", one);
  if (pip.bool_at("pre"))
    arguments.emplace_back("--pre");
}

}  // namespace

InstallPlan plan_install(const Project& project) {
  InstallPlan plan;
  const Path folder = fs::absolute(project.folder.empty() ? Path(".") : project.folder);
  const char* const active = std::getenv("VIRTUAL_ENV");
  plan.environment = active != nullptr && *active != '\0' ? Path(active) : folder / ".env";
  if (!fs::exists(plan.environment / "bin"))
    plan.creator = python_environment(folder).interpreter;
  add_requirements(folder, plan.arguments);
  for (const Path& path : project.module_path)
    for (const Path& module : subfolders(path)) {
      const bool is_package =
          file_exists(module / "setup.cfg") || file_exists(module / "pyproject.toml");
      if (is_package)
        plan.arguments.push_back(fs::absolute(module).string());
      else
        add_requirements(module, plan.arguments);
    }
  std::set<std::string> wanted = imports_of(project.main);
  for (const std::string& need : project.needs) {
    wanted.insert(name_in(need));
    plan.constraints.push_back(package_of(need));
  }
  for (const std::string& name : wanted)
    if (!is_shipped(name) && !project.module_on_path(name))
      plan.arguments.push_back(package_of(name));
  if (!plan.arguments.empty())
    add_sources(project.settings, plan.arguments);
  return plan;
}

Status install_modules(const InstallPlan& plan, const ByteSink& show, std::stop_token stop) {
  const auto run = [&](std::vector<std::string> arguments) -> Status {
    Tail said;
    Invocation how{.arguments = std::move(arguments)};
    how.on_output = how.on_errors = [&](std::string_view bytes) -> Status {
      said.add(bytes);
      return show ? show(bytes) : Status();
    };
    const std::string command = join(how.arguments, " ");
    const ProcessResult done = TRY(run_process(how, stop).context(command));
    if (done.code != 0)
      return world_error(cat("`", command, "` exited with code ", done.code,
                             said.lines().empty() ? "" : cat("; its last lines:\n", said.lines())));
    return {};
  };
  if (plan.arguments.empty())
    return {};
  if (!plan.creator.empty())
    TRY(run({plan.creator, "-m", "venv", plan.environment.string()}));
  if (!fs::exists(plan.environment / "bin"))
    return world_error("there is no `python3` on this machine to make an environment with");
  std::vector<std::string> arguments{(plan.environment / "bin/python3").string(), "-m", "pip",
                                     "install", "--disable-pip-version-check"};
  arguments.insert(arguments.end(), plan.arguments.begin(), plan.arguments.end());
  const TemporaryDirectory folder = TRY(TemporaryDirectory::make());
  if (!plan.constraints.empty()) {
    TRY(write_file(folder.path() / "constraints.txt", join(plan.constraints, "\n") + "\n"));
    arguments.emplace_back("-c");
    arguments.push_back((folder.path() / "constraints.txt").string());
  }
  return run(std::move(arguments));
}

}  // namespace fettle::model
