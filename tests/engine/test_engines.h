#pragma once
/// Real engines for tests: a private Podman as fettle starts it, and a Docker in its own namespace,
/// each in its own folder, reached over unix sockets, ended by process id. The images of
/// make_images.sh are imported into both.

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "drivers/engine/address.h"
#include "drivers/engine/engine.h"
#include "drivers/engine/private_podman.h"

namespace fettle {

/// Imports localhost/fettle/NAME:1 from a folder of make_images.sh into an engine, unless it
/// exists.
Status import_test_images(const EngineAddress& address, const Path& folder,
                          const std::vector<std::string>& names);

/// Removes them again; missing ones are no error.
Status drop_test_images(const EngineAddress& address, const std::vector<std::string>& names);

class TestEngine {
 public:
  enum class Sort { podman, docker };

  /// `plain_registry`: `host:port` of a registry without TLS, in addition to those on port 5000.
  TestEngine(Sort sort, Path root, std::string plain_registry = {})
      : sort_(sort), root_(std::move(root)), plain_registry_(std::move(plain_registry)) {}
  /// Starts it, or finds it if it runs.
  Result<EngineAddress> start();
  Status stop(bool wipe);
  /// Imports localhost/fettle/NAME:1 from `folder` unless it exists.
  Status import(const Path& folder, const std::vector<std::string>& names);
  const Path& root() const { return root_; }
  Sort sort() const { return sort_; }

 private:
  PrivatePodmanOptions podman_options() const;
  Result<std::string> start_docker();
  Status stop_docker(bool wipe);
  Sort sort_;
  Path root_;
  std::string plain_registry_;
};

/// A registry on a loopback port, with its data below a folder.
class TestRegistry {
 public:
  /// Only the user `bob` with the password `secret-word` may use one with `login`; one with a
  /// `tls_folder` has cert.pem and key.pem there.
  struct Rules {
    bool login = false;
    Path tls_folder{};
  };
  static Result<std::unique_ptr<TestRegistry>> start(const Path& root, int port,
                                                     const Rules& rules);
  static Result<std::unique_ptr<TestRegistry>> start(const Path& root, int port) {
    return start(root, port, Rules());
  }
  ~TestRegistry();
  TestRegistry(const TestRegistry&) = delete;
  TestRegistry& operator=(const TestRegistry&) = delete;

 private:
  explicit TestRegistry(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

/// An sshd on a loopback port, with its own keys and configuration.
class TestSshServer {
 public:
  /// A user who signs in has `variables` in the environment.
  static Result<std::unique_ptr<TestSshServer>> start(const Path& root, int port,
                                                      const std::string& variables);
  ~TestSshServer();
  TestSshServer(const TestSshServer&) = delete;
  TestSshServer& operator=(const TestSshServer&) = delete;
  /// A folder with an `ssh` that knows the server and may sign in.
  Path client() const { return root_ / "client"; }

 private:
  TestSshServer(Path root, pid_t pid, bool made_run)
      : root_(std::move(root)), pid_(pid), made_run_(made_run) {}
  Path root_;
  pid_t pid_;
  bool made_run_;  ///< the folder that every sshd needs below /run
};

}  // namespace fettle
