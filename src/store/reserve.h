#pragma once
/// Room for a full disk: to free space, a command must write first. A file next to the store makes
/// room for commands that remove things.

#include <cstdint>
#include <string>

namespace fettle {

/// The size of the reserve where `room` is free: a quarter, at most 4 MiB. 0: too little to be
/// useful.
uint64_t reserve_of(uint64_t room);
/// Creates the reserve if it does not exist, or creates it again if there is room for twice its
/// size. If that fails, nothing is kept.
void keep_reserve(const std::string& folder);
/// If the disk has so little room that the reserve may be needed, removes it and lets the store's
/// log start afresh. Its destructor creates a reserve again, as large as the room then allows.
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
