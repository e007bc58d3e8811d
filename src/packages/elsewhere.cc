#include "packages/elsewhere.h"

#include <filesystem>
#include <fstream>

#include "base/shell_word.h"
#include "base/text.h"
#include "packages/compose/program.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

std::string below(const std::string& inside, std::string_view name) {
  return cat(inside, inside.empty() ? "" : "/", name);
}

/// The beginning of a file, which says what it is.
std::string beginning_of(const std::string& path) {
  std::string text(size_t{4} << 20, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

/// Whether one of the lines begins with a key of the outermost mapping.
bool has_key(const std::string& text, std::string_view key) {
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with(key) ||
        trim(line).starts_with(cat("\"", key.substr(0, key.size() - 1), "\":")))
      return true;
  return false;
}

std::string advice_on_yaml(const std::string& path, const std::string& shown, Purpose purpose) {
  const std::string text = beginning_of(path);
  if (has_key(text, "apiVersion:") && has_key(text, "kind:"))
    return purpose == Purpose::act
               ? cat("workloads are applied by `fettle apply -f ", shown, "`")
               : cat("`fettle diff -f ", shown, "` shows what applying a workload would change");
  return "a package is a folder with a `kurtosis.yml`, or a file that ends in `.star`; arguments "
         "are given by `--args-file`";
}

std::string_view verb_of(Purpose purpose) { return purpose == Purpose::act ? "run" : "plan"; }

}  // namespace

bool looks_like_compose(const std::string& path) {
  if (!path.ends_with(".yml") && !path.ends_with(".yaml"))
    return false;
  const std::string text = beginning_of(path);
  const bool is_manifest = has_key(text, "apiVersion:") && has_key(text, "kind:");
  return compose::is_compose_name(fs::path(path).filename().string()) ||
         (!is_manifest && (has_key(text, "services:") || has_key(text, "include:")));
}

std::string advice_on_file(const std::string& path, Purpose purpose) {
  const std::string shown = quoted_for_shell(path);
  const bool acts = purpose == Purpose::act;
  if (path.ends_with(".sls"))
    return acts ? cat("states are applied by `fettle state ", shown, "`")
                : cat("`fettle state ", shown, " --test` shows what states would change");
  if (path.ends_with(".cf"))
    return acts ? cat("models are deployed by `fettle export --apply -f ", shown, "`")
                : cat("`fettle plan -f ", shown, "` shows what deploying a model would do");
  if (path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".json"))
    return advice_on_yaml(path, shown, purpose);
  return {};
}

std::string advice_on_folder(const ClosedFolder& tree, const std::string& inside,
                             std::string_view shown, Purpose purpose) {
  if (tree.has_file(below(inside, "main.star")))
    return cat("; `fettle ", verb_of(purpose), " ", quoted_for_shell(cat(shown, "/main.star")),
               purpose == Purpose::act ? "` runs its script" : "` shows what its script would do");
  if (tree.has_file(below(inside, "project.yml")))
    return purpose == Purpose::act
               ? "; the project of a model is deployed by `fettle export --apply` in it"
               : "; `fettle plan` in it shows what deploying its model would do";
  if (const std::string packages = packages_in(tree, inside, shown, purpose); !packages.empty())
    return packages;
  return cat("; `fettle package init NAME ", quoted_for_shell(shown), "` makes it one");
}

std::string packages_in(const ClosedFolder& tree, const std::string& inside, std::string_view shown,
                        Purpose purpose) {
  constexpr size_t most_told = 3;
  std::vector<std::string> found;
  for (const std::string& name : tree.names_beside(below(inside, "kurtosis.yml")))
    if (const std::string folder = below(inside, name);
        tree.has_file(cat(folder, "/kurtosis.yml")) && tree.has_file(cat(folder, "/main.star")))
      found.push_back(name);
  std::sort(found.begin(), found.end());
  if (found.empty())
    return {};
  const size_t count = found.size();
  found.resize(std::min(count, most_told));
  for (std::string& name : found)
    name = cat("`fettle ", verb_of(purpose), " ", quoted_for_shell(cat(shown, "/", name)), "`");
  return cat("; the folders in it have packages: ", join(found, ", "),
             count > most_told ? cat(" and ", count - most_told, " more") : std::string());
}

}  // namespace fettle
