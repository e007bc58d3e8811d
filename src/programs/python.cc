#include "programs/python.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

/// The active environment, then that of the project. Environments that are not there are left out.
std::vector<Path> environments(const Path& project) {
  std::vector<Path> found;
  const char* const active = std::getenv("VIRTUAL_ENV");
  std::error_code failed;
  for (const Path& one : {Path(active == nullptr ? "" : active), project / ".env"})
    if (!one.empty() && fs::is_directory(one / "lib", failed))
      found.push_back(fs::absolute(one, failed));
  return found;
}

std::vector<Path> packages_in(const Path& environment) {
  std::vector<Path> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(environment / "lib", failed))
    if (fs::is_directory(entry.path() / "site-packages", failed))
      found.push_back(entry.path() / "site-packages");
  std::ranges::sort(found);
  return found;
}

/// The number behind `python3.` in a name. 0: it is another name.
int minor_version(const std::string& name) {
  constexpr std::string_view head = "python3.";
  int minor = 0;
  if (!name.starts_with(head))
    return 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + head.size(), end, minor);
  return read.ec == std::errc() && read.ptr == end ? minor : 0;
}

/// Scripts of that name choose an interpreter themselves, and may find none.
bool is_script(const Path& file) {
  std::FILE* const opened = std::fopen(file.c_str(), "rbe");
  if (opened == nullptr)
    return true;
  char start[2] = {};
  const bool is_read = std::fread(start, 1, sizeof start, opened) == sizeof start;
  std::fclose(opened);
  return !is_read || (start[0] == '#' && start[1] == '!');
}

std::string newest_python() {
  std::string found;
  int newest = 0;
  const char* const path = std::getenv("PATH");
  const std::string folders = cat(path == nullptr ? "" : path, ":/usr/local/bin:/usr/bin");
  for (const std::string_view folder : split(folders, ':')) {
    std::error_code failed;
    if (folder.empty())
      continue;
    for (const auto& entry : fs::directory_iterator(Path(folder), failed))
      if (const int minor = minor_version(entry.path().filename().string());
          minor > newest && access(entry.path().c_str(), X_OK) == 0 && !is_script(entry.path())) {
        newest = minor;
        found = entry.path().string();
      }
  }
  return found.empty() ? find_program("python3").string() : found;
}

}  // namespace

std::vector<Path> installed_packages(const Path& project) {
  std::vector<Path> found;
  for (const Path& environment : environments(project))
    for (const Path& packages : packages_in(environment))
      found.push_back(packages);
  return found;
}

PythonEnvironment python_environment(const Path& project) {
  PythonEnvironment made;
  made.packages = installed_packages(project);
  for (const Path& environment : environments(project))
    for (const char* name : {"bin/python3", "bin/python"})
      if (made.interpreter.empty() && access((environment / name).c_str(), X_OK) == 0)
        made.interpreter = (environment / name).string();
  if (made.interpreter.empty())
    made.interpreter = newest_python();
  return made;
}

Path python_cache() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return Path(value == nullptr ? "" : value);
  };
  Path folder = variable("XDG_CACHE_HOME");
  if (!folder.is_absolute() && !variable("HOME").empty())
    folder = variable("HOME") / ".cache";
  if (!folder.is_absolute())
    return {};
  folder /= "fettle";
  return make_directories(folder) && access(folder.c_str(), W_OK) == 0 ? folder : Path();
}

Invocation serve_models(const PythonEnvironment& environment, const Path& package,
                        const Path& project, const Value& settings) {
  std::vector<Entry> told(settings.entries().begin(), settings.entries().end());
  std::vector<Value> packages;
  for (const Path& one : environment.packages)
    packages.emplace_back(one.string());
  told.push_back({"packages", Value::list(std::move(packages))});
  // Modules are looked for in the package, not in the working folder.
  constexpr const char* start =
      "import sys; sys.path[0] = sys.argv[1]; from fettle_models.serve import main; main()";
  return {.arguments = {environment.interpreter, "-c", start, package.string(),
                        write_json(Value::dict(std::move(told)))},
          .directory = project};
}

}  // namespace fettle
