#pragma once
/// A table from keys to numbers, for a million keys: one flat array that borrows them. A look-up
/// misses the cache once or twice, where a table of nodes misses it three or four times.

#include <bit>
#include <cstdint>
#include <vector>

#include "core/key.h"

namespace fettle {

class KeyTable {
 public:
  static constexpr uint32_t none = ~uint32_t{0};

  /// Makes room for that many keys; only before the first one is added.
  void reserve(size_t count) {
    slots_.resize(std::bit_ceil(std::max<size_t>(count, 4) * 2));
    mask_ = slots_.size() - 1;
  }

  /// Returns the number of a key, which is `number` if the key was not there. The key must outlive
  /// the table.
  uint32_t add(const Key& key, uint32_t number) {
    Slot& slot = slots_[place_of(key, hash_of(key))];
    if (slot.number == none)
      slot = {&key, tag_of(hash_of(key)), number};
    return slot.number;
  }

  /// Returns `none` if the key is not there.
  uint32_t find(const Key& key) const { return find(key, hash_of(key)); }

  /// The same in two steps, so that the memory of several keys can be fetched at once.
  static uint64_t hash_of(const Key& key) { return KeyHash()(key) * 0x9e3779b97f4a7c15U; }
  void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash >> 32 & mask_]); }
  uint32_t find(const Key& key, uint64_t hash) const { return slots_[place_of(key, hash)].number; }

 private:
  struct Slot {
    const Key* key = nullptr;
    uint32_t tag = 0;
    uint32_t number = none;
  };
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash); }

  /// The slot where the key is or would be. There is always an empty one.
  size_t place_of(const Key& key, uint64_t hash) const {
    size_t place = hash >> 32 & mask_;
    while (slots_[place].number != none &&
           (slots_[place].tag != tag_of(hash) || *slots_[place].key != key))
      place = (place + 1) & mask_;
    return place;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(8);
  size_t mask_ = 7;
};

}  // namespace fettle
