/// `json.encode`, `json.decode`, `json.indent`. Numbers are exact; nesting needs no native stack.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/lib/library.h"
#include "starlark/lib/strings.h"

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
  Encoder(Vm* vm, std::string& out, std::string& problem) : vm_(vm), out_(out), problem_(problem) {}

  bool run(Value v) {
    bool ok = value(v);
    while (ok && !levels_.empty())
      ok = step();
    return ok;
  }

 private:
  struct Level {
    Value over;
    Iteration state;                  ///< of a sequence
    std::vector<TableEntry> entries;  ///< sorted, of a dict or structure
    size_t next = 0;
    bool is_dict = false;
  };

  bool fail(std::string text) {
    // The way to the value that cannot be written, from outside.
    std::string path;
    for (const Level& level : levels_) {
      if (level.is_dict) {
        std::string key;
        quote_text(key, view_of(level.entries[level.next - 1].key));
        const bool dict = ::fettle::starlark::is_dict(level.over);
        path += dict ? cat("in dict key ", key, ": ")
                     : cat("in field .", view_of(level.entries[level.next - 1].key), ": ");
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
        level.entries.push_back(entry);
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
      std::sort(
          level.entries.begin(), level.entries.end(),
          [](const TableEntry& a, const TableEntry& b) { return view_of(a.key) < view_of(b.key); });
    } else if (is_kind(v, Kind::structure) || is_kind(v, Kind::record) ||
               is_kind(v, Kind::module)) {
      level.is_dict = true;
      if (is_kind(v, Kind::record)) {
        auto* record = as<Record>(v);
        for (uint32_t i = 0; i < record->count; ++i) {
          const Value field = record->values()[i];
          if (!field.is_unset() && !is_kind(field, Kind::builtin)) {
            const Value name = make_field_name(record->type->fields[i]);
            level.entries.push_back({name, field, 0});
          }
        }
        std::sort(level.entries.begin(), level.entries.end(),
                  [](const TableEntry& a, const TableEntry& b) {
                    return view_of(a.key) < view_of(b.key);
                  });
      } else {
        auto* structure = as<Structure>(v);
        for (uint32_t i = 0; i < structure->count; ++i)
          level.entries.push_back({structure->shape->names()[i], structure->values()[i], 0});
      }
    }
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
    if (own_heap_ == nullptr) {
      own_budget_->limit = u64(1) << 30;
      own_heap_ = std::make_unique<Heap>(own_budget_);
    }
    return make_text(*own_heap_, name);
  }

  bool step() {
    Level& level = levels_.back();
    if (vm_ != nullptr) {
      if (!vm_->charge(3))
        return fail("");
      if (out_.size() > checked_ + 65536) {
        checked_ = out_.size();
        if (!vm_->heap().may_take(out_.size() * 6)) {
          vm_->fail_memory();
          return fail("");
        }
      }
    }
    if (level.is_dict) {
      if (level.next == level.entries.size())
        return close('}');
      if (level.next > 0)
        out_ += ',';
      const TableEntry entry = level.entries[level.next++];
      quote_json(out_, view_of(entry.key));
      out_ += ':';
      return value(entry.value);
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
    } else if (vm_ == nullptr || !next_item(*vm_, level.state, item)) {
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
        if (vm_ != nullptr && !charge_digits(*vm_, v))
          return fail("");
        out_ += integer_text(v);
        return true;
      case Kind::boxed_float: {
        const double x = float_of(v);
        if (!std::isfinite(x))
          return fail(cat("cannot encode non-finite float ", float_text(x)));
        std::string text = float_text(x);
        if (vm_ != nullptr && vm_->dialect().profile == Profile::kurtosis && text.ends_with(".0"))
          text.resize(text.size() - 2);
        out_ += text;
        return true;
      }
      case Kind::string:
        quote_json(out_, view_of(v));
        return true;
      case Kind::list:
      case Kind::tuple:
      case Kind::dict:
      case Kind::set:
      case Kind::range:
      case Kind::view:
      case Kind::structure:
      case Kind::record:
        return open(v);
      default:
        return fail(cat("cannot encode ", type_name_of(v), " as JSON"));
    }
  }

  Vm* vm_;
  std::string& out_;
  std::string& problem_;
  std::vector<Level> levels_;
  std::unordered_set<uint64_t> path_;
  size_t checked_ = 0;
  std::shared_ptr<Budget> own_budget_ = std::make_shared<Budget>();
  std::unique_ptr<Heap> own_heap_;
};

