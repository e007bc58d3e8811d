#pragma once
/// Changes that commands make to stored manifests: `scale`, `set image`, `label`, `rollout …`.
/// Errors (`Blame::user`): the kind has no such thing, or a rule of manifests is broken; the
/// message has the path of the wrong field.

#include <functional>

#include "base/result.h"
#include "workloads/workload.h"

namespace fettle::workloads {

/// For CloneSets and StatefulSets.
Result<Object> scaled(const Object& object, int64_t replicas);
/// `images`: container: reference. A container `*` stands for each that is not named itself.
Result<Object> with_images(const Object& object, const std::vector<Entry>& images);

enum class Metadata { labels, annotations };
/// `entries`: key: text, or null to remove the key. A key that has another text is refused unless
/// `overwrite`.
Result<Object> with_metadata(const Object& object, Metadata part, const std::vector<Entry>& entries,
                             bool overwrite);

/// For CloneSets, DaemonSets, StatefulSets and SidecarSets. Error: it is so already.
Result<Object> with_pause(const Object& object, bool paused);
/// Sets the template of an older revision.
Result<Object> with_template(const Object& object, const Value& pod_template);
/// A CloneSet without those names in `podsToDelete` that no pod has any more.
Object without_pods_to_delete(const Object& object,
                              const std::function<bool(const Name& pod)>& is_gone);
/// Recreates the containers of all pods, in the order of a rollout.
Result<Object> restarted(const Object& object, Time now);

/// Checks that a document obeys the rules of manifests, wherever it comes from. Error: the first
/// fault.
Status check_document(const Object& object);
/// Checks a label `app.kubernetes.io/name`, or a text after `KEY=`, as Kubernetes would.
Status check_metadata(Metadata part, std::string_view key, const Value& text);

}  // namespace fettle::workloads
