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
  std::string image;     ///< as it was asked for
  std::string image_id;  ///< `sha256:…`
  std::string status;    ///< `created`, `running`, `paused`, `restarting`, `exited`, `dead` …
  std::optional<int64_t> exit_code;  ///< of an exited one, when the engine says it
  // Only of `inspect`:
  std::string started, finished;  ///< as `2026-11-22T13:40:53.1Z`; of what never was the year 1
  int64_t restarts = 0;           ///< by the engine itself
  bool out_of_memory = false;     ///< as the engine says; not every one does
  int64_t process = 0;            ///< its first one, by its number on the engine's machine
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> addresses;  ///< by network's name
  bool runs() const { return status == "running"; }
};

struct ContainerCreated {
  std::string id;
  bool name_taken = false;  ///< nothing was created; a container of this name is there
};

/// Whether a container stands on none of the networks that it was made for (by its marks), running
/// or not: somebody disconnected it, or removed the network. `name`: of its network; empty: any.
bool is_cut_off(const ContainerState& state, const std::string& name = {});

/// `body` as the API wants it.
Result<ContainerCreated> create_container(Engine& engine, const std::string& name,
                                          const Value& body, std::stop_token stop);
/// Starting a running one is fine.
Status start_container(Engine& engine, const std::string& id, std::stop_token stop);
/// Whether it ran. One that is gone did not.
Result<bool> stop_container(Engine& engine, const std::string& id, Duration grace,
                            std::stop_token stop);
/// Kills it when it runs, and takes its anonymous volumes with it. Gone is fine.
Status remove_container(Engine& engine, const std::string& id, std::stop_token stop);
/// Whether it was there.
Result<bool> rename_container(Engine& engine, const std::string& id, const std::string& name,
                              std::stop_token stop);
/// None when there is no such container; `id` may be a name.
Result<std::optional<ContainerState>> inspect_container(Engine& engine, const std::string& id,
                                                        std::stop_token stop);
/// The number of the life that it is in, for `Observation::life`; 0 when it does not run.
Result<uint64_t> life_of(Engine& engine, const std::string& id, std::stop_token stop);
/// All, running or not, with these labels (`key=value`).
Result<std::vector<ContainerState>> list_containers(Engine& engine,
                                                    const std::vector<std::string>& labels,
                                                    std::stop_token stop);
/// The exit code, when the container has ended; `limit` may be `for_ever`.
Result<int64_t> wait_container(Engine& engine, const std::string& id, Duration limit,
                               std::stop_token stop);
/// Memory in bytes and CPU in billionths of a core; 0 leaves it as it is.
Status limit_container(Engine& engine, const std::string& id, int64_t memory, int64_t nano_cpus,
                       std::stop_token stop);

/// What it wrote, in pieces as they come.
Status read_logs(Engine& engine, const std::string& id, const LogOptions& options, bool tty,
                 const StreamSink& sink, std::stop_token stop);
/// The last lines of both streams, for an error message; empty when they cannot be had.
std::string last_log_lines(Engine& engine, const std::string& id, int count, std::stop_token stop);
constexpr int shown_log_lines = 10;  ///< of a container that has ended where it should run

/// Takes apart the frames in which an engine mixes two streams: a byte for the stream, three zeros,
/// four for the length, and the bytes.
ByteSink frame_sink(StreamSink take);

}  // namespace fettle
