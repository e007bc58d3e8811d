#pragma once
/// Images of an engine.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/container_engine.h"
#include "core/driver.h"
#include "drivers/engine/engine.h"
#include "kinds/image_reference.h"

namespace fettle {

/// How a registry knows us.
struct RegistryLogin {
  std::string username, password;
};

struct ImageFacts {
  std::string id;      ///< `sha256:…`; empty when there is no such image
  std::string digest;  ///< `sha256:…` of the manifest that was pulled by this name, if it was
};
Result<ImageFacts> image_facts(Engine& engine, const std::string& reference, std::stop_token stop);
/// `sha256:…`; empty when there is no such image.
Result<std::string> image_id(Engine& engine, const std::string& reference, std::stop_token stop);
/// All that have a name.
Result<std::vector<ListedImage>> list_images(Engine& engine, std::stop_token stop);
/// Pulls, whether it is there or not; the progress counts bytes where the engine tells them, else
/// layers. A time limit of 0 is that of the engine.
Status pull_image(Engine& engine, const std::string& reference,
                  const std::optional<RegistryLogin>& login, const ProgressSink& progress,
                  std::stop_token stop, Duration time_limit = Duration(0));
/// Calls an image by another name, too.
Status tag_image(Engine& engine, const std::string& image, const std::string& reference,
                 std::stop_token stop);
/// An image of one layer from the tar of a root file system; `changes` are lines of a Dockerfile.
Status import_image(Engine& engine, const std::string& reference,
                    const std::vector<std::string>& changes, ByteSource tar, std::stop_token stop);
Status push_image(Engine& engine, const std::string& reference, std::stop_token stop);
/// Gone is fine; containers that use it are an error.
Status remove_image(Engine& engine, const std::string& reference, std::stop_token stop);

/// Adds up what an engine says of each layer while it pulls.
class PullProgress {
 public:
  explicit PullProgress(std::string reference) : reference_(std::move(reference)) {}
  /// Takes a line of the engine's answer; an error when that says so.
  Status take(const Value& line);
  Progress now() const;

 private:
  struct Layer {
    std::string id;
    int64_t done = 0, total = 0;
    bool complete = false;
  };
  Layer& layer(std::string_view id);
  std::string reference_;
  std::vector<Layer> layers_;
};

}  // namespace fettle
