#include "packages/sources.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "value/yaml.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t largest_source = 64u << 20;

Result<std::string> read_text(const std::string& path) {
  std::error_code failure;
  if (fs::is_directory(path, failure))
    return user_error(cat("`", path, "` is a folder, a file is expected"));
  const uintmax_t size = fs::file_size(path, failure);
  if (failure)
    return user_error(cat("cannot read `", path, "`: ", failure.message()));
  if (size > largest_source)
    return user_error(cat("`", path, "` is larger than ", largest_source >> 20, " MB"));
  std::ifstream file(path, std::ios::binary);
  std::string text(size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

/// Names of what stands beside a path, for suggestions.
std::vector<std::string> neighbours(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), failure))
    names.push_back(entry.path().filename().string());
  return names;
}

bool has_compose_file(const std::string& folder) {
  std::error_code failure;
  for (const char* name : {"compose", "docker-compose", "docker_compose"})
    for (const char* ending : {".yml", ".yaml"})
      if (fs::exists(cat(folder, "/", name, ending), failure))
        return true;
  return false;
}

std::string absolute(const std::string& path) {
  std::error_code failure;
  const fs::path whole = fs::weakly_canonical(path, failure);
  return failure ? path : whole.string();
}

}  // namespace

Result<PackageFile> read_package_file(const std::string& path) {
  const std::string text = TRY(read_text(path));
  const Value value = TRY(read_yaml(text, path, YamlSchema::go_yaml_v2));
  const auto wrong = [&](std::string why) { return user_error(std::move(why), {path, 0, 0}); };
  if (!value.is_dict())
    return wrong("expected a mapping with the package's `name`");
  for (const Entry& entry : value.entries())
    if (const std::vector<std::string> known{"name", "description", "replace"};
        std::find(known.begin(), known.end(), entry.key.view()) == known.end() &&
        !suggestion(entry.key, known).empty())
      return wrong(cat("unknown key `", entry.key, "`", suggestion(entry.key, known)));
  PackageFile package;
  package.name = value.text_at("name");
  package.description = value.text_at("description");
  if (package.name.empty())
    return wrong(
        "the package has no `name`, expected `name: github.com/AUTHOR/REPOSITORY[/DIRECTORY]`");
  if (package.name.ends_with('/'))
    return wrong(cat("the package's name `", package.name, "` ends with a slash"));
  const Result<Locator> name = parse_locator(package.name);
  if (!name)
    return wrong(cat("the package's name is wrong: ", name.error().message));
  if (const Value& rules = value.at("replace"); !rules.is_null()) {
    if (!rules.is_dict())
      return wrong("`replace` must be a mapping of locators");
    for (const Entry& rule : rules.entries()) {
      if (!rule.value.is_text() || rule.value.text().empty())
        return wrong(cat("the replacement of `", rule.key, "` must be a locator or a path"));
      package.replace[rule.key.str()] = rule.value.text().str();
    }
  }
  return package;
}

Result<Sources> Sources::of_folder(const std::string& folder) {
  Sources sources;
  sources.folder_ = absolute(folder);
  const std::string file = sources.folder_ + "/kurtosis.yml";
  std::error_code failure;
  if (!fs::exists(file, failure))
    return user_error(cat("`", folder, "` is no package: it has no `kurtosis.yml`",
                          has_compose_file(sources.folder_)
                              ? ", and compose files are not supported yet"
                              : "; `fettle package init` makes one"));
  sources.package_ = TRY(read_package_file(file));
  sources.owner_ = sources.package_.name;
  const Locator root = *parse_locator(sources.package_.name);
  const std::string below = std::string(root.inside());
  if (below.empty())
    sources.repository_ = sources.folder_;
  else if (sources.folder_.ends_with("/" + below))
    sources.repository_ = sources.folder_.substr(0, sources.folder_.size() - below.size() - 1);
  return sources;
}

Result<Sources> Sources::of_script(const std::string& file) {
  Sources sources;
  const fs::path path = absolute(file);
  sources.folder_ = path.parent_path().string();
  std::error_code failure;
  if (!fs::exists(path, failure))
    return user_error(
        cat("`", file, "` is not there", suggestion(path.filename().string(), neighbours(path))));
  return sources;
}

