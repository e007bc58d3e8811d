#include "workloads/selector.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace fettle::workloads {
namespace {

using Operator = Requirement::Operator;

std::optional<int64_t> integer_in(std::string_view text) {
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return number;
}

Operator operator_of(std::string_view text) {
  return text == "In"             ? Operator::in
         : text == "NotIn"        ? Operator::not_in
         : text == "Exists"       ? Operator::exists
         : text == "DoesNotExist" ? Operator::does_not_exist
         : text == "Gt"           ? Operator::greater
                                  : Operator::less;
}

bool compares(const Requirement& requirement, const Value& label) {
  if (!label.is_text() || requirement.values.size() != 1)
    return false;
  const auto number = integer_in(label.text()), limit = integer_in(requirement.values[0]);
  if (!number || !limit)
    return false;
  return requirement.op == Operator::greater ? *number > *limit : *number < *limit;
}

}  // namespace

bool Requirement::matches(const Value& labels) const {
  const Value& label = labels.is_dict() ? labels.at(key) : Value();
  const auto is_listed = [&] {
    return label.is_text() && std::ranges::find(values, label.text()) != values.end();
  };
  switch (op) {
    case Operator::in:
      return is_listed();
    case Operator::not_in:
      return !is_listed();
    case Operator::exists:
      return label.is_text();
    case Operator::does_not_exist:
      return !label.is_text();
    case Operator::greater:
    case Operator::less:
      return compares(*this, label);
  }
  return false;
}

bool Selector::matches(const Value& labels) const {
  return std::ranges::all_of(requirements,
                             [&](const Requirement& each) { return each.matches(labels); });
}

std::vector<Requirement> requirements_of(const Value& list) {
  std::vector<Requirement> found;
  if (!list.is_list())
    return found;
  for (const Value& item : list.items()) {
    Requirement requirement;
    requirement.key = item.text_at("key");
    requirement.op = operator_of(item.text_at("operator"));
    if (const Value& values = item.at("values"); values.is_list())
      for (const Value& value : values.items())
        requirement.values.emplace_back(to_text(value));
    found.push_back(std::move(requirement));
  }
  return found;
}

Selector selector_of(const Value& value) {
  Selector selector;
  if (const Value& labels = value.at("matchLabels"); labels.is_dict())
    for (const Entry& entry : labels.entries())
      selector.requirements.push_back({entry.key, Operator::in, {Name(to_text(entry.value))}});
  for (Requirement& requirement : requirements_of(value.at("matchExpressions")))
    selector.requirements.push_back(std::move(requirement));
  return selector;
}

namespace {

/// The parts between commas that stand in no parentheses.
std::vector<std::string_view> requirement_texts(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  bool is_inside = false;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && !is_inside)) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    } else if (text[i] == '(' || text[i] == ')') {
      is_inside = text[i] == '(';
    }
  }
  return parts;
}

bool is_label_text(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/';
  });
}

/// Reads `(a,b)`.
std::vector<Name> listed_values(std::string_view text) {
  std::vector<Name> values;
  for (const std::string_view value : split(text.substr(1, text.size() - 2), ','))
    values.emplace_back(trim(value));
  return values;
}

Requirement requirement_in(std::string_view text) {
  Requirement found;
  if (text.ends_with(')')) {
    const size_t open = text.find('(');
    const std::string_view words = trim(text.substr(0, open));
    const size_t space = words.find(' ');
    const std::string_view op =
        space == words.npos ? std::string_view() : trim(words.substr(space));
    if (open != text.npos && (op == "in" || op == "notin")) {
      found.key = words.substr(0, space);
      found.op = op == "in" ? Operator::in : Operator::not_in;
      found.values = listed_values(text.substr(open));
    }
    return found;
  }
  if (const size_t equals = text.find('='); equals != text.npos) {
    const bool is_not = equals > 0 && text[equals - 1] == '!';
    const bool is_double = equals + 1 < text.size() && text[equals + 1] == '=';
    found.op = is_not ? Operator::not_in : Operator::in;
    found.key = trim(text.substr(0, equals - (is_not ? 1 : 0)));
    found.values.emplace_back(trim(text.substr(equals + (is_double ? 2 : 1))));
    return found;
  }
  found.op = text.starts_with('!') ? Operator::does_not_exist : Operator::exists;
  found.key = trim(text.substr(text.starts_with('!') ? 1 : 0));
  return found;
}

}  // namespace

Result<Selector> parse_selector(std::string_view text) {
  Selector selector;
  if (trim(text).empty())
    return selector;
  for (const std::string_view part : requirement_texts(text)) {
    Requirement found = requirement_in(part);
    const bool is_good = !found.key.empty() && is_label_text(found.key.view()) &&
                         std::ranges::all_of(found.values, [](const Name& value) {
                           return is_label_text(value.view());
                         });
    if (!is_good)
      return user_error(cat("`", printable(part),
                            "` does not select labels: write `KEY=VALUE`, "
                            "`KEY!=VALUE`, `KEY in (A,B)`, `KEY notin (A,B)`, `KEY` or `!KEY`"));
    selector.requirements.push_back(std::move(found));
  }
  return selector;
}

std::string to_string(const Selector& selector) {
  std::vector<std::string> parts;
  for (const Requirement& each : selector.requirements) {
    std::vector<std::string> values;
    for (const Name& value : each.values)
      values.push_back(value.str());
    const std::string list = join(values, ",");
    switch (each.op) {
      case Operator::in:
        parts.push_back(values.size() == 1 ? cat(each.key, "=", list)
                                           : cat(each.key, " in (", list, ")"));
        break;
      case Operator::not_in:
        parts.push_back(cat(each.key, " notin (", list, ")"));
        break;
      case Operator::exists:
        parts.push_back(each.key.str());
        break;
      case Operator::does_not_exist:
        parts.push_back(cat("!", each.key));
        break;
      case Operator::greater:
        parts.push_back(cat(each.key, ">", list));
        break;
      case Operator::less:
        parts.push_back(cat(each.key, "<", list));
        break;
    }
  }
  return join(parts, ",");
}

}  // namespace fettle::workloads
