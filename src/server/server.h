#pragma once
/// `fettle web`: a page about the environments of this home, for the user who started it, while
/// somebody looks at it.
///
/// It has no state and decides nothing: a request becomes one call of a verb, on the thread that
/// calls `serve`, and its report is sent as the document that the command line prints. So the page
/// knows what commands know, and what happens elsewhere is seen at once: the store tells.
///
/// What reads users' texts is answered by a child (`child_calls.h`).
///
/// `guard.h` says who may ask, `http_listener.h` has the sockets, `routes.h` what can be asked,
/// `event_streams.h` and `log_streams.h` what is told unasked, `terminals.h` has the shells, and
/// `plan_acts.h` what carries out a plan.

#include "server/event_streams.h"
#include "server/guard.h"
#include "server/log_streams.h"
#include "server/page_files.h"
#include "server/plan_acts.h"
#include "server/terminals.h"

namespace fettle {

struct WebSettings {
  int port = 0;               ///< 0: any that is free
  std::string landing{};      ///< where the page opens, behind `#`
  Duration linger = 60s;      ///< after the last viewer has gone
  Duration patience = 10min;  ///< until whoever has an address opens it
  ListenerSettings listener{};
  std::string program = "/proc/self/exe";  ///< which answers what reads users' texts
  ChildLimits child{};
  std::function<bool()> still_counts{};  ///< asked each second; false: the page ends
};

/// Error (`Blame::world`): the program was built without its page.
Status check_page(std::span<const PageFile> files);

class WebServer {
 public:
  /// `place` outlives it, and `files` does. Errors: there are no files, the port is not to be had.
  static Result<std::unique_ptr<WebServer>> open(const Workplace& place,
                                                 const WebSettings& settings,
                                                 std::span<const PageFile> files);
  /// One that listens nowhere: its connections are handed over, by `adopt`. `door`: who may ask.
  static Result<std::unique_ptr<WebServer>> open_for_handed(const Workplace& place,
                                                            const WebSettings& settings,
                                                            std::span<const PageFile> files,
                                                            std::unique_ptr<WebDoor> door);
  ~WebServer();

  /// Where the page opens, once; of one that listens.
  std::string address() const { return guard_->address(); }
  /// Gives another such address (`Guard::address_of_another`).
  std::string address_of_another(std::string_view at) const {
    return guard_->address_of_another(at);
  }
  /// A connection for one request. `bytes`: what came of it. `from`: who has
  /// made it. While it serves, from any thread.
  void adopt(Descriptor socket, std::string bytes, std::string from) {
    listener_->adopt(std::move(socket), std::move(bytes), std::move(from));
  }
  int port() const { return listener_->port(); }
  /// Serves until a stop is asked for, or until all who came have gone, or nobody has come. On this
  /// thread verbs are called.
  void serve(const std::stop_token& stop);

 private:
  WebServer(const Workplace& place, const WebSettings& settings, std::span<const PageFile> files,
            std::unique_ptr<HttpListener> listener, std::unique_ptr<WebDoor> door);
  /// On the listener's thread.
  void take(const WebRequest& request, std::shared_ptr<WebPeer> peer);
  const PageFile* find_file(std::string_view path) const;
  void answer(const WebRequest& request, const WebTarget& target,
              const std::shared_ptr<WebPeer>& peer);
  Status act(const WebRequest& request, const WebTarget& target,
             const std::shared_ptr<WebPeer>& peer);
  Status call_child(const WebTarget& target, RouteMatch match,
                    const std::shared_ptr<WebPeer>& peer);
  Status open_stream(const WebRequest& request, const WebTarget& target, RouteMatch match,
                     const std::shared_ptr<WebPeer>& peer);
  /// Nobody looks any more, and nobody is waited for.
  bool is_left() const;
  void watch_store(const std::stop_token& stop);

  const Workplace& place_;
  const WebSettings settings_;
  const std::span<const PageFile> files_;
  const std::unique_ptr<HttpListener> listener_;
  const std::unique_ptr<WebDoor> door_;  ///< used on the listener's thread
  const Guard* guard_ = nullptr;         ///< the same, where one listens
  WorkQueue queue_;
  EventStreams streams_;
  LogStreams logs_;
  Terminals terminals_;
  PlanActs acts_;
  ChildCalls children_;
  std::atomic<bool> is_advancing_ = false;  ///< there is a job for all viewers
  std::atomic<Instant> looked_until_;       ///< somebody looks, or did within `linger`
  std::atomic<Instant> awaited_until_;      ///< somebody has an address and has not opened it
};

}  // namespace fettle
