#include "verbs/shown_key.h"

#include "base/text.h"
#include "kinds/pod.h"

namespace fettle {
namespace {

bool is_on_node(const Key& key) {
  return (key.kind == "pod" || key.kind == "claim" || key.kind == "image") &&
         on_node(key.name).is_on_node;
}

}  // namespace

std::string shown_key(const Key& key) {
  return is_on_node(key) ? cat(key.kind, "/", shown_on_node(key.name)) : to_string(key);
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
