#include "workloads/decide/rehearsal.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "base/text.h"
#include "kinds/image.h"
#include "kinds/notice.h"
#include "kinds/pod.h"
#include "kinds/pod_change.h"
#include "kinds/pull_job.h"
#include "workloads/decide/want.h"
#include "workloads/names.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

constexpr size_t most_turns = 100'000, most_rounds = 20'000;

bool is_held(const Attributes& attributes) {
  const Dict conditions = read_one<&Pod::conditions>(attributes);
  return std::ranges::any_of(conditions.entries(),
                             [](const Entry& entry) { return entry.value == Value(status::no); });
}

std::string images_text(const Value& before, const Value& after) {
  std::vector<std::string> texts;
  for (const Value& container : after.at("spec").at("containers").items()) {
    const std::string_view name = container.text_at("name");
    for (const Value& old : before.at("spec").at("containers").items())
      if (old.text_at("name") == name && old.at("image") != container.at("image"))
        texts.push_back(cat("image of container `", name, "`: ", old.text_at("image"), " -> ",
                            container.text_at("image")));
  }
  return join(texts, "; ");
}

std::string sidecars_text(const Value& before, const Value& after) {
  std::vector<std::string> texts;
  if (!before.is_list() || !after.is_list())
    return "its sidecars change";
  for (size_t i = 0; i < std::min(before.items().size(), after.items().size()); ++i) {
    const Value &was = before.items()[i].at("containers"), &is = after.items()[i].at("containers");
    if (!was.is_list() || !is.is_list())
      continue;
    for (const Value& container : is.items())
      for (const Value& old : was.items())
        if (old.at("name") == container.at("name") && old.at("image") != container.at("image"))
          texts.push_back(cat("image of sidecar `", container.text_at("name"),
                              "`: ", old.text_at("image"), " -> ", container.text_at("image")));
  }
  return texts.empty() ? "its sidecars change" : join(texts, "; ");
}

/// Turns `annotations/KEY` into words for people.
std::string key_text(std::string_view key) {
  const size_t slash = key.find('/');
  return cat(key.starts_with("labels") ? "label `" : "annotation `", key.substr(slash + 1), "`");
}

/// Containers that restart because of labels and annotations, apart from those with another image.
std::string environment_text(const PodChange& change) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < change.environment.size(); ++i) {
    const Name& container = change.environment[i];
    if (std::ranges::find(change.images, container) != change.images.end())
      continue;
    std::vector<std::string> keys;
    for (const std::string& key : change.environment_keys[i])
      keys.push_back(key_text(key));
    texts.push_back(cat("container `", container, "` restarts, because ", join(keys, ", "),
                        keys.size() > 1 ? " change" : " changes"));
  }
  return join(texts, "; ");
}

/// Says what holds a pod: `the hook `inPlaceUpdate` holds it (label `app`)`.
std::string hook_text(std::string_view name, const std::optional<Hook>& hook) {
  std::vector<std::string> parts;
  if (hook) {
    for (const Entry& entry : hook->labels)
      parts.push_back(cat("label `", entry.key, "`"));
    for (const Name& finalizer : hook->finalizers)
      parts.push_back(cat("finalizer `", finalizer, "`"));
  }
  return cat("the hook `", name, "` holds it (", join(parts, ", "), ")");
}

std::string joined(std::string first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : cat(first, "; ", second);
}

class Rehearsal {
 public:
  Rehearsal(Fleet& fleet, const std::set<Name>& owners, Time now, LostPods lost)
      : fleet_(fleet), open_(owners.begin(), owners.end()), now_(now), lost_(std::move(lost)) {
    for (const auto& [name, node] : fleet_.nodes())
      for (const auto& [image, digest] : node.images)
        images_before_[name].insert(image);
    fleet_.for_each_pod([&](const FleetPod& pod) {
      if (pod.exists && !pod.is_leaving)
        real_[pod.resource->key] = pod.resource->attributes;
      seen_[pod.resource->key] = pod.containers;
    });
  }

  RehearsalResult play() {
    for (size_t round = 0; round < most_rounds && found_.turns.size() < most_turns; ++round) {
      if (!ask())
        return finished();
      if (!grow())
        return finished();
    }
    found_.is_cut = true;
    return finished();
  }

