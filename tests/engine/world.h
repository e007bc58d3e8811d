#pragma once
/// The common part of the driver's tests: engines that run as long as the program, and a small loop
/// that handles one act after another as a run does.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "drivers/engine/driver.h"
#include "tests/engine/test_engines.h"
#include "tests/fixtures/memory_blobs.h"

namespace fettle {

/// One environment on one engine.
class World {
 public:
  /// With `ssh`, the engine is treated as one on another machine of that name.
  World(const EngineAddress& address, std::string environment, EngineDriverOptions options = {},
        std::string ssh = {});

  /// Performs one act to its end, pending or not, and keeps its record. `needs` are `kind/name`.
  Result<Record> apply(Verb verb, const std::string& kind, const std::string& name,
                       const Value& attributes, const std::vector<std::string>& needs = {},
                       std::stop_token stop = {});
  /// A network, an image and a service on both.
  Result<Record> service(const std::string& name, const Value& attributes,
                         Verb verb = Verb::create);
  Result<Observation> observe(const std::string& kind, const std::string& name);
  /// A command in a service: its output.
  std::string run(const std::string& service, const std::vector<std::string>& command);
  /// Removes everything, with or without records.
  void clear();

  EngineDriver& driver() { return *driver_; }
  /// The same environment, seen by a new process.
  void restart();
  RecordPointer known(const std::string& kind, const std::string& name) const;
  void forget(const std::string& kind, const std::string& name);
  Key key(const std::string& kind, const std::string& name) const;
  Blobs& blobs() { return blobs_; }
  HttpClient& http() { return http_; }
  Engine& engine() { return **driver_->engine({}); }

  /// The calls to the engine, such as `POST /containers/create`, since the last `calls.clear()`.
  std::vector<std::string> calls;
  /// This call (from 1) and all after it fail, as if the process had died; 0: none does.
  size_t dies_at = 0;
  /// Is told of each call before it is made, and may act itself.
  std::function<void(const EngineCall&)> before_call;
  std::vector<Progress> progress;
  Duration pace_limit = 60s;

 private:
  EngineAddress address_;
  Name environment_;
  EngineDriverOptions options_;
  HttpClient http_;
  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  MemoryBlobs blobs_;
  std::unique_ptr<EngineDriver> driver_;
  std::map<std::string, RecordPointer> records_;
  std::mutex mutex_;
};

/// The engine of a sort that runs for this program, started on first use; a failure ends the
/// program's test and names what is missing.
const EngineAddress& running_engine(TestEngine::Sort sort);
const char* to_string(TestEngine::Sort sort);
/// The port of a registry that these engines may use without TLS.
int registry_port();

}  // namespace fettle
