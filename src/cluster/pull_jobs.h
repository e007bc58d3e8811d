#pragma once
/// ImagePullJobs of a cluster: those of users, which are workloads, and those that pull ahead for a
/// rollout or for an ImageListPullJob, which belong to that and are only remembered by it.
///
/// A node is told to pull for a job, by the job's UID. So the job of a rollout is an object too:
/// nodes keep orders of no other, users see it, and OpenKruise's manager goes on with it.
///
/// What a decision remembers of a job stands in an annotation. A job that OpenKruise has made has
/// none, and is read from its spec. A job that it has completed is complete.

#include "cluster/objects.h"
#include "core/record.h"
#include "kinds/pull_job.h"

namespace fettle::cluster {

/// The workload that manages a job: `CloneSet/NAMESPACE/NAME`. Empty: it is a user's own. Who may
/// write jobs may say so of any SidecarSet, and nothing but an image to be pulled follows from it.
Name workload_of_job(const ObjectMeta& meta);

/// The job of a rollout, for a workload that is stored in the cluster.
Value pull_job_object(const PullJob& job, const workloads::Object& owner);
/// What changes later (a merge patch): what is remembered, and how many pull at once.
Value pull_job_change(const PullJob& job, const Value& object);

PullJob read_pull_job(const Value& object);
/// What is known of it. `owner`: who wants it; a job of a user wants itself.
RecordPointer record_of(const PullJob& job, const ObjectMeta& meta, const Name& owner,
                        const Name& environment);

}  // namespace fettle::cluster