 private:
  /// Asks all that something concerns, until nobody wants anything new. False: nothing came of it.
  bool ask() {
    has_acted_ = false;
    for (int round = 0; round < 1'000; ++round) {
      for (Name& owner : fleet_.take_changed())
        open_.insert(std::move(owner));
      if (open_.empty())
        break;
      for (const Name& owner : std::exchange(open_, {})) {
        const Wanted wanted = want(fleet_, owner, now_);
        fleet_.accept(wanted);
        asks_.erase(owner);
        if (wanted.ask)
          asks_[owner] = *wanted.ask;
        act(wanted);
      }
    }
    return has_acted_ || !asks_.empty() || !growing_.empty();
  }

  void act(const Wanted& answer) {
    const Name& owner = answer.owner;
    std::set<Key> wanted;
    for (const Box<Resource>& resource : answer.resources) {
      wanted.insert(resource->key);
      if (resource->key.kind == "notice")
        hear(owner, read<ObjectNotice>(resource->attributes));
    }
    drop_pods(owner, wanted);
    for (const Box<Resource>& resource : answer.resources) {
      if (resource->key.kind == "pod")
        act_pod(owner, *resource);
      else if (resource->key.kind == "image")
        act_pull(owner, *resource);
      else
        remember(owner, *resource);
    }
    for (const auto& memory : std::exchange(remembered_[owner], {}))
      if (wanted.contains(memory))
        remembered_[owner].insert(memory);
      else
        fleet_.know(memory, nullptr);
  }

  void hear(const Name& owner, const ObjectNotice& notice) {
    const std::string text(notice.text.view());
    const std::string_view reason = notice.reason.view();
    if (notice.type == "Warning" && heard_.insert(text).second && reason != "ScaleUpLimited")
      found_.warnings.push_back(cat(owner, ": ", text));
  }

  void act_pod(const Name& owner, const Resource& resource) {
    const auto known = real_.find(resource.key);
    const bool is_new = known == real_.end();
    const Attributes before = is_new ? Attributes() : known->second;
    const auto lost = lost_.extract(resource.key);
    const bool is_same = !is_new && before == resource.attributes;
    if (is_same && lost.empty())
      return;
    has_acted_ = true;
    const bool runs_another =
        is_new || !lost.empty() ||
        pod_spec(before).at("containers") != pod_spec(resource.attributes).at("containers");
    if (is_same)
      add(owner, resource.key,
          lost.mapped().is_gone ? PodTurn::Sort::create : PodTurn::Sort::restore, lost.mapped().why)
          .revision = read_one<&Pod::revision>(resource.attributes).view();
    else
      tell(owner, resource, before, is_new);
    real_[resource.key] = resource.attributes;
    Record record;
    record.applied = resource;
    record.finished = now_;
    record.wanted_by[owner] = {};
    std::vector<Entry> ids;
    std::vector<ContainerSeen> containers;
    const Value spec = pod_spec(resource.attributes);
    for (const Value& container : spec.at("containers").items())
      containers.push_back(run(resource.key, container, is_new));
    for (const ContainerSeen& container : containers)
      ids.push_back({container.name, container.container_id});
    seen_[resource.key] = containers;
    record.outputs = Value::dict({{"containers", Value::dict(std::move(ids))}});
    fleet_.know(resource.key, std::make_shared<const Record>(std::move(record)));
    if (is_new)
      started_[resource.key] = now_;
    if (runs_another || is_held(resource.attributes))
      growing_.insert(resource.key);
    see(resource.key, !growing_.contains(resource.key));
  }

  /// A container as it looks when it runs what is wanted. If the image changed, it is another
  /// container.
  ContainerSeen run(const Key& key, const Value& container, bool is_new) {
    const std::string_view name = container.text_at("name"), image = container.text_at("image");
    const auto& before = seen_[key];
    const auto old =
        std::ranges::find_if(before, [&](const ContainerSeen& each) { return each.name == name; });
    if (!is_new && old != before.end() && old->image == image)
      return *old;
    ContainerSeen seen;
    seen.name = name;
    seen.image = image;
    seen.image_id = cat("sha256:", image);
    seen.container_id = cat("rehearsed-", ++made_);
    seen.is_running = true;
    return seen;
  }

