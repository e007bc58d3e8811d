#pragma once
/// A connection on which both sides talk at will, after an HTTP request that asked for it: the
/// terminal of a container, a command with input. One thread uses it at a time.

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/http.h"
#include "base/result.h"
#include "base/time.h"

namespace fettle {

class HttpConnection {
 public:
  /// Connects and sends `request` with `Connection: Upgrade`; the answer must be 101 or 200.
  static Result<HttpConnection> upgrade(const HttpRequest& request, std::stop_token stop);
  ~HttpConnection();
  HttpConnection(HttpConnection&&) noexcept;
  HttpConnection& operator=(HttpConnection&&) = delete;

  Status write(std::string_view bytes, std::stop_token stop);
  /// Waits for some bytes; 0 means that the other side ended.
  Result<size_t> read(std::span<char> into, std::stop_token stop);
  /// Writes what can be written without waiting; how many bytes that was.
  Result<size_t> write_ready(std::string_view bytes);
  /// Reads what has arrived, without waiting. None: nothing has. 0: the other side ended.
  Result<std::optional<size_t>> read_ready(std::span<char> into);
  /// The descriptor to poll; bytes that were read ahead are given by `read` first.
  int descriptor() const;
  /// Tells the other side that nothing more will be written; only where no TLS is between.
  void finish_writing();

 private:
  struct State;
  explicit HttpConnection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fettle
