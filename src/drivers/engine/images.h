#pragma once
/// Images of an engine.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/container_engine.h"
#include "core/driver.h"
#include "drivers/engine/engine.h"
#include "drivers/engine/logins.h"
#include "kinds/image_reference.h"
#include "kinds/registry_login.h"

namespace fettle {

struct ImageFacts {
  std::string id;      ///< `sha256:…`; empty: there is no such image
  std::string digest;  ///< `sha256:…` of the manifest, if it was pulled by this name
};
Result<ImageFacts> image_facts(Engine& engine, const std::string& reference, std::stop_token stop);
/// `sha256:…`. Empty: there is no such image.
Result<std::string> image_id(Engine& engine, const std::string& reference, std::stop_token stop);
/// All images that have a name.
Result<std::vector<ListedImage>> list_images(Engine& engine, std::stop_token stop);
/// Pulls an image even if it is there. The progress counts bytes if the engine reports them, else
/// layers. A time limit of 0 means that of the engine.
Status pull_image(Engine& engine, const std::string& reference,
                  const std::optional<RegistryLogin>& login, const ProgressSink& progress,
                  std::stop_token stop, Duration time_limit = Duration(0));
/// `docker.io`, `host:5000`.
std::string registry_of(std::string_view reference);
/// Pulls with each of these logins in turn until one does, and then with our usual one, which is
/// asked for only then: a helper that has it may be slow. An error names a helper that failed.
Status pull_with_logins(Engine& engine, const std::string& reference,
                        const std::vector<RegistryLogin>& given, const LoginSource& usual,
                        const ProgressSink& progress, std::stop_token stop,
                        Duration time_limit = Duration(0));
/// Gives an image another name, too.
Status tag_image(Engine& engine, const std::string& image, const std::string& reference,
                 std::stop_token stop);
/// The same for an image by its id, `sha256:…`.
Status name_image(Engine& engine, const std::string& id, const std::string& name,
                  const std::string& tag, std::stop_token stop);
/// Makes an image of one layer from the tar of a root file system; `changes` are lines of a
/// Dockerfile.
Status import_image(Engine& engine, const std::string& reference,
                    const std::vector<std::string>& changes, ByteSource tar, std::stop_token stop);
Status push_image(Engine& engine, const std::string& reference, std::stop_token stop,
                  const std::optional<RegistryLogin>& login = {});
/// It is no error if the image is gone. It is one if containers use it.
Status remove_image(Engine& engine, const std::string& reference, std::stop_token stop);

/// Sums up what an engine reports about each layer while it pulls.
class PullProgress {
 public:
  explicit PullProgress(std::string reference) : reference_(std::move(reference)) {}
  /// Takes a line of the engine's answer. Returns the error if the line is one.
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
