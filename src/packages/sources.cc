#include "packages/sources.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "packages/local_root.h"
#include "value/yaml.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr size_t largest_source = 64u << 20;

/// Names of what stands beside a path, for suggestions.
std::vector<std::string> neighbours(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), failure))
    names.push_back(entry.path().filename().string());
  return names;
}

std::string absolute(const std::string& path) {
  std::error_code failure;
  const fs::path whole = fs::weakly_canonical(path, failure);
  return failure ? path : whole.string();
}

}  // namespace

Result<PackageFile> read_package_file(const ClosedFolder& folder, const std::string& inside) {
  const std::string path = (folder.path() / inside).string();
  const std::string text = TRY(folder.read(inside, largest_source));
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

Result<Sources> Sources::open(const ClosedFolder& tree, const std::string& inside,
                              std::string_view shown, Purpose purpose) {
  Sources sources;
  sources.shown_ = shown;
  sources.purpose_ = purpose;
  sources.folder_ = inside.empty() ? tree.path().string() : (tree.path() / inside).string();
  const std::string file = cat(inside, inside.empty() ? "" : "/", "kurtosis.yml");
  if (const auto names = tree.names_beside(file);
      std::find(names.begin(), names.end(), "kurtosis.yml") == names.end()) {
    if (std::string compose = compose::compose_file_in(tree, inside); !compose.empty()) {
      sources.main_file_ = std::move(compose);
      sources.tree_ = tree;
      return sources;
    }
    return user_error(cat("`", shown, "` is not a package: it has no `kurtosis.yml`",
                          advice_on_folder(tree, inside, shown, purpose)));
  }
  sources.package_ = TRY(read_package_file(tree, file));
  sources.owner_ = sources.package_.name;
  return sources;
}

std::string Sources::advice_without_main() const {
  return shown_.empty() ? std::string() : packages_in(ClosedFolder(folder_), "", shown_, purpose_);
}

Result<Sources> Sources::of_folder(const std::string& folder, Purpose purpose) {
  const ClosedFolder own{absolute(folder)};
  Result<Sources> sources = open(own, "", folder, purpose);
  if (!sources || sources->package_.name.empty())
    return sources;
  const LocalRoot root = local_root(own.path().string(), sources->package_.name);
  sources->tree_locator_ = root.locator;
  sources->tree_ = ClosedFolder(root.folder);
  return sources;
}

Result<Sources> Sources::of_script(const std::string& file) {
  Sources sources;
  const fs::path path = absolute(file);
  sources.folder_ = path.parent_path().string();
  sources.tree_ = ClosedFolder(sources.folder_);
  std::error_code failure;
  if (!fs::exists(path, failure))
    return user_error(
        cat("`", file, "` does not exist", suggestion(path.filename().string(), neighbours(path))));
  return sources;
}

Result<Sources> Sources::of_text(const std::string& folder, std::string text) {
  Sources sources;
  sources.folder_ = absolute(folder);
  sources.tree_ = ClosedFolder(sources.folder_);
  sources.text_ = std::move(text);
  return sources;
}

Result<Sources> Sources::of_locator(const std::string& text, const std::string& mirror,
                                    const Fetch& fetch, Purpose purpose) {
  const Locator locator = TRY(parse_locator(text));
  Sources finder;
  finder.mirror_ = mirror;
  finder.fetch_ = fetch;
  const ClosedFolder tree{TRY(finder.repository_folder(locator))};
  const std::string inside(locator.inside());
  if (!tree.has_folder(inside))
    return user_error(
        cat("the repository `", locator.repository(), "` has no folder `", printable(inside), "`",
            suggestion(fs::path(inside).filename().string(), tree.names_beside(inside))));
  Sources sources =
      TRY(open(tree, inside, text, purpose).context(cat("reading the package `", text, "`")));
  if (sources.package_.name.empty())  // a compose file has none of its own
    sources.owner_ = sources.package_.name = locator.path;
  // GitHub does not tell capital letters apart.
  if (lower_case(sources.package_.name) != lower_case(locator.path))
    return user_error(cat("the package at `", locator.path, "` calls itself `",
                          sources.package_.name, "`; the name must be the same as the location"),
                      {sources.folder_ + "/kurtosis.yml", 0, 0});
  std::erase_if(sources.package_.replace, [&](const auto& rule) {
    if (!is_local_rule(rule.second))
      return false;
    sources.warnings_.push_back(cat("the rule that replaces `", printable(rule.first), "` with `",
                                    printable(rule.second), "` is ignored: `", locator.path,
                                    "` is not a package on this machine"));
    return true;
  });
  sources.mirror_ = mirror;
  sources.fetch_ = fetch;
  sources.tree_ = tree;
  // Its own name may differ from the location in capital letters.
  sources.tree_locator_ = Locator{sources.package_.name, {}}.repository();
  return sources;
}

Locator Sources::root(const std::string& file) const {
  return {cat(package_.name.empty() ? "script" : package_.name, "/", file), {}};
}

bool Sources::is_local(const Locator& locator) const {
  return locator.path == tree_locator_ || locator.path.starts_with(tree_locator_ + "/");
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
  replaced_.insert_or_assign(
      wanted.path, Spot{ClosedFolder(absolute(rooted ? found.local : folder_ + "/" + found.local)),
                        found.inside, wanted.path});
  return wanted;
}

Result<Sources::Spot> Sources::spot(const Locator& locator) {
  if (const auto replaced = replaced_.find(locator.path); replaced != replaced_.end())
    return replaced->second;
  const auto below = [&](const std::string& root) {
    return locator.path.substr(std::min(locator.path.size(), root.size() + 1));
  };
  if (is_local(locator)) {
    const bool script = package_.name.empty();
    Spot own{tree_, below(tree_locator_),
             script ? (tree_.path() / below(tree_locator_)).string() : locator.path};
    const bool of_root =
        script || locator.path == package_.name || locator.path.starts_with(package_.name + "/");
    if (of_root || own.folder.has_file(own.inside) || own.folder.has_folder(own.inside))
      return own;
  }
  return Spot{ClosedFolder(TRY(repository_folder(locator))), std::string(locator.inside()),
              locator.path};
}

/// The path of a file that does not lead outside.
Result<std::string> Sources::located(const Spot& spot) const {
  const Result<Path> found = spot.folder.locate(spot.inside);
  if (found)
    return found->string();
  if (found.error().message.ends_with("does not exist"))
    return user_error(cat("`", printable(spot.shown), "` does not exist",
                          suggestion(fs::path(spot.inside).filename().string(),
                                     spot.folder.names_beside(spot.inside))));
  return Error(found.error()).context(cat("opening `", printable(spot.shown), "`"));
}

Result<std::string> Sources::path(const Locator& locator) {
  const Spot found = TRY(spot(locator));
  if (text_ && found.inside == name_of_text)
    return found.shown;
  return located(found);
}

std::string Sources::shown(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos)
    return path;
  const auto [near, is_new] = near_.try_emplace(path.substr(0, slash));
  if (is_new) {
    std::error_code failure;
    const std::string folder = fs::proximate(near->first, failure).string();
    near->second = failure || folder.starts_with("..") ? near->first : folder;
  }
  return near->second == "." ? path.substr(slash + 1) : cat(near->second, path.substr(slash));
}

