/// Methods of texts. One more is a row in the table at the end.

#include <array>

#include "base/search.h"
#include "base/text.h"
#include "template/jinja/methods.h"
#include "template/jinja/objects.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

constexpr std::string_view blanks = " \t\n\r\v\f";
constexpr int64_t widest_text = 1'000'000;

Result<Items> texts(std::string_view name, Arguments& arguments,
                    std::initializer_list<std::string_view> parameters) {
  Items given = TRY(bind_arguments(name, arguments, parameters));
  for (const Value& value : given)
    if (value.is_undefined() && !value.undefined_message().empty())
      return undefined_error(value);
  return given;
}

bool is_none_or_missing(const Value& value) { return value.is_none() || value.is_undefined(); }

Result<std::string> text_argument(const Value& value) {
  if (!value.is_text())
    return raise("TypeError", cat("must be str, not ", type_name(value)));
  return value.text();
}

bool continues_point(char c) { return (c & 0xC0) == 0x80; }
std::string_view first_point(std::string_view text) {
  size_t end = 1;
  while (end < text.size() && continues_point(text[end]))
    ++end;
  return text.substr(0, end);
}
std::string_view last_point(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && continues_point(text[begin]))
    --begin;
  return text.substr(begin);
}

template <bool left, bool right>
Result<Value> strip(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("strip", arguments, {"chars?"}));
  return Value(TRY(stripped(self.text(), given[0], left, right)));
}

Result<Value> split_text(const Value& self, Arguments& arguments, bool is_right) {
  const Items given = TRY(texts("split", arguments, {"sep?", "maxsplit?"}));
  int64_t left = given[1].is_whole() ? given[1].integer() : -1;
  std::string_view rest = self.text();
  Items made;
  if (!given[0].is_text()) {
    const auto trim_blanks = [&] {
      const size_t first =
          is_right ? rest.find_last_not_of(blanks) : rest.find_first_not_of(blanks);
      rest = first == rest.npos ? std::string_view()
             : is_right         ? rest.substr(0, first + 1)
                                : rest.substr(first);
    };
    for (trim_blanks(); !rest.empty(); trim_blanks()) {
      const size_t end = left == 0  ? rest.npos
                         : is_right ? rest.find_last_of(blanks)
                                    : rest.find_first_of(blanks);
      left -= left > 0;
      made.emplace_back(end == rest.npos ? rest
                        : is_right       ? rest.substr(end + 1)
                                         : rest.substr(0, end));
      rest = end == rest.npos ? std::string_view()
             : is_right       ? rest.substr(0, end)
                              : rest.substr(end);
    }
  } else {
    const std::string& separator = given[0].text();
    if (separator.empty())
      return raise("ValueError", "empty separator");
    for (; left != 0; --left) {
      const size_t end = is_right ? find_last_text(rest, separator) : find_text(rest, separator);
      if (end == rest.npos)
        break;
      made.emplace_back(is_right ? rest.substr(end + separator.size()) : rest.substr(0, end));
      rest = is_right ? rest.substr(0, end) : rest.substr(end + separator.size());
    }
    made.emplace_back(rest);
  }
  if (is_right)
    std::reverse(made.begin(), made.end());
  return Value::list(std::move(made));
}

/// How long the end of a line at a place is; 0: none is there.
size_t line_end_at(std::string_view text, size_t at) {
  constexpr std::array<std::string_view, 9> ends{"\r\n", "\n",   "\r",   "\v",      "\f",
                                                 "\x1c", "\x1d", "\x1e", "\xc2\x85"};
  constexpr std::array<std::string_view, 2> separators{"\xe2\x80\xa8", "\xe2\x80\xa9"};
  for (const std::string_view end : ends)
    if (text.substr(at).starts_with(end))
      return end.size();
  for (const std::string_view end : separators)
    if (text.substr(at).starts_with(end))
      return end.size();
  return 0;
}

Result<Value> splitlines(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("splitlines", arguments, {"keepends?"}));
  const bool keeps_ends = is_true(given[0]);
  const std::string_view text = self.text();
  Items made;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t length = line_end_at(text, at);
    if (length > 0)
      made.emplace_back(text.substr(begin, at - begin + (keeps_ends ? length : 0)));
    at += std::max<size_t>(length, 1);
    begin = length > 0 ? at : begin;
  }
  if (begin < text.size())
    made.emplace_back(text.substr(begin));
  return Value::list(std::move(made));
}

