#pragma once
/// Takes the folder of a mirror out of what a command prints, so that paths are those of the client.

#include <string>
#include <string_view>

namespace fettle {

class PathFilter {
 public:
  /// Removes `mirrors`/NUMBER/root.
  explicit PathFilter(std::string mirrors) : begin_(std::move(mirrors) + "/") {}

  /// What can be told by now. What may still become such a path is held back.
  std::string pass(std::string_view bytes);
  bool holds() const { return !held_.empty(); }
  /// What is held back, when nothing follows.
  std::string rest() { return std::exchange(held_, {}); }

 private:
  enum class Fit { no, partly, whole };
  /// Whether such a path begins here, and its length.
  Fit fit(std::string_view text, size_t& length) const;

  std::string begin_, held_;
};

}  // namespace fettle
