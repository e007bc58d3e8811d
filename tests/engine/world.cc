#include "tests/engine/world.h"

#include <algorithm>
#include <thread>

#include <unistd.h>

#include <gtest/gtest.h>

#include "base/invariant.h"
#include "base/process.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/networks.h"
#include "drivers/engine/volumes.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

const Kind& kind_of(const std::string& name) {
  for (const Kind* const kind :
       {&network_kind(), &image_kind(), &build_kind(), &directory_kind(), &artifact_kind(),
        &service_kind(), &exec_kind(), &request_kind(), &wait_kind(), &task_kind(), &start_kind(),
        &stop_kind(), &remove_kind(), &pod_kind(), &claim_kind()})
    if (kind->name() == std::string_view(name))
      return *kind;
  INVARIANT(false);
}

/// A separate port for each program, so that several may run at once.
int free_registry_port() {
  for (int port = 18'000 + getpid() % 1'000;; ++port)
    if (is_port_free(port))
      return port;
}

/// Engines and images for all tests of the program.
class RunningEngines : public testing::Environment {
 public:
  static RunningEngines& instance() {
    static auto* const engines = new RunningEngines;
    return *engines;
  }
  const EngineAddress& start(TestEngine::Sort sort) {
    RunningEngine& running = sort == TestEngine::Sort::podman ? podman_ : docker_;
    if (running.engine)
      return running.address;
    const Path build = FETTLE_BINARY_DIR;
    const Path images = Path(FETTLE_SOURCE_DIR) / "build/images";
    const auto made = run_process(
        {.arguments = {FETTLE_SOURCE_DIR "/tests/engine/make_images.sh", images.string()}}, {});
    EXPECT_TRUE(made && made->code == 0) << (made ? made->errors : to_string(made.error()));
    running.engine =
        std::make_unique<TestEngine>(sort, build / "engines" / cat(to_string(sort), "-", getpid()),
                                     cat("127.0.0.1:", registry_port()));
    const auto address = running.engine->start();
    EXPECT_TRUE(address) << to_string(address.error());
    if (!address)
      std::exit(1);  // a test without its engine has failed
    running.address = *address;
    const Status imported = running.engine->import(images, {"busybox", "web", "redis", "python"});
    EXPECT_TRUE(imported) << to_string(imported.error());
    return running.address;
  }
  void TearDown() override {
    for (RunningEngine* const running : {&podman_, &docker_})
      if (running->engine) {
        const Status stopped = running->engine->stop(true);
        EXPECT_TRUE(stopped) << to_string(stopped.error());
      }
  }

 private:
  struct RunningEngine {
    std::unique_ptr<TestEngine> engine;
    EngineAddress address{};
  };
  RunningEngine podman_, docker_;
};

[[maybe_unused]] testing::Environment* const registered =
    testing::AddGlobalTestEnvironment(&RunningEngines::instance());

}  // namespace

int registry_port() {
  static const int port = free_registry_port();
  return port;
}

const char* to_string(TestEngine::Sort sort) {
  return sort == TestEngine::Sort::podman ? "podman" : "docker";
}

const EngineAddress& running_engine(TestEngine::Sort sort) {
  return RunningEngines::instance().start(sort);
}

World::World(const EngineAddress& address, std::string environment, EngineDriverOptions options,
             std::string ssh)
    : address_(address), environment_(environment), options_(std::move(options)) {
  address_.ssh = std::move(ssh);
  options_.on_call = [this](const EngineCall& call) -> Status {
    if (const auto told = before_call)
      told(call);
    const std::lock_guard lock(mutex_);
    calls.push_back(call.method + " " + call.path);
    if (dies_at > 0 && calls.size() >= dies_at)
      return world_error("the process died");
    return {};
  };
  restart();
}

void World::restart() {
  driver_ = std::make_unique<EngineDriver>(
      http_, blobs_,
      [this](bool, std::stop_token) -> Result<EngineLink> {
        return EngineLink{.address = address_};
      },
      options_);
}

