#include "states/reference.h"

#include <charconv>

#include "base/text.h"
#include "core/output_at.h"

namespace fettle::states {
namespace {

Error failed(std::string_view path, std::string_view state, std::string_view why) {
  return user_error(cat("\"Failed to parse \"", path, "\" for state \"", state, "\". ", why));
}

/// The parts of `key[1][*]`: the key, and what stands in the brackets.
struct Part {
  std::string key;
  std::vector<std::string_view> indices;
};

/// A bracket that does not end the part belongs to the key, and so does one behind a backslash.
Part part_of(std::string_view text) {
  Part part;
  size_t end = text.size();
  while (end > 0 && text[end - 1] == ']') {
    const size_t open = text.rfind('[', end - 1);
    if (open == text.npos || open == 0 || text[open - 1] == '\\')
      break;
    part.indices.insert(part.indices.begin(), text.substr(open + 1, end - open - 2));
    end = open;
  }
  part.key = replace_all(replace_all(text.substr(0, end), "\\[", "["), "\\]", "]");
  return part;
}

/// The reason in Idem's words. `key`: the last key before the step, or the step itself.
std::string why_nowhere(const Step& step, const Name& key) {
  if (std::holds_alternative<Name>(step))
    return cat("Key \"", key, "\" is not found as part of the state \"new_state\".");
  if (const size_t* index = std::get_if<size_t>(&step))
    return cat("Cannot parse argument value for key \"", key, "\" and index \"", *index,
               "\", because argument value is not a list or it does not include element with index "
               "\"",
               *index, "\".");
  return cat("Cannot parse argument value for key \"", key,
             "\" for index \"*\", because argument key is not a list.");
}

std::optional<size_t> index_of(std::string_view text) {
  size_t index = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), index);
  return failure == std::errc() && end == text.data() + text.size() && !text.empty()
             ? std::optional(index)
             : std::nullopt;
}

/// The end of the reference that begins at `${`: behind the brace that closes it, which is not that
/// of a reference inside.
size_t end_of_reference(std::string_view text, size_t begin) {
  size_t depth = 0;
  for (size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] == '{')
      ++depth;
    else if (text[at] == '}' && --depth == 0)
      return at + 1;
    else if (text[at] == '$' && at + 1 < text.size() && text[at + 1] == '{')
      return text.npos;
  }
  return text.npos;
}

/// The end of the ID at the beginning of a text. Brackets and their contents belong to it.
size_t end_of_id(std::string_view text) {
  const size_t colon = text.find(':'), open = text.find('[');
  if (open == text.npos || open > colon)
    return colon;
  const size_t close = text.find("]:", open);
  return close == text.npos ? colon : close + 1;
}

std::optional<Reference> reference_in(std::string_view inner) {
  const size_t colon = inner.find(':');
  if (colon == inner.npos)
    return std::nullopt;
  const std::string_view rest = inner.substr(colon + 1);
  const size_t end = end_of_id(rest);
  if (end == rest.npos)
    return std::nullopt;
  const auto [id, resource] = halves_of_id(rest.substr(0, end));
  return Reference{inner.substr(0, colon), id, resource, rest.substr(end + 1)};
}

}  // namespace

std::pair<std::string_view, std::string_view> halves_of_id(std::string_view id) {
  const size_t open = id.find('[');
  if (open == id.npos || !id.ends_with(']'))
    return {id, {}};
  return {id.substr(0, open), id.substr(open + 1, id.size() - open - 2)};
}

Result<std::vector<Step>> steps_of(std::string_view path, std::string_view state) {
  constexpr size_t deepest = 200;
  std::vector<Step> steps;
  if (path.empty())
    return steps;
  const auto texts = split(path, ':');
  if (texts.size() > deepest)
    return failed(clipped(path, 200), state, cat("It has more than ", deepest, " steps."));
  for (const std::string_view text : texts) {
    const Part part = part_of(text);
    if (part.indices.size() > deepest)
      return failed(clipped(path, 200), state, cat("It has more than ", deepest, " steps."));
    steps.emplace_back(Name(part.key));
    for (const std::string_view inside : part.indices) {
      const std::optional<size_t> index = index_of(inside);
      if (index)
        steps.emplace_back(*index);
      else if (inside == "*")
        steps.emplace_back(Each());
      else
        return failed(path, state,
                      cat("Cannot parse argument value for key \"", text, "\" for index \"", inside,
                          "\", because \"", inside, "\" is not supported\"."));
    }
  }
  return steps;
}

std::string path_of(const Step& step) {
  if (const Name* key = std::get_if<Name>(&step))
    return path_step(*key);
  const size_t* index = std::get_if<size_t>(&step);
  return index == nullptr ? std::string(each_step) : cat("/", *index);
}

Result<Value> value_at(const Value& new_state, std::string_view path, std::string_view state) {
  const std::vector<Step> steps = TRY(steps_of(path, state));
  std::string whole;
  for (const Step& step : steps)
    whole += path_of(step);
  if (std::optional<Value> value = reach(new_state, whole))
    return *std::move(value);
  // The first step that leads nowhere gives the reason.
  std::string walked;
  Name key;
  for (const Step& step : steps) {
    const Name* name = std::get_if<Name>(&step);
    key = name == nullptr ? key : *name;
    walked += path_of(step);
    if (!reach(new_state, walked))
      return failed(path, state, why_nowhere(step, key));
  }
  return failed(path, state, "It comes to too many values.");
}

std::optional<std::pair<std::string_view, std::string_view>> short_reference(
    std::string_view text) {
  for (size_t begin = text.find("${"); begin != text.npos; begin = text.find("${", begin + 2)) {
    const size_t end = end_of_reference(text, begin);
    if (end == text.npos)
      continue;
    const std::string_view inner = text.substr(begin + 2, end - begin - 3);
    const size_t colon = inner.find(':');
    if (colon != inner.npos && !reference_in(inner) && colon + 1 < inner.size() &&
        std::string_view("-+=?").find(inner[colon + 1]) == std::string_view::npos)
      return std::pair(inner.substr(0, colon), text.substr(begin, end - begin));
  }
  return std::nullopt;
}

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces;
  std::string plain;
  const auto end_plain = [&] {
    if (!plain.empty())
      pieces.push_back({std::exchange(plain, {}), std::nullopt});
  };
  size_t at = 0;
  while (at < text.size()) {
    const size_t begin = std::min(text.find("${", at), text.size());
    plain += text.substr(at, begin - at);
    at = begin;
    if (at == text.size())
      break;
    const size_t end = end_of_reference(text, begin);
    std::optional<Reference> reference;
    if (end != text.npos)
      reference = reference_in(text.substr(begin + 2, end - begin - 3));
    if (reference) {
      end_plain();
      pieces.push_back({std::string(text.substr(begin, end - begin)), std::move(reference)});
      at = end;
    } else {
      plain += "${";
      at += 2;
    }
  }
  end_plain();
  return pieces;
}

}  // namespace fettle::states
