#pragma once
/// Room for the day on which the disk is full: whoever frees space has to write first. A file lies
/// beside the store, and gives way to commands that remove things.

#include <cstdint>
#include <string>

namespace fettle {

/// How large it is where so much is free: a quarter, at most 4 MiB; 0: too little to be of use.
uint64_t reserve_of(uint64_t room);
/// Makes it if it is not there, or anew if there is room for one twice its size. Where that fails,
/// nothing is kept.
void keep_reserve(const std::string& folder);
/// Where the disk has so little room that it may be needed, removes it and lets the log of the store
/// begin anew. At the end of its life one is kept again, as large as there is room then.
class ReserveUse {
 public:
  explicit ReserveUse(std::string folder);
  ~ReserveUse();
  ReserveUse(const ReserveUse&) = delete;
  ReserveUse& operator=(const ReserveUse&) = delete;

 private:
  std::string folder_;
  bool is_low_ = false;
};

}  // namespace fettle
