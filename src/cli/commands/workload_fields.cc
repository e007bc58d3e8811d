#include "cli/commands/workload_fields.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace fettle {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits at the beginning of a text, without zeros in front; taken off it.
std::string_view take_number(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

/// `web-9` before `web-10`.
bool is_natural_before(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view one = take_number(a), other = take_number(b);
      if (one != other)
        return one.size() != other.size() ? one.size() < other.size() : one < other;
    } else if (a[0] != b[0]) {
      return a[0] < b[0];
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

struct Requirement {
  std::vector<std::string> path;
  std::string value;
  bool is_equal = true;
};

Result<Requirement> requirement_of(std::string_view text, std::string_view kind) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    return user_error(cat("`", printable(text), "` selects no field: write `FIELD=VALUE`"));
  const bool is_equal = text[equals - 1] != '!';
  const std::string_view field = trim(text.substr(0, equals - (is_equal ? 0 : 1)));
  std::string_view value = text.substr(equals + 1);
  if (is_equal && value.starts_with('='))
    value.remove_prefix(1);
  std::vector<std::string> known{"metadata.name", "metadata.namespace"};
  if (kind == "Pod")
    known.insert(known.end(), {"status.phase", "spec.nodeName"});
  if (std::ranges::find(known, field) == known.end())
    return user_error(cat("objects of kind ", kind, " cannot be selected by `", printable(field),
                          "`, only by ", join(known, ", ")));
  return Requirement{TRY(field_path(cat(".", field))), std::string(trim(value)), is_equal};
}

}  // namespace

Result<FieldFilter> field_filter(std::string_view text, std::string_view kind) {
  std::vector<Requirement> all;
  if (!text.empty())
    for (const std::string_view one : split(text, ','))
      all.push_back(TRY(requirement_of(one, kind)));
  return FieldFilter([all = std::move(all)](const Value& document) {
    return std::ranges::all_of(all, [&](const Requirement& one) {
      const Value found = field_at(document, one.path);
      return ((found.is_text() ? found.text().view() : std::string_view()) == one.value) ==
             one.is_equal;
    });
  });
}

Result<std::vector<std::string>> field_path(std::string_view text) {
  std::string_view path = text;
  if (path.starts_with('{') && path.ends_with('}'))
    path = path.substr(1, path.size() - 2);
  if (path.starts_with('.'))
    path.remove_prefix(1);
  std::vector<std::string> keys;
  for (const std::string_view key : split(path, '.'))
    keys.emplace_back(key);
  const bool is_plain = std::ranges::all_of(keys, [](const std::string& key) {
    return !key.empty() && key.find_first_of("[]{}*@?()'\"\\ ") == key.npos;
  });
  if (!is_plain)
    return user_error(
        cat("`", printable(text), "` is not a path of fields such as `.metadata.name`"));
  return keys;
}

Value field_at(const Value& document, const std::vector<std::string>& path) {
  Value found = document;
  for (const std::string& key : path)
    found = found.is_dict() ? found.at(key) : Value();
  return found;
}

bool comes_before(const Value& a, const Value& b) {
  if (a.is_null() || b.is_null())
    return a.is_null() && !b.is_null();
  if (a.is_integer() && b.is_integer())
    return a.integer().value_or(0) < b.integer().value_or(0);
  return is_natural_before(to_text(a), to_text(b));
}

std::string labels_text(const Value& labels) {
  std::vector<std::string> texts;
  if (labels.is_dict())
    for (const Entry& label : labels.entries())
      texts.push_back(cat(label.key, "=", to_text(label.value)));
  std::ranges::sort(texts);
  return texts.empty() ? "<none>" : join(texts, ",");
}

}  // namespace fettle
