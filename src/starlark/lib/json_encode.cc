/// Turns values into JSON text, without recursion.

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/eval/texts.h"
#include "starlark/eval/times.h"
#include "starlark/lib/library.h"

namespace fettle::starlark {
namespace {

void quote_json(std::string& out, std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  out += '"';
  size_t plain = 0;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<uint8_t>(text[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&') {
      ++i;
      continue;
    }
    if (c >= 0x80) {
      size_t length = 1;
      const uint32_t code = decode(text.substr(i), length);
      if (code == 0x2028 || code == 0x2029) {
        out += text.substr(plain, i - plain);
        out += code == 0x2028 ? "\\u2028" : "\\u2029";
        plain = i += length;
        continue;
      }
      if (code != 0xFFFD || length > 1) {
        i += length;
        continue;
      }
      out += text.substr(plain, i - plain);
      out += "\\ufffd";
    } else {
      out += text.substr(plain, i - plain);
      switch (c) {
        case '"':
          out += "\\\"";
          break;
        case '\\':
          out += "\\\\";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        default:
          out += {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
          break;
      }
    }
    plain = ++i;
  }
  out += text.substr(plain);
  out += '"';
}

class Encoder {
 public:
  Encoder(Vm& vm, std::string& out, std::string& problem) : vm_(vm), out_(out), problem_(problem) {}

  bool run(Value v) {
    bool ok = value(v);
    while (ok && !levels_.empty())
      ok = step();
    return ok;
  }

 private:
  struct Level {
    Value over;
    Iteration state;                               ///< of a sequence
    std::vector<std::pair<Value, Value>> entries;  ///< sorted, of a dict or structure
    size_t next = 0;
    bool is_dict = false;
  };

  bool fail(std::string text) {
    // The path to the value that cannot be written, from outside.
    std::string path;
    for (const Level& level : levels_) {
      if (level.is_dict) {
        std::string key;
        quote_text(key, view_of(level.entries[level.next - 1].first));
        const bool dict = ::fettle::starlark::is_dict(level.over);
        path += dict ? cat("in dict key ", key, ": ")
                     : cat("in field .", view_of(level.entries[level.next - 1].first), ": ");
      } else {
        path += cat("at ", type_name_of(level.over), " index ", level.next - 1, ": ");
      }
    }
    problem_ = path + text;
    return false;
  }

  bool open(Value v) {
    if (levels_.size() > 16 ? path_.contains(v.word())
                            : std::any_of(levels_.begin(), levels_.end(),
                                          [&](const Level& level) { return level.over.same(v); }))
      return fail(cat("cycle in JSON structure"));
    Level level;
    level.over = v;
    level.state.over = v;
    if (is_dict(v)) {
      level.is_dict = true;
      const bool ok = table_each(as<Dict>(v), [&](const TableEntry& entry) {
        if (!is_text(entry.key))
          return false;
        level.entries.emplace_back(entry.key, entry.value);
        return true;
      });
      if (!ok) {
        std::string_view type;
        table_each(as<Dict>(v), [&](const TableEntry& entry) {
          if (!is_text(entry.key))
            type = type_name_of(entry.key);
          return type.empty();
        });
        return fail(cat("dict has ", type, " key, want string"));
      }
      if (!sort_values(vm_, level.entries, false))
        return false;
    } else if (is_kind(v, Kind::structure) || is_kind(v, Kind::record) ||
               is_kind(v, Kind::module)) {
      level.is_dict = true;
      if (is_kind(v, Kind::record)) {
        auto* record = as<Record>(v);
        for (uint32_t i = 0; i < record->count; ++i) {
          const Value field = record->values()[i];
          if (!field.is_unset() && !is_kind(field, Kind::builtin)) {
            const Value name = make_field_name(record->type->fields[i]);
            level.entries.emplace_back(name, field);
          }
        }
        if (!sort_values(vm_, level.entries, false))
          return false;
      } else {
        auto* structure = as<Structure>(v);
        for (uint32_t i = 0; i < structure->count; ++i)
          level.entries.emplace_back(structure->shape->names()[i], structure->values()[i]);
      }
    }
    if (!vm_.charge(level.entries.size()))
      return false;
    if (levels_.size() >= 16) {
      if (path_.empty()) {
        for (const Level& outer : levels_)
          path_.insert(outer.over.word());
      }
      path_.insert(v.word());
    }
    out_ += level.is_dict ? '{' : '[';
    levels_.push_back(std::move(level));
    return true;
  }

  /// Names of host types are no values: they get a text of this encoder.
  Value make_field_name(const std::string& name) {
    if (name.size() <= 7)
      return Value::short_text(name);
    if (own_heap_ == nullptr)
      own_heap_ = std::make_unique<Heap>(std::make_shared<Budget>(u64(1) << 30, 0));
    return make_text(*own_heap_, name);
  }

  bool step() {
    Level& level = levels_.back();
    if (!vm_.charge(3))
      return false;
    if (out_.size() > checked_ + 65536) {
      checked_ = out_.size();
      if (!vm_.heap().may_take(out_.size() * 6)) {
        vm_.fail_memory();
        return false;
      }
    }
    if (level.is_dict) {
      if (level.next == level.entries.size())
        return close('}');
      if (level.next > 0)
        out_ += ',';
      const auto [key, held] = level.entries[level.next++];
      quote_json(out_, view_of(key));
      out_ += ':';
      return value(held);
    }
    Value item;
    if (Object* o = level.over.object(); o->kind == Kind::list) {
      if (level.next >= static_cast<List*>(o)->size)
        return close(']');
      item = static_cast<List*>(o)->items[level.next];
    } else if (o->kind == Kind::tuple) {
      if (level.next >= o->count)
        return close(']');
      item = static_cast<Tuple*>(o)->items()[level.next];
    } else if (!next_item(vm_, level.state, item)) {
      return close(']');
    }
    if (level.next > 0)
      out_ += ',';
    ++level.next;
    return value(item);
  }

  bool close(char c) {
    out_ += c;
    if (!path_.empty())
      path_.erase(levels_.back().over.word());
    levels_.pop_back();
    return true;
  }

  bool value(Value v) {
    switch (kind_of(v)) {
      case Kind::none:
        out_ += "null";
        return true;
      case Kind::boolean:
        out_ += v.is_true() ? "true" : "false";
        return true;
      case Kind::big_int:
        if (!charge_digits(vm_, v))
          return false;
        out_ += integer_text(vm_, v);
        return !vm_.failed;
      case Kind::boxed_float: {
        const double x = float_of(v);
        if (!std::isfinite(x))
          return fail(cat("cannot encode non-finite float ", float_text(x)));
        out_ += float_json(x);
        return true;
      }
      case Kind::string:
        // A control character becomes six.
        if (v.is_object() && v.object()->count > 65536 &&
            !vm_.heap().may_take(v.object()->count * u64(6))) {
          vm_.fail_memory();
          return false;
        }
        quote_json(out_, view_of(v));
        return true;
      case Kind::list:
      case Kind::tuple:
      case Kind::dict:
      case Kind::set:
      case Kind::range:
      case Kind::view:
      case Kind::structure:
      case Kind::module:
      case Kind::record:
        return open(v);
      case Kind::duration:
        return duration(as<DurationObject>(v)->nanoseconds);
      // These have fields, and their first method has no JSON form.
      case Kind::bytes:
        return fail("in field .elems: cannot encode builtin_function_or_method as JSON");
      case Kind::time:
        return fail("in field .format: cannot encode builtin_function_or_method as JSON");
      default:
        return fail(cat("cannot encode ", type_name_of(v), " as JSON"));
    }
  }

  /// Writes the fields of a duration, as for a structure.
  bool duration(int64_t n) {
    out_ += cat("{\"hours\":", float_json(duration_in(n, 3600'000'000'000)),
                ",\"microseconds\":", n / 1'000, ",\"milliseconds\":", n / 1'000'000,
                ",\"minutes\":", float_json(duration_in(n, 60'000'000'000)), ",\"nanoseconds\":", n,
                ",\"seconds\":", float_json(duration_in(n, 1'000'000'000)));
    out_ += '}';
    return true;
  }

  std::string float_json(double x) const {
    std::string text = float_text(x);
    vm_.ticks -= 4;
    if (vm_.dialect().profile == Profile::kurtosis && text.ends_with(".0"))
      text.resize(text.size() - 2);
    return text;
  }

  Vm& vm_;
  std::string& out_;
  std::string& problem_;
  std::vector<Level> levels_;
  std::unordered_set<uint64_t> path_;
  size_t checked_ = 0;
  std::unique_ptr<Heap> own_heap_;
};

}  // namespace

bool encode_json(Vm& vm, std::string& out, Value value, std::string& problem) {
  return Encoder(vm, out, problem).run(value);
}

}  // namespace fettle::starlark
