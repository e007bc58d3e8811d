#pragma once
/// The regular expressions of typedefs: Python's `re.match`, anchored at the start and not at the
/// end. Back references and look-around are not supported.

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

namespace fettle::model {

class Regexes {
 public:
  Regexes();
  ~Regexes();

  /// A pattern that was checked, and that lives as long as this.
  bool matches(std::string_view pattern, std::string_view text);

 private:
  struct Compiled;
  std::unordered_map<std::string_view, std::unique_ptr<Compiled>> compiled_;
  std::string_view recent_pattern_;  ///< most values are of the type of the one before
  Compiled* recent_ = nullptr;
};

/// Error (`Blame::user`, without place): the pattern cannot be read, with the reason.
Status check_regex(std::string_view pattern);

}  // namespace fettle::model
