#include "workplace/shown_key.h"

#include "base/text.h"
#include "core/ready_condition.h"
#include "kinds/pod.h"
#include "workplace/state_of_key.h"

namespace fettle {
namespace {

bool is_on_node(const Key& key) {
  return (key.kind == "pod" || key.kind == "claim" || key.kind == "image") &&
         on_node(key.name).is_on_node;
}

}  // namespace

std::string shown_key(const Key& key) {
  if (is_on_node(key))
    return cat(key.kind, "/", shown_on_node(key.name));
  if (std::optional<std::string> ready = shown_ready_condition(key))
    return *std::move(ready);
  const std::optional<StateTag> tag = state_of_key(key);
  return tag ? tag->shown() : to_string(key);
}

std::string shown_thing(const Key& key, const Record& record) {
  const std::string shown = shown_key(key);
  const std::string_view name = name_of_state(key, record);
  const std::optional<StateTag> tag = state_of_key(key);
  return !tag || name.empty() || name == tag->name() ? shown : cat(shown, " (", name, ")");
}

bool names_on_node(const Key& key, std::string_view words) {
  if (!is_on_node(key))
    return false;
  if (words.starts_with(key.kind.view()) && words.substr(key.kind.view().size()).starts_with('/'))
    words.remove_prefix(key.kind.view().size() + 1);
  const std::string_view name = on_node(key.name).rest;
  return name == words || (key.kind != "image" && name.substr(name.find('/') + 1) == words);
}

}  // namespace fettle
