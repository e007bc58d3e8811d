/// Filters over text.

#include "base/text.h"
#include "template/jinja/filters.h"
#include "template/jinja/methods.h"
#include "template/jinja/wrap.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

constexpr int64_t widest = 1'000'000;

/// The text of a filter's value; undefined ones are an error.
Result<std::string> subject(Renderer& renderer, const Value& value) {
  return renderer.shown(value);
}

bool is_space(std::string_view point) {
  return point.size() == 1 &&
         std::string_view(" \t\n\r\v\f").find(point[0]) != std::string_view::npos;
}

std::string capitalized(std::string_view text) {
  const auto points = python::points_of(text);
  return points.empty() ? ""
                        : cat(python::upper(points.front()),
                              python::lower(text.substr(points.front().size())));
}

int64_t whole(const Value& value, int64_t otherwise) {
  return value.is_whole() ? value.integer() : otherwise;
}

Result<Value> upper(Renderer& renderer, Arguments& arguments) {
  return Value(python::upper(TRY(subject(renderer, arguments.positional[0]))));
}
Result<Value> lower(Renderer& renderer, Arguments& arguments) {
  return Value(python::lower(TRY(subject(renderer, arguments.positional[0]))));
}
Result<Value> capitalize(Renderer& renderer, Arguments& arguments) {
  return Value(capitalized(TRY(subject(renderer, arguments.positional[0]))));
}
Result<Value> string(Renderer& renderer, Arguments& arguments) {
  return Value(TRY(subject(renderer, arguments.positional[0])));
}

Result<Value> title(Renderer& renderer, Arguments& arguments) {
  const std::string text = TRY(subject(renderer, arguments.positional[0]));
  std::string made;
  bool starts = true;
  for (const std::string_view point : python::points_of(text)) {
    made += starts ? python::upper(point) : python::lower(point);
    starts = is_space(point) || point == "-" || point == "(" || point == "{" || point == "[" ||
             point == "<";
  }
  return Value(std::move(made));
}

Result<Value> trim_text(Renderer& renderer, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_trim", arguments, {"value", "chars?"}));
  const std::string text = TRY(subject(renderer, given[0]));
  return Value(TRY(stripped(text, given[1], true, true)));
}

Result<Value> replace(Renderer& renderer, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_replace", arguments, {"s", "old", "new", "count?"}));
  const std::string text = TRY(subject(renderer, given[0]));
  const std::string from = TRY(subject(renderer, given[1]));
  const std::string to = TRY(subject(renderer, given[2]));
  return replaced(text, from, to, whole(given[3], -1));
}

Result<Value> center(Renderer& renderer, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_center", arguments, {"value", "width?"}));
  const std::string text = TRY(subject(renderer, given[0]));
  const int64_t width = std::min(whole(given[1], 80), widest);
  const int64_t missing =
      std::max<int64_t>(0, width - static_cast<int64_t>(python::points_of(text).size()));
  const int64_t left = missing / 2 + (missing & width & 1);
  return Value(cat(std::string(static_cast<size_t>(left), ' '), text,
                   std::string(static_cast<size_t>(missing - left), ' ')));
}

Result<Value> indent(Renderer& renderer, Arguments& arguments) {
  const Items given =
      TRY(bind_arguments("do_indent", arguments, {"s", "width?", "first?", "blank?"}));
  const std::string text = TRY(subject(renderer, given[0]));
  const std::string margin =
      given[1].is_text()
          ? given[1].text()
          : std::string(static_cast<size_t>(std::clamp<int64_t>(whole(given[1], 4), 0, widest)),
                        ' ');
  const bool blank = is_true(given[3]);
  std::string made = is_true(given[2]) ? margin : "";
  std::vector<std::string_view> lines = split(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string before =
        i == 0 ? std::string() : cat("\n", blank || !lines[i].empty() ? margin : "");
    if (Status status = add(made, cat(before, lines[i])); !status)
      return status.error();
  }
  return Value(std::move(made));
}

