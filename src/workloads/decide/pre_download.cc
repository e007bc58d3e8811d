#include "workloads/decide/pre_download.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "kinds/pod.h"
#include "kinds/pull_job.h"
#include "workloads/names.h"

namespace fettle::workloads {
namespace {

/// Pods that are changing to the update revision, available or not.
int64_t updated_ready(const Rollout& rollout) {
  return std::ranges::count_if(rollout.rows,
                               [](const PodRow& row) { return row.is_updated && row.is_ready(); });
}

bool gate_is_on(const Rollout& rollout) {
  const Gates& gates = rollout.fleet.gates;
  return rollout.workload.sort == WorkloadSort::daemon_set ? gates.pre_download_daemon_set
                                                           : gates.pre_download;
}

/// OpenKruise skips it for three pods or fewer, and when all pods change in one batch.
bool is_skipped_by_kruise(const Workload& workload, int64_t count) {
  const bool is_small = workload.sort != WorkloadSort::daemon_set && count <= 3;
  const bool rounds_up = workload.sort == WorkloadSort::daemon_set;
  const bool is_one_batch =
      workload.kept(count) == 0 && workload.max_unavailable.of(count, rounds_up) >= count;
  return is_small || is_one_batch;
}

/// Images for pods of the rollout, and the nodes for each. The node that changes next comes first.
struct ImageNeed {
  Name image;
  std::vector<Name> nodes;
};

}  // namespace

/// The images that pods will get and do not run yet, by the template that they run.
class ImagesByTemplate {
 public:
  ImagesByTemplate(Rollout& rollout, InPlace& in_place, const Revision& target)
      : rollout_(rollout), in_place_(in_place), target_(target) {}

  /// Null: the pod does not change in place.
  const std::vector<Name>* of(uint32_t row) {
    const uint32_t number = rollout_.rows[row].template_number;
    if (number >= known_.size())
      known_.resize(number + 1);
    Known& known = known_[number];
    if (!known.is_known) {
      known.is_known = true;
      if (in_place_.can(row, target_))
        known.images = in_place_.new_images(row, target_);
    }
    return known.images ? &*known.images : nullptr;
  }
  /// Whether all of them are on the pod's node.
  bool has(uint32_t row) {
    const std::vector<Name>* images = of(row);
    if (images == nullptr)
      return false;
    const PodRow& pod = rollout_.rows[row];
    std::vector<int8_t>& on_node = known_[pod.template_number].on_node;
    if (on_node.empty())
      on_node.resize(rollout_.fleet.node_numbers(), -1);
    int8_t& has = on_node[pod.node_number];
    if (has < 0) {
      const Node* node = rollout_.fleet.node_at(pod.node_number);
      has = node != nullptr && std::ranges::all_of(*images, [&](const Name& image) {
              return Fleet::has_image(*node, image);
            });
    }
    return has == 1;
  }

 private:
  struct Known {
    bool is_known = false;
    std::optional<std::vector<Name>> images;
    std::vector<int8_t> on_node;  ///< by the number of the node; below 0: nobody asked yet
  };

  Rollout& rollout_;
  InPlace& in_place_;
  const Revision& target_;
  std::vector<Known> known_;  ///< by the number of the template
};

namespace {

/// The nodes on which candidates need an image, in the order of the first one on each.
class NeedingNodes {
 public:
  NeedingNodes(const Rollout& rollout, const UpdateQueue& queue)
      : rollout_(rollout), queue_(queue), first_(rollout.fleet.node_numbers(), none) {}

  void add(uint32_t place, uint32_t node) {
    uint32_t& first = first_[node];
    if (first == none)
      nodes_.push_back(node);
    if (first == none || queue_.is_before(place, first))
      first = place;
  }
  std::vector<Name> names() {
    std::ranges::sort(
        nodes_, [&](uint32_t a, uint32_t b) { return queue_.is_before(first_[a], first_[b]); });
    std::vector<Name> names;
    names.reserve(nodes_.size());
    for (const uint32_t node : nodes_)
      names.push_back(rollout_.pod(queue_.at(first_[node]))->node);
    return names;
  }

 private:
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

