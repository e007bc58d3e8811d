#pragma once
/// Handlers, as Kubernetes calls them: a command inside a container, an HTTP request or a
/// connection to it. A probe uses one to ask whether a container has started, is alive and is
/// ready; a hook uses one to tell it that it was started or is about to be stopped.

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "drivers/engine/site.h"

namespace fettle {

/// The container that a handler is about.
struct PodHandlerPlace {
  std::string container;  ///< id
  std::string address;    ///< that of the pod
  const Value& spec;      ///< that of the container
};

/// Why the handler (`exec`, `httpGet`, `tcpSocket`, `sleep`) did not succeed within the limit.
/// None: it did. Errors: a stop was asked for.
Result<std::optional<std::string>> try_handler(const Site& site, const Value& handler,
                                               const PodHandlerPlace& place, Duration limit,
                                               const std::stop_token& stop);

/// The answers of the probes of a container.
struct PodHealth {
  bool started = true;  ///< its startup probe has succeeded, or it has none
  bool ready = true;
  bool alive = true;  ///< its liveness probe has not failed as often as it may
  std::string why;    ///< what failed
};

/// Earlier answers, so that a probe is sent no more often than its period says and failures are
/// counted. A process that looks for the first time knows of no other try: one answer decides. Safe
/// to use from many threads.
class PodProbes {
 public:
  /// For a container that has run since `running`. Errors: a stop was asked for.
  Result<PodHealth> ask(const Site& site, const PodHandlerPlace& place, Duration running,
                        const std::stop_token& stop);
  /// Whether a container's liveness probe has failed as often as it may.
  bool is_dead(const std::string& container, const Value& spec);
  /// Since when something holds or does not; `otherwise` if it is asked about for the first time.
  Time since(const std::string& what, bool holds, Time otherwise);

 private:
  struct Course {
    std::optional<Instant> tried;
    bool good = false;
    int alike = 0;       ///< tries in a row with this answer
    bool holds = false;  ///< the reported answer: changes after enough tries with the other
    std::string why;
  };
  struct Courses {
    Course startup, readiness, liveness;
  };
  Result<Course> try_probe(const Site& site, const Value& probe, const PodHandlerPlace& place,
                           Course course, const std::stop_token& stop);

  std::mutex mutex_;
  std::map<std::string, Courses> courses_;
  std::map<std::string, std::pair<bool, Time>> since_;
};

}  // namespace fettle