Result<Value> join_items(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("join", arguments, {"iterable"}));
  std::string made;
  size_t index = 0;
  for (const Value& item : TRY(items_of(given[0]))) {
    if (!item.is_text())
      return raise("TypeError", cat("sequence item ", index, ": expected str instance, ",
                                    type_name(item), " found"));
    if (Status status = add(made, index++ == 0 ? std::string_view() : self.text()); !status)
      return status.error();
    if (Status status = add(made, item.text()); !status)
      return status.error();
  }
  return Value(std::move(made));
}

Result<Value> replace(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("replace", arguments, {"old", "new", "count?"}));
  return replaced(self.text(), TRY(text_argument(given[0])), TRY(text_argument(given[1])),
                  given[2].is_whole() ? given[2].integer() : -1);
}

int64_t points_before(const std::string& text, size_t at) {
  return static_cast<int64_t>(python::points_of(std::string_view(text).substr(0, at)).size());
}

/// The part of a text between `start` and `end`.
struct Part {
  std::string_view text;
  size_t begin = 0;  ///< in bytes
};

/// Nothing: `start` lies behind `end` or the text, where not even an empty text is found.
Result<std::optional<Part>> part_of(const std::string& text, const Value& start, const Value& end) {
  for (const Value* bound : {&start, &end})
    if (!bound->is_whole() && !is_none_or_missing(*bound))
      return raise("TypeError",
                   "slice indices must be integers or None or have an __index__ method");
  if (!start.is_whole() && !end.is_whole())
    return std::optional<Part>(Part{text});
  const python::Points points = python::points_of(text);
  const int64_t size = static_cast<int64_t>(points.size());
  const auto place = [&](const Value& bound, int64_t otherwise) {
    const int64_t at = bound.is_whole() ? bound.integer() : otherwise;
    return std::max<int64_t>(at < 0 ? at + size : at, 0);
  };
  const int64_t first = place(start, 0);
  const int64_t last = std::min(place(end, size), size);
  if (first > last)
    return std::optional<Part>();
  const auto byte_at = [&](int64_t at) {
    return at == size ? text.size() : points.first(static_cast<size_t>(at)).size();
  };
  return std::optional<Part>(
      Part{std::string_view(text).substr(byte_at(first), byte_at(last) - byte_at(first)),
           byte_at(first)});
}

template <bool is_end>
Result<Value> affix(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts(is_end ? "endswith" : "startswith", arguments,
                                {is_end ? "suffix" : "prefix", "start?", "end?"}));
  const std::optional<Part> part = TRY(part_of(self.text(), given[1], given[2]));
  const bool are_many = given[0].is_list() && given[0].list().is_tuple;
  for (const Value& choice : are_many ? given[0].list().items : Items{given[0]}) {
    if (!choice.is_text())
      return raise("TypeError", are_many
                                    ? cat("tuple for ", is_end ? "ends" : "starts",
                                          "with must only contain str, not ", type_name(choice))
                                    : cat(is_end ? "ends" : "starts",
                                          "with first arg must be str or a tuple of str, not ",
                                          type_name(choice)));
    if (part &&
        (is_end ? part->text.ends_with(choice.text()) : part->text.starts_with(choice.text())))
      return Value(true);
  }
  return Value(false);
}

/// Where a text is found, in code points; -1: nowhere.
template <bool is_last>
Result<Value> find(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts(is_last ? "rfind" : "find", arguments, {"sub", "start?", "end?"}));
  const std::string sub = TRY(text_argument(given[0]));
  const std::optional<Part> part = TRY(part_of(self.text(), given[1], given[2]));
  const size_t found = !part     ? std::string_view::npos
                       : is_last ? find_last_text(part->text, sub)
                                 : find_text(part->text, sub);
  return found == std::string_view::npos ? Value(-1)
                                         : Value(points_before(self.text(), part->begin + found));
}
template <bool is_last>
Result<Value> index(const Value& self, Arguments& arguments) {
  const Value found = TRY(find<is_last>(self, arguments));
  if (found.integer() < 0)
    return raise("ValueError", "substring not found");
  return found;
}
Result<Value> count(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("count", arguments, {"sub", "start?", "end?"}));
  const std::string sub = TRY(text_argument(given[0]));
  const std::optional<Part> part = TRY(part_of(self.text(), given[1], given[2]));
  if (!part)
    return Value(0);
  if (sub.empty())
    return Value(static_cast<int64_t>(python::points_of(part->text).size()) + 1);
  int64_t found = 0;
  for (size_t at = find_text(part->text, sub); at != part->text.npos;
       at = find_text(part->text, sub, at + sub.size()))
    ++found;
  return Value(found);
}