/// Values are made while reading; open containers are on a stack of our own.
class Decoder {
 public:
  Decoder(Vm* vm, Heap& heap, std::string_view text, std::string& problem)
      : vm_(vm), heap_(heap), text_(text), problem_(problem) {}

  bool run(Value& result) {
    skip();
    if (!value())
      return false;
    while (!levels_.empty()) {
      if (!step())
        return false;
    }
    skip();
    if (p_ < text_.size())
      return fail(cat("unexpected character ", shown(), " after value"));
    result = made_;
    return true;
  }

 private:
  struct Level {
    Object* object;
    Value key;
  };

  bool fail(std::string_view what) {
    problem_ = cat("at offset ", p_, ", ", what);
    return false;
  }
  std::string shown() const {
    size_t length = 1;
    decode(text_.substr(p_), length);
    const std::string_view c = text_.substr(p_, length);
    if (c == "\"")
      return "'\"'";
    if (c == "'")
      return "'\\''";
    std::string text;
    quote_text(text, c);
    return cat("'", std::string_view(text).substr(1, text.size() - 2), "'");
  }
  void skip() {
    while (p_ < text_.size() &&
           (text_[p_] == ' ' || text_[p_] == '\n' || text_[p_] == '\r' || text_[p_] == '\t'))
      ++p_;
  }
  bool at_end() {
    skip();
    return p_ >= text_.size();
  }

  /// Goes on with the innermost container, whose value in `made_` is complete.
  bool step() {
    if (vm_ != nullptr && !vm_->charge(1))
      return fail("stopped");
    Level& level = levels_.back();
    if (level.object->kind == Kind::list) {
      auto* list = static_cast<List*>(level.object);
      if (!list_push(heap_, list, made_))
        return no_memory();
      if (at_end())
        return fail("unexpected end of file");
      if (text_[p_] == ',') {
        ++p_;
        skip();
        return value();
      }
      if (text_[p_] == ']')
        return close();
      return fail(cat("got ", shown(), ", want ',' or ']'"));
    }
    auto* dict = static_cast<Dict*>(level.object);
    if (!table_put(heap_, dict, level.key, hash_of_text(level.key), made_))
      return no_memory();
    if (at_end())
      return fail("unexpected end of file");
    if (text_[p_] == ',') {
      ++p_;
      skip();
      return key();
    }
    if (text_[p_] == '}')
      return close();
    return fail(cat("in object, got ", shown(), ", want ',' or '}'"));
  }

  bool close() {
    ++p_;
    made_ = Value::object(levels_.back().object);
    levels_.pop_back();
    return true;
  }

  bool no_memory() {
    if (vm_ != nullptr)
      vm_->fail_memory();
    return fail("out of memory");
  }

  bool key() {
    if (at_end())
      return fail("unexpected end of file");
    if (text_[p_] != '"')
      return wrong_key();
    Value name;
    if (!string(name))
      return false;
    if (at_end())
      return fail("unexpected end of file");
    if (text_[p_] != ':')
      return fail(cat("after object key, got ", shown(), ", want ':' "));
    ++p_;
    skip();
    levels_.back().key = name;
    return value();
  }

  /// A key that is no string: a scalar is named by its type.
  bool wrong_key() {
    const char c = text_[p_];
    if (c == '-' || (c >= '0' && c <= '9') ? !number() : !word())
      return false;
    return fail(cat("got ", type_name_of(made_), " for object key, want string"));
  }

