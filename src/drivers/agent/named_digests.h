#pragma once
/// The digests of contents that texts name: whoever was told of one may have it.

#include <set>
#include <string>
#include <string_view>

namespace fettle {

class NamedDigests {
 public:
  /// Those that stand in these bytes: 64 hexadecimal digits in a row, in lower case.
  void add(std::string_view bytes);
  bool has(std::string_view digest) const { return digests_.contains(digest); }

 private:
  std::set<std::string, std::less<>> digests_;
};

}  // namespace fettle