Result<std::string> Sources::read(const Locator& locator) {
  const Spot found = TRY(spot(locator));
  if (text_ && found.inside == name_of_text)
    return *text_;
  Result<std::string> text = found.folder.read(found.inside, largest_source);
  if (!text)
    TRY(located(found));  // which knows better what is wrong
  return text;
}

Result<compose::Program> Sources::compose(const Locator& locator, compose::ProjectRequest given) {
  const Spot found = TRY(spot(locator));
  TRY(located(found));
  const size_t slash = found.inside.rfind('/');
  given.folder = found.folder;
  given.inside = slash == found.inside.npos ? "" : found.inside.substr(0, slash);
  const std::string name =
      slash == found.inside.npos ? found.inside : found.inside.substr(slash + 1);
  if (const Result<std::string> text = read(locator))
    given.name = compose::project_name(*text);
  if (given.name.empty()) {
    const Path own =
        given.inside.empty() ? given.folder.path() : given.folder.path() / given.inside;
    given.name = lower_case(own.filename().string());
  }
  given.files.insert(given.files.begin(), compose::ProjectFile{name, {}});
  if (given.takes_override && given.files.size() == 1)
    if (std::string more = compose::override_of(given.folder, given.inside, name); !more.empty())
      given.files.push_back({std::move(more), {}});
  given.shown = [this](const std::string& path) { return shown(path); };
  return compose::compose_program(given);
}

bool is_compose_path(std::string_view path) {
  return path.ends_with(".yml") || path.ends_with(".yaml");
}

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
    const Result<Spot> found = spot({at + "/kurtosis.yml", file.ref});
    if (found && found->folder.has_file(found->inside)) {
      package = at;
      break;
    }
    if (at.find('/') == at.npos)
      break;
  }
  return package;
}

}  // namespace fettle