  bool value() {
    // Containers that are not empty open a level and go on with their first value.
    for (;;) {
      if (p_ >= text_.size())
        return fail("unexpected end of file");
      const char c = text_[p_];
      if (c == '"')
        return string(made_);
      if (c == '-' || (c >= '0' && c <= '9'))
        return number();
      if (c == '[') {
        ++p_;
        List* list = make_list(heap_);
        if (at_end())
          return fail("unexpected end of file");
        if (text_[p_] == ']') {
          ++p_;
          made_ = Value::object(list);
          return true;
        }
        levels_.push_back({list, Value::none()});
        continue;
      }
      if (c == '{') {
        ++p_;
        Dict* dict = make_dict(heap_);
        if (at_end())
          return fail("unexpected end of file");
        if (text_[p_] == '}') {
          ++p_;
          made_ = Value::object(dict);
          return true;
        }
        levels_.push_back({dict, Value::none()});
        // As `key`, but the value follows in this loop.
        if (text_[p_] != '"')
          return wrong_key();
        Value name;
        if (!string(name))
          return false;
        if (at_end())
          return fail("unexpected end of file");
        if (text_[p_] != ':')
          return fail(cat("after object key, got ", shown(), ", want ':' "));
        ++p_;
        skip();
        levels_.back().key = name;
        continue;
      }
      return word();
    }
  }

  bool word() {
    const std::string_view rest = text_.substr(p_);
    const std::pair<std::string_view, Value> words[] = {
        {"null", Value::none()}, {"true", Value::boolean(true)}, {"false", Value::boolean(false)}};
    for (const auto& [name, meaning] : words) {
      if (rest.starts_with(name)) {
        p_ += name.size();
        made_ = meaning;
        return true;
      }
    }
    return fail(cat("unexpected character ", shown()));
  }

  bool number() {
    const size_t start = p_;
    const auto digits = [&] {
      const size_t from = p_;
      while (p_ < text_.size() && text_[p_] >= '0' && text_[p_] <= '9')
        ++p_;
      return p_ - from;
    };
    if (text_[p_] == '-')
      ++p_;
    const size_t first = p_;
    bool is_float_ = false;
    const size_t whole = digits();
    const auto bad = [&] {
      while (p_ < text_.size() && (std::isalnum(static_cast<uint8_t>(text_[p_])) ||
                                   text_[p_] == '.' || text_[p_] == '+' || text_[p_] == '-'))
        ++p_;
      const std::string_view shown_ = text_.substr(start, p_ - start);
      return fail(cat("invalid number: ", shown_));
    };
    if (whole == 0 || (whole > 1 && text_[first] == '0'))
      return bad();
    if (p_ < text_.size() && text_[p_] == '.') {
      is_float_ = true;
      ++p_;
      digits();
    }
    if (p_ < text_.size() && (text_[p_] | 32) == 'e') {
      is_float_ = true;
      ++p_;
      if (p_ < text_.size() && (text_[p_] == '+' || text_[p_] == '-'))
        ++p_;
      if (digits() == 0)
        return bad();
    }
    if (p_ < text_.size() && std::string_view("0123456789.eE+-").find(text_[p_]) != text_.npos)
      return bad();
    const std::string_view number_text = text_.substr(start, p_ - start);
    if (is_float_) {
      double x = 0;
      const auto [end, problem] =
          std::from_chars(number_text.data(), number_text.data() + number_text.size(), x);
      if (problem == std::errc::result_out_of_range) {
        const size_t e = number_text.find_first_of("eE");
        if (e == std::string_view::npos || number_text[e + 1] != '-')
          return bad();
        x = number_text[0] == '-' ? -0.0 : 0.0;
      }
      made_ = make_float(heap_, x);
      return true;
    }
    const bool negative = number_text[0] == '-';
    if (vm_ != nullptr &&
        !vm_->charge(number_text.size() / 16 + number_text.size() * number_text.size() / (1 << 20)))
      return fail("stopped");
    made_ = parse_integer(heap_, number_text.substr(negative), 10, negative);
    return made_.is_error() ? bad() : true;
  }

