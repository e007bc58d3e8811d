#pragma once
/// Commands that read from pods, or run something in them.

#include <string>

#include "core/container_engine.h"
#include "workplace/workplace.h"

namespace fettle {

/// A container of a pod.
struct PodContainerView {
  std::string pod;        ///< `NAMESPACE/NAME`
  std::string container;  ///< its name
  std::string id;         ///< the engine's
  Name driver;            ///< whose engine it is on
};

/// A container by its name; empty: the only one, else the first, as `others` tells. Errors: there
/// is no such pod or container (with a suggestion), or it was not made yet.
Result<PodContainerView> find_container(const Workplace& place, const Name& environment,
                                        const std::string& space, const std::string& pod,
                                        const std::string& container,
                                        std::vector<std::string>* others = nullptr);

/// The output of a container, in pieces as they come.
Status read_pod_logs(const Workplace& place, const PodContainerView& container,
                     const LogOptions& options, const StreamSink& sink, std::stop_token stop);
/// Runs a command to its end and answers its exit code; see `ContainerEngine::run`.
Result<int64_t> run_in_pod(const Workplace& place, const PodContainerView& container,
                           const ExecOptions& options, const StreamSink& sink,
                           std::stop_token stop);

/// The same with input as `ends` say; see `ContainerEngine::talk`.
Result<int64_t> talk_in_pod(const Workplace& place, const PodContainerView& container,
                            const ExecOptions& options, const TalkEnds& ends,
                            const StreamSink& sink, std::stop_token stop);

/// A file or folder of a container to a path of this machine, whose folder exists. What is in it
/// leads nowhere else. Errors: there is nothing at that path.
Status copy_out(const Workplace& place, const PodContainerView& container, const std::string& from,
                const std::string& to, std::stop_token stop);
/// A file or folder of this machine to a path of a container, whose folder exists there.
Status copy_in(const Workplace& place, const PodContainerView& container, const std::string& from,
               const std::string& to, std::stop_token stop);

/// The document of a pod with its status, and what was done with it, the oldest first.
struct PodDescription {
  Value document;
  std::vector<Event> events;
};
/// Errors (`Blame::user`): there is no such pod.
Result<PodDescription> describe_pod(const Workplace& place, const Name& environment,
                                    const std::string& space, const std::string& pod);

/// What happened to a workload, as it was told once; the oldest first.
struct NoticeView {
  std::string type, reason, text;
  Time time;
};
/// `owner`: `CloneSet/NAMESPACE/NAME`.
Result<std::vector<NoticeView>> notices_of(const Workplace& place, const Name& environment,
                                           const Name& owner);

}  // namespace fettle