Key World::key(const std::string& kind, const std::string& name) const {
  return {environment_, kind, name};
}
RecordPointer World::known(const std::string& kind, const std::string& name) const {
  const auto found = records_.find(kind + "/" + name);
  return found == records_.end() ? nullptr : found->second;
}
void World::forget(const std::string& kind, const std::string& name) {
  records_.erase(kind + "/" + name);
}

Result<Record> World::apply(Verb verb, const std::string& kind, const std::string& name,
                            const Value& attributes, const std::vector<std::string>& needs,
                            std::stop_token stop) {
  Act act;
  act.verb = verb;
  act.key = key(kind, name);
  act.attributes = TRY(kind_of(kind).normalise(attributes));
  act.known = known(kind, name);
  act.incarnation = (act.known == nullptr ? 0 : act.known->incarnation) + 1;
  for (const std::string& need : needs)
    if (const auto found = records_.find(need); found != records_.end())
      act.needs.push_back(found->second);
  Record record = act.known == nullptr ? Record{} : *act.known;
  Resource resource;
  resource.key = act.key;
  resource.attributes = act.attributes;
  record.attempt = Attempt{.resource = resource, .started = {}, .error = {}};
  records_[kind + "/" + name] = std::make_shared<Record>(record);
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    Outcome outcome =
        TRY(driver_->apply(act, [this](const Progress& now) { progress.push_back(now); }, stop));
    if (auto* const pending = std::get_if<Pending>(&outcome)) {
      if (std::chrono::steady_clock::now() - begin > pace_limit)
        return world_error("pending for too long: " + pending->what);
      std::this_thread::sleep_for(pending->retry_after.value_or(50ms));
      act.so_far = pending->so_far;
      ++act.attempt;
      continue;
    }
    const Done& done = std::get<Done>(outcome);
    if (verb == Verb::remove) {
      forget(kind, name);
      return record;
    }
    record.attempt.reset();
    record.applied = resource;
    record.outputs = done.outputs;
    record.remote_id = done.remote_id;
    if (verb != Verb::update && verb != Verb::start && verb != Verb::stop)
      record.incarnation = act.incarnation;
    record.changes += done.changed ? 1 : 0;
    records_[kind + "/" + name] = std::make_shared<Record>(record);
    return record;
  }
}

Result<Record> World::service(const std::string& name, const Value& attributes, Verb verb) {
  if (known("network", "net") == nullptr)
    TRY(apply(Verb::create, "network", "net", Value::dict({})));
  return apply(verb, "service", name, attributes, {"network/net"});
}

Result<Observation> World::observe(const std::string& kind, const std::string& name) {
  const std::vector<Subject> subjects{{key(kind, name), nullptr, known(kind, name)}};
  return TRY(driver_->observe(subjects, {})).at(0);
}

std::string World::run(const std::string& service, const std::vector<std::string>& command) {
  const Value recipe =
      Value::dict({{"type", "exec"},
                   {"command", Value::list(std::vector<Value>(command.begin(), command.end()))}});
  const auto done =
      apply(Verb::run, "exec", "e", Value::dict({{"service", service}, {"recipe", recipe}}),
            {"service/" + service});
  return done ? std::string(dict_of(done->outputs).text_at("output")) : to_string(done.error());
}

void World::clear() {
  dies_at = 0;
  const std::vector<std::string> ours{environment_filter(environment_)};
  auto containers = list_containers(engine(), ours, {}).value_or(std::vector<ContainerState>());
  std::ranges::stable_partition(containers, [](const ContainerState& state) {
    return !label(state.labels, mark::container).empty();
  });
  for (const ContainerState& left : containers)
    EXPECT_TRUE(remove_container(engine(), left.id, {}));
  for (const NetworkState& left :
       list_networks(engine(), ours, {}).value_or(std::vector<NetworkState>()))
    EXPECT_TRUE(remove_network(engine(), left.name, {}));
  for (const VolumeState& left :
       list_volumes(engine(), ours, {}).value_or(std::vector<VolumeState>()))
    EXPECT_TRUE(remove_volume(engine(), left.name, {}));
}

}  // namespace fettle
