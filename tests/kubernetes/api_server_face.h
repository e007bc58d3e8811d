#pragma once
/// The API server of the tests behind HTTP/1.1 on a loopback port.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/file.h"
#include "kubernetes/client.h"
#include "tests/kubernetes/api_server.h"

namespace fettle::kubernetes {

class ApiServerFace {
 public:
  ApiServerFace();
  ~ApiServerFace();
  ApiServerFace(const ApiServerFace&) = delete;
  ApiServerFace& operator=(const ApiServerFace&) = delete;

  /// Does something to the server while no request is under way.
  template <typename Do>
  void with(Do act) {
    const std::lock_guard lock(mutex_);
    act(server_);
    changed_.notify_all();
  }
  Config config(std::string token = {}) const;
  std::unique_ptr<Client> client(ClientSettings settings = {.qps = 0}) const;
  /// Takes requests and says nothing, as a server whose machine is frozen.
  void freeze(bool is_frozen) { is_frozen_ = is_frozen; }
  int port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void accept_all(const std::stop_token& stop);
  void serve(int client, const std::stop_token& stop);
  bool answer(int client, const ApiRequest& request, const std::stop_token& stop);
  bool stream(int client, uint64_t watch, const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  ApiServer server_;
  std::atomic<bool> is_frozen_ = false;
  std::atomic<int> connections_ = 0;
  Descriptor listener_;
  int port_ = 0;
  std::jthread thread_;
};

}  // namespace fettle::kubernetes
