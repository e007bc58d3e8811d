/// `str` and `repr` of every type. Nested values are walked with a stack of its own; a value that
/// contains itself prints as `[...]`.

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "base/text.h"
#include "starlark/eval/ops.h"
#include "starlark/eval/table.h"
#include "starlark/eval/times.h"

namespace fettle::starlark {
namespace {

/// The length of the valid UTF-8 sequence at the start of `text`. 0: there is none.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto follows = [&](size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const uint8_t first = byte(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first < 0xE0)
    return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    if (!follows(1) || !follows(2) || (first == 0xE0 && byte(1) < 0xA0) ||
        (first == 0xED && byte(1) >= 0xA0))
      return 0;
    return 3;
  }
  if (first >= 0xF0 && first < 0xF5) {
    if (!follows(1) || !follows(2) || !follows(3) || (first == 0xF0 && byte(1) < 0x90) ||
        (first == 0xF4 && byte(1) >= 0x90))
      return 0;
    return 4;
  }
  return 0;
}

void append_hex(std::string& out, uint8_t byte) {
  constexpr char digits[] = "0123456789abcdef";
  out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

/// Appends the escape of a byte that needs one. False: it needs none.
bool append_escape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return true;
    case '\\':
      out += "\\\\";
      return true;
    case '\a':
      out += "\\a";
      return true;
    case '\b':
      out += "\\b";
      return true;
    case '\f':
      out += "\\f";
      return true;
    case '\n':
      out += "\\n";
      return true;
    case '\r':
      out += "\\r";
      return true;
    case '\t':
      out += "\\t";
      return true;
    case '\v':
      out += "\\v";
      return true;
    default:
      break;
  }
  if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) {
    append_hex(out, static_cast<uint8_t>(c));
    return true;
  }
  return false;
}

/// A container that is being written.
struct Level {
  Object* object;
  uint32_t next;  ///< item or table slot
  const char* close;
  bool first;
};

class Writer {
 public:
  Writer(Vm& vm, std::string& out) : vm_(vm), out_(out) {}

  bool run(Value v) {
    value(v);
    while (!levels_.empty() && ok_)
      step();
    return ok_;
  }

 private:
  void open(Object* object, const char* open_text, const char* close_text, const char* cycle_text) {
    if (on_path(object)) {
      out_ += cycle_text;
      return;
    }
    out_ += open_text;
    if (levels_.size() >= linear_path)
      path_.insert(object);
    levels_.push_back({object, 0, close_text, true});
  }

  bool on_path(const Object* object) const {
    for (size_t i = 0; i < std::min(levels_.size(), linear_path); ++i) {
      if (levels_[i].object == object)
        return true;
    }
    return path_.contains(object);
  }

  void close() {
    out_ += levels_.back().close;
    if (levels_.size() > linear_path)
      path_.erase(levels_.back().object);
    levels_.pop_back();
  }

  void separate(Level& level) {
    if (!level.first)
      out_ += ", ";
    level.first = false;
  }

  /// Whether there is room for what was written so far, and for more.
  bool may_go_on() {
    if (!vm_.charge(3))
      return false;
    if (out_.size() > checked_ + 65536) {
      checked_ = out_.size();
      if (!vm_.heap().may_take(out_.size() * 6)) {
        vm_.fail_memory();
        return false;
      }
    }
    return true;
  }

  /// Writes the next part of the innermost container.
  void step() {
    Level& level = levels_.back();
    if (!may_go_on()) {
      ok_ = false;
      return;
    }
    switch (level.object->kind) {
      case Kind::list: {
        const auto* list = static_cast<List*>(level.object);
        if (level.next >= list->size)
          return close();
        separate(level);
        value(list->items[level.next++]);
        return;
      }
      case Kind::tuple: {
        auto* tuple = static_cast<Tuple*>(level.object);
        if (level.next >= tuple->count) {
          if (tuple->count == 1)
            out_ += ',';
          return close();
        }
        separate(level);
        value(tuple->items()[level.next++]);
        return;
      }
      case Kind::dict:
      case Kind::set:
        return entry(level, *static_cast<Dict*>(level.object));
      case Kind::structure: {
        auto* structure = static_cast<Structure*>(level.object);
        if (level.next >= structure->count)
          return close();
        separate(level);
        const uint32_t i = level.next++;
        out_ += view_of(structure->shape->names()[i]);
        out_ += " = ";
        value(structure->values()[i]);
        return;
      }
      default: {
        auto* record = static_cast<Record*>(level.object);
        while (level.next < record->count && hidden(record, level.next))
          ++level.next;
        if (level.next >= record->count)
          return close();
        separate(level);
        const uint32_t i = level.next++;
        out_ += record->type->fields[i];
        out_ += '=';
        value(record->values()[i]);
        return;
      }
    }
  }

