#pragma once
/// The values of models. A value has 16 bytes. Everything larger lives in the compile's arena and
/// never changes once it is made. Only instances and cells (`program/instance.h`) change.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace fettle::model {

struct Instance;
struct List;
struct Dict;
struct Reference;

enum class Tag : uint8_t {
  unset,
  null,
  unknown,
  boolean,
  integer,
  large,  ///< an integer beyond 64 bits, as its digits
  floating,
  text,
  list,
  dict,
  reference,
  instance
};

struct Text {
  std::string_view view;
};

struct Datum {
  static constexpr int place_bits = 24;
  static constexpr uint32_t last_place = (1u << place_bits) - 1;

  Tag tag = Tag::unset;
  // No part of the value:
  uint32_t place : place_bits = 0;  ///< in a cell where it was set (`PlaceTable`)
  uint32_t by = 0;  ///< in a cell who set it, in a relation who added it (`Contributor`)
  union {
    bool boolean;
    int64_t integer = 0;
    double floating;
    const Text* text;
    const List* list;
    const Dict* dict;
    const Reference* reference;
    Instance* instance;
    uintptr_t address;  ///< in a cell without a value (`Cell`)
  };

  void set_place(uint32_t number) { place = number & last_place; }
  bool is_set() const { return tag != Tag::unset; }
  /// Python counts true and false as integers.
  bool is_whole() const { return tag == Tag::integer || tag == Tag::boolean || tag == Tag::large; }
  bool is_number() const { return is_whole() || tag == Tag::floating; }
  std::string_view view() const { return text->view; }

  static Datum null() { return of(Tag::null); }
  static Datum unknown() { return of(Tag::unknown); }
  static Datum of(bool value) {
    Datum made = of(Tag::boolean);
    made.boolean = value;
    return made;
  }
  static Datum of(int64_t value) {
    Datum made = of(Tag::integer);
    made.integer = value;
    return made;
  }
  static Datum of(double value) {
    Datum made = of(Tag::floating);
    made.floating = value;
    return made;
  }
  static Datum of(const Text* value) {
    Datum made = of(Tag::text);
    made.text = value;
    return made;
  }
  static Datum large(const Text* digits) {
    Datum made = of(digits);
    made.tag = Tag::large;
    return made;
  }
  static Datum of(const List* value) {
    Datum made = of(Tag::list);
    made.list = value;
    return made;
  }
  static Datum of(const Dict* value) {
    Datum made = of(Tag::dict);
    made.dict = value;
    return made;
  }
  static Datum of(const Reference* value) {
    Datum made = of(Tag::reference);
    made.reference = value;
    return made;
  }
  static Datum of(Instance* value) {
    Datum made = of(Tag::instance);
    made.instance = value;
    return made;
  }

 private:
  static Datum of(Tag tag) {
    Datum made;
    made.tag = tag;
    return made;
  }
};
static_assert(sizeof(Datum) == 16);

/// How deep dicts and lists may be nested: a walk over a value may recurse.
constexpr uint32_t deepest_value = 1000;

/// A list. Lists in it are flattened when it is made.
struct List {
  std::span<const Datum> items;
  uint32_t depth = 0;  ///< of the dicts in it
};

/// An entry, in the order of insertion. Keys are texts.
struct DictEntry {
  const Text* key;
  Datum value;
};
struct Dict {
  std::span<const DictEntry> entries;
  uint32_t depth = 1;
  /// The entries in the order of their keys. Empty: there are few.
  std::span<const uint32_t> order{};
  static constexpr size_t few = 16;

  const Datum* find(std::string_view key) const {
    if (!order.empty()) {
      const auto found = std::lower_bound(
          order.begin(), order.end(), key,
          [&](uint32_t at, std::string_view wanted) { return entries[at].key->view < wanted; });
      return found != order.end() && entries[*found].key->view == key ? &entries[*found].value
                                                                      : nullptr;
    }
    for (const DictEntry& entry : entries)
      if (entry.key->view == key)
        return &entry.value;
    return nullptr;
  }
};

/// A value that becomes known when the model is deployed, such as a secret. Attributes of its type
/// accept it; whatever would have to look inside refuses it.
struct Reference {
  std::string_view kind;     ///< `EnvironmentReference`
  std::string_view element;  ///< the type that it stands for
  std::span<const Datum> arguments;
  uint32_t depth = 0;  ///< how many references it is made of, one in another
  /// The Python of a module made it: `kind` is its class, with the module, and the only argument its
  /// name there.
  bool is_of_python = false;
};

}  // namespace fettle::model
