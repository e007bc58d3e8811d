#pragma once
/// Shells in services, each over a WebSocket.
///
/// Each terminal has a thread that holds the conversation with the engine (`talk_inside`). Neither
/// side may cost memory: what is typed waits in a socket of limited size (`web_socket.h`). What is
/// printed may fill a window, which the page opens again when it has drawn; then the thread waits,
/// and the engine with it. WebSockets alone would not do that, since a browser takes whatever comes
/// and keeps it for its script.
///
/// Messages, the page's: bytes that were typed; `{"rows": 24, "columns": 80}`; `{"taken": 4096}`, the
/// bytes that were drawn since the last such message. Ours: bytes that were printed; at the end
/// `{"ended": 0}` with the exit code, or `{"error": "…"}`.

#include <list>
#include <memory>

#include "server/http_listener.h"
#include "server/routes.h"

namespace fettle {

/// Used on the thread of the queue only.
class Terminals {
 public:
  explicit Terminals(const Workplace& place) : place_(place) {}
  /// Ends all shells, and waits for them.
  ~Terminals();
  Terminals(const Terminals&) = delete;
  Terminals& operator=(const Terminals&) = delete;

  /// A shell in the service in the path, in a window of that size (`rows`, `columns`). Errors: there
  /// is no such service, it does not run, there are too many shells. If the request wants no
  /// WebSocket, that is answered.
  Status add(const RouteCall& call, bool wants_socket, const std::shared_ptr<WebPeer>& peer);
  /// Lets those go that have gone.
  void sweep();

 private:
  struct Terminal;
  void hold(Terminal& terminal) const;

  const Workplace& place_;
  std::list<std::shared_ptr<Terminal>> terminals_;
};

}  // namespace fettle
