#include "cli/named_files.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "base/user_path.h"
#include "packages/elsewhere.h"
#include "packages/local_root.h"
#include "packages/sources.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

/// No more than this travels with a script without being named.
constexpr size_t most_beside = 1'000;
constexpr uint64_t most_bytes_beside = 64 << 20, largest_script = 4 << 20;

bool is_address(std::string_view text) { return text.find("://") != text.npos; }

void add_read(const std::string& path, NamedFiles& named) {
  if (path == "-" || path == "/dev/stdin")
    named.takes_input = true;
  else if (is_address(path))
    named.addresses.push_back(path);
  else if (!path.empty())
    named.reads.push_back(path);
}

void add_written(const std::string& path, NamedFiles& named) {
  if (path == "-")
    named.is_stream = true;
  else if (!path.empty())
    named.writes.push_back(path);
}

/// What is in a folder and not hidden; none if it is much.
std::optional<std::vector<std::string>> few_things_in(const fs::path& folder) {
  std::vector<std::string> paths;
  size_t count = 0;
  uint64_t bytes = 0;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    const fs::path name = entry.path().filename();
    if (name.string().starts_with("."))
      continue;
    if (entry.is_directory(failure) && !entry.is_symlink(failure)) {
      const auto below = list_tree(entry.path());
      if (!below)  // a socket or the like
        return std::nullopt;
      count += below->size();
      for (const TreeEntry& one : *below)
        bytes += one.size;
    } else if (entry.is_regular_file(failure)) {
      bytes += entry.file_size(failure);
    } else if (!entry.is_symlink(failure)) {
      continue;
    }
    paths.push_back((folder / name).string());
    if (++count > most_beside || bytes > most_bytes_beside)
      return std::nullopt;
  }
  return paths;
}

/// The name of a folder's entry, if it stands in the text.
bool is_named_in(const std::string& text, const fs::path& entry) {
  const std::string name = entry.filename().string();
  return !name.empty() && name != ".git" && text.find(name) != text.npos;
}

/// What a script or a compose file may read is in its folder. What is hidden there, and everything if
/// it is much, travels only if they, or the scripts that they name, name it.
void add_with_beside(const fs::path& file, NamedFiles& named) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (const auto paths = few_things_in(folder))
    named.reads.insert(named.reads.end(), paths->begin(), paths->end());
  std::vector<fs::path> texts{file};
  std::set<fs::path> taken{file.filename()};
  named.reads.push_back(file.string());
  for (size_t i = 0; i < texts.size(); ++i) {
    const Result<std::string> text = read_file(texts[i]);
    if (!text || text->size() > largest_script)
      continue;
    std::error_code failure;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
      const fs::path name = entry.path().filename();
      if (taken.contains(name) || !is_named_in(*text, name))
        continue;
      taken.insert(name);
      named.reads.push_back((folder / name).string());
      const std::string kind = name.extension().string();
      if (kind == ".star" || kind == ".yml" || kind == ".yaml")
        texts.push_back(folder / name);
    }
  }
  if (const fs::path variables = folder / ".env"; file_exists(variables))
    named.reads.push_back(variables.string());
}

/// The folder of a package, with the one above it that it belongs to, and the folders that stand in
/// for packages of others.
void add_package_folder(const fs::path& folder, NamedFiles& named) {
  named.reads.push_back(folder.string());
  const Result<PackageFile> file = read_package_file(ClosedFolder(folder), "kurtosis.yml");
  if (!file)
    return;
  const fs::path whole = fs::absolute(folder).lexically_normal();
  named.reads.push_back(local_root(whole.string(), file->name).folder);
  for (const auto& [from, to] : file->replace)
    if (to.starts_with(".") || to.starts_with("/"))
      named.reads.push_back((fs::path(to).is_absolute() ? fs::path(to) : folder / to).string());
}

