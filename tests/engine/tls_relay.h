#pragma once
/// A TLS front for an engine's unix socket, as remote engines have one: it shows a certificate of
/// its own authority and refuses clients without one of the same authority.

#include <memory>
#include <thread>

#include "base/file.h"
#include "base/result.h"

namespace fettle {

/// Writes ca.pem and a server's cert.pem and key.pem, with their own authority, into `folder`.
Status write_server_identity(const Path& folder, const std::string& address);

class TlsRelay {
 public:
  /// Listens on a free loopback port. Writes a client's ca.pem, cert.pem and key.pem into `folder`,
  /// as in a folder of `DOCKER_CERT_PATH`.
  static Result<std::unique_ptr<TlsRelay>> start(const Path& folder, const std::string& socket);
  ~TlsRelay();
  TlsRelay(const TlsRelay&) = delete;
  TlsRelay& operator=(const TlsRelay&) = delete;
  int port() const { return port_; }

 private:
  struct Context;
  TlsRelay(std::unique_ptr<Context> context, std::string socket, Descriptor listener, int port);
  void accept_all(const std::stop_token& stop);
  void relay(int client, const std::stop_token& stop) const;
  std::unique_ptr<Context> context_;
  std::string socket_;
  Descriptor listener_;
  int port_;
  std::jthread thread_;
};

}  // namespace fettle
