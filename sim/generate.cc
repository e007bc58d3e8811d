#include "sim/generate.h"

#include <algorithm>

#include "base/text.h"

namespace fettle::sim {
namespace {

using Item = Sketch::Item;

std::string path_of(const Item& item) { return item.kind + "/" + item.name; }

Key key_of(const std::string& path) {
  const size_t slash = path.find('/');
  return {"e", path.substr(0, slash), path.substr(slash + 1)};
}

/// What leaves a host: nothing happens in it afterwards.
bool is_last(const Item& item) { return item.kind == "drop" || item.kind == "halt"; }

bool has_outputs(const Item& item) {
  return item.kind != "look" && !is_last(item) && item.kind != "wake";
}

bool is_thing(const Item& item) {
  return item.kind == "file" || item.kind == "config" || item.kind == "pack";
}

std::vector<std::string> hosts_before(const Sketch& sketch, size_t place) {
  std::vector<std::string> names;
  for (size_t i = 0; i < place; ++i)
    if (sketch.items[i].kind == "host")
      names.push_back(sketch.items[i].name);
  return names;
}

Item make_item(Sketch& sketch, Prng& prng, size_t place) {
  constexpr std::array<const char*, 16> kinds{"host",   "host", "file", "file", "value", "value",
                                              "act",    "act",  "act",  "look", "look",  "config",
                                              "config", "pack", "pack", "copy"};
  const std::vector<std::string> hosts = hosts_before(sketch, place);
  Item item;
  item.kind = kinds[prng.below(kinds.size())];
  const bool needs_host = item.kind == "act" || item.kind == "look" || item.kind == "copy";
  if (needs_host && hosts.empty())
    item.kind = "host";
  item.name = item.kind.substr(0, 1) + std::to_string(sketch.next++);
  item.variant = static_cast<int>(prng.below(3));
  item.noisy = item.kind == "value" && prng.chance(20);
  item.secret = prng.chance(10);
  item.slow = prng.chance(20);
  item.in_q = prng.chance(30);
  if (needs_host && item.kind != "host")
    item.host = hosts[prng.below(hosts.size())];
  const auto other = [&](unsigned percent) -> std::string {
    if (place == 0 || !prng.chance(percent))
      return {};
    const Item& chosen = sketch.items[prng.below(place)];
    // What waits for a change may never come to be.
    const bool is_sure = has_outputs(chosen) && chosen.awaits.empty();
    return is_sure && chosen.name != item.host ? path_of(chosen) : std::string();
  };
  if (item.kind != "copy")
    item.embeds = other(40);
  if (is_thing(item)) {
    item.listens = other(50);
    if (item.kind == "file" && item.embeds.empty() && item.listens.empty())
      item.awaits = other(30);
  }
  return item;
}

/// Takes out whatever stands on something that is not there any more.
void mend(Sketch& sketch) {
  std::vector<Item> kept;
  const auto known = [&](const std::string& path) {
    return std::any_of(kept.begin(), kept.end(),
                       [&](const Item& item) { return path_of(item) == path; });
  };
  for (Item& item : sketch.items) {
    if (!item.host.empty() && !known("host/" + item.host))
      continue;
    for (std::string* path : {&item.embeds, &item.listens, &item.awaits})
      if (!path->empty() && !known(*path))
        path->clear();
    kept.push_back(item);
  }
  sketch.items = std::move(kept);
}

std::string_view output_of(std::string_view kind) {
  return kind == "host"                                         ? "address"
         : kind == "pack"                                       ? "digest"
         : kind == "file" || kind == "config" || kind == "copy" ? "id"
                                                                : "out";
}

/// Something that leaves a host at the end, or leaves it and brings it back.
void add_transition(Sketch& sketch, Prng& prng) {
  const std::vector<std::string> hosts = hosts_before(sketch, sketch.items.size());
  if (hosts.empty())
    return;
  Item item;
  item.kind = prng.chance(50) ? "drop" : "halt";
  item.name = item.kind.substr(0, 1) + std::to_string(sketch.next++);
  item.host = hosts[prng.below(hosts.size())];
  const bool comes_back = item.kind == "halt" && prng.chance(50);
  sketch.items.push_back(item);
  if (!comes_back)
    return;
  item.kind = "wake";
  item.name = "w" + std::to_string(sketch.next++);
  sketch.items.push_back(item);
}

Need need_of(const std::string& path, Bond bond, When when = When::succeeded) {
  return {{key_of(path)}, false, when, Unmet::fail, bond};
}

Value attributes_of(const Item& item) {
  std::vector<Entry> attributes{{"variant", item.variant}};
  if (item.noisy)
    attributes.push_back({"noisy", true});
  if (item.secret)
    attributes.push_back({"password", Value::secret(secret_text)});
  if (!item.embeds.empty()) {
    const Key key = key_of(item.embeds);
    attributes.push_back(
        {"embedded",
         Value::deferred({Part("v="), Part(Output{key.kind, key.name, output_of(key.kind)})})});
  }
  return Value::dict(std::move(attributes));
}

/// Insiders of one host keep their order.
void shuffle(std::vector<Resource>& resources, Prng& prng) {
  std::map<Name, uint64_t> rank;
  const auto group = [&](const Resource& resource) {
    const bool insider = !resource.needs.empty() && resource.needs[0].bond == Bond::inside;
    const Name name = insider ? resource.needs[0].keys[0].name : resource.key.name;
    if (!rank.contains(name))
      rank[name] = prng.next();
    return rank[name];
  };
  std::vector<std::pair<uint64_t, Resource>> ranked;
  for (Resource& resource : resources)
    ranked.emplace_back(group(resource), std::move(resource));
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < ranked.size(); ++i)
    resources[i] = std::move(ranked[i].second);
}

}  // namespace

