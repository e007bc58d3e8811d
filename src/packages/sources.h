#pragma once
/// Finds and reads the files of packages: in a folder here, a mirror, or a clone. A front end may
/// do nothing with the world but read, and it reads only beneath the folder of the package or
/// repository to which a file belongs (`docs/trust.md`).

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/closed_folder.h"
#include "packages/compose/program.h"
#include "packages/elsewhere.h"
#include "packages/locator.h"

namespace fettle {

/// The contents of `kurtosis.yml`.
struct PackageFile {
  std::string name;
  std::string description;
  std::map<std::string, std::string> replace;
};
/// Errors: malformed YAML with its place, a missing or wrong name, a slash at its end.
Result<PackageFile> read_package_file(const ClosedFolder& folder, const std::string& inside);

/// Fetches a repository at a ref and answers the folder of its files.
using Fetch =
    std::function<Result<std::string>(const std::string& repository, const std::string& ref)>;

/// The root package and everything that can be reached from it.
class Sources {
 public:
  /// A package in a folder of this machine with a `kurtosis.yml`.
  static Result<Sources> of_folder(const std::string& folder, Purpose purpose = Purpose::act);
  /// A single file without a package.
  static Result<Sources> of_script(const std::string& file);
  /// A text that stands in no file, as a script of a folder with this name.
  static constexpr std::string_view name_of_text = "<stdin>";
  static Result<Sources> of_text(const std::string& folder, std::string text);
  /// A package of somebody else: from the mirror, or fetched. Its `replace` rules that name paths
  /// of this machine do not count.
  static Result<Sources> of_locator(const std::string& locator, const std::string& mirror,
                                    const Fetch& fetch, Purpose purpose = Purpose::act);

  void set_mirror(std::string mirror) { mirror_ = std::move(mirror); }
  void set_fetch(Fetch fetch) { fetch_ = std::move(fetch); }

  /// The owner of what the package wants: its name, or `script`.
  const std::string& owner() const { return owner_; }
  /// The name of the package; empty for a script.
  const std::string& package() const { return package_.name; }
  const std::string& folder() const { return folder_; }
  /// `main.star`, or the compose file of a folder that has one and no `kurtosis.yml`.
  const std::string& main_file() const { return main_file_; }
  Locator root(const std::string& file) const;
  /// The hint behind "no `main.star` in the folder"; may be empty.
  std::string advice_without_main() const;

  /// The package that a file belongs to: the nearest folder above it with a `kurtosis.yml`.
  std::string package_of(const Locator& file);
  /// The locator that `text` means in the file `from`, with the replace rules of the root applied.
  Result<Locator> resolve(std::string_view text, const Locator& from);
  /// The path on this machine, without links in it but for the last step of a file. Errors: cannot
  /// be fetched, not there (with a suggestion), outside of what it belongs to.
  Result<std::string> path(const Locator& locator);
  /// A path as it is shown: from here when it is below.
  std::string shown(const std::string& path);
  /// The text of a file. Errors as `path`, and what is larger than 64 MB.
  Result<std::string> read(const Locator& locator);
  /// The program of a compose file. `given`: what its user says, such as profiles; the rest is filled
  /// in. Errors as `read`, and those of the project.
  Result<compose::Program> compose(const Locator& locator, compose::ProjectRequest given);
  /// Other repositories that were looked into, with their ref if one was given.
  const std::set<std::string>& dependencies() const { return dependencies_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  /// The place of a file: a folder that it may not leave, and its path.
  struct Spot {
    ClosedFolder folder;
    std::string inside;
    std::string shown;  ///< for messages
  };
  static Result<Sources> open(const ClosedFolder& tree, const std::string& inside,
                              std::string_view shown, Purpose purpose);
  Result<std::string> repository_folder(const Locator& locator);
  Result<Spot> spot(const Locator& locator);
  Result<std::string> located(const Spot& spot) const;
  bool is_local(const Locator& locator) const;

  std::string owner_ = "script";
  PackageFile package_;
  std::string folder_;  ///< of the root package
  std::string main_file_ = "main.star";
  std::string shown_;  ///< as it was given
  Purpose purpose_ = Purpose::act;
  std::string tree_locator_ = "script";  ///< how the files of `tree_` are called
  ClosedFolder tree_{Path()};            ///< that the root package belongs to
  std::optional<std::string> text_;      ///< of the script `name_of_text`
  std::string mirror_;
  Fetch fetch_;
  std::map<std::string, std::string> fetched_;  ///< repository@ref -> folder
  std::map<std::string, Spot> replaced_;        ///< by module path
  std::set<std::string> dependencies_;
  std::map<std::string, std::string> packages_;  ///< folder of a file -> its package
  std::map<std::string, std::string> near_;      ///< folder -> as it is shown
  std::vector<std::string> warnings_;
};

/// Whether a file is a compose file when it is run or imported.
bool is_compose_path(std::string_view path);

}  // namespace fettle
