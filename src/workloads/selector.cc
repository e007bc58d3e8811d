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
