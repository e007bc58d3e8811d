#pragma once
/// A list of a home in a file of JSON that only its owner may read: the tokens of a server, and whom
/// it trusts. Whoever could write it would let himself in, so a file that is open to others, or that
/// says something else than it should, has nothing in it that counts.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/time.h"
#include "value/value.h"

namespace fettle {

struct KeptList {
  Path file;
  std::string name;  ///< of its field, and what is in it: `tokens`

  /// Errors (`Blame::user`): it is damaged, cannot be read, or others can. No file: an empty list.
  Result<std::vector<Value>> read() const;
  /// One at a time: what `changed` gives is kept.
  Status change(const std::function<Result<std::vector<Value>>()>& changed) const;
  Error damaged(std::string_view why) const;
};

/// When something of this name was last used: the time of an empty file in a folder.
std::optional<Time> time_of_use(const Path& folder, const std::string& name);
/// That it was used now. What cannot be noted is not.
void note_use_in(const Path& folder, const std::string& name, Time now);

/// Error (`Blame::user`): it is none for `what`: "a token".
Status check_plain_name(const std::string& name, std::string_view what);

/// The texts of a list, none of them empty. `name`, for the error.
Result<std::vector<std::string>> texts_in(const Value& list, std::string_view name);

}  // namespace fettle