  /// The next entry of a dict, or element of a set.
  void entry(Level& level, const Dict& dict) {
    while (level.next < dict.used && dict.entries[level.next].key.is_unset())
      ++level.next;
    if (level.next >= dict.used)
      return close();
    separate(level);
    const TableEntry& entry = dict.entries[level.next++];
    const size_t depth = levels_.size();
    const bool is_dict_ = dict.kind == Kind::dict;
    const Value mine = entry.value;
    value(entry.key);
    if (is_dict_) {
      // A key holds no list and no dict, but tuples and structures may be open now.
      pending_.push_back({depth, mine});
      flush_pending();
    }
  }

  static bool hidden(Record* record, uint32_t i) {
    const Value field = record->values()[i];
    return field.is_unset() || (record->type->hide_methods && is_kind(field, Kind::builtin));
  }

  /// Writes the values whose keys are complete.
  void flush_pending() {
    // The key was written completely, unless it opened a level: then that is written to its end
    // first.
    while (ok_ && levels_.size() > pending_.back().depth)
      step();
    const Value v = pending_.back().value;
    pending_.pop_back();
    out_ += ": ";
    value(v);
  }

  void value(Value v) {
    if (v.is_none()) {
      out_ += "None";
    } else if (v.is_bool()) {
      out_ += v.is_true() ? "True" : "False";
    } else if (v.is_small()) {
      char digits[24];
      const auto [end, ignored] = std::to_chars(digits, digits + sizeof digits, v.small());
      out_.append(digits, end);
    } else if (is_text(v)) {
      const Value held = v;
      if (v.is_object() && !vm_.heap().may_take(v.object()->count * u64(4))) {
        vm_.fail_memory();
        ok_ = false;
        return;
      }
      quote_text(out_, view_of(held));
    } else if (is_float(v)) {
      vm_.ticks -= 6;
      out_ += float_text(float_of(v));
    } else if (v.is_object()) {
      object(v);
    } else {
      out_ += "<unset>";
    }
  }

  void object(Value v) {
    Object* o = v.object();
    switch (o->kind) {
      case Kind::big_int:
        if (!charge_digits(vm_, v)) {
          ok_ = false;
          return;
        }
        out_ += integer_text(vm_, v);
        ok_ = ok_ && !vm_.failed;
        return;
      case Kind::bytes:
        quote_bytes(out_, static_cast<String*>(o)->view());
        return;
      case Kind::list:
        open(o, "[", "]", "[...]");
        return;
      case Kind::tuple:
        open(o, "(", ")", "(...)");
        return;
      case Kind::dict:
        open(o, "{", "}", "{...}");
        return;
      case Kind::set:
        open(o, "set([", "])", "set([...])");
        return;
      case Kind::range:
        return range(*static_cast<Range*>(o));
      case Kind::function:
        out_ += cat("<function ", static_cast<Function*>(o)->code->name, ">");
        return;
      case Kind::builtin:
        return builtin(*static_cast<Builtin*>(o));
      case Kind::structure:
        constructor(static_cast<Structure*>(o)->constructor);
        open(o, "(", ")", "(...)");
        return;
      case Kind::module:
        out_ += cat("<module \"", view_of(static_cast<Structure*>(o)->constructor), "\">");
        return;
      case Kind::record: {
        auto* record = static_cast<Record*>(o);
        if (record->type->text) {
          out_ += record->type->text(v);
          return;
        }
        out_ += record->type->name;
        open(o, "(", ")", "(...)");
        return;
      }
      case Kind::view: {
        const auto* view = static_cast<View*>(o);
        constexpr std::array names = {".elems()", ".elem_ords()", ".codepoints()",
                                      ".codepoint_ords()", ".elems()"};
        value(view->text);
        out_ += names[static_cast<size_t>(view->view_kind())];
        return;
      }
      case Kind::time:
        vm_.ticks -= 40;
        out_ += time_text(*static_cast<TimeObject*>(o));
        return;
      case Kind::duration:
        out_ += duration_text(static_cast<DurationObject*>(o)->nanoseconds);
        return;
      case Kind::regex:
        out_ += "re.compile(";
        value(static_cast<RegexObject*>(o)->pattern);
        out_ += ')';
        return;
      default:
        out_ += cat("<", type_name_of(v), ">");
        return;
    }
  }

