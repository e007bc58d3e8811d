/// Methods of texts and bytes.

#include <algorithm>
#include <array>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/texts.h"
#include "starlark/lib/library.h"
#include "starlark/lib/strings.h"

namespace fettle::starlark {

namespace {

/// The receiver between the optional bounds at `index` and behind it.
bool bounds(Vm& vm, const Arguments& a, uint32_t index, size_t& start, size_t& end) {
  const auto size = i64(view_of(a.self).size());
  int64_t found[2] = {0, size};
  for (uint32_t i = 0; i < 2; ++i) {
    if (a.count <= index + i || a.positional[index + i].is_none())
      continue;
    const Value given = a.positional[index + i];
    if (!is_int(given)) {
      vm.fail_with(a.name, ": invalid ", i == 0 ? "start" : "end", " index: got ",
                   type_name_of(given), ", want int");
      return false;
    }
    if (!to_index_number(vm, given, found[i])) {
      vm.fail_with(a.name, ": invalid ", i == 0 ? "start" : "end",
                   " index: ", integer_text(vm, given), " out of range");
      return false;
    }
    if (found[i] < 0)
      found[i] = std::max<int64_t>(found[i] + size, 0);
    found[i] = std::min(found[i], size);
  }
  start = size_t(found[0]);
  end = size_t(std::max(found[0], found[1]));
  return true;
}

Value want_text(Vm& vm, const Arguments& a, uint32_t index) {
  if (!is_text(a.positional[index]))
    return wrong_type(vm, a, index, "string");
  return Value::none();
}

Value find_in_text(Vm& vm, const Arguments& a, bool last, bool must) {
  if (!want_positional(vm, a, 1, 3) || want_text(vm, a, 0).is_error())
    return Value::error();
  size_t start = 0, end = 0;
  if (!bounds(vm, a, 1, start, end))
    return Value::error();
  const std::string_view part = view_of(a.self).substr(start, end - start);
  const std::string_view wanted = view_of(a.positional[0]);
  size_t at = 0;
  if (last && !vm.charge(part.size()))
    return Value::error();
  if (last)
    at = find_last_text(part, wanted);
  else if (!find_charged(vm, part, wanted, at))
    return Value::error();
  if (at == std::string_view::npos)
    return must ? vm.fail_with(a.name, ": substring not found") : Value::small(-1);
  return Value::small(i64(at + start));
}
Value string_find(Vm& vm, const Arguments& a) { return find_in_text(vm, a, false, false); }
Value string_rfind(Vm& vm, const Arguments& a) { return find_in_text(vm, a, true, false); }
Value string_index(Vm& vm, const Arguments& a) { return find_in_text(vm, a, false, true); }
Value string_rindex(Vm& vm, const Arguments& a) { return find_in_text(vm, a, true, true); }

Value string_count(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 3) || want_text(vm, a, 0).is_error() || !charge_text(vm, a))
    return Value::error();
  size_t start = 0, end = 0;
  if (!bounds(vm, a, 1, start, end))
    return Value::error();
  const std::string_view part = view_of(a.self).substr(start, end - start);
  const std::string_view wanted = view_of(a.positional[0]);
  int64_t count = 0;
  if (!charge_search(vm, part.size(), wanted.size()))
    return Value::error();
  if (wanted.empty()) {
    each_code_point(part, [&](uint32_t, std::string_view) { return ++count, true; });
    return Value::small(count + 1);
  }
  for (size_t at = find_text(part, wanted); at != std::string_view::npos;
       at = find_text(part, wanted, at + wanted.size()))
    ++count;
  return Value::small(count);
}

