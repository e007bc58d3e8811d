#include "starlark/eval/table.h"

#include <algorithm>
#include <span>

#include "starlark/eval/ops.h"
#include "starlark/heap/make.h"

namespace fettle::starlark {
namespace {

/// An index word: the number of an entry plus 1 in the low bits, bits of its hash above.
uint32_t word_of(uint64_t hash, uint32_t entry, uint32_t mask) {
  return (u32(hash >> 32) & ~mask) | (entry + 1);
}

size_t entries_bytes(size_t capacity) { return sizeof(Object) + capacity * sizeof(TableEntry); }
size_t index_bytes(size_t size) { return sizeof(Object) + size * sizeof(uint32_t); }

/// Fills an index. Gives up as soon as nobody wants the evaluation any more.
bool index_all(Vm& vm, std::span<const TableEntry> entries, std::span<uint32_t> index) {
  const auto mask = u32(index.size() - 1);
  std::ranges::fill(index, 0u);
  constexpr size_t most = 1 << 16;
  for (size_t i = 0; i < entries.size();) {
    for (const size_t end = std::min(i + most, entries.size()); i < end; ++i) {
      uint32_t at = u32(entries[i].hash) & mask;
      while (index[at] != 0)
        at = (at + 1) & mask;
      index[at] = word_of(entries[i].hash, u32(i), mask);
    }
    if (i < entries.size() && !vm.still_wanted())
      return false;
  }
  return true;
}

uint32_t index_size_for(size_t capacity) {
  return capacity > Dict::most_linear ? u32(std::bit_ceil(capacity + capacity / 2)) : 0;
}

/// Moves the entries together; nobody iterates while entries are removed. The cost depends on what
/// is kept: the storage stays, but a table that shrank uses no more of it than it needs.
void compact(Vm& vm, Dict* dict) {
  uint32_t kept = 0;
  for (uint32_t i = dict->first; i < dict->used; ++i) {
    if (!dict->entries[i].key.is_unset())
      dict->entries[kept++] = dict->entries[i];
  }
  dict->used = kept;
  dict->first = 0;
  const uint32_t enough = std::max(kept * 4, Dict::most_linear * 2);
  if (enough < dict->capacity) {
    dict->capacity = enough;
    dict->index_size = dict->index == nullptr ? 0 : index_size_for(enough);
  }
  if (dict->index != nullptr)
    index_all(vm, {dict->entries, dict->used}, {dict->index, dict->index_size});
}

/// Gives back the storage, which may be more than the table uses.
void release_storage(Heap& heap, Dict* dict) {
  if (dict->entries != nullptr)
    heap.release(Dict::owner(dict->entries), entries_bytes(Dict::owner(dict->entries)->count));
  if (dict->index != nullptr)
    heap.release(Dict::owner(dict->index), index_bytes(Dict::owner(dict->index)->count));
}

/// A table that fits no cache: each look-up waits for memory, which is charged when the table
/// grows.
constexpr size_t larger_than_caches = 1 << 17;

/// New storage for `capacity` entries, without removed ones.
bool rebuild(Vm& vm, Dict* dict, size_t capacity) {
  Heap& heap = vm.heap();
  if (capacity > u64(1) << 30)
    return false;
  const uint32_t index_size = index_size_for(capacity);
  auto* owner = heap.make<Object>(Kind::entries, entries_bytes(capacity));
  if (owner == nullptr)
    return false;
  owner->count = u32(capacity);
  Object* index_owner = nullptr;
  if (index_size > 0) {
    index_owner = heap.make<Object>(Kind::raw, index_bytes(index_size));
    if (index_owner == nullptr)
      return false;
    index_owner->count = index_size;
  }
  auto* entries = reinterpret_cast<TableEntry*>(owner + 1);
  uint32_t kept = 0;
  for (uint32_t i = dict->first; i < dict->used; ++i) {
    if (!dict->entries[i].key.is_unset())
      entries[kept++] = dict->entries[i];
    if (i % (1 << 16) == (1 << 16) - 1 && !vm.still_wanted())
      return false;
  }
  auto* const index =
      index_owner == nullptr ? nullptr : reinterpret_cast<uint32_t*>(index_owner + 1);
  if (index != nullptr && !index_all(vm, {entries, kept}, {index, index_size}))
    return false;
  release_storage(heap, dict);
  dict->entries = entries;
  dict->index = index;
  dict->index_size = index_size;
  dict->capacity = u32(capacity);
  dict->used = dict->live = kept;
  dict->first = 0;
  if (capacity >= larger_than_caches)
    vm.ticks -= i64(u64(4) * capacity);
  return true;
}

template <typename Same>
TableEntry* find(const Dict* dict, uint64_t hash, Same&& same) {
  if (dict->index == nullptr) {
    for (uint32_t i = dict->first; i < dict->used; ++i) {
      TableEntry& entry = dict->entries[i];
      if (entry.hash == hash && same(entry))
        return &entry;
    }
    return nullptr;
  }
  const uint32_t mask = dict->index_size - 1;
  const uint32_t tag = u32(hash >> 32) & ~mask;
  for (uint32_t at = u32(hash) & mask;; at = (at + 1) & mask) {
    const uint32_t word = dict->index[at];
    if (word == 0)
      return nullptr;
    if ((word & ~mask) != tag)
      continue;
    if (word == mask) [[unlikely]]  // removed
      continue;
    TableEntry& entry = dict->entries[(word & mask) - 1];
    if (entry.hash == hash && same(entry))
      return &entry;
  }
}

}  // namespace

Dict* make_dict(Vm& vm, size_t capacity) {
  auto* dict = vm.heap().make<Dict>(Kind::dict);
  dict->entries = nullptr;
  dict->index = nullptr;
  dict->used = dict->live = dict->capacity = dict->first = dict->index_size = dict->spare = 0;
  if (capacity > 0 && !rebuild(vm, dict, capacity))
    return nullptr;
  return dict;
}

Dict* make_dict_of(Heap& heap, std::span<const Value> keys, const Value* values) {
  const auto count = u32(keys.size());
  auto* dict = heap.make<Dict>(Kind::dict);
  auto* owner = heap.make<Object>(Kind::entries, entries_bytes(count));
  owner->count = count;
  dict->entries = reinterpret_cast<TableEntry*>(owner + 1);
  dict->index = nullptr;
  dict->used = dict->live = dict->capacity = count;
  dict->first = dict->index_size = dict->spare = 0;
  for (uint32_t i = 0; i < count; ++i)
    dict->entries[i] = {keys[i], values[i], hash_of_text(keys[i])};
  return dict;
}

Dict* make_set(Vm& vm) {
  Dict* set = make_dict(vm);
  set->kind = Kind::set;
  return set;
}

TableEntry* table_find(Vm& vm, const Dict* dict, Value key, uint64_t hash) {
  if (is_text(key))
    return table_find_text(dict, key, hash);
  return find(dict, hash, [&vm, key](const TableEntry& entry) {
    return entry.key.same(key) || (!entry.key.is_unset() && keys_equal(vm, entry.key, key));
  });
}

TableEntry* table_find_text(const Dict* dict, const Value& text, uint64_t hash) {
  if (text.is_short_text())
    return find(dict, hash, [&](const TableEntry& entry) { return entry.key.same(text); });
  return find(dict, hash, [&](const TableEntry& entry) {
    return entry.key.same(text) ||
           (is_kind(entry.key, Kind::string) && view_of(entry.key) == view_of(text));
  });
}

bool table_put(Vm& vm, Dict* dict, Value key, uint64_t hash, Value value, bool* fresh) {
  if (TableEntry* entry = table_find(vm, dict, key, hash)) {
    entry->value = value;
    if (fresh != nullptr)
      *fresh = false;
    return true;
  }
  if (vm.failed) [[unlikely]]
    return false;
  if (dict->used == dict->capacity) {
    // If many entries were removed, these make room.
    const size_t grown = dict->live * 2 < dict->used ? std::max<size_t>(dict->capacity, 4)
                         : dict->capacity == 0       ? 4
                                                     : size_t{dict->capacity} * 2;
    if (!rebuild(vm, dict, grown))
      return false;
  }
  const uint32_t at = dict->used++;
  dict->entries[at] = {key, value, hash};
  ++dict->live;
  if (dict->index != nullptr) {
    const uint32_t mask = dict->index_size - 1;
    uint32_t slot = u32(hash) & mask;
    while (dict->index[slot] != 0 && dict->index[slot] != mask)
      slot = (slot + 1) & mask;
    dict->index[slot] = word_of(hash, at, mask);
  }
  if (fresh != nullptr)
    *fresh = true;
  return true;
}

/// Removes the word of an entry from the index. If others may stand behind it, a mark stays, which
/// the next entry replaces: a key that comes and goes must not fill the index.
static void drop_word(Dict* dict, const TableEntry* entry) {
  const uint32_t mask = dict->index_size - 1;
  const uint32_t word = word_of(entry->hash, u32(entry - dict->entries), mask);
  uint32_t at = u32(entry->hash) & mask;
  while (dict->index[at] != word)
    at = (at + 1) & mask;
  if (dict->index[(at + 1) & mask] != 0) {
    dict->index[at] = mask;
    return;
  }
  while (dict->index[at] == word || dict->index[at] == mask) {
    dict->index[at] = 0;
    at = (at - 1) & mask;
  }
}

bool table_remove(Vm& vm, Dict* dict, Value key, uint64_t hash, Value* removed) {
  TableEntry* entry = table_find(vm, dict, key, hash);
  if (entry == nullptr)
    return false;
  if (removed != nullptr)
    *removed = entry->value;
  if (dict->index != nullptr)
    drop_word(dict, entry);
  entry->key = Value::unset();
  entry->value = Value::none();
  --dict->live;
  while (dict->first < dict->used && dict->entries[dict->first].key.is_unset())
    ++dict->first;
  // A loop must not walk over removed entries again and again.
  if (dict->used - dict->first >= 64 && dict->live < (dict->used - dict->first) / 4)
    compact(vm, dict);
  return true;
}

TableEntry* table_first(Dict* dict) {
  return dict->live == 0 ? nullptr : &dict->entries[dict->first];
}

void table_clear(Vm& vm, Dict* dict) {
  release_storage(vm.heap(), dict);
  dict->entries = nullptr;
  dict->index = nullptr;
  dict->used = dict->live = dict->capacity = dict->first = dict->index_size = 0;
}

}  // namespace fettle::starlark
