#include "sim/generate.h"

#include <algorithm>

#include "base/text.h"

namespace fettle::sim {
namespace {

using Item = Sketch::Item;

std::string path_of(const Item& item) { return item.kind + "/" + item.name; }

bool has_outputs(const Item& item) { return item.kind != "look" && item.kind != "drop"; }

Item make_item(Sketch& sketch, Prng& prng, size_t place) {
  Item item;
  const auto hosts = [&] {
    std::vector<std::string> names;
    for (size_t i = 0; i < place; ++i)
      if (sketch.items[i].kind == "host")
        names.push_back(sketch.items[i].name);
    return names;
  }();
  const uint64_t dice = prng.below(10);
  item.kind = hosts.empty() || dice < 2 ? "host"
              : dice < 3                ? "file"
              : dice < 5                ? "value"
              : dice < 8                ? "act"
                                        : "look";
  if ((item.kind == "file" && sketch.next % 2 == 0) ||
      (item.kind == "value" && sketch.next % 3 == 0))
    item.kind = "config";
  item.name = item.kind.substr(0, 1) + std::to_string(sketch.next++);
  item.variant = static_cast<int>(prng.below(3));
  item.noisy = item.kind == "value" && prng.chance(20);
  item.secret = prng.chance(10);
  if (item.kind == "act" || item.kind == "look")
    item.host = hosts[prng.below(hosts.size())];
  if (place > 0 && prng.chance(40)) {
    const Item& other = sketch.items[prng.below(place)];
    if (has_outputs(other) && other.name != item.host)
      item.embeds = path_of(other);
  }
  // Drawn without the generator, so that older seeds mean what they meant.
  if ((item.kind == "file" || item.kind == "config") && place > 0 && sketch.next % 3 != 0) {
    const Item* other = &sketch.items[static_cast<size_t>(sketch.next) * 7 % place];
    if (item.kind == "file" && sketch.next % 5 != 0)  // mostly to what tells itself of its changes
      for (size_t i = 0; i < place; ++i)
        if (sketch.items[i].kind == "config")
          other = &sketch.items[i];
    if (has_outputs(*other))
      item.listens = path_of(*other);
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
    if (!item.embeds.empty() && !known(item.embeds))
      item.embeds.clear();
    if (!item.listens.empty() && !known(item.listens))
      item.listens.clear();
    kept.push_back(item);
  }
  sketch.items = std::move(kept);
}

std::string_view output_of(std::string_view kind) {
  return kind == "host" ? "address" : kind == "file" || kind == "config" ? "id" : "out";
}

}  // namespace

Sketch make_sketch(Prng& prng) {
  Sketch sketch;
  sketch.script_order = prng.chance(50);
  sketch.leftover = prng.chance(50)   ? Leftover::remove
                    : prng.chance(50) ? Leftover::keep
                                      : Leftover::forget;
  const size_t count = 1 + prng.below(14);
  for (size_t i = 0; i < count; ++i)
    sketch.items.push_back(make_item(sketch, prng, i));
  if (prng.chance(15)) {
    Item drop;
    for (const Item& item : sketch.items)
      if (item.kind == "host")
        drop = {"drop", "d" + std::to_string(sketch.next++), 0, item.name, "", "", false, false};
    // Nothing may happen in the host afterwards, nor may anybody embed what it put out.
    if (!drop.kind.empty())
      sketch.items.push_back(drop);
  }
  return sketch;
}

void edit(Sketch& sketch, Prng& prng) {
  for (uint64_t i = 1 + prng.below(3); i > 0; --i) {
    if (sketch.items.empty() || prng.chance(35)) {
      const size_t place = prng.below(sketch.items.size() + 1);
      Item item = make_item(sketch, prng, place);
      const bool after_drop = std::any_of(
          sketch.items.begin(), sketch.items.begin() + static_cast<std::ptrdiff_t>(place),
          [&](const Item& other) { return other.kind == "drop" && other.host == item.host; });
      if (!after_drop)
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

Intent intent_of(const Sketch& sketch, Prng* shuffled) {
  Intent intent;
  intent.environment = "e";
  intent.sets["p"] = sketch.leftover;
  std::vector<Resource>& resources = intent.resources["p"];
  std::map<std::string, Key> last_inside;
  std::optional<Key> last;
  for (const Item& item : sketch.items) {
    Resource resource;
    resource.key = {"e", item.kind, item.name};
    resource.driver = "sim";
    resource.origin = cat("sketch:", resources.size() + 1);
    resource.pace = {Wait::exponential, 10ms, 1s};
    std::vector<Entry> attributes{{"variant", item.variant}};
    if (item.noisy)
      attributes.push_back({"noisy", true});
    if (item.secret)
      attributes.push_back({"password", Value::secret(secret_text)});
    if (!item.embeds.empty()) {
      const size_t slash = item.embeds.find('/');
      const std::string kind = item.embeds.substr(0, slash);
      attributes.push_back(
          {"embedded", Value::deferred({Part("v="), Part(Output{kind, item.embeds.substr(slash + 1),
                                                                output_of(kind)})})});
    }
    resource.attributes = Value::dict(std::move(attributes));
    const auto after = [&](const Key& key) {
      resource.needs.push_back({{key}, false, When::succeeded, Unmet::fail, Bond::order});
    };
    if (!item.host.empty()) {
      resource.needs.push_back(
          {{{"e", "host", item.host}}, false, When::succeeded, Unmet::fail, Bond::inside});
      if (const auto before = last_inside.find(item.host);
          before != last_inside.end() && !sketch.script_order)
        after(before->second);
      last_inside[item.host] = resource.key;
    }
    if (!item.listens.empty()) {
      const size_t slash = item.listens.find('/');
      resource.needs.push_back(
          {{{"e", item.listens.substr(0, slash), item.listens.substr(slash + 1)}},
           false,
           When::succeeded,
           Unmet::fail,
           Bond::refresh});
    }
    if (sketch.script_order && last)
      after(*last);
    last = resource.key;
    resources.push_back(std::move(resource));
  }
  if (shuffled != nullptr) {
    // A stable order by random host group: insiders of one host keep their order.
    std::map<Name, uint64_t> rank;
    const auto group = [&](const Resource& resource) {
      const bool insider = !resource.needs.empty() && resource.needs[0].bond == Bond::inside;
      const Name name = insider ? resource.needs[0].keys[0].name : resource.key.name;
      if (!rank.contains(name))
        rank[name] = shuffled->next();
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
  return intent;
}

}  // namespace fettle::sim
