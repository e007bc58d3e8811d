#include "model/export/python_resources.h"

#include <cstdlib>
#include <set>

#include "base/text.h"
#include "model/plugins/python.h"

namespace fettle::model {
namespace {

/// Whether the text ends in a line that is a decorator so far: `@inmanta.resources.`.
bool ends_in_decorator(std::string_view text) {
  const std::string_view line = text.substr(text.rfind('\n') + 1);
  const size_t begin = line.find_first_not_of(" \t");
  return begin != line.npos && line[begin] == '@' && line.find_first_of(" (\t", begin) == line.npos;
}

/// The quoted text behind each `@resource(`.
void read_declarations(const Path& file, std::string_view text,
                       std::map<std::string, Path, std::less<>>& found) {
  constexpr std::string_view mark = "resource(";
  for (size_t at = text.find(mark); at != text.npos; at = text.find(mark, at)) {
    const bool is_declaration = ends_in_decorator(text.substr(0, at));
    at += mark.size();
    if (!is_declaration)
      continue;
    const size_t quote = text.find_first_of("\"'", at);
    const size_t end = quote == text.npos ? quote : text.find(text[quote], quote + 1);
    if (end != text.npos)
      found.emplace(text.substr(quote + 1, end - quote - 1), file);
  }
}

/// Whether a function is registered by that name: to import the name alone is not.
bool registers(std::string_view text, std::string_view mark) {
  for (size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + mark.size()))
    if (ends_in_decorator(text.substr(0, at)) || text.substr(at + mark.size()).starts_with('('))
      return true;
  return false;
}

void read_folder(const Path& folder, bool wants_exports, PythonMentions& found) {
  std::set<Path> files;
  std::error_code failed;
  for (std::filesystem::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    if (at->path().extension() == ".py" && at->is_regular_file(failed))
      files.insert(at->path());
  for (const Path& file : files)
    if (const Result<std::string> text = read_file(file)) {
      read_declarations(file, *text, found.resources);
      found.has_managers |=
          registers(*text, "dependency_manager") || (wants_exports && registers(*text, "export"));
    }
}

}  // namespace

std::map<std::string, Path> python_folders(const Program& program) {
  std::map<std::string, Path> found;
  for (const auto& [name, module] : program.modules)
    if (!module.plugins.empty() && Python::is_in(module.plugins))
      found.emplace(name, module.plugins);
  const Path own = program.folder / "plugins";
  if (!program.folder.empty() && Python::is_in(own))
    found.emplace("__config__", own);
  return found;
}

PythonMentions python_mentions(const Program& program) {
  PythonMentions found;
  const char* const setting = std::getenv("INMANTA_CONFIG_EXPORT");
  const bool wants_exports = setting != nullptr && *setting != '\0';
  for (const auto& [name, folder] : python_folders(program))
    read_folder(folder, wants_exports, found);
  return found;
}

}  // namespace fettle::model
