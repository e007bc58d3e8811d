#pragma once
/// Workloads: edits of what is stored, rollouts, images, and objects as Kubernetes writes them,
/// whose fields are not ours. Such an object comes from `shown_document` or `pods_of`; here what
/// is secret in it is hidden.

#include "controller/cluster_history.h"
#include "controller/workloads.h"
#include "documents/parts.h"
#include "verbs/fleet/pods.h"
#include "verbs/fleet/workload_views.h"

namespace fettle {

/// `object`, `status`.
Value value_of(const StoredObject& stored);
/// `objects`: what became of each, of what is only stored.
Value document_of(const std::vector<StoredObject>& stored);
/// The same after workloads were carried out: also `success`, and after waiting `pods`, `ready`,
/// `failures`, `unsettled`, `held`, `interrupted`. `brought`: null if nobody waited.
Value document_of(const std::vector<StoredObject>& stored, const BringResult* brought,
                  bool is_success);
/// A fleet whose keeper has ended: `pods`, `ready`.
Value document_of(const BringResult& brought);

/// `rollout status`: `object`, `phase`, `message`, `status`.
Value rollout_document(const Name& owner, const Value& status, std::string_view message);
/// `revision`, `name`, `wanted`, `pods`, `template`.
Value value_of(const Workplace& place, const RevisionView& revision);
/// `node`, `image`, `status`, `bytes`, `owner`, `message`.
Value value_of(const ImageView& image);

/// A list as Kubernetes writes it, of objects that may be told as they are.
Value list_document(std::vector<Value> objects);
/// `events` of a cluster: `time`, `type`, `reason`, `object`, `text`, `count`.
Value value_of(const ClusterEvent& event);
Value document_of(const std::vector<ClusterEvent>& events);
/// `time`, `type`, `reason`, `text`.
Value value_of(const NoticeView& notice);
/// `describe` of a workload: `object`, `pods`, `events`. Its documents may be told as they are.
Value description_document(const Value& object, std::vector<Value> pods,
                           const std::vector<NoticeView>& notices);
/// `describe` of a pod: `pod`, `events`.
Value document_of(const Workplace& place, const PodDescription& description);

}  // namespace fettle