Value has_affix(Vm& vm, const Arguments& a, bool (*test)(std::string_view, std::string_view)) {
  if (!want_positional(vm, a, 1, 3))
    return Value::error();
  size_t start = 0, end = 0;
  if (!bounds(vm, a, 1, start, end))
    return Value::error();
  const std::string_view part = view_of(a.self).substr(start, end - start);
  const Value affix = a.positional[0];
  if (is_tuple(affix)) {
    const auto* tuple = as<Tuple>(affix);
    for (uint32_t i = 0; i < tuple->count; ++i) {
      if (!vm.charge(1))
        return Value::error();
      if (!is_text(tuple->items()[i]))
        return vm.fail_with(a.name, ": want string, got ", type_name_of(tuple->items()[i]),
                            ", for element ", i);
      if (!vm.charge(view_of(tuple->items()[i]).size() / 64))
        return Value::error();
      if (test(part, view_of(tuple->items()[i])))
        return Value::boolean(true);
    }
    return Value::boolean(false);
  }
  if (!is_text(affix))
    return vm.fail_with(a.name, ": got ", type_name_of(affix), ", want string or tuple of string");
  return vm.charge(view_of(affix).size() / 64) ? Value::boolean(test(part, view_of(affix)))
                                               : Value::error();
}
Value string_startswith(Vm& vm, const Arguments& a) {
  return has_affix(vm, a, [](std::string_view s, std::string_view p) { return s.starts_with(p); });
}
Value string_endswith(Vm& vm, const Arguments& a) {
  return has_affix(vm, a, [](std::string_view s, std::string_view p) { return s.ends_with(p); });
}

Value string_removeprefix(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1) || want_text(vm, a, 0).is_error())
    return Value::error();
  const std::string_view text = view_of(a.self), affix = view_of(a.positional[0]);
  if (!vm.charge(text.size() / 64))
    return Value::error();
  return text.starts_with(affix) ? finish(vm, text.substr(affix.size())) : a.self;
}
Value string_removesuffix(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1) || want_text(vm, a, 0).is_error())
    return Value::error();
  const std::string_view text = view_of(a.self), affix = view_of(a.positional[0]);
  if (!vm.charge(text.size() / 64))
    return Value::error();
  return text.ends_with(affix) ? finish(vm, text.substr(0, text.size() - affix.size())) : a.self;
}

Value string_replace(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 2, 3) || want_text(vm, a, 0).is_error() ||
      want_text(vm, a, 1).is_error() || !charge_text(vm, a))
    return Value::error();
  int64_t most = -1;
  if (a.count == 3) {
    if (!is_int(a.positional[2]))
      return wrong_type(vm, a, 2, "int");
    if (!to_int64(a.positional[2], most))
      most = -1;
  }
  const std::string_view text = view_of(a.self);
  const std::string_view from = view_of(a.positional[0]), to = view_of(a.positional[1]);
  Scratch scratch(vm);
  std::string& out = scratch.text;
  size_t checked = 0;
  const auto fits = [&] {
    if (out.size() > checked + 65536) {
      checked = out.size();
      return vm.heap().may_take(out.size() * 6);
    }
    return true;
  };
  const auto refused = [&] { return vm.failed ? Value::error() : vm.fail_memory(); };
  if (!vm.heap().may_take(to.size() * 2))
    return vm.fail_memory();
  size_t at = 0;
  if (!charge_search(vm, text.size(), from.size()))
    return Value::error();
  if (from.empty()) {
    std::string_view rest = text;
    for (; most != 0; --most) {
      if (!vm.charge(1 + to.size() / 64))
        return Value::error();
      out += to;
      if (!fits())
        return refused();
      if (rest.empty())
        break;
      size_t length = 1;
      decode(rest, length);
      out += rest.substr(0, length);
      rest.remove_prefix(length);
    }
    out += rest;
    return finish(vm, out);
  }
  while (most != 0) {
    const size_t found = find_text(text, from, at);
    if (found == std::string_view::npos)
      break;
    out += text.substr(at, found - at);
    out += to;
    if (!fits())
      return refused();
    at = found + from.size();
    --most;
    if (!vm.charge(1 + to.size() / 64))
      return Value::error();
  }
  if (at == 0)
    return a.self;
  out += text.substr(at);
  return finish(vm, out);
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

