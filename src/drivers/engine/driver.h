#pragma once
/// The driver of containers: networks, images, persistent directories, services and what is done in
/// them, pods and their claims, on one Docker or Podman. Another engine needs another driver.
///
/// The engine is looked for when it is first needed, so a run that needs none starts none.
///
///   EngineDriver driver(http, blobs, [&](std::stop_token stop) { return connect_engine(…); });
///
/// To support one more kind: a case in `apply`, and in `observe` when it is observable.

#include <atomic>
#include <memory>
#include <mutex>

#include "core/container_engine.h"
#include "core/driver.h"
#include "drivers/engine/connect.h"
#include "drivers/engine/site.h"

namespace fettle {

class EngineDriver : public Driver, public ContainerEngine {
 public:
  /// Finds the engine; `may_start`: starts one if none answers.
  using Locate = std::function<Result<EngineLink>(bool may_start, std::stop_token)>;
  EngineDriver(HttpClient& http, Blobs& blobs, Locate locate, EngineDriverOptions options = {});
  ~EngineDriver() override;

  /// Errors (`Blame::user`): services ask for more memory or processors than the engine's machine
  /// has.
  Status ready(std::span<const Resource* const> wanted, std::stop_token stop) override;
  /// See `look_at`.
  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token stop) override;
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override;
  Result<std::vector<Found>> list(const Name& environment, std::stop_token stop) override;
  void watch(const Name& environment, const std::function<void(const Key&)>& hint,
             std::stop_token stop) override;

  ContainerEngine* container_engine() override { return this; }
  Status reach(std::stop_token stop) override;
  Result<std::vector<OwnContainer>> containers_of(const Key& key, std::stop_token stop) override;
  Status logs(const std::string& container, const LogOptions& options, bool tty,
              const StreamSink& sink, std::stop_token stop) override;
  Result<int64_t> run(const std::string& container, const ExecOptions& options,
                      const StreamSink& sink, std::stop_token stop) override;
  Result<int64_t> talk(const std::string& container, const ExecOptions& options,
                       const TalkEnds& ends, const StreamSink& sink, std::stop_token stop) override;
  Status put_archive(const std::string& container, const std::string& folder, ByteSource tar,
                     std::stop_token stop) override;
  Result<bool> get_archive(const std::string& container, const std::string& path,
                           const ByteSink& sink, std::stop_token stop) override;
  Result<bool> is_folder(const std::string& container, const std::string& path,
                         std::stop_token stop) override;
  Result<std::vector<ListedImage>> images(std::stop_token stop) override;
  Result<std::vector<ListedImage>> built_images(std::stop_token stop) override;
  Result<bool> remove_built_image(const ListedImage& image, std::stop_token stop) override;
  Result<EngineRoom> room(std::stop_token stop) override;

  /// The engine itself.
  Result<Engine*> engine(std::stop_token stop, bool may_start = true);

 private:
  struct LocatedEngine {
    EngineLink link;
    Engine engine;
    LocatedEngine(HttpClient& http, EngineLink found, const EngineDriverOptions& options)
        : link(std::move(found)), engine(http, link.address, options.on_call, options.limits) {}
  };
  Result<Site> site(std::stop_token stop, bool may_start = true);
  /// An engine that runs and answers now.
  Result<Engine*> running_engine(const std::stop_token& stop);

  HttpClient& http_;
  Blobs& blobs_;
  Locate locate_;
  EngineDriverOptions options_;
  std::atomic<bool> is_far_ = false;  ///< on another machine, whose ports cannot be tried here
  Allocation allocation_;
  std::unique_ptr<PodProbes> probes_;
  std::mutex mutex_;
  std::unique_ptr<LocatedEngine> located_;
};

}  // namespace fettle
