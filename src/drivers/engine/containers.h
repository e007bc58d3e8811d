#pragma once
/// Containers of an engine.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/container_engine.h"
#include "drivers/engine/engine.h"

namespace fettle {

struct ContainerState {
  std::string id;
  std::string name;      ///< without `/`
  std::string image;     ///< the image that was asked for
  std::string image_id;  ///< `sha256:…`
  std::string status;    ///< `created`, `running`, `paused`, `restarting`, `exited`, `dead` …
  std::optional<int64_t> exit_code;  ///< if it has exited, and the engine says so
  // Only of `inspect`:
  std::string started, finished;  ///< as `2026-11-22T13:40:53.1Z`; the year 1 if it never happened
  int64_t restarts = 0;           ///< by the engine itself
  bool out_of_memory = false;     ///< as the engine says; not every engine does
  int64_t process = 0;            ///< its first process, by the number on the engine's machine
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> addresses;  ///< by the name of the network
  bool runs() const { return status == "running"; }
};

struct CreatedContainer {
  std::string id;
  bool name_taken = false;  ///< nothing was created; a container of this name is there
};

/// Whether a container, running or not, is on none of the networks that it was made for (by its
/// marks): somebody disconnected it, or removed the network. `name`: of its network; empty: any.
bool is_cut_off(const ContainerState& state, const std::string& name = {});

/// `body`: as the API wants it.
Result<CreatedContainer> create_container(Engine& engine, const std::string& name,
                                          const Value& body, std::stop_token stop);
/// It is no error if the container runs.
Status start_container(Engine& engine, const std::string& id, std::stop_token stop);
/// Returns whether it ran. A container that is gone did not run.
Result<bool> stop_container(Engine& engine, const std::string& id, Duration grace,
                            std::stop_token stop);
/// Kills the container if it runs, and removes its anonymous volumes with it. It is no error if it
/// is gone.
Status remove_container(Engine& engine, const std::string& id, std::stop_token stop);
/// Returns whether it was there.
Result<bool> rename_container(Engine& engine, const std::string& id, const std::string& name,
                              std::stop_token stop);
/// None: there is no such container. `id` may be a name.
Result<std::optional<ContainerState>> inspect_container(Engine& engine, const std::string& id,
                                                        std::stop_token stop);
/// The number of its present life, for `Observation::life`. 0: it does not run.
Result<uint64_t> life_of(Engine& engine, const std::string& id, std::stop_token stop);
/// All containers with these labels (`key=value`), running or not.
Result<std::vector<ContainerState>> list_containers(Engine& engine,
                                                    const std::vector<std::string>& labels,
                                                    std::stop_token stop);
/// The exit code, once the container has ended; `limit` may be `for_ever`.
Result<int64_t> wait_container(Engine& engine, const std::string& id, Duration limit,
                               std::stop_token stop);
/// `memory` in bytes, CPU in billionths of a core; 0 changes nothing.
Status limit_container(Engine& engine, const std::string& id, int64_t memory, int64_t nano_cpus,
                       std::stop_token stop);

/// Reads its output, in pieces as they come.
Status read_logs(Engine& engine, const std::string& id, const LogOptions& options, bool tty,
                 const StreamSink& sink, std::stop_token stop);
/// The last lines of both streams, for an error message. Empty: they cannot be read.
std::string last_log_lines(Engine& engine, const std::string& id, int count, std::stop_token stop);
constexpr int shown_log_lines = 10;  ///< of a container that has ended and should run

/// Splits the frames in which an engine mixes two streams: one byte for the stream, three zeros,
/// four bytes for the length, and the data.
ByteSink frame_sink(StreamSink take);

}  // namespace fettle
