#include "model/std/json.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "model/program/text_form.h"
#include "model/values/numbers.h"
#include "value/python.h"
#include "value/whole.h"

namespace fettle::model {
namespace {

constexpr int deepest_json = 900;

class JsonReader {
 public:
  JsonReader(PluginContext& context, std::string_view text) : context_(context), text_(text) {}

  bool document(Datum& value) {
    blanks();
    if (!read(value, 0))
      return false;
    blanks();
    return at_ == text_.size() || fail("Extra data", at_);
  }
  const std::string& error() const { return error_; }

 private:
  bool fail(std::string_view message, size_t at) {
    const std::string_view before = text_.substr(0, at);
    const size_t line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    const auto points = [](std::string_view part) {
      return std::count_if(part.begin(), part.end(), [](char c) { return (c & 0xC0) != 0x80; });
    };
    error_ = cat("json.decoder.JSONDecodeError: ", message, ": line ",
                 std::count(before.begin(), before.end(), '\n') + 1, " column ",
                 points(before.substr(line_start)) + 1, " (char ", points(before), ")");
    return false;
  }
  void blanks() {
    while (at_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool word(std::string_view spelled) {
    const bool is_there = text_.substr(at_).starts_with(spelled);
    at_ += is_there ? spelled.size() : 0;
    return is_there;
  }

  bool read(Datum& value, int depth) {
    if (depth > deepest_json) {
      error_ = "RecursionError: maximum recursion depth exceeded while decoding a JSON document";
      return false;
    }
    if (peek('"')) {
      std::string text;
      if (!string(text))
        return false;
      value = context_.make_text(text);
      return true;
    }
    if (peek('{'))
      return object(value, depth);
    if (peek('['))
      return array(value, depth);
    if (word("null"))
      value = Datum::null();
    else if (word("true"))
      value = Datum::of(true);
    else if (word("false"))
      value = Datum::of(false);
    else if (word("NaN"))
      value = Datum::of(std::nan(""));
    else if (word("Infinity"))
      value = Datum::of(HUGE_VAL);
    else if (word("-Infinity"))
      value = Datum::of(-HUGE_VAL);
    else
      return number(value);
    return true;
  }

  bool number(Datum& value) {
    const size_t start = at_;
    size_t end = start;
    const auto digits = [&] {
      const size_t first = end;
      while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9')
        ++end;
      return end > first;
    };
    if (end < text_.size() && text_[end] == '-')
      ++end;
    if (end < text_.size() && text_[end] == '0')
      ++end;
    else if (!digits())
      return fail("Expecting value", start);
    bool is_whole = true;
    if (size_t dot = end; end < text_.size() && text_[end] == '.') {
      ++end;
      is_whole = !digits();
      end = is_whole ? dot : end;
    }
    if (size_t mark = end; end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      ++end;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-'))
        ++end;
      const bool has_exponent = digits();
      end = has_exponent ? end : mark;
      is_whole &= !has_exponent;
    }
    at_ = end;
    if (is_whole && end - start > whole::most_digits)
      return fail(cat("Exceeds the limit (", whole::most_digits,
                      " digits) for integer string "
                      "conversion: value has ",
                      end - start, " digits"),
                  start);
    value = is_whole ? whole_of(context_.program().arena, text_.substr(start, end - start))
                     : Datum::of(std::strtod(std::string(text_.substr(start, end - start)).c_str(),
                                             nullptr));
    return true;
  }

  bool array(Datum& value, int depth) {
    std::vector<Datum> items;
    ++at_;
    blanks();
    while (!peek(']')) {
      if (!read(items.emplace_back(), depth + 1))
        return false;
      blanks();
      if (peek(']'))
        break;
      if (!peek(','))
        return fail("Expecting ',' delimiter", at_);
      const size_t comma = at_++;
      blanks();
      if (peek(']'))
        return fail("Illegal trailing comma before end of array", comma);
    }
    ++at_;
    value = context_.make_list(items);
    return true;
  }

  bool object(Datum& value, int depth) {
    std::vector<DictEntry> entries;
    std::unordered_map<std::string_view, size_t> known;
    ++at_;
    blanks();
    while (!peek('}')) {
      if (!peek('"'))
        return fail("Expecting property name enclosed in double quotes", at_);
      std::string text;
      if (!string(text))
        return false;
      blanks();
      if (!peek(':'))
        return fail("Expecting ':' delimiter", at_);
      ++at_;
      blanks();
      Datum item;
      if (!read(item, depth + 1))
        return false;
      const Text* key = context_.make_text(text).text;
      const auto [found, is_new] = known.emplace(key->view, entries.size());
      if (is_new)
        entries.push_back({key, item});
      else
        entries[found->second].value = item;
      blanks();
      if (peek('}'))
        break;
      if (!peek(','))
        return fail("Expecting ',' delimiter", at_);
      const size_t comma = at_++;
      blanks();
      if (peek('}'))
        return fail("Illegal trailing comma before end of object", comma);
    }
    ++at_;
    value = context_.make_dict(entries);
    return true;
  }

  bool hex(uint32_t& unit) {
    unit = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
    if (digits.size() < 4 || read.ptr != digits.data() + 4)
      return fail("Invalid \\uXXXX escape", at_);
    at_ += 4;
    return true;
  }

  bool string(std::string& made) {
    const size_t start = at_++;
    for (; at_ < text_.size() && text_[at_] != '"';) {
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 32)
        return fail("Invalid control character at", at_);
      ++at_;
      if (c != '\\') {
        made.push_back(c);
        continue;
      }
      if (at_ == text_.size())
        break;
      const size_t mark = at_ - 1;
      const char kind = text_[at_++];
      constexpr std::string_view from = "\"\\/bfnrt";
      constexpr std::string_view to = "\"\\/\b\f\n\r\t";
      if (const size_t found = from.find(kind); found != from.npos) {
        made.push_back(to[found]);
      } else if (kind == 'u') {
        uint32_t unit = 0;
        if (!hex(unit))
          return false;
        if (unit >= 0xD800 && unit < 0xDC00 && word("\\u")) {
          uint32_t low = 0;
          if (!hex(low))
            return false;
          unit = 0x10000 + ((unit - 0xD800) << 10) + ((low - 0xDC00) & 0x3FF);
        }
        append_utf8(made, unit);
      } else {
        return fail("Invalid \\escape", mark);
      }
    }
    if (at_ >= text_.size())
      return fail("Unterminated string starting at", start);
    ++at_;
    return true;
  }

  PluginContext& context_;
  std::string_view text_;
  size_t at_ = 0;
  std::string error_;
};

bool write(const Program& program, const Datum& value, std::string& text, std::string& error,
           int depth) {
  if (!program.budget->spend(1) || !program.budget->has_room(2 * text.size())) {
    error = cat("MemoryError: ", program.budget->refusal());
    return false;
  }
  if (depth > deepest_json) {
    error = "RecursionError: maximum recursion depth exceeded while encoding a JSON object";
    return false;
  }
  switch (value.tag) {
    case Tag::null:
      text += "null";
      return true;
    case Tag::boolean:
      text += value.boolean ? "true" : "false";
      return true;
    case Tag::floating:
      text += std::isnan(value.floating)   ? "NaN"
              : std::isinf(value.floating) ? (value.floating < 0 ? "-Infinity" : "Infinity")
                                           : python::real_text(value.floating);
      return true;
    case Tag::integer:
    case Tag::large:
      text += digits_of(value);
      return true;
    case Tag::text:
      text += python::json_text(value.view());
      return true;
    case Tag::list: {
      text.push_back('[');
      bool is_first = true;
      for (const Datum& item : value.list->items) {
        text += std::exchange(is_first, false) ? "" : ", ";
        if (!write(program, item, text, error, depth + 1))
          return false;
      }
      text.push_back(']');
      return true;
    }
    case Tag::dict: {
      text.push_back('{');
      bool is_first = true;
      for (const DictEntry& entry : value.dict->entries) {
        text += std::exchange(is_first, false) ? "" : ", ";
        text += python::json_text(entry.key->view);
        text += ": ";
        if (!write(program, entry.value, text, error, depth + 1))
          return false;
      }
      text.push_back('}');
      return true;
    }
    default:
      error = cat("TypeError: ", text_of(program, value), " is not JSON serializable");
      return false;
  }
}

}  // namespace

bool read_python_json(PluginContext& context, std::string_view text, Datum& value,
                      std::string& error) {
  JsonReader reader(context, text);
  if (reader.document(value))
    return true;
  error = reader.error();
  return false;
}

bool write_python_json(const Program& program, const Datum& value, std::string& text,
                       std::string& error) {
  return write(program, value, text, error, 0);
}

}  // namespace fettle::model
