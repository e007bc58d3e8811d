#include "packages/compose/merge.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace fettle::compose {
namespace {

std::string before_equals(const Node& entry) {
  const std::string text = entry.text();
  return text.substr(0, text.find('='));
}

std::string text_at(const Node& dict, std::string_view key, std::string_view otherwise = {}) {
  const Node* const found = dict.find(key);
  return found != nullptr && found->is_scalar() ? found->text() : std::string(otherwise);
}

/// What an entry of a service's list is about. Empty: entries of that list are about nothing.
std::string subject_of(std::string_view list, const Node& entry) {
  if (list == "ports")
    return cat(text_at(entry, "host_ip", "0.0.0.0"), ":", text_at(entry, "published"), ":",
               text_at(entry, "target"), "/", text_at(entry, "protocol", "tcp"));
  if (list == "volumes")
    return text_at(entry, "target");
  if (list == "env_file")
    return text_at(entry, "path");
  if (list == "secrets" || list == "configs") {
    const std::string_view folder = list == "secrets" ? "/run/secrets/" : "/";
    return text_at(entry, "target", cat(folder, text_at(entry, "source")));
  }
  if (list == "devices") {
    if (entry.is_dict())
      return text_at(entry, "target");
    const std::string text = entry.text();
    const auto parts = split(text, ':');
    return std::string(parts.size() > 1 ? parts[1] : parts[0]);
  }
  constexpr std::string_view by_name[] = {"cap_add",    "cap_drop", "dns",      "dns_opt", "links",
                                          "dns_search", "expose",   "profiles", "tmpfs"};
  return std::ranges::find(by_name, list) != std::end(by_name) && entry.is_scalar()
             ? before_equals(entry)
             : std::string();
}

void keep_last_of_each(Node& list, std::string_view name) {
  std::map<std::string, size_t> places;
  std::vector<Node> kept;
  for (Node& entry : list.items) {
    const std::string subject = subject_of(name, entry);
    const auto [place, is_new] =
        subject.empty() ? std::pair(places.end(), true) : places.try_emplace(subject, kept.size());
    if (is_new)
      kept.push_back(std::move(entry));
    else
      kept[place->second] = std::move(entry);
  }
  list.items = std::move(kept);
}

void append(Node& earlier, Node later) {
  constexpr size_t most_compared = 2'000;  // entries that are about nothing are compared one by one
  for (Node& entry : later.items) {
    const bool is_there =
        earlier.items.size() < most_compared &&
        std::ranges::any_of(
            earlier.items, [&](const Node& one) { return says_the_same(one, entry); });
    if (!is_there)
      earlier.items.push_back(std::move(entry));
  }
}

Status merge_nodes(Node& earlier, Node later, std::string_view key);

Status merge_dicts(Node& earlier, Node later) {
  for (size_t i = 0; i < later.keys.size(); ++i) {
    if (Node* const there = earlier.find(later.keys[i].text); there == nullptr)
      earlier.put(later.keys[i], std::move(later.items[i]));
    else
      TRY(merge_nodes(*there, std::move(later.items[i]), later.keys[i].text));
  }
  return {};
}

/// A part with `!reset` stays until `settle`: a file after it may put another one in its place.
bool has_reset(const Node& one, const Node& other) {
  return one.merge == Node::Merge::reset || other.merge == Node::Merge::reset;
}

Status merge_nodes(Node& earlier, Node later, std::string_view key) {
  const bool replaces = later.merge == Node::Merge::replace || has_reset(earlier, later);
  if (later.is_null() && !replaces)
    return {};
  if (replaces || earlier.is_null() || (earlier.is_scalar() && later.is_scalar())) {
    earlier = std::move(later);
    return {};
  }
  if (earlier.type != later.type)
    return error_at(later, cat("`", printable(key), "` is ", kind_of(later), " here and ",
                               kind_of(earlier), " at ", to_string(earlier.where())));
  if (earlier.is_dict())
    return merge_dicts(earlier, std::move(later));
  append(earlier, std::move(later));
  return {};
}

/// Options belong to a driver.
Status merge_logging(Node& earlier, Node later) {
  const std::string before = text_at(earlier, "driver"), after = text_at(later, "driver");
  if (!before.empty() && !after.empty() && before != after) {
    earlier = std::move(later);
    return {};
  }
  return merge_nodes(earlier, std::move(later), "logging");
}

Status merge_healthcheck(Node& earlier, Node later) {
  if (earlier.is_dict() && later.is_dict())
    if (Node* const test = later.find("test"); test != nullptr && earlier.find("test") != nullptr)
      test->merge = Node::Merge::replace;
  return merge_nodes(earlier, std::move(later), "healthcheck");
}

void take_out_resets(Node& node) {
  size_t kept = 0;
  for (size_t i = 0; i < node.items.size(); ++i) {
    if (node.items[i].merge == Node::Merge::reset)
      continue;
    take_out_resets(node.items[i]);
    if (kept < i) {
      node.items[kept] = std::move(node.items[i]);
      if (node.is_dict())
        node.keys[kept] = std::move(node.keys[i]);
    }
    ++kept;
  }
  if (kept == node.items.size())
    return;
  node.items.resize(kept);
  if (node.is_dict())
    node.keys.resize(kept);
  node.places.forget();
}

}  // namespace

Status merge_services(Node& earlier, Node later) {
  if (!earlier.is_dict() || !later.is_dict() || has_reset(earlier, later))
    return merge_nodes(earlier, std::move(later), "services");
  for (size_t i = 0; i < later.keys.size(); ++i) {
    const std::string key = later.keys[i].text;
    Node& value = later.items[i];
    Node* const there = earlier.find(key);
    if (there == nullptr)
      earlier.put(later.keys[i], std::move(value));
    else if (key == "command" || key == "entrypoint")
      *there = std::move(value);
    else if (key == "logging")
      TRY(merge_logging(*there, std::move(value)));
    else if (key == "healthcheck")
      TRY(merge_healthcheck(*there, std::move(value)));
    else
      TRY(merge_nodes(*there, std::move(value), key));
    if (Node* const list = earlier.find(key); list != nullptr && list->is_list())
      keep_last_of_each(*list, key);
  }
  return {};
}

Status merge_entries(std::string_view section, Node& earlier, Node later) {
  return section == "services" ? merge_services(earlier, std::move(later))
                               : merge_nodes(earlier, std::move(later), section);
}

Status merge_projects(Node& earlier, Node later) {
  if (!earlier.is_dict() || !later.is_dict())
    return merge_nodes(earlier, std::move(later), "project");
  Node* const services = later.find("services");
  Node* const before = earlier.find("services");
  if (services != nullptr && before != nullptr && services->is_dict() && before->is_dict() &&
      services->merge == Node::Merge::usual && before->merge != Node::Merge::reset) {
    for (size_t i = 0; i < services->keys.size(); ++i) {
      const std::string name = services->keys[i].text;
      Node& service = services->items[i];
      Node* const there = before->find(name);
      if (there == nullptr || service.merge == Node::Merge::replace)
        before->put(services->keys[i], std::move(service));
      else
        TRY(merge_services(*there, std::move(service)));
    }
    later.erase("services");
  }
  return merge_dicts(earlier, std::move(later));
}

void settle(Node& document) {
  take_out_resets(document);
  Node* const services = document.find("services");
  if (services == nullptr || !services->is_dict())
    return;
  for (Node& service : services->items)
    for (size_t i = 0; i < service.keys.size(); ++i)
      if (service.items[i].is_list())
        keep_last_of_each(service.items[i], service.keys[i].text);
}

}  // namespace fettle::compose