  bool hex4(size_t at, uint32_t& code) const {
    if (at + 4 > text_.size())
      return false;
    const auto [end, problem] = std::from_chars(text_.data() + at, text_.data() + at + 4, code, 16);
    return problem == std::errc() && end == text_.data() + at + 4;
  }

  bool string(Value& result) {
    const size_t start = p_++;
    std::string decoded;
    size_t plain = p_;
    bool escapes = false;
    for (;; ++p_) {
      if (p_ >= text_.size()) {
        p_ = start;
        return fail("unclosed string literal");
      }
      const char c = text_[p_];
      if (c == '"')
        break;
      if (c != '\\')
        continue;
      escapes = true;
      decoded += text_.substr(plain, p_ - plain);
      if (++p_ >= text_.size()) {
        p_ = start;
        return fail("unclosed string literal");
      }
      switch (text_[p_]) {
        case '"':
          decoded += '"';
          break;
        case '\\':
          decoded += '\\';
          break;
        case '/':
          decoded += '/';
          break;
        case 'b':
          decoded += '\b';
          break;
        case 'f':
          decoded += '\f';
          break;
        case 'n':
          decoded += '\n';
          break;
        case 'r':
          decoded += '\r';
          break;
        case 't':
          decoded += '\t';
          break;
        case 'u': {
          uint32_t code = 0;
          if (!hex4(p_ + 1, code)) {
            return fail("incomplete or invalid \\uXXXX escape");
          }
          p_ += 4;
          uint32_t low = 0;
          if (code >= 0xD800 && code < 0xDC00 && text_.substr(p_ + 1, 2) == "\\u" &&
              hex4(p_ + 3, low) && low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            p_ += 6;
          }
          append_utf8(decoded, code);
          break;
        }
        default: {
          const std::string wrong = shown();
          p_ = std::min(text_.size(), text_.find('"', p_) + 1);
          return fail(cat("invalid character ", wrong, " in string escape code"));
        }
      }
      plain = p_ + 1;
    }
    const std::string_view tail = text_.substr(plain, p_ - plain);
    ++p_;
    if (escapes) {
      decoded += tail;
      result = make_text(heap_, decoded);
    } else {
      result = make_text(heap_, tail);
    }
    return result.is_error() ? no_memory() : true;
  }

  Vm* vm_;
  Heap& heap_;
  std::string_view text_;
  std::string& problem_;
  size_t p_ = 0;
  Value made_;
  std::vector<Level> levels_;
};

Value finish(Vm& vm, std::string_view text) {
  const Value made = make_text(vm.heap(), text);
  return made.is_error() ? vm.fail_memory() : made;
}

Value json_encode(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  std::string out, problem;
  if (!encode_json(&vm, out, a.positional[0], problem))
    return vm.fail_with("json.encode: ", problem);
  return finish(vm, out);
}

Value json_decode(Vm& vm, const Arguments& a) {
  Value given[2];
  static constexpr const char* names[] = {"x", "default?"};
  static constexpr Accepted types[] = {Accepted::text, Accepted::any};
  static constexpr const char* names_of_2023[] = {"1", "default?"};
  const bool old = vm.dialect().profile == Profile::kurtosis;
  if ((old && !want_positional(vm, a, 1, 1)) ||
      !want_named(vm, a, old ? names_of_2023 : names, given, types))
    return Value::error();
  if (a.count == 0)
    return vm.fail("json.decode: unexpected keyword argument x");
  Value result;
  std::string problem;
  if (decode_json(&vm, vm.heap(), view_of(given[0]), result, problem))
    return result;
  if (!vm.failed && !given[1].is_unset())
    return given[1];
  return vm.fail_with("json.decode: ", problem);
}

