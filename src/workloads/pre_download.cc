#include "workloads/pre_download.h"

#include <algorithm>

#include "base/text.h"
#include "workloads/names.h"

namespace fettle::workloads {
namespace {

/// Pods that change to the update revision, available or not.
int64_t updated_ready(const Rollout& rollout) {
  return std::ranges::count_if(rollout.rows,
                               [](const PodRow& row) { return row.is_updated && row.is_ready; });
}

bool gate_is_on(const Rollout& rollout) {
  const Gates& gates = rollout.fleet.gates;
  return rollout.workload.sort == WorkloadSort::daemon_set ? gates.pre_download_daemon_set
                                                           : gates.pre_download;
}

/// OpenKruise: not for three pods or fewer, nor when all change in one batch.
bool is_skipped_by_kruise(const Workload& workload, int64_t count) {
  const bool is_small = workload.sort != WorkloadSort::daemon_set && count <= 3;
  const bool rounds_up = workload.sort == WorkloadSort::daemon_set;
  const bool is_one_batch = partition_of(workload.partition, count) == 0 &&
                            workload.max_unavailable.of(count, rounds_up) >= count;
  return is_small || is_one_batch;
}

/// Images that pods of the rollout get, and for each the nodes, the next to change first.
struct Needed {
  Name image;
  std::vector<Name> nodes;
};

class ImagesByTemplate {
 public:
  ImagesByTemplate(Rollout& rollout, InPlace& in_place, const Revision& target)
      : rollout_(rollout), in_place_(in_place), target_(target) {}

  /// None: the pod does not change in place.
  const std::vector<Name>* of(uint32_t row) {
    const Digest digest = rollout_.template_digest(row);
    if (last_ != nullptr && digest == last_digest_)
      return *last_ ? &**last_ : nullptr;
    const auto found = images_.find(digest);
    last_digest_ = digest;
    if (found != images_.end()) {
      last_ = &found->second;
      return found->second ? &*found->second : nullptr;
    }
    std::optional<std::vector<Name>> images;
    if (in_place_.can(row, target_))
      images = in_place_.new_images(row, target_);
    const auto& added = images_.emplace(digest, std::move(images)).first->second;
    last_ = &added;
    return added ? &*added : nullptr;
  }

 private:
  Rollout& rollout_;
  InPlace& in_place_;
  const Revision& target_;
  std::map<Digest, std::optional<std::vector<Name>>> images_;
  Digest last_digest_;
  const std::optional<std::vector<Name>>* last_ = nullptr;
};

/// Whether images are on nodes, looked up once a node and list.
class Presence {
 public:
  explicit Presence(const Fleet& fleet) : fleet_(fleet) {}
  bool has(uint32_t node, const std::vector<Name>& images) {
    std::vector<int8_t>& known = known_[&images];
    known.resize(std::max<size_t>(fleet_.node_numbers(), node + 1), -1);
    if (known[node] < 0) {
      const Node* at = fleet_.node_at(node);
      known[node] = at != nullptr && std::ranges::all_of(images, [&](const Name& image) {
                      return Fleet::has_image(*at, image);
                    });
    }
    return known[node] == 1;
  }

