#pragma once
/// Reads from pods, and runs commands in them.

#include <string>

#include "core/container_engine.h"
#include "workplace/workplace.h"

namespace fettle {

/// A container of a pod.
struct PodContainerView {
  std::string pod;        ///< `NAMESPACE/NAME`
  std::string container;  ///< its name
  std::string id;         ///< the engine's id
  Name driver;            ///< the driver of the engine it is on
};

/// Finds a container by its name; empty: the only one, else the first, and `others` says so.
/// Errors: there is no such pod or container (with a suggestion), or it was not made yet.
Result<PodContainerView> find_container(const Workplace& place, const Name& environment,
                                        const std::string& space, const std::string& pod,
                                        const std::string& container,
                                        std::vector<std::string>* others = nullptr);

/// Reads the output of a container, in pieces as they come.
Status read_pod_logs(const Workplace& place, const PodContainerView& container,
                     const LogOptions& options, const StreamSink& sink, std::stop_token stop);
/// Runs a command to its end and returns its exit code; see `ContainerEngine::run`.
Result<int64_t> run_in_pod(const Workplace& place, const PodContainerView& container,
                           const ExecOptions& options, const StreamSink& sink,
                           std::stop_token stop);

/// Does the same with the input that `ends` provides; see `ContainerEngine::talk`.
Result<int64_t> talk_in_pod(const Workplace& place, const PodContainerView& container,
                            const ExecOptions& options, const TalkEnds& ends,
                            const StreamSink& sink, std::stop_token stop);

/// Copies a file or folder of a container to a path of this machine, whose folder must exist. Links
/// in it cannot lead anywhere else. Errors: there is nothing at that path.
Status copy_out(const Workplace& place, const PodContainerView& container, const std::string& from,
                const std::string& to, std::stop_token stop);
/// Copies a file or folder of this machine to a path of a container, where its folder must exist.
Status copy_in(const Workplace& place, const PodContainerView& container, const std::string& from,
               const std::string& to, std::stop_token stop);

/// The document of a pod with its status, and what was done with the pod, the oldest first.
struct PodDescription {
  Value document;
  std::vector<Event> events;
};
/// Errors (`Blame::user`): there is no such pod.
Result<PodDescription> describe_pod(const Workplace& place, const Name& environment,
                                    const std::string& space, const std::string& pod);

/// Something that happened to a workload and was reported once; the oldest comes first.
struct NoticeView {
  std::string type, reason, text;
  Time time;
};
/// `owner`: `CloneSet/NAMESPACE/NAME`.
Result<std::vector<NoticeView>> notices_of(const Workplace& place, const Name& environment,
                                           const Name& owner);

}  // namespace fettle