/// Sets white space anew; the text must be JSON.
bool indent_json(Vm& vm, std::string_view text, std::string_view prefix, std::string_view indent,
                 std::string& out) {
  size_t depth = 0;
  bool ok = true;
  const auto line = [&] {
    const size_t size = prefix.size() + depth * indent.size();
    if (size > 64 && (!vm.charge(size / 64) || !vm.heap().may_take((out.size() + size) * 6))) {
      vm.fail_memory();
      ok = false;
      return;
    }
    out += '\n';
    out += prefix;
    for (size_t n = 0; n < depth; ++n)
      out += indent;
  };
  for (size_t i = 0; i < text.size() && ok; ++i) {
    const char c = text[i];
    if (depth * indent.size() + out.size() > 4096 && (i & 63) == 0 &&
        (!vm.charge(1 + depth * indent.size() / 4) || !vm.heap().may_take(out.size() * 6))) {
      vm.fail_memory();
      return false;
    }
    switch (c) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        break;
      case '"': {
        const size_t start = i++;
        while (text[i] != '"')
          i += text[i] == '\\' ? 2 : 1;
        out += text.substr(start, i - start + 1);
        break;
      }
      case '{':
      case '[': {
        const size_t next = text.find_first_not_of(" \n\r\t", i + 1);
        out += c;
        if (text[next] == '}' || text[next] == ']') {
          out += text[next];
          i = next;
        } else {
          ++depth;
          line();
        }
        break;
      }
      case '}':
      case ']':
        --depth;
        line();
        out += c;
        break;
      case ',':
        out += c;
        line();
        break;
      case ':':
        out += ": ";
        break;
      default:
        out += c;
        break;
    }
  }
  return ok;
}

/// One positional argument; `prefix` and `indent` by name.
bool want_layout(Vm& vm, const Arguments& a, Value* given) {
  static constexpr const char* names[] = {"prefix?", "indent?"};
  static constexpr Accepted types[] = {Accepted::text, Accepted::text};
  Arguments named = a;
  named.count = 0;
  if (!want_named(vm, named, names, given + 1, types))
    return false;
  named = a;
  named.named_count = 0;
  given[0] = a.count == 0 ? Value::unset() : a.positional[0];
  return want_positional(vm, named, 1, 1);
}

Value json_indent(Vm& vm, const Arguments& a) {
  Value given[3];
  if (!want_layout(vm, a, given))
    return Value::error();
  if (!is_text(given[0]))
    return wrong_type(vm, a, 0, "string");
  const Value none = Value::short_text(""), tab = Value::short_text("\t");
  const Value& prefix = given[1].is_unset() ? none : given[1];
  const Value& indent = given[2].is_unset() ? tab : given[2];
  Value ignored;
  std::string out, problem;
  if (!decode_json(&vm, vm.heap(), view_of(given[0]), ignored, problem))
    return vm.fail_with("json.indent: ", problem);
  if (!indent_json(vm, view_of(given[0]), view_of(prefix), view_of(indent), out))
    return Value::error();
  return finish(vm, out);
}

Value json_encode_indent(Vm& vm, const Arguments& a) {
  Value given[3];
  if (!want_layout(vm, a, given))
    return Value::error();
  std::string text, out, problem;
  if (!encode_json(&vm, text, given[0], problem))
    return vm.fail_with("json.encode_indent: ", problem);
  const Value none = Value::short_text(""), tab = Value::short_text("\t");
  const Value& prefix = given[1].is_unset() ? none : given[1];
  const Value& indent = given[2].is_unset() ? tab : given[2];
  if (!indent_json(vm, text, view_of(prefix), view_of(indent), out))
    return Value::error();
  return finish(vm, out);
}

constexpr MethodEntry table[] = {{"json.decode", json_decode},
                                 {"json.encode", json_encode},
                                 {"json.encode_indent", json_encode_indent},
                                 {"json.indent", json_indent}};

}  // namespace

bool decode_json(Vm* vm, Heap& heap, std::string_view text, Value& result, std::string& problem) {
  return Decoder(vm, heap, text, problem).run(result);
}
bool encode_json(Vm* vm, std::string& out, Value value, std::string& problem) {
  return Encoder(vm, out, problem).run(value);
}

Value make_json_module(Heap& heap) { return make_library(heap, "json", table); }

}  // namespace fettle::starlark
