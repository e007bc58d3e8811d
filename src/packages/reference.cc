#include "packages/reference.h"

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/service.h"

namespace fettle {
namespace {

constexpr std::string_view opening = "{{kurtosis:";
constexpr std::string_view closing = ".runtime_value}}";
constexpr size_t id_size = 32;

struct Found {
  size_t begin, end;
  std::string_view id, field;
};

constexpr std::string_view field_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

std::optional<Found> next_reference(std::string_view text, size_t from) {
  for (size_t at = text.find(opening, from); at != text.npos; at = text.find(opening, at + 1)) {
    const size_t id = at + opening.size();
    if (text.size() < id + id_size + 1 || text[id + id_size] != ':')
      continue;
    // The braces of `closing` are the first characters that no field has.
    const size_t field = id + id_size + 1, braces = text.find_first_not_of(field_characters, field);
    if (braces == text.npos)
      return std::nullopt;
    const size_t end = braces + 2 - closing.size();
    if (end > field && text.substr(end).starts_with(closing))
      return Found{at, end + closing.size(), text.substr(id, id_size),
                   text.substr(field, end - field)};
  }
  return std::nullopt;
}

}  // namespace

bool has_reference(std::string_view text) { return next_reference(text, 0).has_value(); }

std::string References::to(const Key& key, std::string_view field) {
  const std::string id = to_string(fingerprint(to_string(key)));
  ids_.emplace(id, key);
  return cat(opening, id, ":", field, closing);
}

Value References::text_with_holes(std::string_view text) const {
  std::vector<Part> parts;
  size_t begin = 0;
  for (auto found = next_reference(text, 0); found; found = next_reference(text, found->end)) {
    const auto key = ids_.find(found->id);
    if (key == ids_.end())
      continue;
    parts.emplace_back(Name(text.substr(begin, found->begin - begin)));
    parts.emplace_back(Output{key->second.kind, key->second.name, found->field});
    begin = found->end;
  }
  if (parts.empty())
    return text;
  parts.emplace_back(Name(text.substr(begin)));
  return Value::deferred(std::move(parts));
}

Value References::with_holes(const Value& value) const {
  switch (value.type()) {
    case Value::Type::text: {
      const Name text = value.text();
      return text.view().find(opening) == std::string_view::npos ? value : text_with_holes(text);
    }
    case Value::Type::list: {
      std::vector<Value> items;
      for (const Value& item : value.items())
        items.push_back(with_holes(item));
      return Value::list(std::move(items));
    }
    case Value::Type::dict: {
      std::vector<Entry> entries;
      for (const Entry& entry : value.entries())
        entries.push_back({entry.key, with_holes(entry.value)});
      return Value::dict(std::move(entries));
    }
    default:
      return value;
  }
}

namespace {

bool is_host_name(const Key& key, std::string_view field) {
  return key.kind == "service" && field == "hostname";
}

/// An output that is known in the run only.
std::string told(const Key& key, std::string_view field) {
  if (key.kind == "service")
    return cat("<", service_name(key), ".", field, ">");
  return cat("<", key.kind, ".", field, ">");
}

}  // namespace

template <typename Messages>
std::string References::replaced(std::string_view text, Messages told) const {
  std::string made;
  size_t begin = 0;
  for (auto found = next_reference(text, 0); found; found = next_reference(text, found->end)) {
    const auto key = ids_.find(found->id);
    const std::string instead = key == ids_.end() ? std::string() : told(key->second, found->field);
    if (instead.empty())
      continue;
    made += cat(text.substr(begin, found->begin - begin), instead);
    begin = found->end;
  }
  return made += text.substr(begin);
}

std::string References::with_host_names(std::string_view text) const {
  return replaced(text, [](const Key& key, std::string_view field) {
    return is_host_name(key, field) ? std::string(service_name(key)) : std::string();
  });
}

std::string References::shown(std::string_view text) const {
  return replaced(text, [](const Key& key, std::string_view field) {
    return is_host_name(key, field) ? std::string(service_name(key)) : told(key, field);
  });
}

std::optional<References::Placeholder> References::placeholder_in(const Value& value) const {
  const auto in_text = [&](std::string_view text) -> std::optional<Placeholder> {
    if (text.find(opening) == text.npos || keys_in(text).empty())
      return std::nullopt;
    return Placeholder{{}, replaced(text, told)};
  };
  const auto below = [&](std::string_view step, const Value& inner) {
    std::optional<Placeholder> found = placeholder_in(inner);
    if (found)
      found->where = cat(step, found->where.empty() ? "" : ".", found->where);
    return found;
  };
  if (value.is_text())
    return in_text(value.text().view());
  if (value.is_list())
    for (const Value& item : value.items())
      if (std::optional<Placeholder> found = placeholder_in(item))
        return found;
  if (value.is_dict())
    for (const Entry& entry : value.entries()) {
      if (std::optional<Placeholder> found = in_text(entry.key.view()))
        return found;
      if (std::optional<Placeholder> found = below(entry.key.view(), entry.value))
        return found;
    }
  return std::nullopt;
}

std::vector<Key> References::keys_in(std::string_view text) const {
  std::vector<Key> keys;
  for (auto found = next_reference(text, 0); found; found = next_reference(text, found->end))
    if (const auto key = ids_.find(found->id); key != ids_.end())
      keys.push_back(key->second);
  return keys;
}

}  // namespace fettle
