#pragma once
/// Talks with a container runtime about images, as the kubelet does: the Container Runtime
/// Interface `runtime.v1` on its unix socket.
///
///   Client client(http, "/run/containerd/containerd.sock");
///   const auto image = TRY(client.image_status("redis:7", stop));
///   if (!image)
///     TRY(client.pull_image({.image = "redis:7"}, 10min, stop));
///
/// A runtime says nothing while it pulls, so a call has a limit of its own and none of silence. The
/// limit is told to the runtime as well, which then gives up by itself; whoever is stopped leaves
/// at once, and the runtime sees that its connection is gone.
///
/// Safe from many threads at once.

#include <stop_token>

#include "base/file.h"
#include "drivers/cri/grpc.h"
#include "drivers/cri/messages.h"

namespace fettle::cri {

class Client {
 public:
  /// Of an answer; upstream's daemon has the same.
  static constexpr size_t largest_answer = 16 << 20;
  static constexpr Duration connect_limit = 5s;
  /// Of calls that only look.
  static constexpr Duration look_limit = 30s;

  /// `http` must outlive it.
  Client(HttpClient& http, Path socket) : http_(http), socket_(std::move(socket)) {}
  const Path& socket() const { return socket_; }

  GrpcResult<RuntimeVersion> version(const std::stop_token& stop) const;
  /// None: there is no such image.
  GrpcResult<std::optional<RuntimeImage>> image_status(std::string_view image,
                                                       const std::stop_token& stop) const;
  /// Pulls even if it is there. What the runtime calls the image.
  GrpcResult<std::string> pull_image(const PullRequest& request, Duration limit,
                                     const std::stop_token& stop) const;
  GrpcResult<std::vector<RuntimeImage>> list_images(const std::stop_token& stop) const;
  GrpcResult<std::vector<ImageFilesystem>> image_filesystems(const std::stop_token& stop) const;

 private:
  /// `method`: `runtime.v1.ImageService/PullImage`.
  GrpcResult<std::string> call(std::string_view method, std::string_view message, Duration limit,
                               const std::stop_token& stop) const;

  HttpClient& http_;
  const Path socket_;
};

}  // namespace fettle::cri
