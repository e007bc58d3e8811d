#pragma once
/// Changes that commands make to stored manifests: `scale`, `set image`, `label`, `rollout …`.
/// Errors (`Blame::user`): the kind has no such thing, or a rule of manifests is broken; a field
/// that is wrong is named by its path.

#include <functional>

#include "base/result.h"
#include "workloads/workload.h"

namespace fettle::workloads {

/// CloneSets and StatefulSets.
Result<Object> scaled(const Object& object, int64_t replicas);
/// `images`: container: reference. A container `*` is every one that is not named itself.
Result<Object> with_images(const Object& object, const std::vector<Entry>& images);

enum class Metadata { labels, annotations };
/// `entries`: key: text, or null to take it away. A key that has another text is refused unless
/// `overwrite`.
Result<Object> with_metadata(const Object& object, Metadata part, const std::vector<Entry>& entries,
                             bool overwrite);

/// CloneSets, DaemonSets, StatefulSets and SidecarSets. Error: it is so already.
Result<Object> with_pause(const Object& object, bool paused);
/// Another template: that of an older revision.
Result<Object> with_template(const Object& object, const Value& pod_template);
/// A CloneSet without those names in `podsToDelete` that mean no pod any more.
Object without_pods_to_delete(const Object& object,
                              const std::function<bool(const Name& pod)>& is_gone);
/// All pods' containers are made anew, in the order of a rollout.
Result<Object> restarted(const Object& object, Time now);

/// Whether a document keeps the rules of manifests, wherever it comes from. Error: the first fault.
Status check_document(const Object& object);
/// A label `app.kubernetes.io/name` or a text after `KEY=` that Kubernetes would refuse.
Status check_metadata(Metadata part, std::string_view key, const Value& text);

}  // namespace fettle::workloads
