#include "base/base64.h"
#include "jq/natives.h"

namespace fettle::jq {
namespace {

std::string text_of_value(const Json& value) {
  return value.is_text() ? value.text() : text_form(value);
}

/// The text with some characters replaced.
std::string escaped(std::string_view text,
                    std::initializer_list<std::pair<char, std::string_view>> with) {
  std::string made;
  for (const char c : text) {
    const auto* const found = std::ranges::find(with, c, &std::pair<char, std::string_view>::first);
    if (found == with.end())
      made += c;
    else
      made += found->second;
  }
  return made;
}

Answer to_html(const Json& input, Arguments) {
  return Json::text(
      escaped(text_of_value(input),
              {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'\'', "&apos;"}, {'"', "&quot;"}}));
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.~").find(c) != std::string_view::npos;
}

Answer to_uri(const Json& input, Arguments) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string made;
  for (const char c : text_of_value(input)) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(c))
      made += c;
    else
      made.append("%").append({hex[byte >> 4], hex[byte & 15]});
  }
  return Json::text(std::move(made));
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  const int letter = c | 0x20;
  return letter >= 'a' && letter <= 'f' ? std::optional(letter - 'a' + 10) : std::nullopt;
}

Answer from_uri(const Json& input, Arguments) {
  const std::string text = text_of_value(input);
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      made += text[i];
      continue;
    }
    const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
    if (!high || !low) {
      std::string shown;
      append_quoted(shown, std::string_view(text).substr(i, 3));
      return fail("@urid cannot be applied to ", preview(input), ": invalid URL escape ", shown);
    }
    made += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return Json::text(std::move(made));
}

/// Formats a row of scalars. Null is an empty text, except for a shell.
Answer row(std::string_view name, const Json& input, std::string_view separator,
           std::string (*quoted)(std::string_view)) {
  if (!input.is_list())
    return not_for(cat("@", name), input);
  std::string made;
  for (const Json& item : input.items()) {
    if (item.is_list() || item.is_dict())
      return fail("@", name, " cannot format an array including: ", typed_preview(item));
    if (&item != input.items().data())
      made += separator;
    const std::string text = item.is_text() ? quoted(item.text()) : text_form(item);
    if (item.is_text() || text != "null" || name == "sh")
      made += text;
  }
  return Json::text(std::move(made));
}

Answer to_csv(const Json& input, Arguments) {
  return row("csv", input, ",", [](std::string_view text) {
    return cat("\"", escaped(text, {{'"', "\"\""}, {'\0', "\\0"}}), "\"");
  });
}

Answer to_tsv(const Json& input, Arguments) {
  return row("tsv", input, "\t", [](std::string_view text) {
    return escaped(text,
                   {{'\t', "\\t"}, {'\r', "\\r"}, {'\n', "\\n"}, {'\\', "\\\\"}, {'\0', "\\0"}});
  });
}

Answer to_shell(const Json& input, Arguments) {
  return row("sh", input.is_list() ? input : Json::list({input}), " ", [](std::string_view text) {
    return cat("'", escaped(text, {{'\'', "'\\''"}, {'\0', "\\0"}}), "'");
  });
}

Answer to_base64(const Json& input, Arguments) {
  return Json::text(base64_encode(text_of_value(input)));
}

/// Decodes without what is behind `=`. A line may end anywhere.
Answer from_base64(const Json& input, Arguments) {
  static constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text = text_of_value(input);
  text.resize(std::min(text.find('='), text.size()));
  std::string made;
  uint32_t bits = 0, count = 0;
  size_t at = 0;
  const auto wrong = [&](size_t where) {
    return fail("@base64d cannot be applied to ", preview(input),
                ": illegal base64 data at input byte ", where);
  };
  for (; at < text.size(); ++at) {
    if (text[at] == '\n' || text[at] == '\r')
      continue;
    const size_t letter = letters.find(text[at]);
    if (letter == letters.npos)
      return wrong(at);
    bits = bits << 6 | static_cast<uint32_t>(letter);
    ++count;
    if (const uint32_t place = count % 4; place != 1)
      made += static_cast<char>(bits >> (place == 0 ? 0 : place == 2 ? 4 : 2));
  }
  return count % 4 == 1 ? wrong(at - 1) : Answer(Json::text(std::move(made)));
}

Answer format(const Json& input, Arguments given) {
  if (!given[0].is_text())
    return not_for("format", given[0]);
  const std::optional<std::string> function = format_function(given[0].text());
  if (!function)
    return fail("format not defined: @", given[0].text());
  return find_native(*function, 0)->compute(input, {});
}

}  // namespace

std::optional<std::string> format_function(const std::string& format) {
  static const std::map<std::string, std::string> functions{
      {"text", "tostring"},    {"json", "tojson"},       {"html", "_tohtml"}, {"uri", "_touri"},
      {"urid", "_tourid"},     {"csv", "_tocsv"},        {"tsv", "_totsv"},   {"sh", "_tosh"},
      {"base64", "_tobase64"}, {"base64d", "_tobase64d"}};
  const auto found = functions.find(format);
  return found == functions.end() ? std::nullopt : std::optional(found->second);
}

std::span<const Native> format_functions() {
  static const Native table[] = {
      {"format", 1, format}, {"_tobase64", 0, to_base64}, {"_tobase64d", 0, from_base64},
      {"_tocsv", 0, to_csv}, {"_tohtml", 0, to_html},     {"_tosh", 0, to_shell},
      {"_totsv", 0, to_tsv}, {"_touri", 0, to_uri},       {"_tourid", 0, from_uri},
  };
  return table;
}

}  // namespace fettle::jq
