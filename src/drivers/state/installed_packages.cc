#include "drivers/state/installed_packages.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> originals{
    "acct", "evbus", "idem", "pop", "pop_config", "pop_loop", "pop_serial", "pop_tree", "rend"};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The entries of a folder; none: it cannot be read.
std::vector<fs::directory_entry> entries_of(const Path& folder) {
  std::error_code failed;
  std::vector<fs::directory_entry> entries;
  fs::directory_iterator at(folder, failed), end;
  for (; !failed && at != end; at.increment(failed))
    entries.push_back(*at);
  return entries;
}

/// `lib/python3.11/site-packages` and its like below a prefix.
void add_libraries(const Path& prefix, std::vector<Path>& places) {
  for (const fs::directory_entry& library : entries_of(prefix / "lib"))
    if (library.path().filename().string().starts_with("python3"))
      for (const char* name : {"site-packages", "dist-packages"})
        places.push_back(library.path() / name);
}

std::vector<Path> places_of(const std::string& interpreter) {
  std::vector<Path> places;
  const std::string search_path = variable("PYTHONPATH");
  for (const std::string_view place : split(search_path, ':'))
    if (!place.empty())
      places.emplace_back(place);
  const Path program = find_program(interpreter);
  if (program.empty())
    return places;
  const Path prefix = program.parent_path().parent_path();
  add_libraries(prefix, places);
  const Path configuration = prefix / "pyvenv.cfg";
  if (file_exists(configuration)) {
    const Result<std::string> text = read_file(configuration);
    if (!text || text->find("include-system-site-packages = true") == std::string::npos)
      return places;
    add_libraries("/usr", places);
  }
  add_libraries("/usr/local", places);
  if (const std::string home = variable("HOME"); !home.empty())
    add_libraries(Path(home) / ".local", places);
  return places;
}

bool is_package(const Path& folder) {
  if (std::ranges::find(originals, folder.filename().string()) != originals.end())
    return false;
  const Path file = folder / "conf.py";
  if (!file_exists(file))
    return false;
  const Result<std::string> text = read_file(file);
  return text && text->find("DYNE") != std::string::npos;
}

/// A folder that is installed as it is (`pip install -e`) stands in a file, a line each.
bool names_package(const Path& file) {
  const Result<std::string> text = read_file(file);
  if (!text)
    return false;
  const std::vector<std::string_view> lines = split(*text, '\n');
  return std::ranges::any_of(lines, [](std::string_view line) {
    return line.starts_with('/') &&
           std::ranges::any_of(entries_of(Path(line)), [](const fs::directory_entry& entry) {
             return is_package(entry.path());
           });
  });
}

bool has_package(const Path& place) {
  return std::ranges::any_of(entries_of(place), [](const fs::directory_entry& entry) {
    const std::string extension = entry.path().extension().string();
    return extension == ".pth" || extension == ".egg-link" ? names_package(entry.path())
                                                           : is_package(entry.path());
  });
}

}  // namespace

bool has_installed_packages(const std::string& interpreter) {
  return std::ranges::any_of(places_of(interpreter), has_package);
}

std::string python_of_environment() {
  const std::string environment = variable("VIRTUAL_ENV");
  const Path python = Path(environment) / "bin/python3";
  return !environment.empty() && file_exists(python) ? python.string() : "python3";
}

}  // namespace fettle