  void see(const Key& key, bool are_up) {
    std::vector<Value> rows;
    for (ContainerSeen& each : seen_[key]) {
      each.is_ready = are_up;
      rows.push_back(Value::dict({{"name", each.name},
                                  {"image", each.image},
                                  {"imageID", each.image_id},
                                  {"containerID", each.container_id},
                                  {"ready", are_up},
                                  {"restartCount", each.restarts},
                                  {"state", Value::dict({{"running", Value::dict({})}})}}));
    }
    const bool is_ready = are_up && !is_held(real_[key]);
    const auto started = started_.find(key);
    fleet_.see(key,
               Value::dict(
                   {{"phase", "Running"},
                    {"startTime", write_moment(started == started_.end() ? now_ : started->second)},
                    {"conditions",
                     Value::list({Value::dict({{"type", "Ready"},
                                               {"status", is_ready ? "True" : "False"},
                                               {"lastTransitionTime", write_moment(now_)}})})},
                    {"containerStatuses", Value::list(std::move(rows))}}));
  }

  void act_pull(const Name& owner, const Resource& resource) {
    if (!pulled_.insert(resource.key).second)
      return;
    has_acted_ = true;
    const Attributes& attributes = resource.attributes;
    const Image image = read<Image>(attributes);
    PullTurn& pull = pull_of(owner, image.reference.view());
    pull.nodes.emplace_back(image.node.view());
    Record record;
    record.applied = resource;
    record.finished = now_;
    record.wanted_by[owner] = {};
    record.outputs = write(ImageOutputs{.digest = "sha256:rehearsed"});
    fleet_.know(resource.key, std::make_shared<const Record>(std::move(record)));
  }

  PullTurn& pull_of(const Name& owner, std::string_view image) {
    for (PullTurn& each : found_.pulls)
      if (each.owner == owner && each.image == image)
        return each;
    PullTurn pull;
    pull.owner = owner;
    pull.image = image;
    found_.pulls.push_back(std::move(pull));
    return found_.pulls.back();
  }

  void remember(const Name& owner, const Resource& resource) {
    remembered_[owner].insert(resource.key);
    if (resource.key.kind == "pull_job") {
      PullTurn& pull = pull_of(owner, read_one<&PullJob::image>(resource.attributes));
      if (pull.job.empty())
        begin_pull(owner, pull, read<PullJob>(resource.attributes));
    }
    Record record;
    record.applied = resource;
    record.wanted_by[owner] = {};
    fleet_.know(resource.key, std::make_shared<const Record>(std::move(record)));
  }

  void begin_pull(const Name& owner, PullTurn& pull, const PullJob& job) {
    pull.job = job.name.view();
    pull.at_once = to_text(job.spec.at("parallelism"));
    std::set<Name> nodes;
    for (const FleetPod* pod : fleet_.owned(owner).pods)
      if (const auto images = images_before_.find(pod->node); images != images_before_.end() &&
                                                              images->second.contains(pull.image) &&
                                                              nodes.insert(pod->node).second)
        pull.present.push_back(pod->node);
  }

  void drop_pods(const Name& owner, const std::set<Key>& wanted) {
    std::vector<Key> gone;
    for (const FleetPod* pod : fleet_.owned(owner).pods)
      if (!wanted.contains(pod->resource->key) && real_.contains(pod->resource->key))
        gone.push_back(pod->resource->key);
    for (const Key& key : gone) {
      has_acted_ = true;
      leave(owner, key);
      real_.erase(key);
      seen_.erase(key);
      growing_.erase(key);
      fleet_.know(key, nullptr);
    }
  }

  PodTurn& add(const Name& owner, const Key& key, PodTurn::Sort sort, std::string why) {
    const NodeAddress address = node_address(key.name);
    // In a cluster the key of a pod names no node; it may be on one.
    const FleetPod* const pod = fleet_.is_cluster ? fleet_.pod(key.name) : nullptr;
    PodTurn turn{.sort = sort,
                 .owner = owner,
                 .space = address.space,
                 .pod = address.name,
                 .node = pod == nullptr ? Name(address.node) : pod->node,
                 .revision = {},
                 .why = std::move(why),
                 .batch = batch_};
    found_.turns.push_back(std::move(turn));
    return found_.turns.back();
  }

