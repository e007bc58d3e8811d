#pragma once
/// One function for every resource type that ships. The header of the same name has its attributes,
/// outputs and states; `src/app/kinds.cc` lists them all.

#include "kinds/kind_of.h"

namespace fettle {

// Things that can be looked at.
const TypedKind& network_kind();  ///< `network.h`: what connects the services of an environment
const TypedKind& image_kind();    ///< `image.h`: a container image on an engine
const TypedKind& build_kind();    ///< `build.h`: a container image that an engine builds
const TypedKind&
directory_kind();  ///< `directory.h`: files that outlive the service that writes them
const TypedKind& artifact_kind();  ///< `artifact.h`: a named tree of files
const TypedKind& service_kind();   ///< `service.h`: a container that keeps running

// Parts of workloads.
const TypedKind& pod_kind();       ///< `pod.h`: containers that share one address on one node
const TypedKind& claim_kind();     ///< `claim.h`: storage that outlives its pod
const TypedKind& revision_kind();  ///< `revision.h`: a template that a workload has or had
const TypedKind& pull_job_kind();  ///< `pull_job.h`: an image that should be on many nodes
const TypedKind& notice_kind();    ///< `notice.h`: a message that is given once

// Things on a machine, and acts on it.
const TypedKind& file_kind();     ///< `file.h`: a file
const TypedKind& folder_kind();   ///< `folder.h`: a folder
const TypedKind& link_kind();     ///< `link.h`: a symbolic link
const TypedKind& command_kind();  ///< `command.h`: a command, and when it has to run
const TypedKind& handled_kind();  ///< `handled.h`: a thing that users' code looks after
const TypedKind& state_kind();    ///< `state.h`: a call of a state function
const TypedKind& mark_kind();     ///< `mark.h`: something to need, without an act

// Acts that are done once.
const TypedKind& exec_kind();     ///< `exec.h`: a command inside a service
const TypedKind& request_kind();  ///< `request.h`: an HTTP request to a service
const TypedKind& wait_kind();     ///< `wait.h`: a recipe until an assertion holds
const TypedKind& verify_kind();   ///< `verify.h`: an assertion about a value
const TypedKind& print_kind();    ///< `print.h`: a message
const TypedKind& task_kind();     ///< `task.h`: a command in a throw-away container
const TypedKind& start_kind();    ///< `transition.h`: a stopped service runs again
const TypedKind& stop_kind();     ///< `transition.h`: a service is stopped and kept
const TypedKind& remove_kind();   ///< `transition.h`: a service goes away

}  // namespace fettle