/// The nearest folder with a file of this name, from `folder` up.
std::optional<fs::path> folder_with(fs::path folder, const char* name) {
  std::error_code failure;
  folder = fs::absolute(folder, failure).lexically_normal();
  for (; !failure; folder = folder.parent_path()) {
    if (fs::exists(folder / name, failure))
      return folder;
    // What is above a copy of somebody's files is not his.
    if (folder == folder.parent_path() || folder == root_of_copies())
      break;
  }
  return std::nullopt;
}

void add_package(const std::string& word, NamedFiles& named) {
  std::error_code failure;
  if (word == "-")
    named.takes_input = true;
  if (word.empty() || word == "-")
    return;
  if (fs::is_directory(word, failure))
    return add_package_folder(word, named);
  if (!fs::exists(word, failure)) {
    // A locator is none of ours; for the rest, the command says that it is not there.
    if (!word.starts_with("github.com/"))
      named.reads.push_back(word);
    return;
  }
  const fs::path folder = fs::path(word).has_parent_path() ? fs::path(word).parent_path() : ".";
  if (word.ends_with(".star"))
    if (const auto package = folder_with(folder, "kurtosis.yml"))
      add_package_folder(*package, named);
  add_with_beside(word, named);
}

std::string name_of_option(const CommandOption& option) {
  const auto best = std::ranges::max(
      option.names, {}, [](const std::string& name) { return name.starts_with("--") ? 1 : 0; });
  return best.substr(best.find_first_not_of('-'));
}

/// Folders of modules for states.
void add_modules_in(const fs::path& folder, NamedFiles& named) {
  for (const char* const modules : {"states", "exec", "reconcile", "tool"})
    if (const fs::path inside = folder / modules; fs::is_directory(inside))
      named.reads.push_back(inside.string());
}

/// Sources of states and of parameters that options name, and their configuration.
void add_state_sources(const CommandLine& parsed, NamedFiles& named) {
  for (const std::string name : {"sls-sources", "param-sources", "params", "plugin-dir"})
    for (const std::string& source : parsed.all(name)) {
      const size_t scheme = source.find("://");
      if (scheme == source.npos && source != "-")
        named.reads.push_back(source);
      else if (scheme != source.npos && !source.starts_with("json:"))
        named.reads.push_back(source.substr(scheme + 3));
    }
  if (const std::string file = parsed.text("config"); file_exists(file))
    add_with_beside(file, named);
}

}  // namespace

NamedFiles named_files(const Command& command, const CommandLine& parsed) {
  NamedFiles named;
  for (const CommandOption& option : command.options) {
    const std::string name = name_of_option(option);
    if (!parsed.has(name))
      continue;
    // `FILE|-|JSON`: a file unless it is an object.
    const bool is_file = option.value == "FILE" || option.value == "DIR" ||
                         (option.value.starts_with("FILE|") && !parsed.text(name).starts_with("{"));
    if (is_file)
      for (const std::string& value : parsed.all(name))
        option.is_written ? add_written(value, named) : add_read(value, named);
    if (name == "interactive" && parsed.flag(name))
      named.takes_input = true;
  }
  for (const std::string& argument : parsed.arguments)
    named.takes_input |= argument == "-";
  if (command.name_files != nullptr)
    command.name_files(parsed, named);
  // The project of this folder may name the environment.
  if (const auto project = folder_with(".", "project.yml"))
    named.reads.push_back((*project / "project.yml").string());
  return named;
}

void name_package(const CommandLine& parsed, NamedFiles& named) {
  add_package(parsed.argument(0), named);
  for (const std::string& file : parsed.all("file"))
    if (looks_like_compose(file))
      add_package(file, named);
}

void name_project(const CommandLine& parsed, NamedFiles& named) {
  const std::string file = parsed.text("file");
  const fs::path folder = file.empty() || file == "-" || !fs::path(file).has_parent_path()
                              ? "."
                              : fs::path(file).parent_path();
  if (const auto project = folder_with(folder, "project.yml"))
    named.reads.push_back(project->string());
  else if (!file.empty() && file != "-")
    add_with_beside(file, named);
  else if (file_exists("main.cf"))
    add_with_beside("main.cf", named);
}

