#include "verbs/fleet/nodes.h"

#include <algorithm>

#include "base/node_name.h"
#include "base/text.h"
#include "base/wait.h"
#include "controller/workloads.h"
#include "kinds/pod.h"
#include "store/edit.h"
#include "verbs/fleet/workload_edits.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

constexpr size_t longest_name = 63, longest_label = 253;
constexpr int most_pulls_of_one = 100;

bool is_plain(char c, std::string_view beside) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || beside.find(c) != beside.npos;
}

Status check_labels(const NodeSpec& node) {
  for (const auto& [key, text] : node.labels) {
    const auto is_known = [](char c) { return is_plain(lower_case(std::string(1, c))[0], "-._/"); };
    if (key.empty() || key.size() > longest_label || !std::ranges::all_of(key, is_known))
      return user_error(
          cat("`", printable(clipped(key, longest_name)), "` is not a name for a label"));
    if (text.size() > longest_name || !std::ranges::all_of(text, is_known))
      return user_error(cat("`", printable(clipped(text, longest_name)), "` of label `", key,
                            "` must have at most 63 letters, digits, `-`, `.` and `_`"));
  }
  return {};
}

Error no_such_node(const std::string& name, const Value& nodes) {
  std::vector<std::string> names;
  if (nodes.is_dict())
    for (const Entry& entry : nodes.entries())
      names.push_back(entry.key.str());
  return user_error(cat("there is no node `", printable(name), "`", suggestion(name, names),
                        names.empty() ? "; `fettle node add NAME --engine ADDRESS` adds one" : ""));
}

Result<NodeSpec> node_named(const Value& nodes, const std::string& name) {
  if (nodes.is_dict())
    for (const Entry& entry : nodes.entries())
      if (entry.key == name)
        return node_in(entry);
  return no_such_node(name, nodes);
}

/// Changes the list of nodes in one transaction.
Status change(const Workplace& place,
              const std::function<Result<Value>(const Value& nodes)>& make) {
  return place.store->wish(Name(), [&](Wish& wish) -> Status {
    const auto before = TRY(wish.note(nodes_note));
    return wish.put_note(nodes_note, TRY(make(before.value_or(Value::dict({})))));
  });
}

Value with(const Value& nodes, const NodeSpec& node) {
  std::vector<Entry> entries(nodes.entries().begin(), nodes.entries().end());
  entries.push_back({node.name, value_of(node)});
  return Value::dict(std::move(entries));
}

}  // namespace

namespace {

constexpr Duration heard_limit = 10s, heard_pause = 20ms;

/// Environments on which a controller acts.
Result<std::vector<Name>> kept_environments(const Workplace& place) {
  std::vector<Name> kept;
  for (const Environment& environment : TRY(place.store->environments()))
    if (TRY(is_kept(place, environment.name)))
      kept.push_back(environment.name);
  return kept;
}

}  // namespace

Result<std::vector<Name>> await_controllers(const Workplace& place) {
  const Instant begun = instant_from_clock();
  while (true) {
    const Value mark = mark_of(TRY(nodes_of(*place.store)));
    std::vector<Name> deaf;
    for (const Name& environment : TRY(kept_environments(place)))
      if (TRY(place.store->note(environment, heard_note)) != mark)
        deaf.push_back(environment);
    if (deaf.empty() || instant_from_clock() - begun > heard_limit)
      return deaf;
    TRY(pause_for(heard_pause, place.interrupt->acts_token()));
  }
}

Status add_node(const Workplace& place, const NodeSpec& node) {
  TRY(check_node_name(node.name, "a node"));
  TRY(check_labels(node));
  if (place.check_engine)
    TRY(place.check_engine(node.engine));
  if (node.pulls < 1 || node.pulls > most_pulls_of_one)
    return user_error(
        cat("a node pulls from 1 to ", most_pulls_of_one, " images at a time, not ", node.pulls));
  return change(place, [&](const Value& nodes) -> Result<Value> {
    if (nodes.find(node.name) != nullptr)
      return user_error(cat("there is a node `", node.name, "` already"));
    return with(nodes, node);
  });
}

Result<std::vector<RecordPointer>> records_on(const Workplace& place, std::string_view node) {
  std::vector<RecordPointer> found;
  const Name driver = engine_of_node(node);
  for (const Environment& environment : TRY(place.store->environments()))
    for (const auto& [key, record] : TRY(place.store->known(environment.name)))
      // A thing that was removed by hand is not there any more.
      if (const Resource* const then = resource_of_then(*record);
          then != nullptr && then->driver == driver && record->by_hand != ByHand::removed)
        found.push_back(record);
  std::ranges::sort(found, {},
                    [](const RecordPointer& record) { return resource_of_then(*record)->key; });
  return found;
}