Result<Value> truncate(Renderer& renderer, Arguments& arguments) {
  const Items given = TRY(
      bind_arguments("do_truncate", arguments, {"s", "length?", "killwords?", "end?", "leeway?"}));
  const int64_t length = whole(given[1], 255);
  const std::string end = given[3].is_text() ? given[3].text() : "...";
  const int64_t leeway = whole(given[4], 5);
  const bool is_text = given[0].is_text() || given[0].is_undefined();
  const std::string text = is_text ? TRY(subject(renderer, given[0])) : "";
  const auto points = python::points_of(text);
  const int64_t size = is_text ? static_cast<int64_t>(points.size()) : TRY(length_of(given[0]));
  const int64_t end_size = static_cast<int64_t>(python::points_of(end).size());
  if (length < end_size)
    return raise("AssertionError", cat("expected length >= ", end_size, ", got ", length));
  if (size <= length + leeway)
    return is_text ? Value(text) : given[0];
  if (!is_text)
    return operate("+", given[0], Value(end));
  std::string made(points.first(static_cast<size_t>(length - end_size)));
  if (!is_true(given[2]))
    made = made.substr(0, made.rfind(' ') == std::string::npos ? made.size() : made.rfind(' '));
  return Value(made + end);
}

Result<Value> wordcount(Renderer& renderer, Arguments& arguments) {
  const std::string text = TRY(subject(renderer, arguments.positional[0]));
  int64_t count = 0;
  bool is_in = false;
  for (const std::string_view point : python::points_of(text)) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(point[0])) || point[0] == '_' ||
                         (point[0] & 0x80) != 0;
    count += is_word && !is_in;
    is_in = is_word;
  }
  return Value(count);
}

Result<Value> wordwrap(Renderer& renderer, Arguments& arguments) {
  const Items given =
      TRY(bind_arguments("do_wordwrap", arguments,
                         {"s", "width?", "break_long_words?", "wrapstring?", "break_on_hyphens?"}));
  const std::string text = TRY(subject(renderer, given[0]));
  const int64_t width = whole(given[1], 79);
  if (width <= 0)
    return raise("ValueError", cat("invalid width ", width, " (must be > 0)"));
  const std::string between = given[3].is_text() ? given[3].text() : "\n";
  std::vector<std::string> parts;
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.size() > 1 && lines.back().empty())
    lines.pop_back();
  for (const std::string_view line : lines)
    parts.push_back(
        join(wrapped(line, {.width = static_cast<size_t>(width),
                            .breaks_words = given[2].is_undefined() || is_true(given[2]),
                            .breaks_hyphens = given[4].is_undefined() || is_true(given[4])}),
             between));
  return Value(text.empty() ? std::string() : join(parts, between));
}

Result<Value> format(Renderer&, Arguments& arguments) {
  if (!arguments.named.empty() && arguments.positional.size() > 1)
    return raise("jinja2.exceptions.FilterArgumentError",
                 "can't handle positional and keyword arguments at the same time");
  if (arguments.positional[0].is_strictly_undefined())
    return undefined_error(arguments.positional[0]);
  Value values = Value::dict();
  for (const auto& [name, value] : arguments.named)
    values.dict_data().set(Value(name), value);
  if (arguments.named.empty())
    values = Value::tuple(Items(arguments.positional.begin() + 1, arguments.positional.end()));
  return format_percent(text_of(arguments.positional[0]), values);
}

Result<Value> escape(Renderer& renderer, Arguments& arguments) {
  return Value(escaped(TRY(subject(renderer, arguments.positional[0]))));
}
Result<Value> same(Renderer& renderer, Arguments& arguments) {
  return Value(TRY(subject(renderer, arguments.positional[0])));
}

/// A text without what stands between two marks, and without them.
std::string without(std::string_view text, std::string_view opens, std::string_view closes) {
  std::string made;
  for (;;) {
    const size_t open = text.find(opens);
    const size_t end = open == text.npos ? text.npos : text.find(closes, open);
    if (end == text.npos)
      return made.append(text);
    made += text.substr(0, open);
    text.remove_prefix(end + closes.size());
    // Parts that were apart may now form an opening, as `<` and `!--` do.
    for (size_t i = opens.size() - 1; i > 0; --i)
      if (made.ends_with(opens.substr(0, i)) && text.starts_with(opens.substr(i))) {
        const size_t closing = text.find(closes);
        if (closing == text.npos)
          break;
        made.resize(made.size() - i);
        text.remove_prefix(closing + closes.size());
        i = opens.size();
      }
  }
}

