#include "packages/locator.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view host = "github.com/";

/// The path with `.` and `..` worked out; none when it leaves its root.
std::optional<std::string> normalised(std::string_view path) {
  std::vector<std::string> steps;
  for (const std::string_view step : split(path, '/')) {
    if (step.empty() || step == ".")
      continue;
    if (step == "..") {
      if (steps.empty())
        return std::nullopt;
      steps.pop_back();
    } else {
      steps.emplace_back(step);
    }
  }
  return join(steps, "/");
}

/// The end of the repository within a path: behind the third step. npos: there is none.
size_t repository_end(std::string_view path) {
  size_t slashes = 0;
  for (size_t i = 0; i < path.size(); ++i)
    if (path[i] == '/' && ++slashes == 3)
      return i;
  return slashes == 2 ? path.size() : path.npos;
}

/// The beginning of the file that stands behind a ref, at its slash. npos: all of it is the ref.
/// Names of tags and branches may have slashes, so only a last step with an ending of letters is a
/// file: `@v1/lib.star`, `@feature/x/lib.star`; but `@feature/x` and `@release/1.2` are refs.
size_t file_behind_ref(std::string_view text) {
  const size_t slash = text.rfind('/'), dot = text.rfind('.');
  const bool has_ending = slash != text.npos && dot != text.npos && dot > slash + 1 &&
                          dot + 1 < text.size() &&
                          std::isalpha(static_cast<unsigned char>(text[dot + 1])) != 0;
  return has_ending ? slash : text.npos;
}

/// Git's rules for names, as far as they keep a ref from being read as something else.
bool is_ref(std::string_view ref) {
  const auto is_wrong = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 127 ||
           std::string_view("~^:?*[\\").find(c) != std::string_view::npos;
  };
  return !ref.empty() && ref.front() != '/' && ref.front() != '-' && ref.front() != '.' &&
         ref.back() != '/' && ref.find("..") == ref.npos && ref.find("//") == ref.npos &&
         ref.find("/.") == ref.npos && ref.find("@{") == ref.npos &&
         std::none_of(ref.begin(), ref.end(), is_wrong);
}

/// GitHub's letters for authors and repositories, so that a name is neither an option nor a folder
/// of Git's nor more than one line.
bool is_name(std::string_view name) {
  const auto is_right = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && name.front() != '-' && name != ".git" &&
         std::all_of(name.begin(), name.end(), is_right);
}

Error no_package(std::string_view text) {
  return user_error(
      cat("`", printable(text),
          "` is not a package name: expected `github.com/AUTHOR/REPOSITORY[/DIRECTORY][@REF]`"));
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

std::string Locator::repository() const { return path.substr(0, repository_end(path)); }

std::string_view Locator::inside() const {
  const size_t end = repository_end(path);
  return end >= path.size() ? std::string_view() : std::string_view(path).substr(end + 1);
}

bool is_local_rule(std::string_view replacement) {
  return replacement.starts_with('.') || replacement.starts_with('/');
}

bool is_absolute_locator(std::string_view text) {
  return text.starts_with(host) || text.starts_with("https://github.com/") ||
         text.starts_with("http://github.com/");
}

Result<Locator> parse_locator(std::string_view text) {
  std::string_view rest = text;
  for (const std::string_view scheme : {"https://", "http://"})
    if (rest.starts_with(scheme))
      rest.remove_prefix(scheme.size());
  if (!rest.starts_with(host))
    return no_package(text);
  Locator locator;
  if (const size_t at = rest.find('@'); at != rest.npos) {
    const std::string_view version = rest.substr(at + 1);
    const size_t file = file_behind_ref(version);
    locator.ref = version.substr(0, file);
    locator.path =
        cat(rest.substr(0, at), file == version.npos ? std::string_view() : version.substr(file));
    if (locator.ref.empty())
      return user_error(cat("`", printable(text), "` has an `@` without a tag, branch or commit"));
    if (!is_ref(locator.ref))
      return user_error(cat("`", printable(locator.ref), "` in `", printable(text),
                            "` is not the name of a tag, branch or commit"));
  } else {
    locator.path = rest;
  }
  const std::optional<std::string> path = normalised(locator.path);
  if (!path || !path->starts_with(host) || repository_end(*path) == path->npos)
    return no_package(text);
  locator.path = *path;
  const std::string repository = locator.repository();
  const auto steps = split(repository, '/');
  if (!is_name(steps[1]) || !is_name(steps[2]))
    return no_package(text);
  return locator;
}

Result<Locator> resolve_locator(std::string_view text, const Locator& from,
                                const std::string& package) {
  if (is_absolute_locator(text)) {
    Locator locator = TRY(parse_locator(text));
    if (!package.empty() && is_below(locator.path, package))
      return user_error(cat(
          "the locator `", printable(text), "` points into its own package `", package,
          "`, where local absolute locators are not allowed; write it as a relative locator: `/",
          std::string_view(locator.path).substr(std::min(locator.path.size(), package.size() + 1)),
          "`"));
    return locator;
  }
  if (text.empty())
    return user_error("the locator is empty");
  const std::string folder = from.path.substr(0, std::min(from.path.rfind('/'), from.path.size()));
  const std::string root = package.empty() ? folder : package;
  const std::optional<std::string> path =
      normalised(text.starts_with('/') ? cat(root, text) : cat(folder, "/", text));
  const std::string home = from.path.starts_with(host) ? from.repository() : root;
  if (!path || !is_below(*path, home))
    return user_error(cat("the locator `", printable(text), "` leads outside `", home, "`"));
  return Locator{*path, from.ref};
}

Result<Replacement> replace_locator(const Locator& locator,
                                    const std::map<std::string, std::string>& rules) {
  const std::pair<const std::string, std::string>* best = nullptr;
  for (const auto& rule : rules)
    if (is_below(locator.path, rule.first) &&
        (best == nullptr || rule.first.size() > best->first.size()))
      best = &rule;
  if (best == nullptr)
    return Replacement{{}, {}, locator};
  const std::string rest = locator.path.substr(best->first.size());
  if (is_local_rule(best->second))
    return Replacement{best->second, rest.substr(std::min<size_t>(rest.size(), 1)), locator};
  Locator target = TRY(parse_locator(best->second));
  target.path += rest;
  return Replacement{{}, {}, std::move(target)};
}

}  // namespace fettle
