#pragma once
/// What tests of the driver have in common: engines that run as long as the program, and a small
/// loop that does what a run does with one act after another.

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
  /// With `ssh`, the engine is taken for one on another machine of that name.
  World(const EngineAddress& address, std::string environment, EngineDriverOptions options = {},
        std::string ssh = {});

  /// Does one act to its end, pending or not, and keeps its record. `needs` are `kind/name`.
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
  /// The same environment, seen by a process that was started anew.
  void restart();
  RecordPointer known(const std::string& kind, const std::string& name) const;
  void forget(const std::string& kind, const std::string& name);
  Key key(const std::string& kind, const std::string& name) const;
  Blobs& blobs() { return blobs_; }
  HttpClient& http() { return http_; }
  Engine& engine() { return **driver_->engine({}); }

  /// The calls that the engine was asked, `POST /containers/create`, since the last
  /// `calls.clear()`.
  std::vector<std::string> calls;
  /// This call (from 1) and all after it fail, as if the process had died; 0: none does.
  size_t dies_at = 0;
  /// Told of each call before it is made; may act itself.
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

/// The engine of a sort that runs for this program, started by the first who asks; a failure ends
/// the program's test with what is missing.
const EngineAddress& running_engine(TestEngine::Sort sort);
const char* to_string(TestEngine::Sort sort);
/// Where a registry may be started that these engines talk to without TLS.
int registry_port();

}  // namespace fettle
