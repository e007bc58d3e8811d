#pragma once
/// ControllerRevision objects and what is remembered of revisions (`kinds/revision.h`). The template
/// stands in an object as the patch that would bring it back, as Kubernetes writes it:
///
///     {"spec": {"template": {"$patch": "replace", "metadata", "spec"}}}
///
/// and the containers of a SidecarSet as OpenKruise does:
///
///     {"spec": {"$patch": "replace", "containers", "initContainers", "volumes", ...}}

#include "base/result.h"
#include "cluster/objects.h"
#include "core/record.h"
#include "kinds/revision.h"
#include "kubernetes/resource_type.h"

namespace fettle::cluster {

/// The name of the object of a revision. That of a SidecarSet has no namespace, and its object needs
/// one.
kubernetes::ObjectName object_of_revision(const Name& space, const Name& name);

/// Error (`Blame::world`): the object has no template with containers, or is of no workload, or of
/// another one than that with this UID; an empty one is not known.
Result<ControllerRevision> read_revision(const Value& object, const Name& owner_uid = {});

/// The object to be made for an owner that is stored in the cluster. `stored`: the template as it
/// stands there, or the spec of a SidecarSet, with all defaults that a webhook may have written
/// into it. If that is what the revision has, it is written as it is: OpenKruise compares revisions
/// byte by byte, and would recreate every pod for a template that says the same in other words.
Value revision_object(const ControllerRevision& revision, const workloads::Object& owner,
                      const Value& stored = {});
/// What can change of it later: its number and what its workload remembers (a merge patch). A
/// template never does.
Value revision_change(const ControllerRevision& revision, const ObjectMeta& meta);

/// What a revision keeps of the spec of its workload: the template, or the parts of a SidecarSet.
/// Null: it is neither.
Value words_of_revision(const Value& object);
/// The revision to be made in its place, with these parts of the spec as its data. Without what a
/// server writes.
Value revision_in_words(const Value& object, const Value& spec);
/// Whether its data, which nobody can change, were written by this manager of fields.
bool has_data_of(const Value& object, std::string_view manager);

/// The current revision is where both controllers look for it, in the status of the workload.
/// `revisions`: those of one workload; the newest one gets it.
void take_current(std::vector<ControllerRevision>& revisions, const Value& status);

/// The revision that a label of a pod names, by its name or by its hash. Null: it is not there.
const ControllerRevision* revision_of_label(const std::vector<ControllerRevision>& revisions,
                                            std::string_view text);

/// What is known of it.
RecordPointer record_of(const ControllerRevision& revision, const Name& environment);

}  // namespace fettle::cluster
