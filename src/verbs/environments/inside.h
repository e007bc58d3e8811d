#pragma once
/// Runs commands in services, and reads from services.

#include <string>

#include "core/container_engine.h"
#include "verbs/environments/environments.h"

namespace fettle {

/// The engine on which services run.
Result<ContainerEngine*> engine_inside(const Workplace& place);

/// The container of a service that is there, or that a failed attempt has left.
Result<std::string> container_of(const ServiceView& service);

/// Error: the service does not run, so nothing can be run in it.
Status check_runs(const Name& environment, const ServiceView& service);
/// Bash where it is, else whatever `sh` is there. Without a terminal it reads commands.
std::vector<std::string> shell_command();

/// Runs a command to its end and returns its exit code; see `ContainerEngine::run`.
Result<int64_t> run_inside(const Workplace& place, const ServiceView& service,
                           const ExecOptions& options, const StreamSink& sink,
                           std::stop_token stop);
/// Does the same with the input that `ends` provides; see `ContainerEngine::talk`.
Result<int64_t> talk_inside(const Workplace& place, const ServiceView& service,
                            const ExecOptions& options, const TalkEnds& ends,
                            const StreamSink& sink, std::stop_token stop);

/// The service of this name. If its container is gone, or nobody knows the name any more, a
/// container that the engine still has under the name, with the status `gone`. Errors
/// (`Blame::user`): there is none.
Result<ServiceView> service_that_wrote(const Workplace& place, const Environment& environment,
                                       const std::string& name);
/// Reads the output of a service, in pieces as they come. Several threads may ask at once.
Status read_logs_of(const Workplace& place, const ServiceView& service, const LogOptions& options,
                    const StreamSink& sink, std::stop_token stop);

}  // namespace fettle
