#include "verbs/shown_key.h"

#include "base/text.h"

namespace fettle {
namespace {

constexpr char end_of_node = '|';

bool is_on_node(const Key& key) {
  return (key.kind == "pod" || key.kind == "claim" || key.kind == "image") &&
         key.name.view().find(end_of_node) != std::string_view::npos;
}

}  // namespace

std::string shown_key(const Key& key) {
  if (!is_on_node(key))
    return to_string(key);
  const std::string_view name = key.name.view();
  const size_t bar = name.find(end_of_node);
  return cat(key.kind, "/", name.substr(bar + 1), bar == 0 ? "" : " on ", name.substr(0, bar));
}

bool names_on_node(const Key& key, std::string_view words) {
  if (!is_on_node(key))
    return false;
  if (words.starts_with(key.kind.view()) && words.substr(key.kind.view().size()).starts_with('/'))
    words.remove_prefix(key.kind.view().size() + 1);
  const std::string_view name = key.name.view().substr(key.name.view().find(end_of_node) + 1);
  return name == words || (key.kind != "image" && name.substr(name.find('/') + 1) == words);
}

}  // namespace fettle
