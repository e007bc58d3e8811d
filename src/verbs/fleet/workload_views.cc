#include "verbs/fleet/workload_views.h"

#include <algorithm>
#include <tuple>

#include "base/rfc3339.h"
#include "base/text.h"
#include "controller/workload_objects.h"
#include "kinds/image.h"
#include "kinds/image_reference.h"
#include "kinds/pod.h"
#include "kinds/revision.h"
#include "verbs/fleet/pod_document.h"
#include "workloads/decide/status.h"
#include "workloads/seen.h"
#include "workloads/selector.h"

namespace fettle {

using workloads::Object;

Result<std::vector<Value>> pods_of(const Workplace& place, const Name& environment,
                                   const Name& owner) {
  FleetView view(environment);
  for (const auto& [key, record] : TRY(place.store->known(environment))) {
    const Resource* const then = resource_of_then(*record);
    if (key.kind == "pod" && then != nullptr && record->by_hand != ByHand::removed &&
        (owner.empty() || read_one<&Pod::owner>(then->attributes).view() == owner))
      view.known.emplace(key, record);
  }
  TRY(look_at_pods(place, view));
  std::map<std::tuple<std::string, std::string, Key>, Value> sorted;
  for (const auto& [key, record] : view.known) {
    const auto found = view.seen.find(key);
    const NodeAddress address = node_address(key.name);
    sorted[{std::string(address.space), std::string(address.name), key}] =
        pod_document(key, *record, found == view.seen.end() ? nullptr : &found->second);
  }
  std::vector<Value> found;
  for (auto& [key, pod] : sorted)
    found.push_back(std::move(pod));
  return found;
}

Result<LabelFilter> label_filter(std::string_view text) {
  return LabelFilter([selector = TRY(workloads::parse_selector(text))](const Value& labels) {
    return selector.matches(labels);
  });
}

std::optional<Duration> age_of_object(const Value& document, Time now) {
  const auto created = read_moment(document.at("metadata").text_at("creationTimestamp"));
  return created ? std::optional<Duration>(now - *created) : std::nullopt;
}

Result<std::vector<Object>> objects_with_status(const Workplace& place, const Name& environment) {
  const std::unique_ptr<FleetView> view = TRY(look_at_fleet(place, environment));
  std::vector<Object> objects = TRY(stored_objects(place, environment));
  for (Object& object : objects) {
    Value status = workloads::status_of(view->fleet, object.owner(), place.clock());
    if (status.is_null())
      continue;
    std::vector<Entry> entries(object.document.entries().begin(), object.document.entries().end());
    entries.push_back({"status", std::move(status)});
    object.document = Value::dict(std::move(entries));
  }
  for (Object& job : workloads::jobs_of_rollouts(view->fleet))
    objects.push_back(std::move(job));
  return objects;
}

Result<bool> has_manifests(const Workplace& place, const Name& environment) {
  return !TRY(stored_objects(place, environment)).empty();
}

Result<Name> owner_of_job(const Workplace& place, const Name& environment, const Name& job) {
  const std::unique_ptr<FleetView> view = TRY(learn_fleet(place, environment));
  return workloads::owner_of_job(view->fleet, job);
}

Result<std::vector<ImageView>> images_of(const Workplace& place, const Name& environment,
                                         bool all) {
  const std::unique_ptr<FleetView> view = TRY(learn_fleet(place, environment));
  std::map<std::pair<std::string, std::string>, ImageView> found;
  std::map<std::string, std::string> written;  // complete: as workloads write it
  const std::vector<NodeImageView> there = TRY(images_on_nodes(place, view->fleet));
  for (const auto& [name, node] : view->fleet.nodes())
    for (const auto& [image, digest] : node.images) {
      ImageView& row = found[{name.str(), image.str()}];
      row = {.node = name.str(), .image = image.str(), .status = "Present", .owner = {}, .why = {}};
      written[full_reference(image)] = image.str();
    }
  for (const NodeImageView& image : there) {
    const auto name = written.find(image.reference);
    const bool is_digest = image.reference.find('@') != std::string::npos;
    if (name == written.end() && (!all || is_digest))
      continue;
    const std::string reference = name == written.end() ? image.reference : name->second;
    ImageView& row = found[{image.node, reference}];
    row.node = image.node;
    row.image = reference;
    row.status = "Present";
    row.bytes = image.bytes;
  }
  view->fleet.for_each_pull([&](const workloads::Pull& pull) {
    if (pull.is_done)
      return;
    const Image wanted = read<Image>(pull.resource->attributes);
    const std::string node = wanted.node.get().str(), image = wanted.reference.get().str();
    ImageView& row = found[{node, image}];
    if (row.status == "Present")
      return;
    row = {.node = node,
           .image = image,
           .status = pull.has_failed ? "Failed" : "Pulling",
           .owner = pull.owner.str(),
           .why = pull.error.str()};
  });
  std::vector<ImageView> rows;
  for (auto& [key, row] : found)
    rows.push_back(std::move(row));
  return rows;
}

Result<std::vector<RevisionView>> revisions_of(FleetAccess& fleet, const Name& owner) {
  const std::unique_ptr<FleetView> view = TRY(fleet.view_of(owner));
  const workloads::Workload* const workload = view->fleet.workload(owner);
  if (workload == nullptr) {
    std::vector<std::string> names;
    for (const auto& [name, each] : view->fleet.workloads())
      names.push_back(name.str());
    return user_error(cat("there is no `", owner, "`", suggestion(owner, names)));
  }
  std::vector<RevisionView> found;
  const workloads::OwnerHoldings& owned = view->fleet.owned(owner);
  for (const auto& [name, memory] : owned.revisions) {
    const ControllerRevision known = read<ControllerRevision>(memory.resource->attributes);
    RevisionView revision{.number = known.number,
                          .name = known.name.str(),
                          .pod_template = known.pod_template.value()};
    revision.is_current = revision.pod_template == workload->pod_template;
    revision.pods =
        static_cast<size_t>(std::ranges::count_if(owned.pods, [&](const workloads::FleetPod* pod) {
          return pod->revision == revision.name;
        }));
    found.push_back(std::move(revision));
  }
  std::ranges::sort(found, {}, &RevisionView::number);
  return found;
}

}  // namespace fettle
