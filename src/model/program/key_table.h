#pragma once
/// The instances in an index, by the texts of their keys: a table of addresses. A key lies in an
/// arena with its hash. So a table that grows looks at no text, and a key that is looked up and
/// then entered is hashed once.

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/hash.h"
#include "base/invariant.h"
#include "model/values/arena.h"

namespace fettle::model {

/// The text that the values of an index form, and its hash.
struct Key {
  std::string text;
  uint32_t hash = 0;

  /// Must be called after the text was written.
  void seal() { hash = static_cast<uint32_t>(hash64(text)) & last_hash; }

  static constexpr int hash_bits = 24;
  static constexpr uint32_t last_hash = (1U << hash_bits) - 1;
};

class KeyTable {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  /// The number of the instance, or `none`.
  uint32_t find(const Key& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? none : (*found)->number;
  }
  /// Enters a key that is not there yet.
  void insert(Arena& arena, const Key& key, uint32_t number) {
    entries_.insert(new_entry(arena, key, number));
  }

 private:
  /// Followed by the text.
  struct Entry {
    uint64_t size : 64 - Key::hash_bits;
    uint64_t hash : Key::hash_bits;
    uint32_t number;
    char text[4];

    std::string_view view() const { return {text, size}; }
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Entry* entry) const { return entry->hash; }
    size_t operator()(const Key& key) const { return key.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Entry* a, const Entry* b) const { return a == b; }
    bool operator()(const Key& key, const Entry* entry) const {
      return key.hash == entry->hash && key.text == entry->view();
    }
    bool operator()(const Entry* entry, const Key& key) const { return (*this)(key, entry); }
  };

  static const Entry* new_entry(Arena& arena, const Key& key, uint32_t number) {
    constexpr uint64_t longest = (uint64_t{1} << (64 - Key::hash_bits)) - 1;
    INVARIANT(key.text.size() <= longest);
    auto* const made = static_cast<Entry*>(arena.take(offsetof(Entry, text) + key.text.size()));
    made->size = key.text.size() & longest;
    made->hash = key.hash & Key::last_hash;
    made->number = number;
    std::memcpy(made->text, key.text.data(), key.text.size());
    return made;
  }

  boost::unordered_flat_set<const Entry*, Hash, Equal> entries_;
};

}  // namespace fettle::model