template <python::Letters kind>
Result<Value> is_all(const Value& self, Arguments& arguments) {
  TRY(texts("is", arguments, {}));
  return Value(python::is_all(self.text(), kind));
}

bool is_upper_case(std::string_view point) { return python::lower(point) != point; }
bool is_lower_case(std::string_view point) { return python::upper(point) != point; }

/// Whether there are letters with a case, and all of them have this one.
template <bool is_upper>
Result<Value> is_all_in_case(const Value& self, Arguments&) {
  bool has_case = false;
  for (const std::string_view point : python::points_of(self.text())) {
    if (is_upper ? is_lower_case(point) : is_upper_case(point))
      return Value(false);
    has_case |= is_upper ? is_upper_case(point) : is_lower_case(point);
  }
  return Value(has_case);
}

/// Capitals begin words, and only they do.
Result<Value> is_title(const Value& self, Arguments&) {
  bool has_case = false;
  bool is_within = false;
  for (const std::string_view point : python::points_of(self.text())) {
    const bool is_upper = is_upper_case(point);
    const bool is_cased = is_upper || is_lower_case(point);
    if (is_cased && is_upper == is_within)
      return Value(false);
    has_case |= is_cased;
    is_within = is_cased;
  }
  return Value(has_case);
}

Result<Value> expandtabs(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("expandtabs", arguments, {"tabsize?"}));
  const int64_t width = given[0].is_whole() ? std::min(given[0].integer(), widest_text) : 8;
  std::string made;
  int64_t column = 0;
  for (const std::string_view point : python::points_of(self.text())) {
    const bool ends_line = point == "\n" || point == "\r";
    const int64_t blank = point != "\t" || width <= 0 ? 0 : width - column % width;
    if (Status status = add(made, point == "\t" ? std::string(static_cast<size_t>(blank), ' ')
                                                : std::string(point));
        !status)
      return status.error();
    column = ends_line ? 0 : column + (point == "\t" ? blank : 1);
  }
  return Value(std::move(made));
}

Result<Value> justified(const Value& self, Arguments& arguments, char align) {
  const Items given = TRY(texts("ljust", arguments, {"width", "fillchar?"}));
  if (!given[0].is_whole() || given[0].integer() > widest_text)
    return raise("TypeError", "a width is a whole number that is not too large");
  const std::string fill = given[1].is_text() ? given[1].text() : " ";
  if (python::points_of(fill).size() != 1)
    return raise("TypeError", "The fill character must be exactly one character long");
  const int64_t missing =
      std::max<int64_t>(0, given[0].integer() - points_before(self.text(), self.text().size()));
  const int64_t left = align == '<'   ? 0
                       : align == '>' ? missing
                                      : missing / 2 + (missing & given[0].integer() & 1);
  std::string made;
  for (int64_t i = 0; i < left; ++i)
    made += fill;
  made += self.text();
  for (int64_t i = left; i < missing; ++i)
    made += fill;
  return Value(std::move(made));
}

Result<Value> zfill(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("zfill", arguments, {"width"}));
  const int64_t width = given[0].is_whole() ? std::min(given[0].integer(), widest_text) : 0;
  const bool has_sign = self.text().starts_with('-') || self.text().starts_with('+');
  const int64_t missing =
      std::max<int64_t>(0, width - points_before(self.text(), self.text().size()));
  std::string made = self.text();
  made.insert(has_sign ? 1 : 0, std::string(static_cast<size_t>(missing), '0'));
  return Value(std::move(made));
}