namespace {

/// When something was removed from a node by hand, that is remembered until its owner acts. Without
/// the node, nobody could ever say that it is gone. `all`: forgets whatever is known to be there.
Status forget(const Workplace& place, const std::string& node, bool all) {
  const Name driver = engine_of_node(node);
  for (const Environment& environment : TRY(place.store->environments())) {
    std::vector<Change> gone;
    for (const auto& [key, record] : TRY(place.store->known(environment.name)))
      if (const Resource* const then = resource_of_then(*record);
          then != nullptr && then->driver == driver && (all || record->by_hand == ByHand::removed))
        gone.push_back({Change::forget, key, nullptr, {}});
    if (gone.empty())
      continue;
    if (TRY(is_kept(place, environment.name)))
      return world_error(cat("a controller maintains `", environment.name, "`; stop it first"));
    constexpr bool waits = true;
    const std::unique_ptr<Edit> edit = TRY(begin_edit(place, environment.name, waits));
    TRY(edit->write(gone));
  }
  return {};
}

/// Lets controllers forget what was on a node that is lost. Error: one does not answer.
Status have_controllers_forget(const Workplace& place, const std::string& name) {
  TRY(change(place, [&](const Value& nodes) -> Result<Value> {
    NodeSpec node = TRY(node_named(nodes, name));
    node.is_lost = node.is_cordoned = true;
    return with(nodes, node);
  }));
  if (const auto deaf = TRY(await_controllers(place)); !deaf.empty())
    return world_error(cat("the controller of `", deaf[0], "` has not heard yet that node `", name,
                           "` is lost; try again when it answers"));
  return {};
}

}  // namespace

Status remove_node(const Workplace& place, const std::string& name, bool is_lost) {
  auto there = TRY(records_on(place, name));
  if ((there.empty() || is_lost) && TRY(node_of(*place.store, name))) {
    if (is_lost && !TRY(kept_environments(place)).empty())
      TRY(have_controllers_forget(place, name));
    TRY(forget(place, name, is_lost));
    there.clear();
  }
  return change(place, [&](const Value& nodes) -> Result<Value> {
    TRY(node_named(nodes, name));
    if (!there.empty())
      return user_error(cat("`", resource_of_then(*there[0])->key.kind, "/",
                            on_node(resource_of_then(*there[0])->key.name).rest, "`",
                            there.size() > 1 ? cat(" and ", there.size() - 1, " more") : "",
                            " is on node `", name, "`; `fettle node drain ", name,
                            "` removes its pods; `--lost` forgets them with a node that never "
                            "comes back"));
    std::vector<Entry> left;
    for (const Entry& entry : nodes.entries())
      if (entry.key != name)
        left.push_back(entry);
    return Value::dict(std::move(left));
  });
}

namespace {

Status mark_node(const Workplace& place, const std::string& name, bool is_cordoned,
                 bool is_draining) {
  return change(place, [&](const Value& nodes) -> Result<Value> {
    NodeSpec node = TRY(node_named(nodes, name));
    // A node that drains goes on draining until it takes pods again.
    node.is_draining = is_draining || (is_cordoned && node.is_draining);
    node.is_cordoned = is_cordoned;
    return with(nodes, node);
  });
}

}  // namespace

Status cordon_node(const Workplace& place, const std::string& name, bool is_cordoned) {
  return mark_node(place, name, is_cordoned, false);
}

Result<std::vector<Key>> pods_on(const Workplace& place, const std::string& name) {
  std::vector<Key> pods;
  for (const RecordPointer& record : TRY(records_on(place, name)))
    if (const Key& key = resource_of_then(*record)->key; key.kind == "pod")
      pods.push_back(key);
  return pods;
}

Result<Drain> drain_node(const Workplace& place, const std::string& name, bool is_forced) {
  TRY(mark_node(place, name, true, true));
  Drain draining;
  const std::vector<RecordPointer> there = TRY(records_on(place, name));
  std::map<Name, std::vector<Name>> pods;
  for (const RecordPointer& record : there) {
    const Resource& pod = *resource_of_then(*record);
    if (pod.key.kind != "pod")
      continue;
    const NodeAddress address = node_address(pod.key.name);
    pods[pod.key.environment].push_back(cat("Pod/", address.space, "/", address.name));
    draining.owners[pod.key.environment].insert(read_one<&Pod::owner>(pod.attributes).get());
  }
  const Name driver = engine_of_node(name);
  const auto silent = TRY(silent_engines(place, {driver}));
  if (const auto why = silent.find(driver); why != silent.end()) {
    for (const auto& [environment, names] : pods)
      draining.blocked += names.size();
    place.tell(cat("node `", name, "` does not answer: ", why->second));
    if (draining.blocked > 0)
      place.tell(cat("it takes no new pods; ", draining.blocked,
                     draining.blocked == 1 ? " pod stays" : " pods stay",
                     " there, to be drained when it answers"));
    return draining;
  }
  for (const auto& [environment, names] : is_forced ? pods : decltype(pods)())
    TRY(delete_pods(place, environment, names, true));
  return draining;
}

Result<std::vector<NodeView>> look_at_nodes(const Workplace& place) {
  std::vector<NodeView> views;
  std::set<Name> drivers;
  std::map<Name, size_t> pods;
  for (const Environment& environment : TRY(place.store->environments()))
    for (const auto& [key, record] : TRY(place.store->known(environment.name)))
      if (const Resource* const then = resource_of_then(*record);
          key.kind == "pod" && then != nullptr && record->by_hand != ByHand::removed)
        ++pods[then->driver];
  for (NodeSpec& node : TRY(nodes_of(*place.store))) {
    drivers.insert(engine_of_node(node.name));
    views.push_back({.node = std::move(node), .why = {}});
  }
  const auto silent = TRY(silent_engines(place, drivers));
  for (NodeView& view : views) {
    const Name driver = engine_of_node(view.node.name);
    const auto why = silent.find(driver);
    view.answers = why == silent.end();
    view.why = view.answers ? std::string() : why->second;
    view.pods = pods[driver];
  }
  return views;
}

}  // namespace fettle
