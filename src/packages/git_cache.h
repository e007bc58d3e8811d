#pragma once
/// Repositories of packages, fetched by git and kept below `HOME/packages`, a folder of plain files
/// for each commit. Git only moves objects here: nothing that a repository says is run (hooks,
/// filters, submodules, settings of its own), and nobody is asked for a password.
///
/// A commit is checked out beside and renamed, under a lock, so that a folder that is there is
/// whole and stays; a commit that is named in full and is there needs no network.

#include <functional>
#include <stop_token>

#include "base/activity.h"
#include "base/file.h"
#include "base/time.h"
#include "packages/sources.h"

namespace fettle {

struct GitCache {
  Path folder;
  WaitLimits limits{};
  std::stop_token stop{};
  std::function<void(const std::string&)> notice{};  ///< told who is waited for; may be empty
  DoingSink doing{};                                 ///< told what is fetched; may be empty
  /// Where the repository is, as its user says; the name is then only that of a folder. Empty: it
  /// is at the place that its name says. His own word lets it be a file of this machine.
  std::string url{};

  /// The folder with the files of a repository (`github.com/author/name`) at a tag, branch or
  /// commit, in this order, or at a ref that is named in full (`refs/heads/main`); at its default
  /// branch when `ref` is empty. Errors: git is missing, the
  /// repository or the ref is not there, a limit is over.
  Result<std::string> checkout(const std::string& repository, const std::string& ref) const;
  /// The same as a function.
  Fetch fetch() const;
};

}  // namespace fettle
