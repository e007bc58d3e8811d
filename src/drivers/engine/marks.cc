#include "drivers/engine/marks.h"

#include "base/hash.h"
#include "base/text.h"
#include "drivers/engine/engine.h"
#include "kinds/pod.h"

namespace fettle {
namespace {

/// Replaces characters that engines do not allow in names by `-`.
std::string allowed(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_';
    name.push_back(plain ? c : '-');
  }
  return name;
}

}  // namespace

Value labels_value(const Labels& labels) {
  std::vector<Entry> entries;
  for (const auto& [key, value] : labels)
    entries.push_back({key, value});
  return Value::dict(std::move(entries));
}

std::map<std::string, std::string> labels_in(const Value& dict) {
  std::map<std::string, std::string> labels;
  for (auto& [key, value] : texts_of(dict))
    labels.emplace(std::move(key), std::move(value));
  return labels;
}

std::string label_filters(const std::vector<std::string>& labels) {
  std::vector<std::pair<std::string, std::string>> conditions;
  for (const std::string& label : labels)
    conditions.emplace_back("label", label);
  return filters(conditions);
}

Labels marks_of(const Key& key) {
  return {{std::string(mark::environment), key.environment.str()},
          {std::string(mark::kind), key.kind.str()},
          {std::string(mark::key), key.name.str()}};
}

std::string environment_filter(std::string_view environment) {
  return environment.empty() ? std::string(mark::environment)
                             : cat(mark::environment, "=", environment);
}

std::vector<std::string> key_filters(const Key& key) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : marks_of(key))
    texts.push_back(cat(name, "=", value));
  return texts;
}

std::optional<Key> key_in(const std::map<std::string, std::string>& labels) {
  const auto environment = labels.find(std::string(mark::environment));
  const auto kind = labels.find(std::string(mark::kind));
  const auto key = labels.find(std::string(mark::key));
  if (environment == labels.end() || kind == labels.end() || key == labels.end())
    return {};
  return Key{environment->second, kind->second, key->second};
}

std::string label(const std::map<std::string, std::string>& labels, std::string_view name) {
  const auto found = labels.find(std::string(name));
  return found == labels.end() ? std::string() : found->second;
}

std::string network_name(const Key& key) {
  const OnNode name = on_node(key.name);
  if (!name.is_on_node)
    return "fettle-" + allowed(key.environment);
  // Names of nodes are part of it, since several nodes may be on one machine.
  return cat("fettle-", allowed(key.environment), "-", allowed(name.rest), "-",
             to_string(fingerprint(cat(key.environment, "/", key.name))).substr(0, 8));
}

std::string volume_name(const Key& key) {
  const std::string whole = cat(key.environment, "/", key.name);
  return cat("fettle-", allowed(whole), "-", to_string(fingerprint(whole)).substr(0, 8));
}

std::string container_name(std::string_view service, std::string_view uuid) {
  return cat(allowed(service), "--", uuid);
}

std::string old_name(std::string_view name) { return cat(name, "--old"); }

std::string uuid_of(const Key& key, std::string_view network_id) {
  return to_string(
      fingerprint(cat(key.environment, "\n", key.kind, "\n", key.name, "\n", network_id)));
}

}  // namespace fettle