  const Rollout& rollout_;
  const UpdateQueue& queue_;
  std::vector<uint32_t> first_;  ///< the place of its first candidate, by the number of the node
  std::vector<uint32_t> nodes_;
};

std::vector<ImageNeed> needed_images(Rollout& rollout, InPlace& in_place,
                                     const UpdateQueue& queue) {
  std::vector<std::pair<Name, NeedingNodes>> found;
  ImagesByTemplate images(rollout, in_place, rollout.update());
  for (uint32_t place = 0; place < queue.size(); ++place) {
    const uint32_t row = queue.at(place);
    const std::vector<Name>* here = images.of(row);
    if (here == nullptr || rollout.pod(row) == nullptr ||
        !rollout.fleet.can_pull_ahead(rollout.rows[row].node()))
      continue;
    for (const Name& image : *here) {
      auto each = std::ranges::find_if(found, [&](const auto& one) { return one.first == image; });
      if (each == found.end()) {
        found.emplace_back(image, NeedingNodes(rollout, queue));
        each = std::prev(found.end());
      }
      each->second.add(place, rollout.rows[row].node_number);
    }
  }
  std::vector<ImageNeed> needed;
  for (auto& [image, nodes] : found)
    needed.push_back({image, nodes.names()});
  return needed;
}

/// A node on which the job is pulling stays in the job, although its pods have begun to change: the
/// pods need the image that is under way.
void add_begun(const Rollout& rollout, ImageNeed& needed) {
  std::vector<bool> listed(rollout.fleet.node_numbers());
  for (const Name& name : needed.nodes)
    if (const Node* const node = rollout.fleet.node(name))
      listed[node->number] = true;
  for (const Name& key : rollout.owned.pulls) {
    const OnNode pull = on_node(key);
    if (pull.rest != needed.image.view())
      continue;
    const Name name = pull.node;
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

namespace {

/// In a cluster it is called as OpenKruise calls it, so that either goes on with the other's.
Name name_of_job(const Rollout& rollout, const Name& image) {
  const Revision& update = rollout.update();
  if (rollout.fleet.is_cluster)
    for (const Value& container : items_of(update.pod_template.at("spec").at("containers")))
      if (container.text_at("image") == image.view())
        return cat(update.name, "-", container.text_at("name"));
  return pull_job_name(rollout.workload.name, update.name, image);
}

}  // namespace

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

bool pre_downloads(const Rollout& rollout) {
  const Workload& workload = rollout.workload;
  if (!gate_is_on(rollout) || workload.policy == PodPolicy::recreate ||
      workload.type != UpdateType::rolling)
    return false;
  const bool is_under_way = std::ranges::any_of(rollout.rows, [](const PodRow& row) {
    return !row.is_updated || row.lifecycle == Lifecycle::updating;
  });
  if (!is_under_way)
    return false;
  const auto count = static_cast<int64_t>(workload.sort == WorkloadSort::daemon_set
                                              ? static_cast<int64_t>(rollout.size())
                                              : workload.replicas);
  if (workload.pull.kruise_rules && is_skipped_by_kruise(workload, count))
    return false;
  const auto& threshold = workload.pull.min_updated_ready;
  return !threshold || threshold->of(count, true) <= updated_ready(rollout);
}

void pre_download(Rollout& rollout, InPlace& in_place, const UpdateQueue& queue) {
  const Workload& workload = rollout.workload;
  std::vector<ImageNeed> needed = needed_images(rollout, in_place, queue);
  for (const auto& [name, memory] : rollout.owned.jobs) {
    const PullJob job = read<PullJob>(memory.resource->attributes);
    const Name& image = job.image;
    const bool is_known =
        std::ranges::any_of(needed, [&](const ImageNeed& each) { return each.image == image; });
    if (!is_known && job.state && job.state->revision == rollout.update().name)
      needed.push_back({image, {}});
  }
  const Object* object = rollout.fleet.object(rollout.owner);
  const Value& selector = object->document.at("spec").at("selector");
  for (ImageNeed& each : needed) {
    const Name job = name_of_job(rollout, each.image);
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
  for (const uint32_t row : order)
    rollout.rows[row].has_image = rollout.pod(row) != nullptr && images.has(row);
}

MissingImages::MissingImages(Rollout& rollout, InPlace& in_place, const Revision& target)
    : rollout_(rollout) {
  if (rollout.workload.pull.mode == PullMode::wait &&
      rollout.workload.policy != PodPolicy::recreate && gate_is_on(rollout))
    images_ = std::make_unique<ImagesByTemplate>(rollout, in_place, target);
}

MissingImages::~MissingImages() = default;

bool MissingImages::hold(uint32_t row) const {
  const std::vector<Name>* here = images_ == nullptr ? nullptr : images_->of(row);
  return here != nullptr && !here->empty() &&
         rollout_.fleet.can_pull_ahead(rollout_.rows[row].node()) &&
         (!rollout_.rows[row].has_image || std::ranges::any_of(*here, [&](const Name& image) {
           return rollout_.distrusts_image(pull_key(rollout_.rows[row].node(), image));
         }));
}

}  // namespace fettle::workloads
