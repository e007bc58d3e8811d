#pragma once
/// Reads JSON of which much was read before.
///
/// A watch tells of a pod each time that a container of it restarts, and each time it repeats all
/// that the pod says: its containers, their limits, its labels. To make values of that, to look
/// whether there are equal ones, and to drop them for those, costs more than everything that is done
/// about the restart. But equal bytes have equal values. So here a list, a dict or a text is first
/// looked for by the hash of its bytes, and is only read if it was not met. What is met is the value
/// of then, so ten thousand pods of a workload have one list of containers.
///
///   scan   one pass finds where each list and dict ends
///   read   from outside to inside; what was met is passed over as a whole
///
/// What is met once may never come again, so a value is held when its bytes come for the second
/// time. There is one place for each hash, modulo their number, and what comes later takes it: a
/// value that is met often is back soon, and nothing has to be thrown out.
///
/// Invariants: what `read` answers is equal to what `read_json` with `Duplicates::last_wins` does,
/// but for what is left out, and so are errors. What is left out is not looked into: only its
/// brackets and quotes have to match.
///
/// Used by one at a time.

#include <string>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

class SharedJson {
 public:
  /// Keys from the outermost dict to a member that is not read; `*` is any item of a list.
  using Path = std::vector<std::string>;

  /// At most eight paths. `places`: for values that may come again; a power of two.
  explicit SharedJson(std::vector<Path> left_out = {}, size_t places = 4096)
      : left_out_(std::move(left_out)), places_(places) {}

  Result<Value> read(std::string_view text);

 private:
  class Reading;
  struct Place {
    Digest digest;
    Value value;
    bool is_kept = false;  ///< the bytes were met at least twice
  };

  Place& place(Digest digest);

  const std::vector<Path> left_out_;
  const size_t places_;
  std::vector<Place> met_;  ///< empty until something is read
};

}  // namespace fettle
