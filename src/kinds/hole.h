#pragma once
/// The content of a member in a struct of attributes.
///
/// A description is written before it is carried out. So where a driver wants a string, a
/// description may have a *hole*: the address of a service that has not been started. It may also
/// have an unknown, which no run will find out, or a secret. A member of type `std::string` could
/// hold none of these, and a member of type `Value` could hold anything, so every reader would
/// check it again. A `Hole<Name>` is a string or will be one: it says what it holds, and code that
/// has the attributes of an act, where all holes are filled, calls `get`.
///
/// Invariants:
/// * A `Hole` holds a T, a hole, an unknown or a secret; a table of members (`members.h`) refuses
///   everything else.
/// * `get` returns a T or its "nothing was said" value. It never looks into a secret: drivers
///   reveal the secrets that they pass on, and no other code needs to see them.
/// * Equality is that of values, regardless of what will fill the hole.

#include <span>
#include <string_view>
#include <type_traits>

#include "value/value.h"

namespace fettle {

/// The common part: a value that was checked.
class CheckedValue {
 public:
  template <typename T>
    requires std::is_constructible_v<Value, T>
  CheckedValue(T&& value)
      : value_(std::forward<T>(value)) {}  // NOLINT: what is written is what it holds
  const Value& value() const { return value_; }
  /// It is not known before the run, or at all.
  bool is_open() const { return value_.is_deferred() || value_.is_unknown(); }
  bool has_hole() const { return value_.has_deferred(); }
  bool is_null() const { return value_.is_null(); }
  friend bool operator==(const CheckedValue& a, const CheckedValue& b) {
    return a.value_ == b.value_;
  }

 private:
  Value value_;
};

template <typename T>
class Hole;

template <>
class Hole<Name> : public CheckedValue {
 public:
  using CheckedValue::CheckedValue;
  Hole() : CheckedValue(Value("")) {}
  bool is_text() const { return value().is_text(); }
  Name get() const { return is_text() ? value().text() : Name(); }
  std::string_view view() const { return get_view(value()); }
  bool empty() const { return view().empty(); }

 private:
  static std::string_view get_view(const Value& value) {
    return value.is_text() ? value.text().view() : std::string_view();
  }
};

template <>
class Hole<int64_t> : public CheckedValue {
 public:
  using CheckedValue::CheckedValue;
  Hole() : CheckedValue(Value(0)) {}
  int64_t get() const { return value().is_integer() ? value().integer().value_or(0) : 0; }
};

template <>
class Hole<bool> : public CheckedValue {
 public:
  using CheckedValue::CheckedValue;
  Hole() : CheckedValue(Value(false)) {}
  bool get() const { return value().is_bool() && value().boolean(); }
};

class List : public CheckedValue {
 public:
  using CheckedValue::CheckedValue;
  List() : CheckedValue(Value::list({})) {}
  std::span<const Value> items() const { return items_of(value()); }
  bool empty() const { return items().empty(); }
};

class Dict : public CheckedValue {
 public:
  using CheckedValue::CheckedValue;
  Dict() : CheckedValue(Value::dict({})) {}
  std::span<const Entry> entries() const {
    return value().is_dict() ? value().entries() : std::span<const Entry>();
  }
  /// Null if there is none.
  const Value& at(std::string_view key) const { return value().at(key); }
  const Value* find(std::string_view key) const { return value().find(key); }
  bool empty() const { return entries().empty(); }
};

}  // namespace fettle
