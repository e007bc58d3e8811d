#include "packages/review.h"

#include <algorithm>
#include <filesystem>

#include "packages/types.h"
#include "starlark/review.h"
#include "starlark/scan.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_files = 10'000;

/// The names of a package, none of which does anything.
void predeclare_names(starlark::Session& session) {
  types::predeclare(session);
  for (const char* name : {"import_module", "read_file", "print"})
    session.predeclare(name, session.native(name, [](starlark::Call&) -> Result<starlark::Value> {
      return user_error("nothing is called here");
    }));
  session.predeclare("kurtosis", session.heap().module("kurtosis", {}));
}

/// Paths within the folder.
std::vector<std::string> star_files(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code failure;
  fs::recursive_directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::recursive_directory_iterator() && found.size() < most_files;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (entry->is_symlink(failure))
      entry.disable_recursion_pending();
    else if (entry->is_directory(failure) && name.starts_with('.'))
      entry.disable_recursion_pending();
    else if (name.ends_with(".star") && entry->is_regular_file(failure))
      found.push_back(fs::path(entry->path()).lexically_relative(folder).string());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

Result<PackageReview> review_package(Sources& sources, const std::string& main_file,
                                     const std::string& main_function) {
  PackageReview found;
  const std::vector<std::string> files =
      sources.package().empty() ? std::vector{main_file} : star_files(sources.folder());
  const starlark::Dialect dialect = starlark::Dialect::of(starlark::Profile::kurtosis);
  starlark::Session session(dialect);
  predeclare_names(session);
  for (const std::string& file : files) {
    const Locator locator = sources.root(file);
    if (is_compose_path(file)) {
      found.runs = true;
      ++found.files;
      if (const auto program = sources.compose(locator, {}); !program)
        found.errors.push_back(program.error());
      continue;
    }
    const std::string text = TRY(sources.read(locator));
    found.runs |=
        file == main_file && !starlark::signature_of(text, dialect, main_function).empty();
    starlark::Review one =
        starlark::review(session, sources.shown(TRY(sources.path(locator))), text);
    ++found.files;
    std::ranges::move(one.errors, std::back_inserter(found.errors));
    std::ranges::move(one.doubts, std::back_inserter(found.doubts));
  }
  return found;
}

}  // namespace fettle
