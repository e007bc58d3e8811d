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

  /// The pattern must have been checked, and must live as long as this object.
  bool matches(std::string_view pattern, std::string_view text);

 private:
  struct CompileResult;
  std::unordered_map<std::string_view, std::unique_ptr<CompileResult>> compiled_;
  std::string_view recent_pattern_;  ///< most values are of the type of the one before
  CompileResult* recent_ = nullptr;
};

/// Error (`Blame::user`, without a place): the pattern cannot be read; the message has the reason.
Status check_regex(std::string_view pattern);

}  // namespace fettle::model
