#pragma once
/// The filters by group; `filters.cc` joins them. One more is a row in its group's table.

#include <span>

#include "template/jinja/renderer.h"

namespace fettle::jinja {

struct FilterRow {
  std::string_view name;
  Builtin run;
};

std::span<const FilterRow> text_filters();
std::span<const FilterRow> list_filters();
std::span<const FilterRow> number_filters();
std::span<const FilterRow> link_filters();

struct KeyedItem {
  Items keys;
  Value item;
};
/// The items by their keys; those of equal keys keep their places.
Result<Items> sorted(std::vector<KeyedItem> rows, bool is_reversed);

/// `item.a.b.0` for filters that take an attribute; a whole number is an index.
Result<Value> attribute_at(Renderer& renderer, const Value& item, const Value& path);
/// `&<>"'` as character references.
std::string escaped(std::string_view text);

}  // namespace fettle::jinja
