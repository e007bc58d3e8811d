#include "packages/doc_string.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "starlark/outline.h"

namespace fettle {
namespace {

constexpr std::array<std::string_view, 6> types = {"string", "bool", "int", "list", "dict", "json"};

bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_indented(std::string_view line) { return !line.empty() && is_white(line[0]); }

size_t indentation_of(std::string_view line) {
  return size_t(std::ranges::find_if_not(line, is_white) - line.begin());
}

void remove_indentation(std::span<std::string_view> lines) {
  size_t least = std::string_view::npos;
  for (const std::string_view line : lines)
    if (!line.empty())
      least = std::min(least, indentation_of(line));
  for (std::string_view& line : lines)
    if (!line.empty())
      line.remove_prefix(least);
}

/// `Args:`: one word with a capital, and a colon.
bool is_title(std::string_view line) {
  return line.size() > 1 && line.ends_with(':') && line[0] >= 'A' && line[0] <= 'Z' &&
         std::ranges::none_of(line, is_white);
}

/// What stands before the colon of a line; nothing if there is no colon, or nothing before it.
std::string_view name_in(std::string_view line) {
  if (line.empty() || is_white(line[0]))
    return {};
  const size_t colon = line.find(':', 1);
  return colon == line.npos ? std::string_view() : trim(line.substr(0, colon));
}

std::vector<std::string_view> lines_of(std::string_view doc) {
  std::vector<std::string_view> lines = split(doc, '\n');
  for (std::string_view& line : lines)
    line = line.substr(0, indentation_of(line) + trim(line).size());
  for (std::string_view& line : lines)
    if (trim(line).empty())
      line = {};
  const auto is_full = [](std::string_view line) { return !line.empty(); };
  lines.erase(lines.begin(), std::ranges::find_if(lines, is_full));
  if (lines.empty())
    return lines;
  lines[0] = trim(lines[0]);
  remove_indentation(std::span(lines).subspan(1));
  return lines;
}

bool is_type(std::string_view word) {
  return std::ranges::any_of(types,
                             [&](std::string_view type) { return lower_case(word) == type; });
}

/// The types between the brackets of `list[…]` or `dict[…]`.
std::optional<std::vector<std::string_view>> held_types(std::string_view type,
                                                        std::string_view outer) {
  const size_t at = type.find(outer);
  if (at == type.npos)
    return std::nullopt;
  const std::string_view rest = trim(type.substr(at + outer.size()));
  const size_t end = rest.find(']');
  if (!rest.starts_with('[') || end == rest.npos)
    return std::nullopt;
  std::vector<std::string_view> held = split(rest.substr(1, end - 1), ',');
  for (std::string_view& one : held)
    one = trim(one);
  return held;
}

bool holds(std::string_view type, std::string_view outer, size_t count) {
  const auto held = held_types(type, outer);
  return held && held->size() == count && std::ranges::all_of(*held, is_type);
}

std::string_view strip_parentheses(std::string_view text) {
  const size_t begin = text.find_first_not_of("() "), end = text.find_last_not_of("() ");
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

Status check_argument(std::string_view line, const Where& where) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const size_t begin = line.find_first_of(letters);
  if (begin == line.npos)
    return {};
  const size_t end = std::min(line.find_first_not_of(letters, begin), line.size());
  const std::string_view name = line.substr(begin, end - begin);
  const std::string_view rest = trim(line.substr(end));
  const std::string_view type =
      rest.starts_with('(') && rest.rfind(')') != rest.npos && rest.rfind(')') > 1
          ? strip_parentheses(rest.substr(0, rest.rfind(')')))
          : std::string_view();
  if (type.empty())
    return {};  // it may be anything
  if (lower_case(type) == "dict")
    return user_error(cat("the doc string of `run` says that `", name,
                          "` is a dict, and not of what: write `dict[string, json]`, or what it "
                          "is"),
                      where);
  if (is_type(type) || holds(type, "dict", 2) || holds(type, "list", 1))
    return {};
  return user_error(cat("the doc string of `run` gives `", name, "` the type `", type,
                        "`, which is none of string, bool, int, json, list[TYPE], "
                        "dict[TYPE, TYPE]",
                        suggestion(type, types)),
                    where);
}

}  // namespace

std::vector<std::string> documented_arguments(std::string_view doc) {
  std::vector<std::string_view> lines = lines_of(doc);
  bool is_behind_block = true;  // or at the begin, where a title needs no empty line before it
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool may_be_title = is_behind_block || lines[i - 1].empty();
    is_behind_block = false;
    if (!may_be_title || !is_title(lines[i]))
      continue;
    size_t end = i + 1;
    while (end < lines.size() && (lines[end].empty() || is_indented(lines[end])))
      ++end;
    if (lines[i] != "Args:") {
      i = end - 1;
      is_behind_block = true;
      continue;
    }
    const std::span block = std::span(lines).subspan(i + 1, end - i - 1);
    remove_indentation(block);
    std::vector<std::string> names;
    for (const std::string_view line : block) {
      if (line.empty() || is_indented(line))
        continue;
      const std::string_view name = name_in(line);
      if (name.empty())
        return {};  // free text: nothing is said of any argument
      names.emplace_back(name);
    }
    return names;
  }
  return {};
}

Status check_doc_string(const std::string& file, std::string_view text) {
  const std::optional<starlark::FunctionOutline> run = TRY(starlark::outline_of(file, text, "run"));
  if (!run)
    return user_error("there is no function `run`, whose doc string describes the package", {file});
  for (const starlark::FunctionOutline::Parameter& parameter : run->parameters)
    if (parameter.is_rest)
      return user_error(cat("the catalogue does not know what `", parameter.name,
                            "` may hold: `run` names each of its parameters"),
                        parameter.where);
  for (const std::string& line : documented_arguments(run->doc))
    TRY(check_argument(line, run->where));
  return {};
}

}  // namespace fettle
