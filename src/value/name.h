#pragma once
/// An immutable text that costs nothing to copy and little to compare: one pointer, a shared count
/// and a hash made once. Names of things, keys of dicts and text values are all of this type.

#include <atomic>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace fettle {

class Name {
 public:
  Name() = default;             ///< the empty text
  Name(std::string_view text);  // NOLINT: a text is a name wherever one is wanted
  Name(const std::string& text) : Name(std::string_view(text)) {}  // NOLINT
  Name(const char* text) : Name(std::string_view(text)) {}         // NOLINT
  Name(const Name& other) : node_(other.node_) { keep(); }
  Name(Name&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  Name& operator=(Name other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Name() { release(); }

  std::string_view view() const {
    return node_ == nullptr ? std::string_view() : std::string_view(bytes(), node_->size);
  }
  operator std::string_view() const { return view(); }  // NOLINT: reads as text everywhere
  std::string str() const { return std::string(view()); }
  bool empty() const { return node_ == nullptr; }
  size_t size() const { return view().size(); }
  Digest digest() const;
  uint64_t hash() const { return node_ == nullptr ? 0 : node_->digest.low; }

  friend bool operator==(const Name& a, const Name& b) {
    return a.node_ == b.node_ || (a.hash() == b.hash() && a.view() == b.view());
  }
  friend bool operator==(const Name& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const Name& a, const char* b) { return a.view() == b; }
  friend bool operator==(const Name& a, const std::string& b) { return a.view() == b; }
  friend std::strong_ordering operator<=>(const Name& a, const Name& b) {
    return a.node_ == b.node_ ? std::strong_ordering::equal : a.view().compare(b.view()) <=> 0;
  }

 private:
  friend class Value;
  struct Node {
    std::atomic<uint32_t> users;
    uint32_t size;
    Digest digest;
  };
  explicit Name(Node* node) : node_(node) {}  ///< takes one use over
  const char* bytes() const { return reinterpret_cast<const char*>(node_ + 1); }
  void keep() const {
    if (node_ != nullptr)
      node_->users.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (node_ != nullptr && node_->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy();
  }
  void destroy();

  Node* node_ = nullptr;
};

struct NameHash {
  using is_transparent = void;
  size_t operator()(const Name& name) const { return name.hash(); }
};

inline std::string_view text_of(const Name& name) { return name.view(); }

}  // namespace fettle

template <>
struct std::hash<fettle::Name> {
  size_t operator()(const fettle::Name& name) const { return name.hash(); }
};
