#pragma once
/// The messages of the Container Runtime Interface (`runtime.v1`) that are about images: those that
/// we send as bytes, and bytes that we get as structs. Field numbers are those of Kubernetes'
/// `cri-api`; what is not here is not needed.
///
/// What a runtime says is limited: a message of a few bytes can claim a million images, each of
/// which costs a hundred bytes as a struct.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fettle::cri {

inline constexpr size_t most_images = 50'000, most_image_names = 200'000;

/// Who answers at a socket.
struct RuntimeVersion {
  std::string name{};         ///< `containerd`, `cri-o`, `docker`
  std::string version{};      ///< `1.7.2`, `v1.6.20~ds1`
  std::string api_version{};  ///< of the interface
};

struct RuntimeImage {
  std::string id{};  ///< `sha256:…` of its configuration
  std::vector<std::string> tags{};
  std::vector<std::string> digests{};
  uint64_t size = 0;
  bool is_pinned = false;  ///< the kubelet does not remove it for want of space
};

struct PullLogin {
  std::string username{}, password{};
};

struct PullRequest {
  std::string image{};  ///< `redis:7`, `registry:5000/a@sha256:…`
  std::optional<PullLogin> login{};
  /// Of the pod for which it is pulled, as some runtimes' plugins read them.
  std::map<std::string, std::string> labels{}, annotations{};
};

struct ImageFilesystem {
  std::string mountpoint{};
  uint64_t used_bytes = 0, used_inodes = 0;
};

std::string version_request();
std::string image_status_request(std::string_view image);
std::string pull_image_request(const PullRequest& request);

Result<RuntimeVersion> read_version(std::string_view bytes);
/// None: there is no such image.
Result<std::optional<RuntimeImage>> read_image_status(std::string_view bytes);
/// What the runtime calls the image that it pulled.
Result<std::string> read_pull_image(std::string_view bytes);
Result<std::vector<RuntimeImage>> read_images(std::string_view bytes);
Result<std::vector<ImageFilesystem>> read_filesystems(std::string_view bytes);

}  // namespace fettle::cri