Result<Value> title(const Value& self, Arguments&) {
  std::string made;
  bool starts = true;
  for (const std::string_view point : python::points_of(self.text())) {
    const bool is_letter = is_upper_case(point) || is_lower_case(point);
    made += starts ? python::upper(point) : python::lower(point);
    starts = !is_letter;
  }
  return Value(std::move(made));
}

Result<Value> swapcase(const Value& self, Arguments&) {
  std::string made;
  for (const std::string_view point : python::points_of(self.text()))
    made += python::upper(point) == point ? python::lower(point) : python::upper(point);
  return Value(std::move(made));
}

Result<Value> capitalize(const Value& self, Arguments&) {
  const auto points = python::points_of(self.text());
  return Value(
      points.empty()
          ? std::string()
          : cat(python::upper(points.front()),
                python::lower(std::string_view(self.text()).substr(points.front().size()))));
}

template <bool is_right>
Result<Value> partition(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("partition", arguments, {"sep"}));
  const std::string separator = TRY(text_argument(given[0]));
  if (separator.empty())
    return raise("ValueError", "empty separator");
  const size_t found =
      is_right ? find_last_text(self.text(), separator) : find_text(self.text(), separator);
  if (found == std::string::npos)
    return is_right ? Value::tuple({Value(""), Value(""), self})
                    : Value::tuple({self, Value(""), Value("")});
  return Value::tuple({Value(self.text().substr(0, found)), Value(separator),
                       Value(self.text().substr(found + separator.size()))});
}

template <bool is_end>
Result<Value> remove_affix(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("removeprefix", arguments, {"prefix"}));
  const std::string affix = TRY(text_argument(given[0]));
  const bool is_there = is_end ? self.text().ends_with(affix) : self.text().starts_with(affix);
  return !is_there ? self
                   : Value(is_end ? self.text().substr(0, self.text().size() - affix.size())
                                  : self.text().substr(affix.size()));
}

/// The value that a field `0.name[key]` of `format` names. Attributes that lead out do not exist.
Result<Value> field_value(std::string_view name, const Arguments& arguments) {
  const size_t end = std::min(name.find_first_of(".["), name.size());
  const std::string first(name.substr(0, end));
  Value value;
  if (first.find_first_not_of("0123456789") == std::string::npos) {
    const size_t at = first.size() < 6 ? std::stoul(first) : SIZE_MAX;
    if (at >= arguments.positional.size())
      return raise("IndexError",
                   cat("Replacement index ", first, " out of range for positional args tuple"));
    value = arguments.positional[at];
  } else {
    const auto found = std::find_if(arguments.named.begin(), arguments.named.end(),
                                    [&](const auto& named) { return named.first == first; });
    if (found == arguments.named.end())
      return raise("KeyError", python::quoted(first));
    value = found->second;
  }
  for (std::string_view path = name.substr(end); !path.empty();) {
    const bool is_attribute = path[0] == '.';
    const size_t stop =
        is_attribute ? std::min(path.find_first_of(".[", 1), path.size()) : path.find(']');
    if (stop == path.npos || (!is_attribute && path[0] != '['))
      return raise("ValueError", "Missing ']' in format string");
    const std::string key(path.substr(1, stop - 1));
    path.remove_prefix(is_attribute ? stop : stop + 1);
    const bool is_index =
        !key.empty() && key.size() < 6 && key.find_first_not_of("0123456789") == std::string::npos;
    const Value* found =
        value.is_dict() ? value.dict_data().find(
                              is_index ? Value(static_cast<int64_t>(std::stoul(key))) : Value(key))
                        : nullptr;
    if (value.is_list() && is_index && std::stoul(key) < value.list().items.size())
      found = &value.list().items[std::stoul(key)];
    if (found == nullptr)
      return raise(is_attribute ? "AttributeError" : "KeyError",
                   is_attribute
                       ? cat("'", type_name(value), "' object has no attribute '", key, "'")
                       : python::quoted(key));
    const Value next = *found;
    value = next;
  }
  return value;
}

