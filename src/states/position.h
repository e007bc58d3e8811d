#pragma once
/// Places in the texts that a compile has read, and errors with such places.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/tree.h"

namespace fettle::states {

/// The text of a file, with several owners.
using SharedText = std::shared_ptr<const std::string>;

/// A place in one of the texts; line 0: unknown.
struct Position {
  uint32_t file = 0;  ///< in `Texts`
  uint32_t line = 0;
  uint32_t column = 0;
  bool operator==(const Position&) const = default;
};

/// The texts that were read, by name.
class Texts {
 public:
  /// The number of a text. A text whose name is known keeps its number.
  uint32_t add(const std::string& name, SharedText text);
  const std::string& name(uint32_t file) const { return names_[file]; }
  const std::vector<std::string>& names() const { return names_; }
  Where where(Position position) const;
  /// The line of a place. Empty: the place is unknown. The first call for a text takes time in
  /// proportion to its size.
  std::string_view line(Position position);
  /// Two lines that show a place. Empty: it is unknown.
  std::string excerpt_of(Position position) const;

 private:
  std::vector<std::string> names_;
  std::vector<SharedText> texts_;
  std::vector<std::vector<size_t>> line_begins_;  ///< of each text; empty: not known yet
  std::map<std::string, uint32_t, std::less<>> numbers_;
};

/// The errors and warnings of a compile. Errors are reported together; if there is one, nothing
/// runs.
class Report {
 public:
  explicit Report(Texts& texts) : texts_(texts) {}
  void error(Position position, std::string_view message);
  void error(Error error);
  void warn(Position position, std::string_view message);
  Where where(Position position) const { return texts_.where(position); }
  /// Whether there are still few enough errors to look for what was meant.
  bool takes_hints() const { return errors.size() < most_hints; }

  std::vector<Error> errors;
  std::vector<Error> warnings;
  /// For `validate`: nothing is known about parameters, so nothing about them is wrong.
  bool spares_parameters = false;

 private:
  static constexpr size_t most_hints = 50;
  bool is_about_parameter(Position position, std::string_view message) const;
  Error made(Position position, std::string_view message) const;
  Texts& texts_;
};

}  // namespace fettle::states