Result<Value> striptags(Renderer& renderer, Arguments& arguments) {
  std::string text = TRY(subject(renderer, arguments.positional[0]));
  text = without(without(text, "<!--", "-->"), "<", ">");
  std::string made;
  for (const std::string_view point : python::points_of(text))
    if (!is_space(point))
      made += point;
    else if (!made.empty() && made.back() != ' ')
      made += ' ';
  made = made.substr(0, made.find_last_not_of(' ') + 1);
  for (const auto& [from, to] : {std::pair{"&lt;", "<"},
                                 {"&gt;", ">"},
                                 {"&#34;", "\""},
                                 {"&quot;", "\""},
                                 {"&#39;", "'"},
                                 {"&amp;", "&"}})
    made = replace_all(made, from, to);
  return Value(std::move(made));
}

std::string url_quoted(std::string_view text, bool keeps_slash) {
  std::string made;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte)) ||
        std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && keeps_slash))
      made += c;
    else
      made.append({'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]});
  }
  return made;
}

Result<Value> urlencode(Renderer& renderer, Arguments& arguments) {
  const Value& value = arguments.positional[0];
  if (value.is_text() || value.is_number() || value.is_none() || value.is_undefined())
    return Value(url_quoted(TRY(subject(renderer, value)), true));
  std::string made;
  Items pairs;
  if (value.is_dict())
    for (const auto& [key, item] : value.dict_data().entries)
      pairs.push_back(Value::tuple({key, item}));
  else
    pairs = TRY(items_of(value));
  for (const Value& pair : pairs) {
    const Items both = TRY(items_of(pair));
    if (both.size() != 2)
      return raise("ValueError", "not enough values to unpack (expected 2)");
    const auto part = [](const Value& one) {
      return replace_all(url_quoted(text_of(one), false), "%20", "+");
    };
    const std::string one = cat(made.empty() ? "" : "&", part(both[0]), "=", part(both[1]));
    if (Status status = add(made, one); !status)
      return status.error();
  }
  return Value(std::move(made));
}

Result<Value> xmlattr(Renderer&, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_xmlattr", arguments, {"d", "autospace?"}));
  if (!given[0].is_dict())
    return raise("AttributeError",
                 cat("'", type_name(given[0]), "' object has no attribute 'items'"));
  std::string made;
  for (const auto& [key, value] : given[0].dict_data().entries) {
    if (value.is_none() || value.is_undefined())
      continue;
    const std::string name = text_of(key);
    if (name.find_first_of(" \t\n\r\f/>=") != std::string::npos)
      return raise("ValueError", cat("Invalid character in attribute name: ", quoted(key)));
    const std::string one =
        cat(made.empty() ? "" : " ", escaped(name), "=\"", escaped(text_of(value)), "\"");
    if (Status status = add(made, one); !status)
      return status.error();
  }
  const bool has_space = given[1].is_undefined() || is_true(given[1]);
  return Value(has_space && !made.empty() ? cat(" ", made) : made);
}

constexpr std::array text_rows{
    FilterRow{"upper", upper},
    FilterRow{"lower", lower},
    FilterRow{"capitalize", capitalize},
    FilterRow{"title", title},
    FilterRow{"trim", trim_text},
    FilterRow{"replace", replace},
    FilterRow{"center", center},
    FilterRow{"indent", indent},
    FilterRow{"truncate", truncate},
    FilterRow{"wordcount", wordcount},
    FilterRow{"wordwrap", wordwrap},
    FilterRow{"format", format},
    FilterRow{"string", string},
    FilterRow{"escape", escape},
    FilterRow{"e", escape},
    FilterRow{"forceescape", escape},
    FilterRow{"safe", same},
    FilterRow{"striptags", striptags},
    FilterRow{"urlencode", urlencode},
    FilterRow{"xmlattr", xmlattr},
};

}  // namespace

std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text)
    if (c == '&')
      made += "&amp;";
    else if (c == '<')
      made += "&lt;";
    else if (c == '>')
      made += "&gt;";
    else if (c == '"')
      made += "&#34;";
    else if (c == '\'')
      made += "&#39;";
    else
      made += c;
  return made;
}

std::span<const FilterRow> text_filters() { return text_rows; }

}  // namespace fettle::jinja
