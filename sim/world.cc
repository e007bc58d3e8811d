#include "sim/world.h"

#include "base/text.h"
#include "core/open_payload.h"
#include "store/references.h"
#include "value/json.h"

namespace fettle::sim {
namespace {

class SimKind : public Kind {
 public:
  SimKind(Name name, Sort sort, Role role, std::optional<Presence> leaves = std::nullopt)
      : name_(std::move(name)), sort_(sort), role_(role), leaves_(leaves) {}
  Name name() const override { return name_; }
  Sort sort() const override { return sort_; }
  Role role(const Attributes&) const override { return role_; }
  std::optional<Presence> leaves_host() const override { return leaves_; }
  bool in_place_changes(const Attributes&, const Attributes&) const override {
    return name_ == "file" || name_ == "pack";
  }
  std::vector<Name> contents(const Outputs& outputs) const override {
    return name_ == "pack" ? std::vector{Name(dict_of(outputs).text_at("digest"))}
                           : std::vector<Name>();
  }
  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    const bool is_there = seen.state.has_value();
    if (!is_there || expected == Presence::absent)
      return Kind::compare(known, seen, expected);
    if (dict_of(*seen.state).at("id") != dict_of(known.outputs).at("id"))
      return {Verb::replace, {}, "it is another one"};
    const bool runs = dict_of(*seen.state).bool_at("runs");
    if (runs == fettle::runs(expected))
      return {};
    return runs ? Comparison{Verb::stop, {}, "it runs"} : Comparison{Verb::start, {}, "it stands"};
  }

 private:
  Name name_;
  Sort sort_;
  Role role_;
  std::optional<Presence> leaves_;
};

const Key* host_of(const Act& act) {
  return act.needs.empty() || !act.needs[0]->applied ? nullptr : &act.needs[0]->applied->key;
}

}  // namespace

const Kind* SimKinds::find(const Name& name) const {
  static const std::vector<SimKind> kinds{{"host", Sort::observable, Role::none},
                                          {"file", Sort::observable, Role::none},
                                          {"pack", Sort::observable, Role::none},
                                          {"copy", Sort::observable, Role::none},
                                          {"config", Sort::ensuring, Role::none},
                                          {"value", Sort::action, Role::none},
                                          {"act", Sort::action, Role::acts},
                                          {"look", Sort::action, Role::reads},
                                          {"drop", Sort::action, Role::acts, Presence::absent},
                                          {"halt", Sort::action, Role::acts, Presence::stopped},
                                          {"wake", Sort::action, Role::acts, Presence::running}};
  for (const SimKind& kind : kinds)
    if (kind.name() == name)
      return &kind;
  return nullptr;
}

std::string content_of_pack(const Key& key, const Value& attributes) {
  return cat(to_string(key), " ", to_string(attributes.digest()));
}

Observation World::observe(const Key& key) const {
  const auto found = things.find(key);
  if (found == things.end())
    return {};
  Observation seen{Value::dict({{"id", found->second.id}, {"runs", found->second.runs}})};
  seen.life = found->second.runs ? found->second.life : 0;
  return seen;
}

void World::restart_hosts() {
  for (auto& [key, thing] : things)
    if (key.kind == "host" && thing.runs)
      thing.life = next_life++;
}

Result<Outcome> World::apply(const Act& act, Blobs& blobs) {
  const std::string_view kind = act.key.kind;
  if (act.verb == Verb::remove) {
    things.erase(act.key);
    return Done{};
  }
  if (kind == "host" || kind == "file" || kind == "config" || kind == "pack" || kind == "copy")
    return apply_to_thing(act, blobs);
  if (kind != "value")
    return apply_in_host(act);
  ++values_run;
  ++changes[act.key];
  const Value& noisy = dict_of(act.attributes).at("noisy");
  const std::string out =
      noisy.is_null() ? to_string(act.attributes.digest()) : std::to_string(values_run);
  return Done{Value::dict({{"out", out}}), {}, true};
}

Result<Outcome> World::apply_to_thing(const Act& act, Blobs& blobs) {
  const std::string_view kind = act.key.kind;
  const auto found = things.find(act.key);
  if (act.verb == Verb::start || act.verb == Verb::stop) {
    if (found == things.end())
      return world_error(cat("`", act.key.name, "` does not exist"));
    const bool runs = act.verb == Verb::start;
    const bool changed = std::exchange(found->second.runs, runs) != runs;
    if (changed && runs)
      found->second.life = next_life++;
    return Done{act.known->outputs, {}, changed};
  }
  // What is embedded of a content is worth something only when that can be read.
  const std::string_view embedded = dict_of(act.attributes).text_at("embedded");
  for (const std::string& digest :
       digests_in(Value(embedded.substr(std::min<size_t>(embedded.size(), 2)))))
    TRY(read_blob(blobs, digest, 1 << 20));
  const bool is_there = found != things.end();
  Thing& thing = things[act.key];
  const bool adopt = act.verb == Verb::create && thing.id != 0 && thing.log.empty();
  const bool is_kept = kind == "config" && is_there;
  if (act.verb != Verb::update && !is_kept && !(adopt && thing.attributes == act.attributes))
    thing = {act.attributes, next_id++, true, {}, {}, next_life++};
  const bool changed =
      !(thing.attributes == act.attributes) || (act.verb != Verb::update && !is_kept);
  thing.attributes = act.attributes;
  thing.runs = true;
  changes[act.key] += changed ? 1 : 0;
  for (const RecordPointer& need : act.needs)
    if (need->applied)
      thing.heard[need->applied->key] = changes[need->applied->key];
  std::vector<Entry> outputs{{"id", thing.id}, {"address", cat("address of ", act.key.name)}};
  if (kind == "pack")
    outputs.push_back(
        {"digest", TRY(blobs.put(content_of_pack(act.key, dict_of(act.attributes))))});
  return Done{Value::dict(std::move(outputs)), {}, changed};
}

Result<Outcome> World::apply_in_host(const Act& act) {
  const std::string_view kind = act.key.kind;
  const Key* host = host_of(act);
  const auto there = host == nullptr ? things.end() : things.find(*host);
  if (there == things.end())
    return world_error(cat("the host of `", act.key.name, "` does not exist"));
  if (kind == "drop") {
    things.erase(there);
    return Done{};
  }
  if (kind == "halt" || kind == "wake") {
    if (kind == "wake" && !there->second.runs)
      there->second.life = next_life++;
    there->second.runs = kind == "wake";
    return Done{};
  }
  if (!there->second.runs)
    return world_error(cat("the host of `", act.key.name, "` is not running"));
  ++changes[act.key];
  if (kind == "act")
    there->second.log.push_back(cat(act.key.name, " ", to_string(act.attributes.digest())));
  return Done{Value::dict({{"out", to_string(act.attributes.digest())},
                           {"seen", there->second.log.size()}}),
              {},
              true,
              {},
              {},
              there->second.life};
}

}  // namespace fettle::sim
