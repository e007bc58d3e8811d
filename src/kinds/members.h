#pragma once
/// The members of a resource's attributes, outputs and states, as a struct has them.
///
/// Attributes, outputs and states are stored, hashed and compared as values, and used as structs.
/// The obvious way to get from one to the other is a function that reads and one that writes, a
/// check of users' input, and a page for people. That takes four lists of the same names, each with
/// its own idea of omissions and defaults. So one table has a row for each member, and everything
/// else follows from the rows:
///
///     const Members& Link::members() {
///       static const Members all{required<&Link::path>("path", "absolute, where the link is"),
///                                member<&Link::leads_to>("leads_to", "any text")};
///       return all;
///     }
///
/// `normalise` checks what a user wrote and fills in the defaults, which are those of a new struct;
/// `read` makes the struct of a value and `write` the value of a struct; `docs/resources.md` shows
/// the rows.
///
/// Invariants:
/// * A normal value is unchanged when it is read and written again: `write(read<T>(v)) == v`.
/// * `read` never fails. A member that is missing or of another type is as in a new struct: outputs
///   of an earlier fettle lack members that have been added since.
/// * A member that is left out when it is empty is left out by `normalise` and by `write`, so that
///   a new member changes no digest of a value without it.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "core/payload.h"
#include "kinds/hole.h"

namespace fettle {

struct Member {
  enum Type { text, integer, boolean, list, dict, any };
  enum Omission { never, when_null, when_empty };  ///< whether it is left out of the dict

  Name name;
  std::string_view meaning;  ///< for the manual
  Type type;
  std::optional<Value> otherwise;  ///< the default; none: the member is required
  Omission leaving = never;
  Value (*get)(const void* owner);
  void (*set)(void* owner, const Value& value);
};

class Members {
 public:
  Members(std::initializer_list<Member> rows) : rows_(rows) {}

  /// A dict with every member present that is not left out. A hole or an unknown may stand for a
  /// value of any type; null says the same as leaving it out. Errors (`Blame::user`): not a dict, a
  /// missing member, an unknown one (with a suggestion), a wrong type.
  Result<Value> normalise(const Value& given) const;

  void read(void* owner, const Value& value) const;
  template <typename Kind>
  void read(void* owner, const Payload<Kind>& payload) const;
  Value write(const void* owner) const;

  const std::vector<Member>& rows() const { return rows_; }
  /// The row whose `set` this is.
  const Member& row_of(void (*set)(void*, const Value&)) const;
  /// Null when the dict lacks the member of a row.
  template <typename Kind>
  static const Value* find(const Payload<Kind>& payload, const Member& row);
  static const Value* find(const Value& dict, const Member& row) { return dict.find(row.name); }

