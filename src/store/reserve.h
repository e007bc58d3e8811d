#pragma once
/// Room for the day on which the disk is full: to free space, one has to write first. A file lies
/// beside the store, and gives way to commands that remove things.

#include <cstdint>
#include <string>

namespace fettle {

/// The size of the reserve where `room` is free: a quarter, at most 4 MiB. 0: too little to be of
/// use.
uint64_t reserve_of(uint64_t room);
/// Makes the reserve if it is not there, or makes it again if there is room for twice its size. If
/// that fails, nothing is kept.
void keep_reserve(const std::string& folder);
/// If the disk has so little room that the reserve may be needed, removes it, and lets the log of
/// the store start afresh. Its destructor makes a reserve again, as large as there is room then.
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
