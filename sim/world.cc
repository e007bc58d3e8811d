#include "sim/world.h"

#include "base/text.h"

namespace fettle::sim {
namespace {

class SimKind : public Kind {
 public:
  SimKind(Name name, Sort sort, Role role, bool drops = false)
      : name_(std::move(name)), sort_(sort), role_(role), drops_(drops) {}
  Name name() const override { return name_; }
  Sort sort() const override { return sort_; }
  Role role(const Value&) const override { return role_; }
  std::optional<Presence> leaves_host() const override {
    return drops_ ? std::optional(Presence::absent) : std::nullopt;
  }
  bool in_place_changes(const Value&, const Value&) const override { return name_ == "file"; }
  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    Comparison found = Kind::compare(known, seen, expected);
    if (found.verb == Verb::keep && seen.state && seen.state->at("id") != known.outputs.at("id"))
      return {Verb::replace, {}, "it is another one"};
    return found;
  }

 private:
  Name name_;
  Sort sort_;
  Role role_;
  bool drops_;
};

const Key* host_of(const Act& act) {
  return act.needs.empty() || !act.needs[0]->applied ? nullptr : &act.needs[0]->applied->key;
}

}  // namespace

const Kind* SimKinds::find(const Name& name) const {
  static const std::vector<SimKind> kinds{
      {"host", Sort::observable, Role::none},  {"file", Sort::observable, Role::none},
      {"config", Sort::ensuring, Role::none},  {"value", Sort::action, Role::none},
      {"act", Sort::action, Role::acts},       {"look", Sort::action, Role::reads},
      {"drop", Sort::action, Role::acts, true}};
  for (const SimKind& kind : kinds)
    if (kind.name() == name)
      return &kind;
  return nullptr;
}

Observation World::observe(const Key& key) const {
  const auto found = things.find(key);
  if (found == things.end())
    return {};
  return {Value::dict({{"id", found->second.id}})};
}

Result<Outcome> World::apply(const Act& act) {
  const std::string_view kind = act.key.kind;
  if (act.verb == Verb::remove) {
    things.erase(act.key);
    return Done{};
  }
  if (kind == "host" || kind == "file" || kind == "config") {
    const bool is_there = things.contains(act.key);
    Thing& thing = things[act.key];
    const bool adopt = act.verb == Verb::create && thing.id != 0 && thing.log.empty();
    const bool is_kept = kind == "config" && is_there;
    if (act.verb != Verb::update && !is_kept && !(adopt && thing.attributes == act.attributes))
      thing = {act.attributes, next_id++, {}, {}};
    const bool changed =
        !(thing.attributes == act.attributes) || (act.verb != Verb::update && !is_kept);
    thing.attributes = act.attributes;
    changes[act.key] += changed ? 1 : 0;
    for (const RecordPointer& need : act.needs)
      if (need->applied)
        thing.heard[need->applied->key] = changes[need->applied->key];
    return Done{Value::dict({{"id", thing.id}, {"address", cat("address of ", act.key.name)}}),
                {},
                changed};
  }
  if (kind == "value") {
    ++values_run;
    ++changes[act.key];
    const Value& noisy = act.attributes.at("noisy");
    const std::string out =
        noisy.is_null() ? to_string(act.attributes.digest()) : std::to_string(values_run);
    return Done{Value::dict({{"out", out}}), {}, true};
  }
  const Key* host = host_of(act);
  const auto there = host == nullptr ? things.end() : things.find(*host);
  if (there == things.end())
    return world_error(cat("the host of `", act.key.name, "` is not there"));
  if (kind == "drop") {
    things.erase(there);
    return Done{};
  }
  ++changes[act.key];
  if (kind == "act")
    there->second.log.push_back(cat(act.key.name, " ", to_string(act.attributes.digest())));
  return Done{Value::dict({{"out", to_string(act.attributes.digest())},
                           {"seen", there->second.log.size()}}),
              {},
              true};
}

}  // namespace fettle::sim