  void range(const Range& range) {
    if (range.step != 1)
      out_ += cat("range(", range.start, ", ", range.stop, ", ", range.step, ")");
    else if (range.start != 0)
      out_ += cat("range(", range.start, ", ", range.stop, ")");
    else
      out_ += cat("range(", range.stop, ")");
  }

  void builtin(const Builtin& builtin) {
    if (builtin.self.is_unset())
      out_ += cat("<built-in function ", builtin.name, ">");
    else
      out_ += cat("<built-in method ", builtin.name, " of ", type_name_of(builtin.self), " value>");
  }

  void constructor(Value constructor) {
    if (is_kind(constructor, Kind::builtin))
      out_ += as<Builtin>(constructor)->name;
    else if (is_text(constructor))
      out_ += view_of(constructor);
    else if (!constructor.is_unset())
      value(constructor);
  }

  struct Pending {
    size_t depth;
    Value value;
  };
  static constexpr size_t linear_path = 8;
  Vm& vm_;
  std::string& out_;
  std::vector<Level> levels_;
  std::vector<Pending> pending_;
  std::unordered_set<const Object*> path_;
  size_t checked_ = 0;
  bool ok_ = true;
};

}  // namespace

/// Appends a code point beyond ASCII: unchanged if it is a letter, mark, number or sign, else
/// escaped.
static void append_printable(std::string& out, std::string_view bytes) {
  utf8proc_int32_t c = 0;
  utf8proc_iterate(reinterpret_cast<const uint8_t*>(bytes.data()),
                   static_cast<utf8proc_ssize_t>(bytes.size()), &c);
  const utf8proc_category_t category = utf8proc_category(c);
  if (c < 0x80 || (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_SO)) {
    out += bytes;
    return;
  }
  constexpr char digits[] = "0123456789abcdef";
  out += c < 0x10000 ? "\\u" : "\\U";
  for (int shift = c < 0x10000 ? 12 : 28; shift >= 0; shift -= 4)
    out += digits[c >> shift & 15];
}

void quote_text(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    if (append_escape(out, text[i])) {
      ++i;
      continue;
    }
    const size_t length = sequence_length(text.substr(i));
    if (length == 0) {
      append_hex(out, static_cast<uint8_t>(text[i++]));
      continue;
    }
    append_printable(out, text.substr(i, length));
    i += length;
  }
  out += '"';
}

void quote_bytes(std::string& out, std::string_view bytes) {
  out += 'b';
  quote_text(out, bytes);
}

std::string float_text(double x) {
  if (std::isnan(x))
    return "nan";
  if (std::isinf(x))
    return x > 0 ? "+inf" : "-inf";
  char shortest[32];
  const auto [end, ignored] =
      std::to_chars(shortest, shortest + sizeof shortest, x, std::chars_format::scientific);
  // d.dddde±xx: positional for decimal exponents from -4 to 5.
  const std::string_view text(shortest, size_t(end - shortest));
  const size_t e = text.find('e');
  int exponent = 0;
  const size_t digits_at = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + digits_at, text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= 6) {
    const std::string_view mantissa = text.substr(0, e);
    return cat(mantissa, exponent < 0 ? "e-" : "e+", std::abs(exponent) < 10 ? "0" : "",
               std::abs(exponent));
  }
  char plain[64];
  const auto [plain_end, ignored2] =
      std::to_chars(plain, plain + sizeof plain, x, std::chars_format::fixed);
  std::string result(plain, plain_end);
  if (result.find('.') == std::string::npos)
    result += ".0";
  return result;
}

bool write_repr(Vm& vm, std::string& out, Value v) {
  const size_t before = out.size();
  return Writer(vm, out).run(v) && vm.charge((out.size() - before) / 2);
}
bool write_str(Vm& vm, std::string& out, Value v) {
  if (is_text(v)) {
    const Value held = v;
    out += view_of(held);
  } else if (is_bytes(v)) {
    for (std::string_view rest = as<String>(v)->view(); !rest.empty();) {
      const size_t length = sequence_length(rest);
      out += length == 0 ? "\xEF\xBF\xBD" : rest.substr(0, length);
      rest.remove_prefix(std::max<size_t>(length, 1));
    }
  } else {
    return write_repr(vm, out, v);
  }
  return true;
}

}  // namespace fettle::starlark