Result<Sources> Sources::of_locator(const std::string& text, const std::string& mirror,
                                    const Fetch& fetch) {
  const Locator locator = TRY(parse_locator(text));
  Sources finder;
  finder.mirror_ = mirror;
  finder.fetch_ = fetch;
  const std::string repository = TRY(finder.repository_folder(locator));
  const std::string folder = cat(repository, locator.inside().empty() ? "" : "/", locator.inside());
  std::error_code failure;
  if (!fs::is_directory(folder, failure))
    return user_error(cat("the repository `", locator.repository(), "` has no folder `",
                          locator.inside(), "`",
                          suggestion(fs::path(folder).filename().string(), neighbours(folder))));
  Sources sources = TRY(of_folder(folder).context(cat("reading the package `", text, "`")));
  // GitHub does not tell capital letters apart.
  if (lower_case(sources.package_.name) != lower_case(locator.path))
    return user_error(cat("the package at `", locator.path, "` calls itself `",
                          sources.package_.name, "`; the name must be the same as the location"),
                      {folder + "/kurtosis.yml", 0, 0});
  sources.mirror_ = mirror;
  sources.fetch_ = fetch;
  sources.repository_ = repository;
  return sources;
}

Locator Sources::root(const std::string& file) const {
  return {cat(package_.name.empty() ? "script" : package_.name, "/", file), {}};
}

bool Sources::is_local(const Locator& locator) const {
  if (package_.name.empty())
    return locator.path == "script" || locator.path.starts_with("script/");
  if (locator.path.starts_with(package_.name + "/") || locator.path == package_.name)
    return true;
  const Locator own{package_.name, {}};
  return !repository_.empty() && locator.path.starts_with(own.repository() + "/");
}

Result<std::string> Sources::repository_folder(const Locator& locator) {
  const std::string repository = locator.repository();
  dependencies_.insert(cat(repository, locator.ref.empty() ? "" : "@", locator.ref));
  if (!mirror_.empty()) {
    std::error_code failure;
    // Versions may stand side by side: `NAME@REF` before `NAME`.
    for (const std::string& folder :
         {cat(mirror_, "/", repository, "@", locator.ref), cat(mirror_, "/", repository)})
      if (fs::is_directory(folder, failure))
        return folder;
    if (!fetch_)
      return user_error(cat("the package mirror `", mirror_, "` has no `", repository, "`",
                            suggestion(fs::path(repository).filename().string(),
                                       neighbours(cat(mirror_, "/", repository)))));
  }
  if (!fetch_)
    return user_error(cat("`", repository, "` cannot be fetched here"));
  std::string& folder = fetched_[repository + "@" + locator.ref];
  if (folder.empty())
    folder = TRY(fetch_(repository, locator.ref));
  return folder;
}

Result<Locator> Sources::resolve(std::string_view text, const Locator& from) {
  const Locator wanted = TRY(resolve_locator(text, from, package_of(from)));
  const bool own = is_local(wanted) && wanted.path.starts_with(package_.name + "/");
  if (own || package_.replace.empty())
    return wanted;
  const Replacement found = TRY(replace_locator(wanted, package_.replace));
  if (found.local.empty())
    return found.locator;
  const bool rooted = found.local.starts_with('/');
  replaced_[wanted.path] = rooted ? found.local : absolute(folder_ + "/" + found.local);
  return wanted;
}

Result<std::string> Sources::path(const Locator& locator) {
  std::string place;
  if (const auto replaced = replaced_.find(locator.path); replaced != replaced_.end()) {
    place = replaced->second;
  } else if (package_.name.empty() && is_local(locator)) {
    place = folder_ + locator.path.substr(6);
  } else if (!package_.name.empty() &&
             (locator.path == package_.name || locator.path.starts_with(package_.name + "/"))) {
    place = folder_ + locator.path.substr(package_.name.size());
  } else if (is_local(locator) && fs::exists(cat(repository_, "/", locator.inside()))) {
    place = cat(repository_, "/", locator.inside());
  } else {
    place = cat(TRY(repository_folder(locator)), "/", locator.inside());
  }
  std::error_code failure;
  if (!fs::exists(place, failure))
    return user_error(cat("`", package_.name.empty() ? place : locator.path, "` is not there",
                          suggestion(fs::path(place).filename().string(), neighbours(place))));
  return place;
}

Result<std::string> Sources::read(const Locator& locator) { return read_text(TRY(path(locator))); }

std::string Sources::package_of(const Locator& file) {
  if (package_.name.empty() && file.path.starts_with("script/"))
    return {};
  std::string folder = file.path.substr(0, file.path.rfind('/'));
  if (const auto known = packages_.find(folder); known != packages_.end())
    return known->second;
  std::string& package = packages_[folder];
  package = file.repository();
  for (std::string at = folder; at.size() >= file.repository().size();
       at = at.substr(0, at.rfind('/'))) {
    const Result<std::string> place = path({at + "/kurtosis.yml", file.ref});
    if (place) {
      package = at;
      break;
    }
    if (at.find('/') == at.npos)
      break;
  }
  return package;
}

}  // namespace fettle
