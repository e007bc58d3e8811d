#include "drivers/engine/task.h"

#include "base/hash.h"
#include "base/text.h"
#include "base/wait.h"
#include "drivers/engine/conflict.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/files.h"
#include "drivers/engine/last_line.h"
#include "drivers/engine/recipes.h"
#include "drivers/engine/service_body.h"
#include "kinds/network.h"
#include "value/mask.h"

namespace fettle {
namespace {

constexpr size_t longest_task_output = 64 << 20;

/// The place of the task: on the environment's network if it needs that, with an address of its
/// own.
Result<Placement> place(const Site& site, const Act& act, const std::stop_token& stop) {
  Placement placement;
  placement.labels = own_marks(site, act.key);
  const Record* const network = act.need("network");
  if (network == nullptr)
    return placement;
  const NetworkOutputs made = read<NetworkOutputs>(network->outputs);
  placement.network = made.name.view();
  placement.network_id = made.id.view();
  const auto subnet = parse_subnet(made.subnet);
  if (!subnet)
    return world_error("the record of the network has no address range");
  if (!site.allocation.knows(placement.network_id))
    site.allocation.learn(
        placement.network_id,
        TRY(own_containers(site, {environment_filter(act.key.environment)}, stop)));
  placement.address = TRY(site.allocation.address(placement.network_id, *subnet, made.gateway.str(),
                                                  owner_of(act.key), {}));
  placement.labels.emplace_back(std::string(mark::network), placement.network_id);
  placement.labels.emplace_back(std::string(mark::address), placement.address);
  return placement;
}

std::string container_name(const Key& key) {
  return cat("task--", to_string(fingerprint(cat(key.environment, "\n", key.name))));
}

/// Creates the container. One of the same task that a crash left is removed first.
Result<std::string> create(const Site& site, const Act& act, const Value& body,
                           const std::stop_token& stop) {
  const std::string name = container_name(act.key);
  CreatedContainer created = TRY(create_container(site.engine, name, body, stop));
  if (created.name_taken) {
    TRY(remove_container(site.engine, name, stop));
    created = TRY(create_container(site.engine, name, body, stop));
  }
  if (created.name_taken)
    return world_error(cat("the name `", name, "` is taken"));
  return created.id;
}

/// Waits for its end, at most as long as it may take.
Result<int64_t> await_end(const Site& site, const std::string& id, const Hole<Name>& timeout,
                          const std::stop_token& stop) {
  constexpr Duration rounding = 5ms;  // of the limit of a call, which may end a little early
  const Duration limit = timeout.is_text() ? TRY(parse_duration(timeout.get())) : for_ever;
  const auto begin = std::chrono::steady_clock::now();
  const Result<int64_t> code = wait_container(site.engine, id, limit, stop);
  if (!code && limit >= 0s && !is_cancelled(code.error()) &&
      std::chrono::steady_clock::now() - begin + rounding >= limit)
    return world_error(cat("the task did not end within ", to_string(limit)));
  return code;
}

Result<Outcome> run_in(const Site& site, const ContainerTask& task, const std::string& id,
                       const ProgressSink& progress, const std::stop_token& stop) {
  std::optional<OutputTail> tail(std::in_place, site, id, progress);
  const int64_t code = TRY(await_end(site, id, task.timeout, stop));
  tail.reset();
  std::string output;
  const auto take = [&](OutputStream, std::string_view bytes) {
    return sink_to(output, longest_task_output)(bytes);
  };
  TRY(read_logs(site.engine, id, {}, false, take, stop));
  TRY(check_code(acceptable_codes(task), "Task returned exit code", code, output));
  std::vector<Entry> files;
  const auto store = task.store.items();
  for (size_t i = 0; i < store.size(); ++i) {
    std::string digest =
        TRY(take_files(site, id, read<StoredPath>(store[i]).path.get().str(), stop));
    files.push_back({std::to_string(i), std::move(digest)});
  }
  return Outcome(Done{.outputs = write(TaskOutputs{code, output, Value::dict(std::move(files))}),
                      .remote_id = {}});
}

/// A task that was started, and its place.
struct StartedTask {
  std::string id;
  Placement placement;
};

/// Creates and starts it; with another address when somebody has the one that was chosen.
Result<StartedTask> start(const Site& site, const Act& act, const ContainerTask& task,
                          const std::stop_token& stop) {
  constexpr int tries = 3;
  for (int i = 1;; ++i) {
    Placement placement = TRY(place(site, act, stop));
    const Value body = TRY(task_body(task, placement));
    std::string id = TRY(create(site, act, body, stop));
    Status started = put_files(site, id, mounts_in(task.files), stop);
    if (started)
      started = start_container(site.engine, id, stop);
    if (started)
      return StartedTask{std::move(id), std::move(placement)};
    const Status removed = remove_container(site.engine, id, {});
    if (what_is_taken(started.error()) != EngineConflict::address || i == tries || !removed)
      return std::move(started).error();
    site.allocation.give_up_address(placement.network_id, owner_of(act.key));
  }
}

}  // namespace

Result<Outcome> run_task(const Site& site, const Act& act, const ProgressSink& progress,
                         std::stop_token stop) {
  ContainerTask task = read<ContainerTask>(reveal(act.attributes));
  if (act.need("build") != nullptr)  // as of a service
    task.image = task.image_id;
  const auto& [id, placement] = TRY(start(site, act, task, stop));
  Result<Outcome> outcome = run_in(site, task, id, progress, stop);
  // Whatever happened, also when we are to stop: it is thrown away.
  const Status removed = remove_container(site.engine, id, {});
  if (!placement.network_id.empty())
    site.allocation.free_address(placement.network_id, owner_of(act.key));
  if (outcome && !removed)
    return removed.error();
  return outcome;
}

Result<Outcome> drop_task(const Site& site, const Act& act, std::stop_token stop) {
  const std::vector<ContainerState> left = TRY(own_containers(site, key_filters(act.key), stop));
  for (const ContainerState& container : left)
    TRY(remove_container(site.engine, container.id, stop));
  return Outcome(Done{.outputs = Value::dict({}), .remote_id = {}, .changed = !left.empty()});
}

}  // namespace fettle
