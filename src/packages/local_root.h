#pragma once
/// How far up a package on this machine may look. Its root is its own folder. A folder above counts
/// only if it says itself that it is the rest of the same repository. So nobody can read what lies
/// beside a package that was only put there.

#include <string>

#include "packages/locator.h"

namespace fettle {

struct LocalRoot {
  std::string locator;  ///< how files in the folder are called: `github.com/author/repository`
  std::string folder;
};

/// The outermost folder above `folder`, the package `name`, that belongs to it: it has a
/// `kurtosis.yml` with the name that it must have, or it is a clone of the repository. Else the
/// package itself.
LocalRoot local_root(const std::string& folder, const std::string& name);

}  // namespace fettle
