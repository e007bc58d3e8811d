#pragma once
/// containerd and a registry on loopback, as Debian packages them, each with a folder of its own.

#include <csignal>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "base/wait.h"
#include "drivers/cri/sockets.h"

namespace fettle {

/// A program in the background, until it is destroyed.
class Background {
 public:
  Background(std::vector<std::string> arguments, const Path& log)
      : pid_(start_detached({.arguments = std::move(arguments)}, log)) {
    EXPECT_TRUE(pid_) << to_string(pid_.error());
  }
  ~Background() {
    if (!pid_)
      return;
    kill(*pid_, SIGTERM);
    waitpid(*pid_, nullptr, 0);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  Result<pid_t> pid_;
};

class LoopbackRegistry {
 public:
  LoopbackRegistry() : port_(free_port()) {
    const std::string at = folder_->path().string();
    EXPECT_TRUE(write_file(
        folder_->path() / "config",
        cat("version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage: {filesystem: "
            "{rootdirectory: ",
            at, "/data}}\nhttp: {addr: \"127.0.0.1:", port_, "\"}\n")));
    process_.emplace(std::vector<std::string>{"docker-registry", "serve", at + "/config"},
                     folder_->path() / "log");
    for (int i = 0; i < 1'500 && !http_.send({.url = url("/v2/")}, {}); ++i)
      EXPECT_TRUE(pause_for(20ms, {}));
  }

  /// `127.0.0.1:1234`
  std::string name() const { return cat("127.0.0.1:", port_); }
  struct Pushed {
    std::string id, digest;
  };
  /// An image without a file.
  Pushed push(const std::string& image, const std::string& tag) {
    const std::string layer(1'024, '\0');  // the end of a tar
    const std::string layer_digest = push_blob(image, layer);
    const std::string config =
        cat(R"({"architecture":"amd64","os":"linux","config":{},"rootfs":{"type":"layers",)",
            R"("diff_ids":[")", layer_digest, R"("]}})");
    const std::string id = push_blob(image, config);
    const std::string type = "application/vnd.docker.distribution.manifest.v2+json";
    const std::string manifest =
        cat(R"({"schemaVersion":2,"mediaType":")", type,
            R"(","config":{"mediaType":"application/vnd.docker.container.image.v1+json","size":)",
            config.size(), R"(,"digest":")", id,
            R"("},"layers":[{"mediaType":"application/vnd.docker.image.rootfs.diff.tar","size":)",
            layer.size(), R"(,"digest":")", layer_digest, R"("}]})");
    HttpRequest request{.method = "PUT", .url = url(cat("/v2/", image, "/manifests/", tag))};
    request.headers = {{"Content-Type", type}};
    request.body = manifest;
    const auto put = http_.send(std::move(request), {});
    EXPECT_TRUE(put && put->status == 201) << (put ? put->body : put.error().message);
    return {id, cat("sha256:", sha256_hex(manifest))};
  }

 private:
  static int free_port() {
    const Descriptor taken(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(taken.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    return ntohs(address.sin_port);
  }
  std::string url(std::string_view path) const { return cat("http://", name(), path); }
  std::string push_blob(const std::string& image, const std::string& bytes) {
    const std::string digest = cat("sha256:", sha256_hex(bytes));
    const auto begun =
        http_.send({.method = "POST", .url = url(cat("/v2/", image, "/blobs/uploads/"))}, {});
    EXPECT_TRUE(begun && begun->status == 202) << (begun ? begun->body : begun.error().message);
    std::string place(begun ? begun->header("location") : "");
    if (place.starts_with('/'))
      place = url(place);
    HttpRequest request{
        .method = "PUT",
        .url = cat(place, place.find('?') == place.npos ? "?" : "&", "digest=", digest)};
    request.headers = {{"Content-Type", "application/octet-stream"}};
    request.body = bytes;
    const auto put = http_.send(std::move(request), {});
    EXPECT_TRUE(put && put->status == 201) << (put ? put->body : put.error().message);
    return digest;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  int port_;
  HttpClient http_;
  std::optional<Background> process_;
};

class RealContainerd {
 public:
  RealContainerd() {
    const std::string at = folder_->path().string();
    EXPECT_TRUE(write_file(
        folder_->path() / "config.toml",
        cat("version = 2\nroot = \"", at, "/root\"\nstate = \"", at,
            "/state\"\n[grpc]\naddress = \"", at,
            "/s\"\n[plugins.\"io.containerd.grpc.v1.cri\"]\nrestrict_oom_score_adj = true\n"
            "disable_apparmor = true\n[plugins.\"io.containerd.grpc.v1.cri\".cni]\nconf_dir = \"",
            at, "/cni\"\n")));
    process_.emplace(std::vector<std::string>{"containerd", "--log-level", "error", "--config",
                                              at + "/config.toml"},
                     folder_->path() / "log");
    for (int i = 0; i < 1'500 && !cri::Client(http_, socket()).version({}); ++i)
      EXPECT_TRUE(pause_for(20ms, {}));
  }

  Path socket() const { return folder_->path() / "s"; }
  /// As the kubelet tells it.
  std::string version() {
    const auto version = cri::Client(http_, socket()).version({});
    EXPECT_TRUE(version) << to_string(version.error());
    return version ? cri::runtime_as_kubelets_tell(*version) : std::string();
  }

 private:
  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  HttpClient http_;
  std::optional<Background> process_;
};

}  // namespace fettle
