#include "value/json.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "value/json_long.h"
#include "value/json_memory.h"
#include "value/json_reader.h"

namespace fettle {
namespace {

Where place(std::string_view text, size_t offset) {
  Where where{"", 1, 1};
  for (size_t i = 0; i < offset && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++where.line;
      where.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++where.column;
    }
  }
  return where;
}

using Stream = rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream>;

/// Builds the value while the reader calls. A frame is one open list or dict.
class Builder {
 public:
  Builder(const Stream& stream, const LongIntegers& integers, Duplicates duplicates)
      : stream_(stream), integers_(integers), duplicates_(duplicates) {}

  bool Null() { return put(Value()); }
  bool Bool(bool b) { return put(b); }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    const auto cut = integers_.empty() ? integers_.end() : integers_.find(stream_.Tell());
    return put(json_number(cut == integers_.end() ? std::string_view(text, length) : cut->second));
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return put(std::string_view(text, length));
  }
  bool StartObject() { return open(true); }
  bool StartArray() { return open(false); }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    Name key(std::string_view(text, length));
    Frame& frame = frames_.back();
    frame.entries.push_back({std::move(key), Value()});
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    const size_t count = frame.entries.size();
    std::vector<Name> keys;
    Value dict = Value::dict(std::move(frame.entries));
    if (duplicates_ == Duplicates::error && dict.entries().size() != count)
      return fail("a key occurs twice in one object");
    return put(std::move(dict));
  }
  bool EndArray(rapidjson::SizeType) {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    return put(Value::list(std::move(frame.items)));
  }

  Value take() { return std::move(root_); }
  const std::string& failure() const { return failure_; }

 private:
  struct Frame {
    bool dict;
    std::vector<Value> items;
    std::vector<Entry> entries;
  };

  bool fail(std::string why) {
    failure_ = std::move(why);
    return false;
  }
  bool open(bool dict) {
    if (frames_.size() >= deepest_json)
      return fail(cat("nested deeper than ", deepest_json));
    frames_.push_back({dict, {}, {}});
    return true;
  }
  bool put(Value value) {
    if (frames_.empty())
      root_ = std::move(value);
    else if (frames_.back().dict)
      frames_.back().entries.back().value = std::move(value);
    else
      frames_.back().items.push_back(std::move(value));
    return true;
  }
  const Stream& stream_;
  const LongIntegers& integers_;
  Duplicates duplicates_;
  std::vector<Frame> frames_;
  Value root_;
  std::string failure_;
};

}  // namespace

Value json_number(std::string_view text) {
  if (text.find_first_of(".eE") == text.npos)
    return Value::big_integer(text);
  double real = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (failure == std::errc::result_out_of_range)  // too large is infinite, too small is zero
    real = text.find("e-") == text.npos && text.find("E-") == text.npos ? HUGE_VAL : 0.0;
  return text.starts_with('-') ? -std::abs(real) : real;
}

namespace {

/// `integers` were cut out of `text`, see json_long.h.
Result<Value> read_cut_json(std::string_view text, const LongIntegers& integers,
                            Duplicates duplicates) {
  constexpr unsigned flags = rapidjson::kParseNumbersAsStringsFlag |
                             rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  rapidjson::MemoryStream memory(text.data(), text.size());
  Stream stream(memory);
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, JsonMemory> reader;
  Builder builder(stream, integers, duplicates);
  // The reader takes one for the end.
  if (const size_t zero = text.find('\0'); zero != text.npos)
    return user_error("invalid JSON: it has a zero byte", place(text, zero));
  if (reader.Parse<flags>(stream, builder))
    return builder.take();
  const rapidjson::ParseErrorCode code = reader.GetParseErrorCode();
  if (code == rapidjson::kParseErrorNumberTooBig && integers.empty()) {
    LongIntegers found;
    const std::string cut = cut_long_integers(text, found);
    if (!found.empty())
      return read_cut_json(cut, found, duplicates);
  }
  std::string why = code == rapidjson::kParseErrorTermination
                        ? builder.failure()
                        : lower_case(rapidjson::GetParseError_En(code));
  if (why.ends_with('.'))
    why.pop_back();
  return user_error("invalid JSON: " + why, place(text, reader.GetErrorOffset()));
}

}  // namespace

Result<Value> read_json(std::string_view text, std::string_view file, Duplicates duplicates) {
  Result<Value> value = read_cut_json(text, {}, duplicates);
  if (value)
    return value;
  Error error = std::move(value).error();
  error.where.file = file;
  error.excerpt = excerpt(text, error.where.line, error.where.column);
  return error;
}