 private:
  const Fleet& fleet_;
  std::map<const std::vector<Name>*, std::vector<int8_t>> known_;
};

std::vector<Needed> needed_images(Rollout& rollout, InPlace& in_place, const Order& order) {
  std::vector<Needed> found;
  std::vector<std::vector<bool>> listed;
  ImagesByTemplate images(rollout, in_place, rollout.update());
  for (const uint32_t row : order) {
    const std::vector<Name>* here = images.of(row);
    if (here == nullptr)
      continue;
    const Pod* pod = rollout.pod(row);
    if (pod == nullptr)
      continue;
    for (const Name& image : *here) {
      auto each =
          std::ranges::find_if(found, [&](const Needed& one) { return one.image == image; });
      if (each == found.end()) {
        found.push_back({image, {}});
        listed.emplace_back(rollout.fleet.node_numbers());
        each = found.end() - 1;
      }
      auto is_listed = listed[static_cast<size_t>(each - found.begin())][pod->node_number];
      if (!is_listed)
        each->nodes.push_back(pod->node);
      is_listed = true;
    }
  }
  return found;
}

/// Nodes on which the job pulls already stay in it, although their pods have begun to change: the
/// pods need what is under way.
void add_begun(const Rollout& rollout, Needed& needed) {
  std::vector<bool> listed(rollout.fleet.node_numbers());
  for (const Name& name : needed.nodes)
    if (const Node* const node = rollout.fleet.node(name))
      listed[node->number] = true;
  for (const Name& key : rollout.owned.pulls) {
    const size_t bar = key.view().find('|');
    if (key.view().substr(bar + 1) != needed.image.view())
      continue;
    const Name name = key.view().substr(0, bar);
    const Node* const node = rollout.fleet.node(name);
    const bool is_listed = node != nullptr
                               ? listed[node->number]
                               : std::ranges::find(needed.nodes, name) != needed.nodes.end();
    if (!is_listed)
      needed.nodes.push_back(name);
  }
}

}  // namespace

Name pull_job_name(std::string_view workload, std::string_view revision, std::string_view image) {
  return cat(workload, "-", short_id(cat(revision, "\n", image)));
}

PullSpec pull_spec_of(const Workload& workload, const Value& pod_template, const Name& image) {
  PullSpec spec;
  spec.image = image;
  spec.parallelism = workload.pull.parallelism;
  spec.timeout_seconds = workload.pull.timeout_seconds;
  spec.backoff_limit = 1;
  spec.labels = pod_template.at("metadata").at("labels");
  spec.annotations = pod_template.at("metadata").at("annotations");
  if (const Value& secrets = pod_template.at("spec").at("imagePullSecrets"); secrets.is_list())
    for (const Value& secret : secrets.items())
      spec.secrets.emplace_back(secret.text_at("name"));
  return spec;
}

Value pull_job_document(const PullSpec& spec, const Value& selector, std::vector<Value> excluded) {
  std::vector<Value> expressions;
  if (const Value& own = selector.at("matchExpressions"); own.is_list())
    expressions.assign(own.items().begin(), own.items().end());
  if (!excluded.empty())
    expressions.push_back(Value::dict({{"key", label::revision},
                                       {"operator", "NotIn"},
                                       {"values", Value::list(std::move(excluded))}}));
  std::vector<Value> secrets(spec.secrets.begin(), spec.secrets.end());
  const Value parallelism = spec.parallelism.is_percent ? Value(cat(spec.parallelism.number, "%"))
                                                        : Value(spec.parallelism.number);
  const Value& labels = selector.at("matchLabels");
  return edited(
      Value::dict(
          {{"image", spec.image},
           {"imagePullPolicy", "IfNotPresent"},
           {"parallelism", parallelism},
           {"podSelector",
            edited(Value::dict({{"matchLabels", labels}}),
                   {{"matchExpressions",
                     expressions.empty() ? Value() : Value::list(std::move(expressions))}})},
           {"completionPolicy",
            Value::dict({{"type", "Always"}, {"ttlSecondsAfterFinished", 600}})},
           {"pullPolicy", Value::dict({{"backoffLimit", spec.backoff_limit},
                                       {"timeoutSeconds", spec.timeout_seconds}})}}),
      {{"pullSecrets", secrets.empty() ? Value() : Value::list(std::move(secrets))},
       {"sandboxConfig",
        spec.labels.is_dict() || spec.annotations.is_dict()
            ? edited(Value::dict({{"labels", spec.labels}}), {{"annotations", spec.annotations}})
            : Value()}});
}

void pre_download(Rollout& rollout, InPlace& in_place, const std::function<Order()>& order) {
  const Workload& workload = rollout.workload;
  if (!gate_is_on(rollout) || workload.policy == PodPolicy::recreate ||
      workload.type != UpdateType::rolling)
    return;
  const bool is_under_way = std::ranges::any_of(rollout.rows, [](const PodRow& row) {
    return !row.is_updated || row.lifecycle == Lifecycle::updating;
  });
  if (!is_under_way)
    return;
  const auto count = static_cast<int64_t>(workload.sort == WorkloadSort::daemon_set
                                              ? static_cast<int64_t>(rollout.size())
                                              : workload.replicas);
  if (workload.pull.kruise_rules && is_skipped_by_kruise(workload, count))
    return;
  const auto& threshold = workload.pull.min_updated_ready;
  if (threshold && threshold->of(count, true) > updated_ready(rollout))
    return;
  std::vector<Needed> needed = needed_images(rollout, in_place, order());
  for (const auto& [name, memory] : rollout.owned.jobs) {
    const Value& attributes = memory.resource->attributes;
    const Name image = attributes.text_at("image");
    const bool is_known =
        std::ranges::any_of(needed, [&](const Needed& each) { return each.image == image; });
    if (!is_known && attributes.at("state").text_at("revision") == rollout.update().name)
      needed.push_back({image, {}});
  }
  const Object* object = rollout.fleet.object(rollout.owner);
  const Value& selector = object->document.at("spec").at("selector");
  for (Needed& each : needed) {
    const Name job = pull_job_name(workload.name, rollout.update().name, each.image);
    if (workload.pull.refused_parallelism) {
      rollout.tell("FailedCreateImagePullJob", job,
                   cat("the job for image ", each.image, " cannot be created: a parallelism of ",
                       *workload.pull.refused_parallelism, " is below 0"),
                   "Warning");
      continue;
    }
    add_begun(rollout, each);
    const auto found = rollout.owned.jobs.find(rollout.in_space(job));
    const Memory* known = found == rollout.owned.jobs.end() ? nullptr : &found->second;
    if (known == nullptr && each.nodes.empty())
      continue;
    PullTask task;
    task.job = job;
    task.spec = pull_spec_of(workload, rollout.update().pod_template, each.image);
    task.nodes = std::move(each.nodes);
    task.labels = edited(rollout.update().pod_template.at("metadata").at("labels"),
                         {{label::job_revision, rollout.update().hash}});
    task.document =
        pull_job_document(task.spec, selector, {rollout.update().name, rollout.update().hash});
    task.revision = rollout.update().name;
    if (known == nullptr)
      rollout.tell(
          "CreatedImagePullJob", job,
          cat("pulls image ", each.image, " ahead for revision ", rollout.update().name, " on ",
              task.nodes.size(), " nodes, ", to_text(task.document.at("parallelism")), " at once"));
    pull(rollout, task, known);
  }
}

void mark_images(Rollout& rollout, InPlace& in_place, const Revision& target, const Order& order) {
  ImagesByTemplate images(rollout, in_place, target);
  Presence presence(rollout.fleet);
  for (const uint32_t row : order) {
    const std::vector<Name>* here = images.of(row);
    const Pod* pod = rollout.pod(row);
    rollout.rows[row].has_image =
        here != nullptr && pod != nullptr && presence.has(pod->node_number, *here);
  }
}

void pass_over_missing_images(Rollout& rollout, InPlace& in_place, const Revision& target,
                              Order& order) {
  if (rollout.workload.pull.mode != PullMode::wait ||
      rollout.workload.policy == PodPolicy::recreate || !gate_is_on(rollout))
    return;
  ImagesByTemplate images(rollout, in_place, target);
  std::erase_if(order, [&](uint32_t row) {
    const std::vector<Name>* here = images.of(row);
    return here != nullptr && !here->empty() &&
           (!rollout.rows[row].has_image || std::ranges::any_of(*here, [&](const Name& image) {
             return rollout.distrusts_image(pull_key(rollout.rows[row].node, image));
           }));
  });
}

}  // namespace fettle::workloads
