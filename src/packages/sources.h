#pragma once
/// Where the files of packages come from: a folder here, a mirror, or a clone. Reading is all that
/// a front end may do with the world.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "packages/locator.h"

namespace fettle {

/// What `kurtosis.yml` says.
struct PackageFile {
  std::string name;
  std::string description;
  std::map<std::string, std::string> replace;
};
/// Errors: malformed YAML with its place, a missing or wrong name, a slash at its end.
Result<PackageFile> read_package_file(const std::string& path);

/// Fetches a repository at a ref and answers the folder of its files.
using Fetch =
    std::function<Result<std::string>(const std::string& repository, const std::string& ref)>;

/// The root package and everything that can be reached from it.
class Sources {
 public:
  /// A package in a folder with a `kurtosis.yml`. `main_file` is relative to it.
  static Result<Sources> of_folder(const std::string& folder);
  /// A single file without a package.
  static Result<Sources> of_script(const std::string& file);
  /// A remote package.
  static Result<Sources> of_locator(const std::string& locator, const std::string& mirror,
                                    const Fetch& fetch);

  void set_mirror(std::string mirror) { mirror_ = std::move(mirror); }
  void set_fetch(Fetch fetch) { fetch_ = std::move(fetch); }

  /// The owner of what the package wants: its name, or `script`.
  const std::string& owner() const { return owner_; }
  /// Its name; empty for a script.
  const std::string& package() const { return package_.name; }
  const std::string& folder() const { return folder_; }
  Locator root(const std::string& file) const;

  /// The package that a file belongs to: the nearest folder above it with a `kurtosis.yml`.
  std::string package_of(const Locator& file);
  /// What `text` in the file `from` means, with the replace rules of the root applied.
  Result<Locator> resolve(std::string_view text, const Locator& from);
  /// The path on this machine. Errors: cannot be fetched, not there (with a suggestion).
  Result<std::string> path(const Locator& locator);
  Result<std::string> read(const Locator& locator);
  /// Other repositories that were looked into, with their ref if one was given.
  const std::set<std::string>& dependencies() const { return dependencies_; }

 private:
  Result<std::string> repository_folder(const Locator& locator);
  bool is_local(const Locator& locator) const;

  std::string owner_ = "script";
  PackageFile package_;
  std::string folder_;      ///< of the root package
  std::string repository_;  ///< folder of its repository, when the package's name tells it
  std::string mirror_;
  Fetch fetch_;
  std::map<std::string, std::string> fetched_;   ///< repository@ref -> folder
  std::map<std::string, std::string> replaced_;  ///< module path -> path here
  std::set<std::string> dependencies_;
  std::map<std::string, std::string> packages_;  ///< folder of a file -> its package
};

}  // namespace fettle
