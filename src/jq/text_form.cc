#include "jq/text_form.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/budget.h"
#include "base/text.h"

namespace fettle::jq {
namespace {

/// Writes until there are `most` bytes.
class Writer {
 public:
  explicit Writer(size_t most = std::string::npos) : most_(most) {}

  void write(const Json& value) {
    // Shared parts are written each time.
    if (json.size() >= most_ || !Budget::current().spend(1) ||
        !Budget::current().has_room(json.size()))
      return;
    switch (value.kind()) {
      case Json::Kind::null:
      case Json::Kind::hole:
        json += "null";
        break;
      case Json::Kind::boolean:
        json += value.boolean() ? "true" : "false";
        break;
      case Json::Kind::integer:
        json += std::to_string(value.integer());
        break;
      case Json::Kind::real:
        write_real(value.real());
        break;
      case Json::Kind::whole:
      case Json::Kind::numeral:
        json += value.text();
        break;
      case Json::Kind::text:
        append_quoted(json, std::string_view(value.text()).substr(0, most_));
        break;
      case Json::Kind::list:
        write_list(value.items());
        break;
      case Json::Kind::dict:
        write_dict(value.members());
        break;
    }
  }

  std::string json;

 private:
  void write_list(const Json::List& items) {
    json += '[';
    for (const Json& item : items) {
      if (&item != items.data())
        json += ',';
      write(item);
    }
    json += ']';
  }

  void write_dict(const Json::Dict& members) {
    json += '{';
    for (const Member& member : members) {
      if (&member != members.data())
        json += ',';
      append_quoted(json, member.key.text());
      json += ':';
      write(member.value);
    }
    json += '}';
  }

  /// Writes the shortest digits, with an exponent where Go has one.
  void write_real(double number) {
    if (std::isnan(number)) {
      json += "null";
      return;
    }
    constexpr double largest = std::numeric_limits<double>::max();
    number = std::min(std::max(number, -largest), largest);
    const double size = std::abs(number);
    std::array<char, 400> text{};
    const bool is_scientific = (size != 0 && size < 1e-6) || size >= 1e21;
    const char* const end =
        std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific)
            .ptr;
    const std::string_view written(text.data(), static_cast<size_t>(end - text.data()));
    json += is_scientific ? scientific(written) : fixed(written);
  }

  /// Go writes at least two digits of an exponent; jq drops the zero of a negative one.
  static std::string scientific(std::string_view written) {
    const size_t e = written.find('e');
    const bool has_zero = written.substr(e).starts_with("e-0");
    return std::string(written.substr(0, e + 2)).append(written.substr(e + (has_zero ? 3 : 2)));
  }

  static std::string fixed(std::string_view written) {
    const size_t e = written.find('e');
    int exponent = std::stoi(std::string(written.substr(e + 1)));
    std::string digits = replace_all(written.substr(0, e), ".", "");
    const bool is_negative = digits.starts_with('-');
    if (is_negative)
      digits.erase(0, 1);
    for (; exponent < 0; ++exponent)
      digits.insert(0, "0");
    const auto whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() < whole)
      digits.append(whole - digits.size(), '0');
    if (written.substr(e + 1).starts_with('-'))
      digits.insert(1, ".");
    else if (digits.size() > whole)
      digits.insert(whole, ".");
    return (is_negative ? "-" : "") + digits;
  }

  size_t most_;
};

}  // namespace

void append_quoted(std::string& json, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  json += '"';
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const size_t length = length_of_character(text, at);
    if (byte >= 0x80 && length == 1)
      json += "\\ufffd";
    else if (byte == '"' || byte == '\\')
      json.append("\\").append(1, text[at]);
    else if (const size_t named = std::string_view("\b\f\n\r\t").find(text[at]);
             named != 5 && named != std::string_view::npos)
      json.append("\\").append(1, "bfnrt"[named]);
    else if (byte < 0x20 || byte == 0x7F)
      json.append("\\u00").append({hex[byte >> 4], hex[byte & 15]});
    else
      json.append(text, at, length);
    at += length;
  }
  json += '"';
}

std::string text_form(const Json& value) {
  Writer writer;
  writer.write(value);
  return std::move(writer.json);
}

std::string preview(const Json& value) {
  constexpr size_t read_ahead = 32, longest = 30;
  Writer writer(read_ahead);
  writer.write(value);
  std::string json = std::move(writer.json);
  json.resize(std::min(json.size(), read_ahead));
  if (json.size() <= longest)
    return json;
  const std::string_view end = value.is_text()   ? " ...\""
                               : value.is_list() ? " ...]"
                               : value.is_dict() ? " ...}"
                                                 : " ...";
  // A character that was cut in two at the end counts as single bytes.
  while (json.size() > longest - end.size()) {
    size_t begin = json.size() - 1;
    for (size_t back = 1; back <= std::min<size_t>(4, json.size()); ++back)
      if (length_of_character(json, json.size() - back) == back)
        begin = json.size() - back;
    json.resize(begin);
  }
  return json.append(end);
}

std::string typed_preview(const Json& value) {
  return value.is_null() ? "null" : cat(type_name(value), " (", preview(value), ")");
}

}  // namespace fettle::jq