void name_states(const CommandLine& parsed, NamedFiles& named) {
  for (const std::string& word : parsed.arguments)
    if (word != "-" && file_exists(word)) {
      add_with_beside(word, named);
      add_modules_in(fs::path(word).parent_path(), named);
    }
  add_state_sources(parsed, named);
}

void name_state_sources(const CommandLine& parsed, NamedFiles& named) {
  if (!parsed.has("sls-sources"))
    add_modules_in(".", named);
  add_state_sources(parsed, named);
}

void name_state_call(const CommandLine& parsed, NamedFiles& named) {
  add_read(parsed.argument(0, "-"), named);
  name_state_sources(parsed, named);
}

void name_read(const CommandLine& parsed, size_t argument, NamedFiles& named) {
  add_read(parsed.argument(argument - (parsed.has("enclave") ? 1 : 0)), named);
}

void name_written(const CommandLine& parsed, size_t argument, NamedFiles& named) {
  const std::string path = parsed.argument(argument - (parsed.has("enclave") ? 1 : 0));
  add_written(path.empty() ? "." : path, named);
}

void name_copied(const std::string& source, const std::string& target, NamedFiles& named) {
  // A path of this machine may begin with `/` or `.`, and has no colon in its first step.
  const auto is_inside = [](const std::string& text) {
    const size_t colon = text.find(':');
    return colon != text.npos && colon != 0 && text[0] != '/' && text[0] != '.' &&
           text.find('/') > colon;
  };
  if (!is_inside(source))
    add_read(source, named);
  if (!is_inside(target))
    add_written(target, named);
}

void name_place(const CommandLine& parsed, NamedFiles& named) {
  const std::string place = parsed.argument(0);
  const std::string file = place.substr(0, place.find(':'));
  if (file.size() < place.size() && file_exists(file))
    add_read(file, named);
}

void relocate(CommandLine& parsed, const std::vector<std::string>& paths, const std::string& root) {
  const auto move = [&](std::string& word) {
    if (std::ranges::find(paths, word) != paths.end())
      word.insert(0, root);
  };
  for (auto& [name, values] : parsed.options)
    std::ranges::for_each(values, move);
  std::ranges::for_each(parsed.arguments, move);
}

namespace {

bool is_below(const fs::path& top, const fs::path& path) {
  return std::ranges::mismatch(top, path).in1 == top.end();
}

bool leads_outside(const fs::path& top, const fs::path& link) {
  std::error_code failure;
  const fs::path target = fs::canonical(link, failure);
  if (!failure)
    return !is_below(top, target);
  const fs::path meant = fs::read_symlink(link, failure);
  return meant.is_absolute() || !is_below(top, (link.parent_path() / meant).lexically_normal());
}

}  // namespace

void remove_links_outside(const std::vector<FileEntry>& files, const std::string& root) {
  std::error_code failure;
  const fs::path top = fs::canonical(root, failure);
  std::vector<fs::path> outside;
  for (const FileEntry& entry : files)
    if (const fs::path link = top / entry.path.substr(1);
        entry.type == FileEntry::Type::link && leads_outside(top, link))
      outside.push_back(link);
  // Only then: one may lead out through another.
  for (const fs::path& link : outside)
    fs::remove(link, failure);
}

std::optional<Error> file_outside(const NamedFiles& named, const std::string& root) {
  std::error_code failure;
  const fs::path top = fs::canonical(root, failure);
  // Not everything that looks like an address is read as one.
  for (const std::vector<std::string>* const words :
       {&named.reads, &named.writes, &named.addresses})
    for (const std::string& word : *words) {
      const fs::path path = fs::weakly_canonical(fs::absolute(word, failure), failure);
      // What a link without a target leads to would be made by whoever writes there.
      const bool is_dangling =
          fs::is_symlink(fs::symlink_status(word, failure)) && !fs::exists(word, failure);
      if (top.empty() || path.empty() || !is_below(top, path) || is_dangling)
        return user_error(cat("`", printable(word),
                              "` is no file that came with the command, and this token reaches "
                              "no others"));
    }
  return std::nullopt;
}

}  // namespace fettle
