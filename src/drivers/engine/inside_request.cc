#include "drivers/engine/inside_request.h"

#include <array>
#include <mutex>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "base/wait.h"
#include "drivers/engine/exec.h"
#include "drivers/engine/local_socket.h"

namespace fettle {
namespace {

constexpr int nothing_to_talk_with = 97;
constexpr size_t longest_complaint = 4'096;

/// Connects its standard input and output to port `$2` of `$1`.
constexpr const char* script = R"(
if command -v nc >/dev/null 2>&1; then exec nc "$1" "$2"
elif command -v bash >/dev/null 2>&1; then
  exec bash -c 'exec 3<>"/dev/tcp/$1/$2" || exit 1; cat <&3 & cat >&3; wait' bash "$1" "$2"
elif command -v python3 >/dev/null 2>&1; then
  exec python3 -c 'import os, socket, sys, threading
s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 60)
s.settimeout(None)
def put():
    for piece in iter(lambda: os.read(0, 65536), b""): s.sendall(piece)
threading.Thread(target = put, daemon = True).start()
for piece in iter(lambda: s.recv(65536), b""): os.write(1, piece)' "$1" "$2"
else exit 97
fi)";

/// One connection. It is the input and output of a command in the container.
class Carrier {
 public:
  Carrier(Engine& engine, std::string container, ExecOptions options)
      : engine_(engine), container_(std::move(container)), options_(std::move(options)) {}

  void serve(int client, const std::stop_token& stop) {
    Status carried = carry(client, stop);
    const std::lock_guard lock(mutex_);
    if (!carried && !is_cancelled(carried.error()))
      error_ = std::move(carried).error();
    else if (!error_ && !trim(said_).empty())
      error_ = world_error(std::string(trim(said_)));
  }

  /// What prevented bytes from being carried, as far as anybody said.
  std::optional<Error> error() {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  Status carry(int client, const std::stop_token& stop) {
    OpenExec exec = TRY(open_exec(engine_, container_, options_, stop));
    const ByteSink frames = frame_sink([&](OutputStream stream, std::string_view bytes) -> Status {
      if (stream == OutputStream::errors)
        said_ += bytes.substr(0, longest_complaint - std::min(longest_complaint, said_.size()));
      else if (!send_all(client, bytes, stop))
        return cancelled_error();  // nobody reads any more
      return {};
    });
    TRY(shuttle(client, exec.connection, frames, stop));
    shutdown(client, SHUT_WR);
    const int64_t code = TRY(exec_code(engine_, exec.id, stop));
    if (code == nothing_to_talk_with || code == 126 || code == 127)
      return world_error(
          "the engine is on another machine, and the container has neither nc nor bash nor Python "
          "to send a request from within");
    return {};
  }

  /// Runs until the command ends or the client has closed.
  static Status shuttle(int client, HttpConnection& connection, const ByteSink& frames,
                        const std::stop_token& stop) {
    std::vector<char> buffer(64 * 1024);
    Poller poller(stop);
    while (true) {
      std::array<pollfd, 2> waited{{{client, POLLIN, 0}, {connection.descriptor(), POLLIN, 0}}};
      TRY(poller.wait(waited, for_ever));
      if (waited[1].revents != 0) {
        const size_t count = TRY(connection.read(buffer, stop));
        if (count == 0)
          return {};
        TRY(frames({buffer.data(), count}));
      }
      if (waited[0].revents != 0) {
        const ssize_t count = ::read(client, buffer.data(), buffer.size());
        if (count <= 0)
          return cancelled_error();
        TRY(connection.write({buffer.data(), static_cast<size_t>(count)}, stop));
      }
    }
  }

  Engine& engine_;
  std::string container_;
  ExecOptions options_;
  std::string said_;
  std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace

Result<HttpResponse> send_inside(HttpClient& http, Engine& engine, const std::string& container,
                                 const std::string& address, int port, HttpRequest request,
                                 std::stop_token stop) {
  const std::string number = std::to_string(port);
  Carrier carrier(engine, container,
                  {.command = {"sh", "-c", script, "sh", address, number}, .input = true});
  std::unique_ptr<LocalSocket> socket = TRY(LocalSocket::open(
      [&](int client, const std::stop_token& end) { carrier.serve(client, end); }));
  request.unix_socket = socket->path();
  request.headers.push_back({"Connection", "close"});
  Result<HttpResponse> response = http.send(std::move(request), stop);
  socket.reset();
  if (!response && !is_cancelled(response.error()))
    if (const auto error = carrier.error())
      return *error;
  return response;
}

}  // namespace fettle
