#pragma once
/// Every type of resource that ships, one function each; what its attributes and outputs are stands
/// in the file of the same name. `src/app/kinds.cc` lists them all.

#include "core/kind.h"

namespace fettle {

// What the world can be asked about.
const Kind& network_kind();    ///< `network.cc`: what connects the services of an environment
const Kind& image_kind();      ///< `image.cc`: a container image on an engine
const Kind& directory_kind();  ///< `directory.cc`: files that outlive the service that writes them
const Kind& artifact_kind();   ///< `artifact.cc`: a named tree of files
const Kind& service_kind();    ///< `service.cc`: a container that keeps running

/// What a service is called. `web~1` was a `web` that was removed before another one came.
std::string_view service_name(const Key& key);

/// What a files artifact is called. Who updates one in a run is an author of it: `page` is what the
/// first one made of it, `page~2` what the second one did.
std::string_view artifact_name(const Key& key);
/// 1: the first author.
int artifact_author(const Key& key);
/// The name in the key of the n-th author.
std::string name_of_author(std::string_view artifact, int author);
/// The attributes of an artifact that is downloaded. `source`: `url` or `web`.
Value downloaded_artifact(std::string_view source, std::string_view url);
/// One artifact among the files of a service or a task, as what the author `key_name` made of it.
Value mounted_artifact(std::string_view key_name);

// What workloads are made of.
const Kind& pod_kind();       ///< `pod.cc`: containers that share one address on one node
const Kind& claim_kind();     ///< `claim.cc`: storage that outlives its pod
const Kind& revision_kind();  ///< `revision.cc`: a template that a workload has or had
const Kind& pull_job_kind();  ///< `pull_job.cc`: an image that is to be on many nodes
const Kind& notice_kind();    ///< `notice.cc`: something that is said once

// What a machine has, and what is done on it.
const Kind& file_kind();     ///< `file.cc`: a file
const Kind& folder_kind();   ///< `folder.cc`: a folder
const Kind& link_kind();     ///< `link.cc`: a symbolic link
const Kind& command_kind();  ///< `command.cc`: a command, and when it has to run
const Kind& handled_kind();  ///< `handled.cc`: what code of users looks after
const Kind& state_kind();    ///< `state.cc`: a call of a state function
const Kind& mark_kind();     ///< `mark.cc`: what others need and nobody has to make

// What is done once.
const Kind& exec_kind();     ///< `exec.cc`: a command inside a service
const Kind& request_kind();  ///< `request.cc`: an HTTP request to a service
const Kind& wait_kind();     ///< `wait.cc`: a recipe until an assertion holds
const Kind& verify_kind();   ///< `verify.cc`: an assertion about a value
const Kind& print_kind();    ///< `print.cc`: a message
const Kind& task_kind();     ///< `task.cc`: a command in a throw-away container
const Kind& start_kind();    ///< `transition.cc`: a stopped service runs again
const Kind& stop_kind();     ///< `transition.cc`: a service is stopped and kept
const Kind& remove_kind();   ///< `transition.cc`: a service goes away

}  // namespace fettle
