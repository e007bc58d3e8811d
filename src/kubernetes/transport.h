#pragma once
/// Carries requests to an API server: over HTTP, or in a test to a server in the same process.

#include "base/http.h"
#include "kubernetes/credentials.h"

namespace fettle::kubernetes {

/// The `url` of a request is only a path here, with its query.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Waits for the answer. From any thread.
  virtual Result<HttpResponse> send(HttpRequest request, std::stop_token stop) = 0;
  /// Calls `done` once, maybe from a thread of its own, as it does the sink of the request.
  virtual void start(HttpRequest request, std::stop_token stop, HttpClient::Done done) = 0;
};

/// All requests share one connection, or few, as the server allows.
class HttpTransport : public Transport {
 public:
  /// How long the server's system may leave bytes unacknowledged. Less than half of the time in
  /// which a lease has to be renewed: the second try would go to the same dead connection.
  static constexpr Duration dead_peer_limit = 4s;

  explicit HttpTransport(Config config) : config_(std::move(config)), credentials_(config_) {}
  Result<HttpResponse> send(HttpRequest request, std::stop_token stop) override;
  void start(HttpRequest request, std::stop_token stop, HttpClient::Done done) override;

 private:
  Result<Proof> prepare(HttpRequest& request, const std::stop_token& stop);

  const Config config_;
  Credentials credentials_;
  HttpClient http_;
};

}  // namespace fettle::kubernetes
