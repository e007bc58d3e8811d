#pragma once
/// The objects in a heap: one struct for each kind, all beginning with the header `Object`. A
/// variable number of items follows the struct. To add a kind: an enumerator, a struct, a case in
/// `each_reference` (references.h), a row in `type_name_of` (types.cc).

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "starlark/values/value.h"

namespace fettle::starlark {

struct Code;
struct ModuleState;
struct RecordType;
class Heap;
struct Vm;

enum class Kind : uint8_t {
  free_cell,  ///< not in use
  raw,        ///< bytes without pointers: the index of a table
  array,      ///< the items of a list
  entries,    ///< the entries of a table
  buffer,     ///< the bytes that texts made by `+=` share
  shape,      ///< the names of a structure
  cell,       ///< a variable that a closure shares
  big_int,
  boxed_float,
  string,
  bytes,
  list,
  tuple,
  dict,
  set,
  range,
  function,
  builtin,
  structure,
  module,
  record,
  view,  ///< `"".elems()` and its like
  time,
  duration,
  regex,
  unknown,  ///< a value that the host does not know; it notes who looks at it
  none,     ///< kinds without objects, for tables by kind
  boolean,
  count
};

struct Object {
  static constexpr uint8_t marked = 1;      ///< found by the running collection
  static constexpr uint8_t frozen = 2;      ///< immutable for ever
  static constexpr uint8_t shared = 4;      ///< of a finished heap: no collection looks at it
  static constexpr uint8_t large = 8;       ///< allocated alone
  static constexpr uint8_t indirect = 16;   ///< a text whose bytes are in a buffer
  static constexpr uint8_t visiting = 32;   ///< on the path of a walk that looks for cycles
  static constexpr uint8_t looked_at = 64;  ///< of an unknown: something depends on what it is

  Kind kind;
  uint8_t flags;
  uint16_t extra;
  uint32_t count;  ///< a length, or for list, dict and set the number of running iterations