  /// Why a pod cannot get the present template as it is. Empty: it has it, or could get it.
  std::string obstacle(const Name& owner, const Attributes& attributes) const {
    const Workload* workload = fleet_.workload(owner);
    if (workload == nullptr ||
        read_one<&Pod::pod_template>(attributes).value() == workload->pod_template)
      return {};
    if (workload->policy == PodPolicy::recreate)
      return "the policy recreates pods";
    const std::string refusal =
        pod_change(read_one<&Pod::pod_template>(attributes).value(), workload->pod_template,
                   {fleet_.gates.resize, fleet_.gates.environment})
            .refusal;
    if (!refusal.empty())
      return cat("`", refusal, "` cannot change in place");
    return read_one<&Pod::claims_hash>(attributes).empty() ? "" : "its claims change";
  }

  void tell(const Name& owner, const Resource& resource, const Attributes& before, bool is_new) {
    const Attributes& attributes = resource.attributes;
    if (is_new) {
      const bool replaces = missing_[owner] > 0;
      missing_[owner] -= replaces ? 1 : 0;
      add(owner, resource.key, PodTurn::Sort::create,
          replaces ? "replaces one that is removed" : "it does not exist")
          .revision = read_one<&Pod::revision>(attributes).view();
      return;
    }
    if (read_one<&Pod::labels>(before).value().text_at(label::specified_delete) != "true" &&
        read_one<&Pod::labels>(attributes).value().text_at(label::specified_delete) == "true") {
      anew_[resource.key] = obstacle(owner, attributes);
      return;
    }
    if (read_one<&Pod::sidecars>(before).value() != read_one<&Pod::sidecars>(attributes).value())
      add(owner, resource.key, PodTurn::Sort::in_place,
          sidecars_text(read_one<&Pod::sidecars>(before).value(),
                        read_one<&Pod::sidecars>(attributes).value()))
          .revision = read_one<&Pod::revision>(attributes).view();
    const Workload* workload = fleet_.workload(owner);
    if (workload != nullptr && tell_held(*workload, resource, before))
      return;
    const Value was = read_one<&Pod::pod_template>(before).value(),
                is = read_one<&Pod::pod_template>(attributes).value();
    if (was == is && read_one<&Pod::revision>(before) == read_one<&Pod::revision>(attributes))
      return;
    // Of an update in steps the first one is told, in all that it comes to.
    if (!updated_.insert({resource.key, read_one<&Pod::revision>(attributes).view()}).second)
      return;
    add(owner, resource.key, PodTurn::Sort::in_place,
        change_text(was, workload == nullptr ? is : workload->pod_template))
        .revision = read_one<&Pod::revision>(attributes).view();
  }

  std::string change_text(const Value& was, const Value& is) const {
    const PodChangeGates gates{fleet_.gates.resize, fleet_.gates.environment};
    std::string why = joined(images_text(was, is), environment_text(pod_change(was, is, gates)));
    return why.empty() ? "labels, annotations or resources change" : why;
  }

  /// Reports a pod whose turn it is and which a hook holds from now on. Returns whether it is one.
  bool tell_held(const Workload& workload, const Resource& resource, const Attributes& before) {
    const std::string_view is =
        read_one<&Pod::labels>(resource.attributes).value().text_at(label::lifecycle_state);
    if (read_one<&Pod::labels>(before).value().text_at(label::lifecycle_state) == is)
      return false;
    const auto tell = [&](PodTurn::Sort sort, std::string why) {
      held_turns_.insert(resource.key);
      add(workload.owner(), resource.key, sort, std::move(why)).revision =
          read_one<&Pod::revision>(resource.attributes).view();
      return true;
    };
    if (is == name_of(Lifecycle::preparing_update))
      return tell(
          PodTurn::Sort::in_place,
          joined(change_text(read_one<&Pod::pod_template>(before).value(), workload.pod_template),
                 hook_text("inPlaceUpdate", workload.hooks.in_place_update)));
    if (is == name_of(Lifecycle::preparing_delete))
      return tell(PodTurn::Sort::remove, hook_text("preDelete", workload.hooks.pre_delete));
    return false;
  }

  void leave(const Name& owner, const Key& key) {
    const auto marked = anew_.find(key);
    const std::string reason = marked != anew_.end() ? marked->second : obstacle(owner, real_[key]);
    const Workload* workload = fleet_.workload(owner);
    if (workload == nullptr) {
      add(owner, key, PodTurn::Sort::remove, "no longer wanted");
      return;
    }
    if (reason.empty()) {
      add(owner, key, PodTurn::Sort::remove, "more pods than are wanted");
      return;
    }
    ++missing_[owner];
    add(owner, key, PodTurn::Sort::anew, reason);
  }

