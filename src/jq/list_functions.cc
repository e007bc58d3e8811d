#include <algorithm>

#include "base/budget.h"
#include "base/search.h"
#include "jq/natives.h"

namespace fettle::jq {
namespace {

Json number(size_t size) { return Json::integer(static_cast<int64_t>(size)); }

Answer keys(const Json& input, Arguments) {
  Json::List found;
  if (input.is_list())
    for (size_t i = 0; i < input.items().size(); ++i)
      found.push_back(number(i));
  else if (input.is_dict())
    for (const Member& member : input.members())
      found.push_back(member.key);
  else
    return not_for("keys", input);
  return Json::list(std::move(found));
}

Answer has(const Json& input, Arguments given) {
  if (input.is_null())
    return Json::boolean(false);
  if (const std::optional<int64_t> at = to_integer(given[0]); at && input.is_list())
    return Json::boolean(*at >= 0 && static_cast<size_t>(*at) < input.items().size());
  if (input.is_dict() && given[0].is_text())
    return Json::boolean(input.find(given[0].text()) != nullptr);
  return not_for("has", input, given[0]);
}

/// The sum of all items, without a copy of the sum so far at each step.
Answer total(const Json::List& items) {
  Json made;
  std::string text;  ///< what `made` is when it is a text
  for (const Json& item : items) {
    if (!Budget::current().spend(1) || !Budget::current().has_room(text.size()))
      return Json();
    if (made.is_text() && item.is_text()) {
      text += item.text();
    } else if (made.is_list() && item.is_list()) {
      for (const Json& one : item.items())
        made = std::move(made).with_item(made.items().size(), one);
    } else if (made.is_dict() && item.is_dict()) {
      for (const Member& member : item.members())
        made = std::move(made).with_member(member.key.text(), member.value);
    } else {
      Answer next = sum(made.is_text() ? Json::text(text) : made, item);
      if (!next)
        return next;
      made = std::move(*next);
      text = made.is_text() ? made.text() : "";
    }
  }
  return made.is_text() ? Json::text(std::move(text)) : made;
}

Answer add(const Json& input, Arguments) {
  const std::optional<Json::List> items = values_of(input);
  return items ? total(*items) : not_for("add", input);
}

Answer join(const Json& input, Arguments given) {
  const std::optional<Json::List> items = values_of(input);
  if (!items)
    return not_for("join", input, given[0]);
  if (items->empty())
    return Json::text("");
  Json::List parts;
  for (const Json& item : *items) {
    parts.push_back(parts.empty() ? Json::text("") : given[0]);
    const bool is_written = item.is_number() || item.kind() == Json::Kind::boolean;
    parts.push_back(is_written ? Json::text(text_form(item)) : item);
  }
  return total(parts);
}

Answer reverse(const Json& input, Arguments) {
  if (!input.is_list())
    return not_for("reverse", input);
  return Json::list({input.items().rbegin(), input.items().rend()});
}

Answer contains(const Json& a, const Json& b) {
  if (!Budget::current().spend(1))
    return Json();
  const auto is_true = [](const Answer& answer) {
    return answer && answer->kind() == Json::Kind::boolean && answer->boolean();
  };
  if (a.is_number() && b.is_number())
    return Json::boolean(compare(a, b) == 0);
  if (a.is_text() && b.is_text())
    return Json::boolean(find_text(a.text(), b.text()) != std::string::npos);
  if (a.is_list() && b.is_list())
    return Json::boolean(std::ranges::all_of(b.items(), [&](const Json& wanted) {
      return std::ranges::any_of(a.items(),
                                 [&](const Json& item) { return is_true(contains(item, wanted)); });
    }));
  if (a.is_dict() && b.is_dict())
    return Json::boolean(std::ranges::all_of(b.members(), [&](const Member& wanted) {
      const Json* value = a.find(wanted.key.text());
      return value != nullptr && is_true(contains(*value, wanted.value));
    }));
  if (a.kind() == b.kind() &&
      (a.is_null() || (a.kind() == Json::Kind::boolean && a.boolean() == b.boolean())))
    return Json::boolean(true);
  return not_for("contains", a, b);
}

Answer contains_argument(const Json& input, Arguments given) { return contains(input, given[0]); }
Answer inside_argument(const Json& input, Arguments given) { return contains(given[0], input); }

/// The places of one list in another; characters of texts are items, too.
struct Search {
  std::string_view name;
  Json (*result)(const std::vector<size_t>& places);
};
Json all_places(const std::vector<size_t>& places) {
  Json::List found;
  for (const size_t place : places)
    found.push_back(number(place));
  return Json::list(std::move(found));
}
Json first_place(const std::vector<size_t>& places) {
  return places.empty() ? Json() : number(places.front());
}
Json last_place(const std::vector<size_t>& places) {
  return places.empty() ? Json() : number(places.back());
}

std::vector<size_t> places_in(const Json::List& items, const Json::List& wanted) {
  std::vector<size_t> places;
  for (size_t i = 0; !wanted.empty() && i + wanted.size() <= items.size(); ++i) {
    const auto begin = items.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::equal(wanted.begin(), wanted.end(), begin,
                   [](const Json& a, const Json& b) { return compare(b, a) == 0; }))
      places.push_back(i);
  }
  return places;
}

std::vector<size_t> places_in(std::string_view text, std::string_view wanted) {
  std::vector<size_t> places;
  if (wanted.empty())
    return places;
  size_t character = 0, at = 0;
  for (size_t found = 0; (found = find_text(text, wanted, at)) != text.npos;) {
    if (!Budget::current().spend(1 + wanted.size() / 64) ||
        !Budget::current().has_room(places.size() * (sizeof(size_t) + sizeof(Json))))
      return places;
    for (; at < found; ++character)
      at += length_of_character(text, at);
    if (at > found)  // that is within a character
      continue;
    places.push_back(character++);
    at += length_of_character(text, at);
  }
  return places;
}

template <const Search& search>
Answer place(const Json& input, Arguments given) {
  if (input.is_null())
    return Json();
  if (input.is_list())
    return search.result(
        places_in(input.items(), given[0].is_list() ? given[0].items() : Json::List{given[0]}));
  if (input.is_text() && given[0].is_text())
    return search.result(places_in(input.text(), given[0].text()));
  return not_for(search.name, input, given[0]);
}
constexpr Search indices_row{"indices", all_places}, index_row{"index", first_place},
    rindex_row{"rindex", last_place};

void flatten(Json::List& made, const Json::List& items, double depth) {
  for (const Json& item : items) {
    if (!Budget::current().spend(1) || !Budget::current().has_room(made.size() * sizeof(Json)))
      return;
    if (item.is_list() && depth != 0)
      flatten(made, item.items(), depth - 1);
    else
      made.push_back(item);
  }
}

Answer flatten_all(const Json& input, Arguments given) {
  const std::optional<Json::List> items = values_of(input);
  if (!items)
    return not_for("flatten", input);
  double depth = -1;
  if (!given.empty()) {
    const std::optional<double> wanted = to_real(given[0]);
    if (!wanted)
      return not_for("flatten", given[0]);
    depth = *wanted;
    if (!(depth >= 0))
      return fail("flatten depth should not be negative: ", preview(Json::real(depth)));
  }
  Json::List made;
  flatten(made, *items, depth);
  return Json::list(std::move(made));
}

/// Items with their sort keys, in the order of these.
struct SortEntry {
  Json key, value;
};
tl::expected<std::vector<SortEntry>, Failure> keyed(std::string_view name, const Json& values,
                                                    const Json* keys) {
  if (!values.is_list())
    return keys == nullptr ? not_for(name, values) : not_for(name, values, *keys);
  const Json& by = keys == nullptr ? values : *keys;
  if (!by.is_list())
    return not_for(name, values, by);
  if (by.items().size() != values.items().size())
    return fail(name, "(", preview(by), ") cannot be applied to ", preview(values),
                ": length mismatch");
  std::vector<SortEntry> made;
  for (size_t i = 0; i < values.items().size(); ++i)
    made.push_back({by.items()[i], values.items()[i]});
  return made;
}

tl::expected<std::vector<SortEntry>, Failure> sorted(std::string_view name, const Json& values,
                                                     const Json* keys) {
  auto made = keyed(name, values, keys);
  if (made)
    std::ranges::stable_sort(
        *made, [](const SortEntry& a, const SortEntry& b) { return compare(a.key, b.key) < 0; });
  return made;
}

const Json* argument(Arguments given) { return given.empty() ? nullptr : given.data(); }

Answer sort(const Json& input, Arguments given) {
  const auto items = sorted(given.empty() ? "sort" : "sort_by", input, argument(given));
  if (!items)
    return tl::unexpected(items.error());
  Json::List made;
  for (const SortEntry& item : *items)
    made.push_back(item.value);
  return Json::list(std::move(made));
}

Answer group(const Json& input, Arguments given) {
  const auto items = sorted("group_by", input, argument(given));
  if (!items)
    return tl::unexpected(items.error());
  std::vector<Json::List> groups;
  for (size_t i = 0; i < items->size(); ++i) {
    if (i == 0 || compare((*items)[i - 1].key, (*items)[i].key) != 0)
      groups.emplace_back();
    groups.back().push_back((*items)[i].value);
  }
  Json::List made;
  for (Json::List& one : groups)
    made.push_back(Json::list(std::move(one)));
  return Json::list(std::move(made));
}

Answer unique(const Json& input, Arguments given) {
  const auto items = sorted(given.empty() ? "unique" : "unique_by", input, argument(given));
  if (!items)
    return tl::unexpected(items.error());
  Json::List made;
  const Json* last = nullptr;
  for (const SortEntry& item : *items) {
    if (last == nullptr || compare(*last, item.key) != 0) {
      made.push_back(item.value);
      last = &item.key;
    }
  }
  return Json::list(std::move(made));
}

/// The first of several smallest, or the last of several largest.
template <bool is_smallest>
Answer extreme(const Json& input, Arguments given) {
  const std::string_view name =
      is_smallest ? (given.empty() ? "min" : "min_by") : (given.empty() ? "max" : "max_by");
  const auto items = keyed(name, input, argument(given));
  if (!items)
    return tl::unexpected(items.error());
  if (items->empty())
    return Json();
  const SortEntry* best = &items->front();
  for (const SortEntry& item : std::span(*items).subspan(1))
    if ((compare(best->key, item.key) > 0) == is_smallest)
      best = &item;
  return best->value;
}

Answer transpose(const Json& input, Arguments) {
  if (!input.is_list())
    return not_for("transpose", input);
  size_t longest = 0;
  for (const Json& row : input.items()) {
    if (!row.is_list())
      return not_for("transpose", input);
    longest = std::max(longest, row.items().size());
  }
  if (!Budget::current().has_room(longest * input.items().size() * sizeof(Json)))
    return Json();
  Json::List made;
  for (size_t i = 0; i < longest; ++i) {
    Json::List column;
    for (const Json& row : input.items())
      column.push_back(i < row.items().size() ? row.items()[i] : Json());
    made.push_back(Json::list(std::move(column)));
  }
  return Json::list(std::move(made));
}

/// The place of the item, or `-p - 1` for the place `p` where it would be.
Answer bsearch(const Json& input, Arguments given) {
  if (!input.is_list())
    return not_for("bsearch", input, given[0]);
  const Json::List& items = input.items();
  size_t low = 0, high = items.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (compare(items[middle], given[0]) >= 0)
      high = middle;
    else
      low = middle + 1;
  }
  const bool is_found = low < items.size() && compare(items[low], given[0]) == 0;
  return is_found ? number(low) : Json::integer(-static_cast<int64_t>(low) - 1);
}

}  // namespace

std::optional<Json::List> values_of(const Json& value) {
  if (value.is_list())
    return value.items();
  if (!value.is_dict())
    return std::nullopt;
  Json::List values;
  for (const Member& member : value.members())
    values.push_back(member.value);
  return values;
}

std::span<const Native> list_functions() {
  static const Native table[] = {
      {"add", 0, add},
      {"bsearch", 1, bsearch},
      {"contains", 1, contains_argument},
      {"flatten", 0, flatten_all},
      {"flatten", 1, flatten_all},
      {"_group_by", 1, group},
      {"has", 1, has},
      {"index", 1, place<index_row>},
      {"indices", 1, place<indices_row>},
      {"inside", 1, inside_argument},
      {"join", 1, join},
      {"keys", 0, keys},
      {"max", 0, extreme<false>},
      {"_max_by", 1, extreme<false>},
      {"min", 0, extreme<true>},
      {"_min_by", 1, extreme<true>},
      {"reverse", 0, reverse},
      {"rindex", 1, place<rindex_row>},
      {"sort", 0, sort},
      {"_sort_by", 1, sort},
      {"transpose", 0, transpose},
      {"unique", 0, unique},
      {"_unique_by", 1, unique},
  };
  return table;
}

}  // namespace fettle::jq