Sketch make_sketch(Prng& prng) {
  Sketch sketch;
  sketch.script_order = prng.chance(50);
  sketch.leftover = prng.chance(50)   ? Leftover::remove
                    : prng.chance(50) ? Leftover::keep
                                      : Leftover::forget;
  const bool one_set = prng.chance(60);
  const size_t count = 1 + prng.below(14);
  for (size_t i = 0; i < count; ++i) {
    sketch.items.push_back(make_item(sketch, prng, i));
    sketch.items.back().in_q &= !one_set;
  }
  if (prng.chance(25))
    add_transition(sketch, prng);
  return sketch;
}

void edit(Sketch& sketch, Prng& prng) {
  for (uint64_t i = 1 + prng.below(3); i > 0; --i) {
    if (sketch.items.empty() || prng.chance(35)) {
      const size_t place = prng.below(sketch.items.size() + 1);
      Item item = make_item(sketch, prng, place);
      const bool after_last = std::any_of(
          sketch.items.begin(), sketch.items.begin() + static_cast<std::ptrdiff_t>(place),
          [&](const Item& other) { return is_last(other) && other.host == item.host; });
      if (!after_last)
        sketch.items.insert(sketch.items.begin() + static_cast<std::ptrdiff_t>(place),
                            std::move(item));
      continue;
    }
    const size_t place = prng.below(sketch.items.size());
    if (prng.chance(40))
      sketch.items.erase(sketch.items.begin() + static_cast<std::ptrdiff_t>(place));
    else
      ++sketch.items[place].variant;
    mend(sketch);
  }
}

Intent intent_of(const Sketch& sketch, const std::set<std::string>& sets, Prng* shuffled) {
  Intent intent;
  intent.environment = "e";
  intent.pools["slow"] = slow_depth;
  for (const std::string& set : sets) {
    intent.sets[set] = sketch.leftover;
    intent.resources[set];
  }
  std::map<std::string, Key> last_inside;
  std::map<std::string, Key> last;  // by set
  size_t line = 0;
  for (const Item& item : sketch.items) {
    const std::string set = item.in_q ? "q" : "p";
    ++line;
    if (!sets.contains(set))
      continue;
    Resource resource;
    resource.key = key_of(path_of(item));
    resource.driver = "sim";
    resource.origin = cat("sketch:", line);
    resource.pace = {Wait::exponential, 10ms, 1s};
    resource.pool = item.slow ? "slow" : "";
    resource.attributes = attributes_of(item);
    if (!item.host.empty() && item.kind == "copy") {
      resource.needs.push_back(need_of("host/" + item.host, Bond::past));
    } else if (!item.host.empty()) {
      resource.needs.push_back(need_of("host/" + item.host, Bond::inside));
      if (const auto before = last_inside.find(item.host); before != last_inside.end())
        resource.needs.push_back({{before->second}});
      last_inside[item.host] = resource.key;
    }
    if (!item.listens.empty())
      resource.needs.push_back(need_of(item.listens, Bond::refresh));
    if (!item.awaits.empty())
      resource.needs.push_back(need_of(item.awaits, Bond::order, When::changed));
    if (sketch.script_order && last.contains(set))
      resource.needs.push_back({{last[set]}});
    last[set] = resource.key;
    intent.resources[set].push_back(std::move(resource));
  }
  if (shuffled != nullptr)
    for (auto& [set, resources] : intent.resources)
      shuffle(resources, *shuffled);
  return intent;
}

std::vector<const Resource*> wanted_of(const Intent& intent) {
  std::vector<const Resource*> wanted;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      wanted.push_back(&resource);
  const auto line = [](const Resource* resource) {
    return std::stoul(resource->origin.str().substr(std::string_view("sketch:").size()));
  };
  std::sort(wanted.begin(), wanted.end(),
            [&](const Resource* a, const Resource* b) { return line(a) < line(b); });
  return wanted;
}

}  // namespace fettle::sim