Result<Value> format(const Value& self, Arguments& arguments) {
  return Value(TRY(python::format(
      self.text(),
      [&](std::string_view name, char conversion, std::string_view spec) -> Result<std::string> {
        const Value value = TRY(field_value(name, arguments));
        if (value.is_undefined())
          return undefined_error(value);
        if (conversion != 0)
          return python::format_text(conversion == 's' ? text_of(value) : quoted(value), spec);
        if (value.is_real())
          return python::format_real(value.real(), spec);
        if (value.is_integer() || (value.is_bool() && !spec.empty()))
          return python::format_integer(value.integer(), spec);
        if (!value.is_text() && !value.is_bool() && !spec.empty())
          return raise("TypeError", cat("unsupported format string passed to ", type_name(value),
                                        ".__format__"));
        return python::format_text(text_of(value), spec);
      })));
}

}  // namespace

Result<std::string_view> stripped(std::string_view text, const Value& chars, bool left,
                                  bool right) {
  if (!chars.is_text() && !is_none_or_missing(chars))
    return raise("TypeError", "strip arg must be None or str");
  const auto goes = [&](std::string_view point) {
    return chars.is_text() ? chars.text().find(point) != std::string::npos
                           : python::is_all(point, python::Letters::space);
  };
  while (left && !text.empty() && goes(first_point(text)))
    text.remove_prefix(first_point(text).size());
  while (right && !text.empty() && goes(last_point(text)))
    text.remove_suffix(last_point(text).size());
  return text;
}

Result<Value> replaced(std::string_view text, std::string_view from, std::string_view to,
                       int64_t most) {
  std::string made;
  size_t at = 0;
  if (from.empty()) {  // before each code point, and at the end
    for (const std::string_view point : python::points_of(text)) {
      if (most == 0)
        break;
      if (Status status = add(made, cat(to, point)); !status)
        return status.error();
      at += point.size();
      --most;
    }
    if (Status status = add(made, most == 0 ? "" : to); !status)
      return status.error();
    return Value(cat(made, text.substr(at)));
  }
  for (size_t found = find_text(text, from); found != text.npos && most != 0;
       found = find_text(text, from, at), --most) {
    if (Status status = add(made, cat(text.substr(at, found - at), to)); !status)
      return status.error();
    at = found + from.size();
  }
  return Value(cat(made, text.substr(at)));
}

const MethodTable& text_methods() {
  static const MethodTable table{
      {"upper",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value(python::upper(self.text()));
       }},
      {"lower",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value(python::lower(self.text()));
       }},
      {"casefold",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value(replace_all(python::lower(self.text()), "ß", "ss"));
       }},
      {"strip", strip<true, true>},
      {"lstrip", strip<true, false>},
      {"rstrip", strip<false, true>},
      {"split", [](const Value& self, Arguments& given) { return split_text(self, given, false); }},
      {"rsplit", [](const Value& self, Arguments& given) { return split_text(self, given, true); }},
      {"splitlines", splitlines},
      {"expandtabs", expandtabs},
      {"join", join_items},
      {"replace", replace},
      {"startswith", affix<false>},
      {"endswith", affix<true>},
      {"find", find<false>},
      {"rfind", find<true>},
      {"index", index<false>},
      {"rindex", index<true>},
      {"count", count},
      {"isdigit", is_all<python::Letters::digit>},
      {"isnumeric", is_all<python::Letters::numeric>},
      {"isdecimal", is_all<python::Letters::decimal>},
      {"isalpha", is_all<python::Letters::alpha>},
      {"isalnum", is_all<python::Letters::alnum>},
      {"isspace", is_all<python::Letters::space>},
      {"isupper", is_all_in_case<true>},
      {"islower", is_all_in_case<false>},
      {"istitle", is_title},
      {"isascii",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value(std::all_of(self.text().begin(), self.text().end(),
                                  [](char c) { return (c & 0x80) == 0; }));
       }},
      {"isidentifier",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value(python::is_identifier(self.text()));
       }},
      {"ljust", [](const Value& self, Arguments& given) { return justified(self, given, '<'); }},
      {"rjust", [](const Value& self, Arguments& given) { return justified(self, given, '>'); }},
      {"center", [](const Value& self, Arguments& given) { return justified(self, given, '^'); }},
      {"zfill", zfill},
      {"title", title},
      {"swapcase", swapcase},
      {"capitalize", capitalize},
      {"partition", partition<false>},
      {"rpartition", partition<true>},
      {"removeprefix", remove_affix<false>},
      {"removesuffix", remove_affix<true>},
      {"format", format},
  };
  return table;
}

}  // namespace fettle::jinja