namespace {

/// The number of bytes of the character that begins there. 0: it is broken.
size_t size_of_character(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t size =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  return size < 0 ? 0 : static_cast<size_t>(size);
}

}  // namespace

void append_json_text(std::string& json, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  json.push_back('"');
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
  const auto plain =
      static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
  json.append(text, 0, plain);
  const bool valid = plain == text.size() || is_valid_utf8(text);
  for (size_t i = plain; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    switch (byte) {
      case '"':
        json += "\\\"";
        break;
      case '\\':
        json += "\\\\";
        break;
      case '\n':
        json += "\\n";
        break;
      case '\r':
        json += "\\r";
        break;
      case '\t':
        json += "\\t";
        break;
      default:
        if (byte < 0x20 || byte == 0x7F)
          json.append("\\u00").append({hex[byte >> 4], hex[byte & 15]});
        else if (byte < 0x80 || valid)
          json.push_back(text[i]);
        else if (const size_t size = size_of_character(text.substr(i)); size > 0) {
          json.append(text, i, size);
          i += size - 1;
        } else {
          json += "\xEF\xBF\xBD";
        }
    }
  }
  json.push_back('"');
}

void append_json_real(std::string& json, double number) {
  if (!std::isfinite(number)) {
    json += "null";
    return;
  }
  std::array<char, 32> text{};
  const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), number);
  const std::string_view written(text.data(), static_cast<size_t>(end - text.data()));
  json += written;
  if (written.find_first_of(".e") == written.npos)
    json += ".0";
}

namespace {

void break_line(std::string& json, const JsonStyle& style, int level) {
  if (style.indent > 0)
    json.append("\n").append(static_cast<size_t>(style.indent * level), ' ');
}

void append(std::string& json, const Value& value, const JsonStyle& style, int level);

void append_integer(std::string& json, const Value& value) {
  const std::optional<int64_t> small = value.integer();
  if (!small) {
    json += value.integer_digits();
    return;
  }
  std::array<char, 24> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), *small).ptr;
  json.append(text.data(), static_cast<size_t>(end - text.data()));
}

void append_dict(std::string& json, const Value& value, const JsonStyle& style, int level) {
  bool first = true;
  json.push_back('{');
  for (const Entry& entry : value.entries()) {
    if (!first)
      json.push_back(',');
    first = false;
    break_line(json, style, level + 1);
    append_json_text(json, entry.key);
    json += style.indent > 0 ? ": " : ":";
    append(json, entry.value, style, level + 1);
  }
  if (!first)
    break_line(json, style, level);
  json.push_back('}');
}

void append_list(std::string& json, const Value& value, const JsonStyle& style, int level) {
  bool first = true;
  json.push_back('[');
  for (const Value& item : value.items()) {
    if (!first)
      json.push_back(',');
    first = false;
    break_line(json, style, level + 1);
    append(json, item, style, level + 1);
  }
  if (!first)
    break_line(json, style, level);
  json.push_back(']');
}

/// Holes are shown as `{{kind/name.path}}`.
std::string holes_as_text(const Value& value) {
  std::string text;
  for (const Part& part : value.parts())
    text += part.is_hole()
                ? cat("{{", part.hole.kind, "/", part.hole.name,
                      part.hole.path.view().starts_with('/') ? "" : ".", part.hole.path, "}}")
                : part.text.str();
  return text;
}

void append(std::string& json, const Value& value, const JsonStyle& style, int level) {
  switch (value.type()) {
    case Value::Type::null:
      json += "null";
      break;
    case Value::Type::boolean:
      json += value.boolean() ? "true" : "false";
      break;
    case Value::Type::integer:
      append_integer(json, value);
      break;
    case Value::Type::real:
      append_json_real(json, value.real());
      break;
    case Value::Type::text:
      append_json_text(json, value.text());
      break;
    case Value::Type::list:
      append_list(json, value, style, level);
      break;
    case Value::Type::dict:
      append_dict(json, value, style, level);
      break;
    case Value::Type::unknown:
      json += "\"<unknown>\"";
      break;
    case Value::Type::deferred:
      append_json_text(json, holes_as_text(value));
      break;
    case Value::Type::secret:
      if (style.show_secrets)
        append(json, value.inside(), style, level);
      else
        append_json_text(json, masked);
      break;
  }
}

}  // namespace

std::string write_json(const Value& value, JsonStyle style) {
  std::string json;
  append(json, value, style, 0);
  return json;
}

void append_json(std::string& json, const Value& value) { append(json, value, {}, 0); }

}  // namespace fettle
