#pragma once
/// The hash table of dicts and sets: entries in order of insertion, an index above a few entries.

#include <span>

#include "starlark/eval/vm.h"

namespace fettle::starlark {

Dict* make_dict(Vm& vm, size_t capacity = 0);
Dict* make_set(Vm& vm);
/// The entry of a key. Null: there is none, or a limit is reached, which the next safe point
/// reports: two deep keys may take long to compare.
TableEntry* table_find(Vm& vm, const Dict* dict, Value key, uint64_t hash);
TableEntry* table_find_text(const Dict* dict, const Value& text, uint64_t hash);
/// A dict of a few different texts, at most `Dict::most_linear`, with the values at `values`.
Dict* make_dict_of(Heap& heap, std::span<const Value> keys, const Value* values);
/// Inserts or replaces; `fresh` says which. False: memory does not suffice, or a limit is reached.
bool table_put(Vm& vm, Dict* dict, Value key, uint64_t hash, Value value, bool* fresh = nullptr);
/// Removes a key. False: there is none. `removed` receives the value.
bool table_remove(Vm& vm, Dict* dict, Value key, uint64_t hash, Value* removed = nullptr);
void table_clear(Vm& vm, Dict* dict);
/// The first entry; null when empty.
TableEntry* table_first(Dict* dict);
/// Calls `f(entry)` in order until it returns false.
template <typename F>
bool table_each(const Dict* dict, F&& f) {
  for (uint32_t i = dict->first; i < dict->used; ++i) {
    if (!dict->entries[i].key.is_unset() && !f(dict->entries[i]))
      return false;
  }
  return true;
}

}  // namespace fettle::starlark