/// The text without the bytes of `cutset` at its ends. A byte beyond ASCII is part of a letter,
/// which stays.
std::string_view strip_ascii(std::string_view text, std::string_view cutset, bool left,
                             bool right) {
  uint64_t dropped[4] = {};
  for (const char c : cutset)
    dropped[u8(c) / 64] |= u64(1) << u8(c) % 64;
  const auto drops = [&](char c) { return (dropped[u8(c) / 64] >> u8(c) % 64 & 1) != 0; };
  while (left && !text.empty() && drops(text.front()))
    text.remove_prefix(1);
  while (right && !text.empty() && drops(text.back()))
    text.remove_suffix(1);
  return text;
}

Value string_strip_sides(Vm& vm, const Arguments& a, bool left, bool right) {
  if (!want_positional(vm, a, 0, 1) || !charge_text(vm, a))
    return Value::error();
  if (a.count == 0) {
    std::string_view rest = view_of(a.self);
    const size_t size = rest.size();
    while (left && !rest.empty() && is_ascii_space(rest.front()))
      rest.remove_prefix(1);
    while (right && !rest.empty() && is_ascii_space(rest.back()))
      rest.remove_suffix(1);
    // Beyond ASCII there are more spaces.
    if (rest.empty() || ((!left || u8(rest.front()) < 0x80) && (!right || u8(rest.back()) < 0x80)))
      return rest.size() == size ? a.self : finish(vm, rest);
  }
  std::string_view cutset;
  if (a.count == 1 && !(vm.is_spec() && a.positional[0].is_none())) {
    if (!is_text(a.positional[0]))
      return wrong_type(vm, a, 0, "string");
    cutset = view_of(a.positional[0]);
  }
  if (!cutset.empty() && is_ascii(cutset)) {
    const std::string_view text = strip_ascii(view_of(a.self), cutset, left, right);
    return text.size() == view_of(a.self).size() ? a.self : finish(vm, text);
  }
  std::vector<uint32_t> cut;
  each_code_point(cutset, [&](uint32_t c, std::string_view) { return cut.push_back(c), true; });
  std::sort(cut.begin(), cut.end());
  const auto drops = [&](uint32_t c) {
    return cut.empty() ? is_space(c) : std::binary_search(cut.begin(), cut.end(), c);
  };
  std::string_view text = view_of(a.self);
  const size_t whole = text.size();
  while (left && !text.empty()) {
    size_t length = 1;
    if (!drops(decode(text, length)))
      break;
    text.remove_prefix(length);
  }
  while (right && !text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && text.size() - begin < 4 &&
           (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80)
      --begin;
    size_t length = 1;
    uint32_t c = decode(text.substr(begin), length);
    if (begin + length != text.size()) {
      c = 0xFFFD;
      begin = text.size() - 1;
    }
    if (!drops(c))
      break;
    text = text.substr(0, begin);
  }
  return text.size() == whole ? a.self : finish(vm, text);
}
Value string_strip(Vm& vm, const Arguments& a) { return string_strip_sides(vm, a, true, true); }
Value string_lstrip(Vm& vm, const Arguments& a) { return string_strip_sides(vm, a, true, false); }
Value string_rstrip(Vm& vm, const Arguments& a) { return string_strip_sides(vm, a, false, true); }

Value part_text(Vm& vm, const Arguments& a, bool last) {
  if (!want_positional(vm, a, 1, 1) || want_text(vm, a, 0).is_error() || !charge_text(vm, a))
    return Value::error();
  const std::string_view text = view_of(a.self), separator = view_of(a.positional[0]);
  if (separator.empty())
    return vm.fail_with(a.name, ": empty separator");
  if (!(last ? vm.charge(text.size()) : charge_search(vm, text.size(), separator.size())))
    return Value::error();
  const size_t at = last ? find_last_text(text, separator) : find_text(text, separator);
  const Value empty = Value::short_text("");
  if (at == std::string_view::npos)
    return last ? make_tuple(vm.heap(), {empty, empty, a.self})
                : make_tuple(vm.heap(), {a.self, empty, empty});
  const Value before = finish(vm, text.substr(0, at));
  const Value after = finish(vm, text.substr(at + separator.size()));
  if (before.is_error() || after.is_error())
    return Value::error();
  return make_tuple(vm.heap(), {before, a.positional[0], after});
}
Value string_partition(Vm& vm, const Arguments& a) { return part_text(vm, a, false); }
Value string_rpartition(Vm& vm, const Arguments& a) { return part_text(vm, a, true); }

