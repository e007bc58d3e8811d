#pragma once
/// A unix socket on this machine in place of a connection that cannot be made directly. Each client
/// is served by a function on a thread of its own.

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/result.h"

namespace fettle {

class LocalSocket {
 public:
  /// Carries the bytes of one connection, until one side ends or a stop is asked for.
  using Serve = std::function<void(int client, const std::stop_token& stop)>;

  static Result<std::unique_ptr<LocalSocket>> open(Serve serve);
  ~LocalSocket();  ///< asks those who serve to stop, and waits for them
  LocalSocket(const LocalSocket&) = delete;
  LocalSocket& operator=(const LocalSocket&) = delete;
  std::string path() const;

 private:
  LocalSocket(TemporaryDirectory folder, Descriptor listener, Serve serve);
  void accept_all(const std::stop_token& stop);
  TemporaryDirectory folder_;
  Descriptor listener_;
  Serve serve_;
  std::jthread thread_;
};

/// Writes all bytes to a socket. False: nobody reads any more, or a stop is asked for.
bool send_all(int to, std::string_view bytes, const std::stop_token& stop);

}  // namespace fettle
