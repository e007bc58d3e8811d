/// Methods of texts that look at letters: those of Unicode, with simple case mappings.

#include <utf8proc.h>

#include <algorithm>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/lib/strings.h"

namespace fettle::starlark {
namespace {

using Category = utf8proc_category_t;
Category category(uint32_t c) { return utf8proc_category(static_cast<int32_t>(c)); }
bool is_letter(uint32_t c) {
  if (c < 0x80)
    return (c | 32) >= 'a' && (c | 32) <= 'z';
  const Category k = category(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}
bool is_digit(uint32_t c) {
  return c < 0x80 ? c >= '0' && c <= '9' : category(c) == UTF8PROC_CATEGORY_ND;
}
bool is_upper(uint32_t c) {
  return c < 0x80 ? c >= 'A' && c <= 'Z' : category(c) == UTF8PROC_CATEGORY_LU;
}
bool is_lower(uint32_t c) {
  return c < 0x80 ? c >= 'a' && c <= 'z' : category(c) == UTF8PROC_CATEGORY_LL;
}
bool is_title(uint32_t c) { return c >= 0x80 && category(c) == UTF8PROC_CATEGORY_LT; }
constexpr uint32_t sharp_s = 0xDF;  ///< has no simple upper case
uint32_t to_upper(uint32_t c) {
  if (c < 0x80)
    return c >= 'a' && c <= 'z' ? c - 32 : c;
  if (c == sharp_s)
    return c;
  return u32(utf8proc_toupper(static_cast<int32_t>(c)));
}
uint32_t to_lower(uint32_t c) {
  if (c < 0x80)
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return u32(utf8proc_tolower(static_cast<int32_t>(c)));
}
uint32_t to_title(uint32_t c) {
  if (c < 0x80 || c == sharp_s)
    return to_upper(c);
  return u32(utf8proc_totitle(static_cast<int32_t>(c)));
}

/// Whether a letter has another case.
bool has_case(uint32_t c) {
  if (c < 0x80)
    return (c | 32) >= 'a' && (c | 32) <= 'z';
  return c == sharp_s || to_upper(c) != c || to_lower(c) != c || to_title(c) != c;
}

template <typename Map>
Value map_text(Vm& vm, const Arguments& a, Map&& map) {
  if (!want_positional(vm, a, 0, 0) || !charge_letters(vm, a))
    return Value::error();
  const std::string_view text = view_of(a.self);
  if (!vm.heap().may_take(text.size() * 2))
    return vm.fail_memory();
  std::string out;
  out.reserve(text.size());
  each_code_point(text, [&](uint32_t c, std::string_view bytes) {
    if (c == 0xFFFD) {
      out += bytes;
      map(c);
      return true;
    }
    const uint32_t mapped = map(c);
    if (mapped < 0x80)
      out += static_cast<char>(mapped);
    else
      append_utf8(out, mapped);
    return true;
  });
  return finish(vm, out);
}

/// The same for a short text of ASCII alone; the text itself if nothing changes. Unset: it is
/// another text.
template <typename Map>
Value map_ascii(Vm& vm, const Arguments& a, Map&& map) {
  constexpr size_t longest = 1 << 16;
  const std::string_view text = view_of(a.self);
  if (a.count > 0 || a.named_count > 0 || text.size() > longest)
    return Value::unset();
  uint8_t bits = 0;
  bool changes = false;
  for (const char c : text) {
    bits |= static_cast<uint8_t>(c);
    changes |= map(static_cast<uint8_t>(c)) != static_cast<uint8_t>(c);
  }
  if (bits >= 0x80)
    return Value::unset();
  if (!charge_letters(vm, a))
    return Value::error();
  if (!changes)
    return a.self;
  const auto fill = [&](char* into) {
    std::ranges::transform(text, into,
                           [&](char c) { return static_cast<char>(map(static_cast<uint8_t>(c))); });
  };
  char few[8];
  if (text.size() < sizeof few) {
    fill(few);
    return Value::short_text({few, text.size()});
  }
  String* const made = make_blank_text(vm.heap(), text.size());
  if (made == nullptr)
    return vm.fail_memory();
  fill(made->inside());
  return Value::object(made);
}

/// The bytes of a word, in which the ASCII letters between `first` and `first` + 25 have the other
/// case.
uint64_t swap_case(uint64_t bytes, char first) {
  constexpr uint64_t each = 0x0101010101010101u, high = 0x80 * each;
  const uint64_t low = bytes & ~high;
  const uint64_t from_first = low + (0x80 - u64(first)) * each;
  const uint64_t behind_last = low + (0x80 - u64(first) - 26) * each;
  const uint64_t letters = (from_first ^ behind_last) & ~bytes & high;
  return bytes ^ letters >> 2;
}

/// `upper` and `lower` of at most 7 bytes of ASCII; unset for others.
Value short_case(Vm& vm, const Arguments& a, char first) {
  constexpr uint64_t beyond_ascii = 0x8080808080808000u;
  const uint64_t word = a.self.word();
  if (!a.self.is_short_text() || (word & beyond_ascii) != 0 || a.count + a.named_count > 0)
    return Value::unset();
  if (!charge_letters(vm, a))
    return Value::error();
  return Value::of_word(swap_case(word & ~u64(0xff), first) | (word & 0xff));
}

}  // namespace

Value string_upper(Vm& vm, const Arguments& a) {
  if (const Value made = short_case(vm, a, 'a'); !made.is_unset())
    return made;
  const Value plain = map_ascii(vm, a, [](uint8_t c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  return plain.is_unset() ? map_text(vm, a, to_upper) : plain;
}
Value string_lower(Vm& vm, const Arguments& a) {
  if (const Value made = short_case(vm, a, 'A'); !made.is_unset())
    return made;
  const Value plain = map_ascii(vm, a, [](uint8_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return plain.is_unset() ? map_text(vm, a, to_lower) : plain;
}
Value string_title(Vm& vm, const Arguments& a) {
  bool inside = false;
  return map_text(vm, a, [&](uint32_t c) {
    const uint32_t mapped = inside ? to_lower(c) : to_title(c);
    inside = has_case(mapped);
    return mapped;
  });
}
Value string_capitalize(Vm& vm, const Arguments& a) {
  bool first = true;
  return map_text(vm, a, [&](uint32_t c) {
    const uint32_t mapped = first ? to_title(c) : to_lower(c);
    first = false;
    return mapped;
  });
}

template <typename Test>
static Value all_of(Vm& vm, const Arguments& a, Test&& test) {
  if (!want_positional(vm, a, 0, 0) || !charge_letters(vm, a))
    return Value::error();
  bool all = !view_of(a.self).empty();
  each_code_point(view_of(a.self), [&](uint32_t c, std::string_view) { return all = test(c); });
  return Value::boolean(all);
}
Value string_isalnum(Vm& vm, const Arguments& a) {
  return all_of(vm, a, [](uint32_t c) { return is_letter(c) || is_digit(c); });
}
Value string_isalpha(Vm& vm, const Arguments& a) { return all_of(vm, a, is_letter); }
Value string_isdigit(Vm& vm, const Arguments& a) { return all_of(vm, a, is_digit); }
Value string_isspace(Vm& vm, const Arguments& a) { return all_of(vm, a, is_space); }

static Value is_cased(Vm& vm, const Arguments& a, uint32_t (*map)(uint32_t)) {
  if (!want_positional(vm, a, 0, 0) || !charge_letters(vm, a))
    return Value::error();
  bool cased = false;
  bool same = true;
  each_code_point(view_of(a.self), [&](uint32_t c, std::string_view) {
    cased = cased || has_case(c);
    return same = map(c) == c;
  });
  return Value::boolean(cased && same);
}
Value string_isupper(Vm& vm, const Arguments& a) { return is_cased(vm, a, to_upper); }
Value string_islower(Vm& vm, const Arguments& a) { return is_cased(vm, a, to_lower); }
/// Upper case letters only behind uncased ones, lower case letters only behind cased ones.
Value string_istitle(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 0) || !charge_letters(vm, a))
    return Value::error();
  bool cased = false, before = false, ok = true;
  each_code_point(view_of(a.self), [&](uint32_t c, std::string_view) {
    if (is_upper(c) && c >= 0x80 && !vm.is_spec()) {
      ok = false;  // starlark-go knows title case and capitals of ASCII only
    } else if (is_upper(c) || is_title(c)) {
      ok = !before;
      before = cased = true;
    } else if (is_lower(c)) {
      ok = before;
      before = cased = true;
    } else {
      before = false;
    }
    return ok;
  });
  return Value::boolean(ok && cased);
}

}  // namespace fettle::starlark