 private:
  std::vector<Member> rows_;
};

/// `a string`, `an integer`, … as messages name it.
std::string_view to_string(Member::Type type);

/// Converts between a value and a member of a type. Structs with a table are dicts.
template <typename T>
struct MemberType {
  static constexpr Member::Type type = Member::dict;
  static Value get(const T& member) { return T::members().write(&member); }
  static void set(T& member, const Value& value) { T::members().read(&member, value); }
};
template <typename Holder, Member::Type type_>
struct HeldType {
  static constexpr Member::Type type = type_;
  static Value get(const Holder& member) { return member.value(); }
  static void set(Holder& member, const Value& value) { member = Holder(value); }
};
template <>
struct MemberType<Hole<Name>> : HeldType<Hole<Name>, Member::text> {};
template <>
struct MemberType<Hole<int64_t>> : HeldType<Hole<int64_t>, Member::integer> {};
template <>
struct MemberType<Hole<bool>> : HeldType<Hole<bool>, Member::boolean> {};
template <>
struct MemberType<List> : HeldType<List, Member::list> {};
template <>
struct MemberType<Dict> : HeldType<Dict, Member::dict> {};
template <>
struct MemberType<Value> {
  static constexpr Member::Type type = Member::any;
  static Value get(const Value& member) { return member; }
  static void set(Value& member, const Value& value) { member = value; }
};
template <>
struct MemberType<Name> {
  static constexpr Member::Type type = Member::text;
  static Value get(const Name& member) { return member; }
  static void set(Name& member, const Value& value) {
    if (value.is_text())
      member = value.text();
  }
};
template <typename Integer>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
struct MemberType<Integer> {
  static constexpr Member::Type type = Member::integer;
  static Value get(Integer member) { return member; }
  static void set(Integer& member, const Value& value) {
    if (value.is_integer() && value.integer())
      member = static_cast<Integer>(*value.integer());
  }
};
template <>
struct MemberType<bool> {
  static constexpr Member::Type type = Member::boolean;
  static Value get(bool member) { return member; }
  static void set(bool& member, const Value& value) {
    if (value.is_bool())
      member = value.boolean();
  }
};
/// Null when there is none.
template <typename T>
struct MemberType<std::optional<T>> {
  static constexpr Member::Type type = MemberType<T>::type;
  static Value get(const std::optional<T>& member) {
    return member ? MemberType<T>::get(*member) : Value();
  }
  static void set(std::optional<T>& member, const Value& value) {
    if (value.is_null())
      member.reset();
    else
      MemberType<T>::set(member.emplace(), value);
  }
};

template <typename Owner, typename T>
Owner owner_of(T Owner::*);
template <typename Owner, typename T>
T type_of(T Owner::*);

/// A row. Where a dict lacks the member, it is as in a new struct.
template <auto pointer>
Member member(std::string_view name, std::string_view meaning) {
  using Owner = decltype(owner_of(pointer));
  using Type = MemberType<decltype(type_of(pointer))>;
  return {name,
          meaning,
          Type::type,
          Type::get(Owner().*pointer),
          Member::never,
          [](const void* owner) { return Type::get(static_cast<const Owner*>(owner)->*pointer); },
          [](void* owner, const Value& value) {
            Type::set(static_cast<Owner*>(owner)->*pointer, value);
          }};
}

/// A row of a member that a dict must have.
template <auto pointer>
Member required(std::string_view name, std::string_view meaning) {
  Member made = member<pointer>(name, meaning);
  made.otherwise.reset();
  return made;
}

/// A row of a member that is left out when it is empty: null, false, 0, an empty text, list or
/// dict.
template <auto pointer>
Member extra(std::string_view name, std::string_view meaning) {
  Member made = member<pointer>(name, meaning);
  made.leaving = Member::when_empty;
  return made;
}

/// A row of a member that is left out when it is null.
template <auto pointer>
Member given(std::string_view name, std::string_view meaning) {
  Member made = member<pointer>(name, meaning);
  made.otherwise = Value();
  made.leaving = Member::when_null;
  return made;
}

/// A row of a member that may have any type, and be null.
template <auto pointer>
Member anything(std::string_view name, std::string_view meaning) {
  Member made = member<pointer>(name, meaning);
  made.type = Member::any;
  return made;
}

/// The struct of a dict, or of what a resource carries: `read<Service>(resource.attributes)`.
template <typename T, typename Dict>
T read(const Dict& dict) {
  T made;
  T::members().read(&made, dict);
  return made;
}

template <auto pointer>
const Member& row_of() {
  using Owner = decltype(owner_of(pointer));
  static const Member& row = Owner::members().row_of(member<pointer>({}, {}).set);
  return row;
}

/// One member of it, where the others do not matter: `read_one<&Pod::owner>(attributes)`.
template <auto pointer, typename Dict>
auto read_one(const Dict& dict) {
  using Type = decltype(type_of(pointer));
  static const Type otherwise = decltype(owner_of(pointer))().*pointer;
  Type found = otherwise;
  if (const Value* given = Members::find(dict, row_of<pointer>()))
    MemberType<Type>::set(found, *given);
  return found;
}

/// The value of a struct.
template <typename T>
Value write(const T& made) {
  return T::members().write(&made);
}

/// A dict with the members of a struct in addition to its own.
template <typename T>
Value with_members(const Value& dict, const T& more) {
  const Value added = write(more);
  std::vector<Entry> entries(dict.entries().begin(), dict.entries().end());
  entries.insert(entries.end(), added.entries().begin(), added.entries().end());
  return Value::dict(std::move(entries));
}

}  // namespace fettle