Value string_join(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  const Value over = a.positional[0];
  if (!is_iterable(over))
    return wrong_type(vm, a, 0, "iterable");
  const std::string_view between = view_of(a.self);
  Scratch scratch(vm);
  std::string& out = scratch.text;
  bool first = true;
  size_t checked = 0;
  const bool ok = for_each(vm, over, [&](Value item) {
    if (!is_text(item)) {
      vm.fail_with("join: in list, want string, got ", type_name_of(item));
      return false;
    }
    if (!first)
      out += between;
    first = false;
    if (!vm.charge((between.size() + view_of(item).size()) / 64))
      return false;
    out += view_of(item);
    if (out.size() > checked + 65536) {
      checked = out.size();
      if (!vm.heap().may_take(out.size() * 6)) {
        vm.fail_memory();
        return false;
      }
    }
    return true;
  });
  return ok ? finish(vm, out) : Value::error();
}

Value make_view(Vm& vm, const Arguments& a, ViewKind kind) {
  if (!want_positional(vm, a, 0, 0))
    return Value::error();
  auto* view = vm.heap().make<View>(Kind::view);
  view->flags |= Object::frozen;
  view->extra = static_cast<uint16_t>(kind);
  view->text = a.self;
  return Value::object(view);
}
Value string_elems(Vm& vm, const Arguments& a) { return make_view(vm, a, ViewKind::elems); }
Value string_elem_ords(Vm& vm, const Arguments& a) { return make_view(vm, a, ViewKind::elem_ords); }
Value string_codepoints(Vm& vm, const Arguments& a) {
  return make_view(vm, a, ViewKind::codepoints);
}
Value string_codepoint_ords(Vm& vm, const Arguments& a) {
  return make_view(vm, a, ViewKind::codepoint_ords);
}
Value bytes_elems(Vm& vm, const Arguments& a) { return make_view(vm, a, ViewKind::bytes_elems); }

constexpr MethodEntry string_table[] = {{"capitalize", string_capitalize},
                                        {"codepoint_ords", string_codepoint_ords},
                                        {"codepoints", string_codepoints},
                                        {"count", string_count},
                                        {"elem_ords", string_elem_ords},
                                        {"elems", string_elems},
                                        {"endswith", string_endswith},
                                        {"find", string_find},
                                        {"format", braces_format},
                                        {"index", string_index},
                                        {"isalnum", string_isalnum},
                                        {"isalpha", string_isalpha},
                                        {"isdigit", string_isdigit},
                                        {"islower", string_islower},
                                        {"isspace", string_isspace},
                                        {"istitle", string_istitle},
                                        {"isupper", string_isupper},
                                        {"join", string_join},
                                        {"lower", string_lower},
                                        {"lstrip", string_lstrip},
                                        {"partition", string_partition},
                                        {"removeprefix", string_removeprefix},
                                        {"removesuffix", string_removesuffix},
                                        {"replace", string_replace},
                                        {"rfind", string_rfind},
                                        {"rindex", string_rindex},
                                        {"rpartition", string_rpartition},
                                        {"rsplit", string_rsplit},
                                        {"rstrip", string_rstrip},
                                        {"split", string_split},
                                        {"splitlines", string_splitlines},
                                        {"startswith", string_startswith},
                                        {"strip", string_strip},
                                        {"title", string_title},
                                        {"upper", string_upper}};
constexpr MethodEntry bytes_table[] = {{"elems", bytes_elems}};

}  // namespace

std::span<const MethodEntry> string_methods() { return string_table; }
std::span<const MethodEntry> bytes_methods() { return bytes_table; }

}  // namespace fettle::starlark