  bool is_frozen() const { return (flags & frozen) != 0; }
};

/// Bytes that grow at the end. Every text that shares them has a length of its own.
struct Buffer : Object {
  uint64_t used;
  uint64_t capacity;
  char* data() { return reinterpret_cast<char*>(this + 1); }
};

/// A text of over 7 bytes, or bytes of any length.
struct String : Object {
  uint64_t hash;  ///< 0 until it is asked for
  Buffer* buffer() const { return *reinterpret_cast<Buffer* const*>(this + 1); }
  char* inside() { return reinterpret_cast<char*>(this + 1); }
  std::string_view view() const {
    if (flags & indirect) [[unlikely]]
      return {buffer()->data(), count};
    return {reinterpret_cast<const char*>(this + 1), count};
  }
};

/// Sign and magnitude, the least limb first, never with a zero limb on top; `extra` is 1 if it is
/// negative.
struct BigInt : Object {
  uint64_t* limbs() { return reinterpret_cast<uint64_t*>(this + 1); }
  const uint64_t* limbs() const { return reinterpret_cast<const uint64_t*>(this + 1); }
  bool negative() const { return extra != 0; }
};

struct BoxedFloat : Object {
  double number;
};

/// A value that nobody knows. It may be in a list, and may be passed on. Whoever asks for its
/// truth, its type, its text or a comparison sets `looked_at`.
struct Unknown : Object {
  uint64_t spare;
};

struct Cell : Object {
  Value value;
};

/// `count` is the capacity.
struct Array : Object {
  Value* items() { return reinterpret_cast<Value*>(this + 1); }
};

struct List : Object {
  Value* items;  ///< of an `Array`, or null
  uint32_t size;
  uint32_t capacity;
  Array* array() const { return items == nullptr ? nullptr : reinterpret_cast<Array*>(items) - 1; }
};

struct Tuple : Object {
  Value* items() { return reinterpret_cast<Value*>(this + 1); }
  const Value* items() const { return reinterpret_cast<const Value*>(this + 1); }
};

/// A slot of a table, in order of insertion. A removed one has the key `unset`.
struct TableEntry {
  Value key;
  Value value;
  uint64_t hash;
};

/// A dict or a set. Up to `most_linear` entries are searched in order. Larger ones have an index of
/// `index_size` words, each 0 (never used), `index_size - 1` (removed) or the number of an entry
/// plus 1, below bits of its hash. The storage may be larger than the table uses.
struct Dict : Object {
  static constexpr uint32_t most_linear = 8;
  TableEntry* entries;  ///< of an object of kind `entries`, or null
  uint32_t* index;      ///< of an object of kind `raw`, or null
  uint32_t used;        ///< slots in use, removed ones included
  uint32_t live;        ///< entries
  uint32_t capacity;    ///< slots
  uint32_t first;       ///< no entry lives before this slot
  uint32_t index_size;  ///< a power of two
  uint32_t spare;
  static Object* owner(TableEntry* entries_) { return reinterpret_cast<Object*>(entries_) - 1; }
  static Object* owner(uint32_t* index_) { return reinterpret_cast<Object*>(index_) - 1; }
};

struct Range : Object {
  int64_t start;
  int64_t stop;
  int64_t step;
  int64_t length;
  /// `i` must be at most the length. What is behind the last element may exceed 64 bits and is
  /// never an element.
  int64_t at(int64_t i) const { return i64(u64(start) + u64(i) * u64(step)); }
};

/// `count` cells follow: variables of enclosing functions.
struct Function : Object {
  const Code* code;
  ModuleState* module;
  Tuple* defaults;  ///< of the parameters that have one, `unset` for keyword-only ones without
  uint64_t serial;  ///< in its heap, for its hash
  Value* cells() { return reinterpret_cast<Value*>(this + 1); }
};

struct Arguments;
/// A function of the interpreter. A host's function is wrapped.
using Native = Value (*)(Vm& vm, const Arguments& arguments);

struct Builtin : Object {
  Native native;
  const char* name;  ///< lives for ever, or in `host`
  Value self;        ///< of a bound method, else `unset`
  void* host;        ///< the wrapped function of a host
  uint64_t serial;   ///< as of a function
};

/// The `count` names of a structure, in alphabetical order.
struct Shape : Object {
  uint64_t id;  ///< never used again for another shape
  Value* names() { return reinterpret_cast<Value*>(this + 1); }
};

/// A `struct` or a module value: a shape and its `count` values.
struct Structure : Object {
  Shape* shape;
  Value constructor;  ///< `struct` itself, another symbol, or a module's name
  Value* values() { return reinterpret_cast<Value*>(this + 1); }
};

/// An object of a host type, `count` fields.
struct Record : Object {
  const RecordType* type;
  Value* values() { return reinterpret_cast<Value*>(this + 1); }
};

/// A way to look at a text or at bytes as a sequence; `extra` is a `ViewKind`.
enum class ViewKind : uint16_t { elems, elem_ords, codepoints, codepoint_ords, bytes_elems };
struct View : Object {
  Value text;
  ViewKind view_kind() const { return static_cast<ViewKind>(extra); }
};

struct TimeObject : Object {
  int64_t seconds;  ///< since 1970
  int32_t nanoseconds;
  int32_t offset;  ///< seconds east of UTC
  const void* zone;
  char abbreviation[16];  ///< of an offset without a zone; may be empty
};

struct DurationObject : Object {
  int64_t nanoseconds;
};

/// A compiled expression of `re`, owned by the heap.
struct RegexObject : Object {
  void* program;
  Value pattern;
};

inline Kind kind_of(Value v) {
  if (v.is_object())
    return v.object()->kind;
  if (v.is_small())
    return Kind::big_int;
  if (v.is_packed_float())
    return Kind::boxed_float;
  if (v.is_short_text())
    return Kind::string;
  return v.is_bool() ? Kind::boolean : Kind::none;
}
inline bool is_kind(Value v, Kind kind) { return v.is_object() && v.object()->kind == kind; }
template <typename T>
T* as(Value v) {
  return static_cast<T*>(v.object());
}
inline bool is_text(Value v) { return v.is_short_text() || is_kind(v, Kind::string); }
inline bool is_int(Value v) { return v.is_small() || is_kind(v, Kind::big_int); }
inline bool is_float(Value v) { return v.is_packed_float() || is_kind(v, Kind::boxed_float); }
inline bool is_number(Value v) { return is_int(v) || is_float(v); }
inline double float_of(Value v) {
  return v.is_packed_float() ? v.packed_float() : as<BoxedFloat>(v)->number;
}
inline bool is_list(Value v) { return is_kind(v, Kind::list); }
inline bool is_dict(Value v) { return is_kind(v, Kind::dict); }
inline bool is_set(Value v) { return is_kind(v, Kind::set); }
inline bool is_tuple(Value v) { return is_kind(v, Kind::tuple); }
inline bool is_bytes(Value v) { return is_kind(v, Kind::bytes); }

/// The bytes of a text or of bytes. Those of a short text are in `v` itself: keep it in place.
inline std::string_view view_of(const Value& v) {
  return v.is_short_text() ? v.short_text() : as<String>(v)->view();
}
std::string_view view_of(Value&& v) = delete;

}  // namespace fettle::starlark
