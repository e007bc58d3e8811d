#include "model/evaluate/make_value.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace fettle::model {
namespace {

uint32_t depth_of(const Datum& value) {
  return value.tag == Tag::dict   ? value.dict->depth
         : value.tag == Tag::list ? value.list->depth
                                  : 0;
}

}  // namespace

Datum make_text(Program& program, std::string_view text) {
  return Datum::of(static_cast<const Text*>(program.arena.make<Text>(program.arena.copy(text))));
}

Datum make_list(Program& program, std::span<const Datum> items) {
  List* const made = program.arena.make<List>(program.arena.copy(items));
  for (const Datum& item : items)
    made->depth = std::max(made->depth, depth_of(item));
  return Datum::of(static_cast<const List*>(made));
}

Datum make_dict(Program& program, std::span<const DictEntry> entries) {
  Dict* const made = program.arena.make<Dict>(program.arena.copy(entries));
  for (const DictEntry& entry : entries)
    made->depth = std::max(made->depth, depth_of(entry.value) + 1);
  if (made->depth > deepest_value)
    program.budget->refuse(cat("a value is nested deeper than ", deepest_value, " dicts"));
  if (entries.size() > Dict::few) {
    std::vector<uint32_t> order(entries.size());
    for (uint32_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::ranges::stable_sort(order, {}, [&](uint32_t at) { return entries[at].key->view; });
    made->order = program.arena.copy(std::span<const uint32_t>(order));
  }
  return Datum::of(static_cast<const Dict*>(made));
}

}  // namespace fettle::model