  /// Time passes: what was begun becomes ready, and the next moment that somebody named comes.
  bool grow() {
    if (!growing_.empty()) {
      now_ += std::chrono::seconds(1);
      for (const Key& key : std::exchange(growing_, {}))
        if (real_.contains(key)) {
          see(key, true);
          if (is_held(real_[key]))
            growing_.insert(key);
        }
      if (told_ != found_.turns.size()) {
        told_ = found_.turns.size();
        ++batch_;
      }
      // A pod that stays held waits for its owner, who has been told.
      if (std::exchange(held_, growing_) == growing_)
        growing_.clear();
      return true;
    }
    if (asks_.empty())
      return has_acted_;
    Time next = asks_.begin()->second;
    for (const auto& [owner, time] : asks_)
      next = std::min(next, time);
    now_ = std::max(now_ + std::chrono::seconds(1), next);
    for (const auto& [owner, time] : asks_)
      if (time <= now_)
        open_.insert(owner);
    return ++idle_ < most_rounds;
  }

  RehearsalResult finished() {
    stay();
    for (const PodTurn& turn : found_.turns)
      found_.batches = std::max(found_.batches, turn.batch);
    std::erase_if(found_.pulls,
                  [](const PullTurn& pull) { return pull.nodes.empty() && pull.present.empty(); });
    return std::move(found_);
  }

  /// Reports pods that keep an older template.
  void stay() {
    std::set<Key> told;
    fleet_.for_each_pod([&](const FleetPod& pod) {
      const Workload* workload = fleet_.workload(pod.owner);
      if (workload == nullptr || pod.is_leaving || held_turns_.contains(pod.resource->key) ||
          read_one<&Pod::pod_template>(pod.resource->attributes).value() == workload->pod_template)
        return;
      std::string why = workload->type == UpdateType::on_delete ? "it is updated when it is deleted"
                        : workload->paused                      ? "the rollout is paused"
                                                                : "";
      if (why.empty() && pod.lifecycle == Lifecycle::preparing_update)
        why = hook_text("inPlaceUpdate", workload->hooks.in_place_update);
      if (why.empty() && pod.lifecycle == Lifecycle::preparing_delete)
        why = hook_text("preDelete", workload->hooks.pre_delete);
      if (why.empty() && workload->policy == PodPolicy::in_place_only)
        if (const std::string words = obstacle(pod.owner, pod.resource->attributes); !words.empty())
          why = cat(words, ", and the policy is InPlaceOnly");
      if (why.empty() &&
          workload->kept(static_cast<int64_t>(fleet_.owned(pod.owner).pods.size())) > 0)
        why = "held back by the partition";
      if (why.empty())
        why = "its turn has not come";
      add(pod.owner, pod.resource->key, PodTurn::Sort::stays, std::move(why)).batch = 0;
    });
  }

  Fleet& fleet_;
  std::set<Name> open_;
  Time now_;
  std::map<Name, std::set<Name>> images_before_;  ///< by node
  std::map<Key, Attributes> real_;
  std::map<Key, std::vector<ContainerSeen>> seen_;
  std::map<Key, Time> started_;
  std::map<Name, std::set<Key>> remembered_;
  std::map<Name, Time> asks_;
  std::map<Name, int64_t> missing_;
  std::map<Key, std::string> anew_;
  std::set<std::pair<Key, Name>> updated_;
  std::set<Key> growing_, held_, pulled_;
  std::set<Key> held_turns_;  ///< pods whose turn came, and which a hook holds
  LostPods lost_;             ///< not reported yet
  std::set<std::string> heard_;
  size_t batch_ = 1, told_ = 0, idle_ = 0;
  int made_ = 0;
  bool has_acted_ = false;
  RehearsalResult found_;
};

}  // namespace

std::string_view to_string(PodTurn::Sort sort) {
  switch (sort) {
    case PodTurn::Sort::create:
      return "create";
    case PodTurn::Sort::restore:
      return "restore";
    case PodTurn::Sort::in_place:
      return "in place";
    case PodTurn::Sort::anew:
      return "anew";
    case PodTurn::Sort::remove:
      return "remove";
    case PodTurn::Sort::stays:
      return "stays";
  }
  return {};
}

RehearsalResult rehearse(Fleet& fleet, const std::set<Name>& owners, Time now, LostPods lost) {
  return Rehearsal(fleet, owners, now, std::move(lost)).play();
}

}  // namespace fettle::workloads
