#pragma once
/// Names of packages and of files in them:
/// `github.com/author/repository[/sub/dir][@tag|branch|commit]`, where the file may also stand at
/// the very end (`github.com/author/repository@branch/file.star`), and how a file names another
/// one:
/// `./x`, `../x`, `/x` from the root of its package, or absolute.

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

struct Locator {
  std::string path;  ///< `github.com/author/repository/sub/dir/file.star`, normalised
  std::string ref;   ///< tag, branch or commit; empty: the default branch

  std::string repository() const;   ///< `github.com/author/repository`
  std::string_view inside() const;  ///< what follows the repository, without a leading slash
  bool operator==(const Locator&) const = default;
};

bool is_absolute_locator(std::string_view text);

/// An absolute locator. Errors: another host, a missing author or repository or one with letters
/// that GitHub does not take, a step out of it.
Result<Locator> parse_locator(std::string_view text);

/// The locator that `text` means in the file `from` of the package `package`. Errors: an absolute
/// locator into one's own package (Kurtosis wants a relative one), or a path that leaves the
/// repository.
Result<Locator> resolve_locator(std::string_view text, const Locator& from,
                                const std::string& package);

/// Whether a `replace` rule names a path of this machine: it begins with `.` or `/`.
bool is_local_rule(std::string_view replacement);

/// The `replace` rules of the root package: the longest directory prefix wins.
struct Replacement {
  std::string local;   ///< the folder that a local rule names, as it is written; else empty
  std::string inside;  ///< what follows in it, without a leading slash
  Locator locator;
};
Result<Replacement> replace_locator(const Locator& locator,
                                    const std::map<std::string, std::string>& rules);

}  // namespace fettle
