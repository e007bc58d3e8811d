#pragma once
/// Room for the day on which the disk is full: whoever frees space has to write first. A file of
/// fixed size lies beside the store, and gives way to commands that remove things.

#include <string>

namespace fettle {

/// Makes it if it is not there and the disk has plenty. Where that fails, nothing is kept.
void keep_reserve(const std::string& folder);
/// Removes it if the disk has less room than that, and makes it again at the end of its life, if
/// there is room then.
class ReserveUse {
 public:
  explicit ReserveUse(std::string folder);
  ~ReserveUse();
  ReserveUse(const ReserveUse&) = delete;
  ReserveUse& operator=(const ReserveUse&) = delete;

 private:
  std::string folder_;
  bool is_used_ = false;
};

}  // namespace fettle
