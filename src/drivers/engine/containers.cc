#include "drivers/engine/containers.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/hash.h"
#include "base/text.h"
#include "base/wait.h"
#include "drivers/engine/conflict.h"
#include "drivers/engine/marks.h"

namespace fettle {
namespace {

constexpr size_t frame_head = 8;

std::string bare_name(std::string_view name) {
  return std::string(name.starts_with('/') ? name.substr(1) : name);
}

/// `Exited (137) 3 seconds ago`
std::optional<int64_t> code_in(std::string_view text) {
  const size_t open = text.find('(');
  int64_t code = 0;
  if (!text.starts_with("Exited") || open == text.npos)
    return {};
  const auto [end, failure] =
      std::from_chars(text.data() + open + 1, text.data() + text.size(), code);
  return failure == std::errc() ? std::optional(code) : std::nullopt;
}

std::map<std::string, std::string> addresses_of(const Value& networks) {
  std::map<std::string, std::string> addresses;
  if (networks.is_dict())
    for (const Entry& entry : networks.entries())
      addresses.emplace(entry.key.str(), entry.value.text_at("IPAddress"));
  return addresses;
}

/// Podman has words of its own: `stopped` and `configured`.
std::string common_status(std::string_view status) {
  if (status == "stopped")
    return "exited";
  return status == "configured" || status == "initialized" ? "created" : std::string(status);
}

ContainerState from_list(const Value& item) {
  ContainerState state;
  state.id = item.text_at("Id");
  const Value& names = item.at("Names");
  if (names.is_list() && !names.items().empty())
    state.name = bare_name(names.items()[0].text());
  state.image = item.text_at("Image");
  state.image_id = item.text_at("ImageID");
  state.status = common_status(item.text_at("State"));
  state.exit_code = code_in(item.text_at("Status"));
  state.labels = labels_in(item.at("Labels"));
  state.addresses = addresses_of(item.at("NetworkSettings").at("Networks"));
  return state;
}

ContainerState from_inspect(const Value& item) {
  ContainerState state;
  const Value& now = item.at("State");
  state.id = item.text_at("Id");
  state.name = bare_name(item.text_at("Name"));
  state.image = item.at("Config").text_at("Image");
  state.image_id = item.text_at("Image");
  state.status = common_status(now.text_at("Status"));
  if (state.status == "exited")
    state.exit_code = now.integer_at("ExitCode");
  state.started = now.text_at("StartedAt");
  state.finished = now.text_at("FinishedAt");
  state.restarts = item.integer_at("RestartCount");
  state.out_of_memory = now.bool_at("OOMKilled");
  state.process = now.integer_at("Pid");
  state.labels = labels_in(item.at("Config").at("Labels"));
  state.addresses = addresses_of(item.at("NetworkSettings").at("Networks"));
  return state;
}

std::string of(const std::string& id, std::string_view rest = {}) {
  return cat("/containers/", percent_encode(id), rest);
}

}  // namespace

bool is_cut_off(const ContainerState& state, const std::string& name) {
  if (label(state.labels, mark::network).empty())
    return false;
  return name.empty() ? state.addresses.empty() : !state.addresses.contains(name);
}

Result<CreatedContainer> create_container(Engine& engine, const std::string& name,
                                          const Value& body, std::stop_token stop) {
  const EngineAnswer answer = TRY(engine.ask(
      {.method = "POST", .path = "/containers/create", .query = {{"name", name}}, .body = body},
      stop));
  if (answer.ok())
    return CreatedContainer{.id = std::string(answer.body.text_at("Id"))};
  const std::string said = answer.message();
  if (answer.status == 409 || said.find("already in use") != said.npos)  // Podman: 500
    return CreatedContainer{.id = {}, .name_taken = true};
  return engine_error(answer);
}

namespace {

/// Lets a container go on that somebody else has paused: an engine neither starts nor stops a
/// paused one.
Status unpause(Engine& engine, const std::string& id, std::stop_token stop) {
  const EngineAnswer answer = TRY(engine.ask({.method = "POST", .path = of(id, "/unpause")}, stop));
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

}  // namespace

Status start_container(Engine& engine, const std::string& id, std::stop_token stop) {
  const auto start = [&] { return engine.ask({.method = "POST", .path = of(id, "/start")}, stop); };
  EngineAnswer answer = TRY(start());
  // Podman frees an address a moment after the container that had it has ended. It never frees it
  // if that container was killed while this one started, and is gone.
  constexpr Duration patience = 5s, pause = 100ms;
  for (Duration waited{0}; waited < patience && !answer.ok(); waited += pause) {
    const std::string holder = holder_of_address(answer.message());
    if (holder.empty())
      break;
    const auto other = TRY(inspect_container(engine, holder, stop));
    TRY(pause_for(pause, stop));
    if (!other || other->runs())
      waited = patience;  // nobody will free it: tries once more, and no longer
    answer = TRY(start());
  }
  if (answer.ok() && answer.status != 304)
    return {};
  const auto state = TRY(inspect_container(engine, id, stop));
  if (state && state->status == "paused")
    return unpause(engine, id, stop);
  return answer.ok() ? Status() : engine_error(answer);
}

namespace {

constexpr Duration stop_pause = 100ms, stop_margin = 10s;

}  // namespace

Result<bool> stop_container(Engine& engine, const std::string& id, Duration grace,
                            std::stop_token stop) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(grace).count();
  const EngineAnswer answer = TRY(engine.ask({.method = "POST",
                                              .path = of(id, "/stop"),
                                              .query = {{"t", std::to_string(seconds)}},
                                              .quiet = grace},
                                             stop));
  if (answer.status == 304 || answer.status == 404)
    return false;
  if (answer.ok())
    return true;
  // Podman fails to stop a container that never started, has just ended, or is being stopped.
  auto state = TRY(inspect_container(engine, id, stop));
  for (Duration waited{0}; state && state->status == "stopping" && waited < grace + stop_margin;
       waited += stop_pause) {
    TRY(pause_for(stop_pause, stop));
    state = TRY(inspect_container(engine, id, stop));
  }
  if (state && state->status == "paused") {
    TRY(unpause(engine, id, stop));
    return stop_container(engine, id, grace, stop);
  }
  if (!state || state->status != "running")
    return false;
  return engine_error(answer);
}

Status remove_container(Engine& engine, const std::string& id, std::stop_token stop) {
  // While somebody else is removing a container, Docker answers 409. While one is ending, Podman
  // answers 500.
  constexpr int tries = 40;
  for (int i = 0;; ++i) {
    const EngineAnswer answer = TRY(engine.ask(
        {.method = "DELETE", .path = of(id), .query = {{"force", "1"}, {"v", "1"}}}, stop));
    if (answer.ok() || answer.status == 404)
      return {};
    const std::string said = answer.message();
    const bool busy =
        said.find("in progress") != said.npos || said.find("state improper") != said.npos;
    if (!TRY(inspect_container(engine, id, stop)))
      return {};
    if (!busy || i == tries)
      return engine_error(answer);
    TRY(pause_for(50ms, stop));
  }
}

Result<bool> rename_container(Engine& engine, const std::string& id, const std::string& name,
                              std::stop_token stop) {
  const EngineAnswer answer = TRY(
      engine.ask({.method = "POST", .path = of(id, "/rename"), .query = {{"name", name}}}, stop));
  if (answer.ok())
    return true;
  if (answer.status == 404)
    return false;
  const auto state = TRY(inspect_container(engine, id, stop));
  if (!state)
    return false;
  if (state->name == name)
    return true;
  return engine_error(answer);
}

Result<std::optional<ContainerState>> inspect_container(Engine& engine, const std::string& id,
                                                        std::stop_token stop) {
  constexpr Duration longest_pause = 320ms, patience = 2s;
  EngineAnswer answer;
  Duration waited{0};
  for (Duration pause = 20ms;; pause = std::min(2 * pause, longest_pause)) {
    answer = TRY(engine.ask({.path = of(id, "/json")}, stop));
    // If a container goes while Podman looks at it, Podman answers 500.
    if (answer.status == 404 ||
        (answer.status == 500 && answer.message().find("no such container") != std::string::npos))
      return std::optional<ContainerState>();
    // It does so, too, from the moment in which the process of a container ends until Podman has noted that, which takes long
    // on a busy machine.
    if (answer.status != 500 || waited >= patience)
      break;
    TRY(pause_for(pause, stop));
    waited += pause;
  }
  if (!answer.ok())
    return engine_error(answer);
  return std::optional(from_inspect(answer.body));
}

Result<uint64_t> life_of(Engine& engine, const std::string& id, std::stop_token stop) {
  const auto state = TRY(inspect_container(engine, id, stop));
  return state && state->runs() ? std::max<uint64_t>(hash64(state->started), 1) : 0;
}

Result<std::vector<ContainerState>> list_containers(Engine& engine,
                                                    const std::vector<std::string>& labels,
                                                    std::stop_token stop) {
  const EngineAnswer answer = TRY(engine.ask(
      {.path = "/containers/json", .query = {{"all", "1"}, {"filters", label_filters(labels)}}},
      stop));
  if (!answer.ok() || !answer.body.is_list())
    return engine_error(answer);
  std::vector<ContainerState> found;
  for (const Value& item : answer.body.items())
    found.push_back(from_list(item));
  return found;
}

namespace {

/// An error if the container does not run any more, although nobody has reported its end.
Status container_runs_still(Engine& engine, const std::string& id, const std::stop_token& stop) {
  const auto state = TRY(inspect_container(engine, id, stop));
  if (!state || !state->runs())
    return world_error("the engine does not report how the container ended");
  return {};
}

}  // namespace

Result<int64_t> wait_container(Engine& engine, const std::string& id, Duration limit,
                               std::stop_token stop) {
  EngineCall call{.method = "POST", .path = of(id, "/wait"), .time_limit = limit};
  call.still_at_it = [&](const std::stop_token& end) {
    return container_runs_still(engine, id, end);
  };
  const EngineAnswer answer = TRY(engine.ask(std::move(call), stop));
  if (!answer.ok())
    return engine_error(answer);
  return answer.body.integer_at("StatusCode");
}

Status limit_container(Engine& engine, const std::string& id, int64_t memory, int64_t nano_cpus,
                       std::stop_token stop) {
  std::vector<Entry> limits;
  if (memory > 0)
    limits.insert(limits.end(), {{"Memory", memory}, {"MemorySwap", -1}});
  if (nano_cpus > 0)
    limits.push_back({"NanoCpus", nano_cpus});
  EngineAnswer answer = TRY(engine.ask(
      {.method = "POST", .path = of(id, "/update"), .body = Value::dict(std::move(limits))}, stop));
  // Podman 4 has this call only in its own API, with the names of the OCI.
  if (answer.status == 404 && TRY(engine.flavour(stop)) == Engine::Flavour::podman) {
    constexpr int64_t period = 100'000;
    std::vector<Entry> resources;
    if (memory > 0)
      resources.push_back({"memory", Value::dict({{"limit", memory}})});
    if (nano_cpus > 0)
      resources.push_back({"cpu", Value::dict({{"quota", nano_cpus / (1'000'000'000 / period)},
                                               {"period", period}})});
    answer = TRY(engine.ask_podman(
        {.method = "POST", .path = of(id, "/update"), .body = Value::dict(std::move(resources))},
        stop));
  }
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

ByteSink frame_sink(StreamSink take) {
  struct State {
    std::string head;
    size_t left = 0;
    OutputStream stream = OutputStream::out;
  };
  return [state = std::make_shared<State>(),
          take = std::move(take)](std::string_view bytes) -> Status {
    while (!bytes.empty()) {
      if (state->left == 0) {
        const size_t count = std::min(bytes.size(), frame_head - state->head.size());
        state->head += bytes.substr(0, count);
        bytes.remove_prefix(count);
        if (state->head.size() < frame_head)
          return {};
        const auto byte = [&](size_t i) { return static_cast<unsigned char>(state->head[i]); };
        if (byte(0) > 2 || byte(1) != 0 || byte(2) != 0 || byte(3) != 0)
          return world_error("the engine sent a stream without frames");
        state->stream = byte(0) == 2 ? OutputStream::errors : OutputStream::out;
        state->left =
            size_t{byte(4)} << 24 | size_t{byte(5)} << 16 | size_t{byte(6)} << 8 | byte(7);
        state->head.clear();
        continue;
      }
      const size_t count = std::min(bytes.size(), state->left);
      TRY(take(state->stream, bytes.substr(0, count)));
      state->left -= count;
      bytes.remove_prefix(count);
    }
    return {};
  };
}

}  // namespace fettle
