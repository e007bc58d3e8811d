#include "jq/paths.h"

#include <cmath>

#include "base/budget.h"
#include "base/text.h"
#include "jq/text_form.h"

namespace fettle::jq {
namespace {

using Refusal = std::optional<Failure>;

template <typename... Pieces>
Failure failure(const Pieces&... pieces) {
  return fail(pieces...).value();
}

Failure expected(std::string_view what, const Json& got) {
  return failure("expected ", what, " but got: ", typed_preview(got));
}

/// Clamps a place, which counts from the end if it is negative.
int64_t place_within(int64_t at, int64_t least, int64_t size) {
  if (at < 0)
    at += size;
  return std::clamp(at, least, std::max(least, size));
}

/// Where a slice begins and ends.
tl::expected<std::pair<int64_t, int64_t>, Failure> range_of(const Json& start, const Json& end,
                                                            int64_t size, std::string_view what) {
  const auto place = [&](const Json& given) -> std::optional<int64_t> { return to_integer(given); };
  const auto wrong = [&](const Json& given) {
    return tl::unexpected(expected(cat("a number for indexing ", what), given));
  };
  int64_t from = 0, to = size;
  if (!start.is_null()) {
    const auto given = place(start);
    if (!given)
      return wrong(start);
    from = place_within(*given, 0, size);
  }
  if (!end.is_null()) {
    const auto given =
        place(end.kind() == Json::Kind::real ? Json::real(std::ceil(end.real())) : end);
    if (!given)
      return wrong(end);
    to = place_within(*given, from, size);
  }
  return std::pair(from, to);
}

/// The bytes of this many characters.
std::string_view characters(std::string_view text, int64_t from, int64_t to) {
  size_t begin = 0;
  for (; from > 0 && begin < text.size(); --from, --to)
    begin += length_of_character(text, begin);
  size_t end = begin;
  for (; to > 0 && end < text.size(); --to)
    end += length_of_character(text, end);
  return text.substr(begin, end - begin);
}

Json character(std::string_view text, int64_t at) {
  const int64_t size = count_characters(text);
  at = place_within(at, -1, size);
  if (at < 0 || at >= size)
    return {};
  return Json::text(std::string(characters(text, at, at + 1)));
}

Json item(const Json::List& items, int64_t at) {
  at = place_within(at, -1, static_cast<int64_t>(items.size()));
  return at < 0 || at >= static_cast<int64_t>(items.size()) ? Json()
                                                            : items[static_cast<size_t>(at)];
}

Json places_of(const Json::List& items, const Json::List& wanted) {
  Json::List found;
  for (size_t i = 0; !wanted.empty() && i + wanted.size() <= items.size(); ++i)
    if (compare(Json::list({items.begin() + static_cast<std::ptrdiff_t>(i),
                            items.begin() + static_cast<std::ptrdiff_t>(i + wanted.size())}),
                Json::list(wanted)) == 0)
      found.push_back(Json::integer(static_cast<int64_t>(i)));
  return Json::list(std::move(found));
}

Answer index_by_dict(const Json& value, const Json& key) {
  if (value.is_null())
    return Json();
  const Json *start = key.find("start"), *end = key.find("end");
  if (start == nullptr || end == nullptr)
    return tl::unexpected(expected("\"start\" and \"end\" for slicing", key));
  return slice_value(value, *end, *start);
}

Failure wrong_key(const Json& value, const Json& key) {
  return value.is_list()   ? expected("a number for indexing an array", key)
         : value.is_text() ? expected("a number for indexing a string", key)
                           : expected("a string for object key", key);
}

Refusal update(Json& value, std::span<const Json> path, const Json& to);

Refusal update_member(Json& value, const Json& key, std::span<const Json> rest, const Json& to) {
  if (!value.is_null() && !value.is_dict())
    return expected("an object", value);
  if (value.find(key.text()) == nullptr && to.is_hole())
    return std::nullopt;
  const bool is_there = value.find(key.text()) != nullptr;
  Json inside = value.take_member(key.text());
  Refusal refused = update(inside, rest, to);
  if (!refused || is_there)
    value = std::move(value).with_member(key.text(), std::move(inside));
  return refused;
}

Refusal update_item(Json& value, int64_t given, std::span<const Json> rest, const Json& to) {
  constexpr int64_t most = 0x20000000;
  const auto size = static_cast<int64_t>(value.items().size());
  int64_t at = place_within(given, -1, size);
  if (at < 0 || at >= size) {
    if (to.is_hole())
      return std::nullopt;
    if (at < 0)
      return failure("array index should not be negative: ", given);
    if (given >= most)
      return failure("array index too large: ", given);
    at = given;
  }
  const auto place = static_cast<size_t>(at);
  Json inside = value.take_item(place);
  Refusal refused = update(inside, rest, to);
  if (!refused || at < size)
    value = std::move(value).with_item(place, std::move(inside));
  return refused;
}

Refusal update_slice(Json& value, const Json& key, std::span<const Json> rest, const Json& to) {
  const Json *start = key.find("start"), *end = key.find("end");
  if (start == nullptr || end == nullptr)
    return expected("\"start\" and \"end\" for slicing", key);
  const Json::List& items = value.items();
  const auto range = range_of(*start, *end, static_cast<int64_t>(items.size()), "an array");
  if (!range)
    return range.error();
  const auto begin = items.begin() + range->first, behind = items.begin() + range->second;
  if (begin == behind && to.is_hole())
    return std::nullopt;
  Json inside = Json::list({begin, behind});
  if (Refusal refused = update(inside, rest, to))
    return refused;
  if (!inside.is_list() && !inside.is_hole())
    return expected("an array", inside);
  Json::List made(items.begin(), begin);
  if (inside.is_hole())
    made.insert(made.end(), static_cast<size_t>(behind - begin), Json::hole());
  else
    made.insert(made.end(), inside.items().begin(), inside.items().end());
  made.insert(made.end(), behind, items.end());
  value = Json::list(std::move(made));
  return std::nullopt;
}

Refusal update(Json& value, std::span<const Json> path, const Json& to) {
  Budget::current().spend(1);
  if (path.empty()) {
    value = to;
    return std::nullopt;
  }
  const Json& key = path.front();
  if (value.is_hole() && (key.is_text() || key.is_number() || key.is_dict()))
    return std::nullopt;
  if (key.is_text())
    return update_member(value, key, path.subspan(1), to);
  if (!key.is_number() && !key.is_dict())
    return value.is_list() ? expected("a number for indexing an array", key)
                           : expected("a string for object key", key);
  if (!value.is_null() && !value.is_list())
    return expected("an array", value);
  return key.is_dict() ? update_slice(value, key, path.subspan(1), to)
                       : update_item(value, *to_integer(key), path.subspan(1), to);
}

Json without_holes(const Json& value) {
  if (value.is_hole() || !Budget::current().spend(1))
    return {};
  if (value.is_list()) {
    Json::List kept;
    for (const Json& item : value.items())
      if (!item.is_hole())
        kept.push_back(without_holes(item));
    return Json::list(std::move(kept));
  }
  if (value.is_dict()) {
    Json::Dict kept;
    for (const Member& member : value.members())
      if (!member.value.is_hole())
        kept.push_back({member.key, without_holes(member.value)});
    return Json::dict(std::move(kept));
  }
  return value;
}

}  // namespace

Answer index_value(const Json& value, const Json& key) {
  if (key.is_text()) {
    if (!value.is_null() && !value.is_dict())
      return tl::unexpected(expected("an object", value));
    const Json* found = value.find(key.text());
    return found == nullptr ? Json() : *found;
  }
  if (key.is_dict())
    return index_by_dict(value, key);
  if (!key.is_number() && !key.is_list())
    return tl::unexpected(wrong_key(value, key));
  if (value.is_null())
    return Json();
  if (value.is_list())
    return key.is_list() ? places_of(value.items(), key.items())
                         : item(value.items(), *to_integer(key));
  if (value.is_text() && key.is_number())
    return character(value.text(), *to_integer(key));
  return tl::unexpected(expected("an array", value));
}

Answer slice_value(const Json& value, const Json& end, const Json& start) {
  if (value.is_null())
    return Json();
  if (!value.is_list() && !value.is_text())
    return tl::unexpected(expected("an array", value));
  const int64_t size =
      value.is_text() ? count_characters(value.text()) : static_cast<int64_t>(value.items().size());
  const auto range = range_of(start, end, size, value.is_text() ? "a string" : "an array");
  if (!range)
    return tl::unexpected(range.error());
  if (value.is_text())
    return Json::text(std::string(characters(value.text(), range->first, range->second)));
  const auto begin = value.items().begin();
  return Json::list({begin + range->first, begin + range->second});
}

Answer get_path(const Json& value, const Json& path) {
  const auto refused = [&] {
    return fail("getpath(", preview(path), ") cannot be applied to: ", typed_preview(value));
  };
  if (!path.is_list())
    return refused();
  Json at = value;
  for (const Json& key : path.items()) {
    if (!at.is_null() && !at.is_list() && !at.is_dict())
      return refused();
    Answer next = index_value(at, key);
    if (!next)
      return fail("getpath(", preview(path), ") cannot be applied to ", preview(value), ": ",
                  next.error().value.text());
    at = std::move(*next);
  }
  return at;
}

Refusal set_path(Json& value, const Json& path, const Json& to) {
  if (!path.is_list())
    return failure("setpath(", preview(path), ") cannot be applied to: ", typed_preview(value));
  Refusal refused = update(value, path.items(), to);
  if (refused)
    return failure("setpath(", preview(path), "; ", preview(to), ") cannot be applied to ",
                   preview(value), ": ", refused->value.text());
  return refused;
}

Answer delete_paths(Json value, const Json& paths) {
  if (!paths.is_list())
    return fail("delpaths(", preview(paths), ") cannot be applied to: ", typed_preview(value));
  if (paths.items().empty())
    return value;
  const Json given = value;
  for (const Json& path : paths.items()) {
    const Refusal refused = path.is_list() ? update(value, path.items(), Json::hole())
                                           : Refusal(expected("an array", path));
    if (refused)
      return fail("delpaths(", preview(paths), ") cannot be applied to ", preview(given), ": ",
                  refused->value.text());
  }
  return without_holes(value);
}

}  // namespace fettle::jq
