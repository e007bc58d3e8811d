#include "remote/tls_side.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>

#include "base/text.h"
#include "remote/frames.h"
#include "remote/handover.h"
#include "remote/tls_relay.h"
#include "remote/upgrade.h"

namespace fettle {
namespace {

using TlsClock = std::chrono::steady_clock;

/// For the client to close, once all is said: what it still sends would take our last words away.
constexpr Duration tls_closing_limit = 2s;
/// `poll` refuses more descriptors than may be open.
constexpr rlim_t most_descriptors = 3;

class TlsSide {
 public:
  TlsSide(TlsRelay relay, const TlsSideLimits& limits, Descriptor handing)
      : relay_(std::move(relay)), limits_(limits), handing_(std::move(handing)) {}

  int serve() {
    if (!shake_hands())
      return 1;
    while (!relay_.is_lost()) {
      const bool goes_on = relay_.pass();
      if (relay_.has_heard_all() && is_wanted())
        relay_.end_saying();
      if (relay_.is_lost() || relay_.has_said_all())
        break;
      if (!goes_on && !wait())
        break;
    }
    if (!relay_.has_said_all())
      return 0;
    if (is_wanted_ && !relay_.is_lost())
      return hand_over(handing_.get(), "client", relay_.client().get()) ? 0 : 1;
    part();
    return 0;
  }

 private:
  bool shake_hands() {
    const auto end = TlsClock::now() + limits_.handshake;
    while (true) {
      const TlsStep step = relay_.tls().shake_hands();
      if (step == TlsStep::done)
        return true;
      const Duration left = end - TlsClock::now();
      if (events_of(step) == 0) {
        if (relay_.tls().fault() == TlsFault::clear_text)
          refuse_clear_text();
        part();
      }
      if (events_of(step) == 0 || left <= Duration(0))
        return false;
      // A session that has ended waits for nobody.
      std::array<pollfd, 2> polled{pollfd{relay_.client().get(), events_of(step), 0},
                                   pollfd{relay_.session().get(), 0, 0}};
      if (poll_for(polled, left) <= 0 || polled[1].revents != 0)
        return false;
    }
  }

  void refuse_clear_text() {
    const std::string reply =
        refusal_reply({400, "it speaks TLS alone: its address begins with `https://`"});
    static_cast<void>(!::send(relay_.client().get(), reply.data(), reply.size(), MSG_NOSIGNAL));
  }

  /// Whether the session has asked for the socket of its client, who has been told so and ended TLS.
  bool is_wanted() {
    if (handing_.is_open() && !is_wanted_)
      if (const std::optional<HandedOver> asked = take_over(handing_.get()))
        is_wanted_ = !asked->words.empty();
    return is_wanted_;
  }

  /// False: there is nobody to wait for.
  bool wait() {
    std::array<pollfd, 2> polled = relay_.awaited();
    const Duration limit = is_wanted_                  ? limits_.handshake
                           : relay_.has_lost_session() ? limits_.write
                                                       : Duration(-1);
    return poll_for(polled, limit) > 0 && relay_.note(polled);
  }

  static int poll_for(std::span<pollfd> polled, Duration limit) {
    const int patience =
        limit < Duration(0)
            ? -1
            : static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(limit).count());
    int ready = 0;
    do
      ready = poll(polled.data(), polled.size(), patience);
    while (ready < 0 && errno == EINTR);
    return ready;
  }

  /// Until the client has closed, too.
  void part() {
    relay_.leave_session();
    ::shutdown(relay_.client().get(), SHUT_WR);
    const auto end = TlsClock::now() + tls_closing_limit;
    std::array<pollfd, 1> polled{pollfd{relay_.client().get(), POLLIN, 0}};
    std::array<char, piece_bytes> ignored;
    while (TlsClock::now() < end && poll_for(polled, end - TlsClock::now()) > 0 &&
           ::recv(relay_.client().get(), ignored.data(), ignored.size(), MSG_DONTWAIT) > 0) {
    }
  }

  TlsRelay relay_;
  const TlsSideLimits& limits_;
  Descriptor handing_;
  bool is_wanted_ = false;
};

}  // namespace

int serve_tls(Descriptor client, Descriptor session, const TlsIdentity& identity,
              const TlsSideLimits& limits, Descriptor handing) {
  Result<TlsStream> tls = TlsStream::serve(client.get(), identity);
  if (!tls)
    return 1;
  // It needs no file, no other socket and no child; its core would have the key.
  const rlimit none{most_descriptors, most_descriptors}, no_more{0, 0};
  setrlimit(RLIMIT_NOFILE, &none);
  setrlimit(RLIMIT_NPROC, &no_more);
  setrlimit(RLIMIT_CORE, &no_more);
  return TlsSide(TlsRelay(std::move(client), std::move(session), *std::move(tls)), limits,
                 std::move(handing))
      .serve();
}

}  // namespace fettle
