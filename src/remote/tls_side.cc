#include "remote/tls_side.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>

#include "base/text.h"
#include "remote/frames.h"
#include "remote/upgrade.h"

namespace fettle {
namespace {

using TlsClock = std::chrono::steady_clock;

/// For the client to close, once all is said: what it still sends would take our last words away.
constexpr Duration tls_closing_limit = 2s;
/// `poll` refuses more descriptors than may be open.
constexpr rlim_t most_descriptors = 3;

/// Bytes that one side has said and the other one has not taken.
struct Piece {
  std::string bytes;
  bool has_ended = false;  ///< no more comes
  bool is_passed_on = false;

  bool wants_more() const { return bytes.empty() && !has_ended; }
  bool has_to_end() const { return bytes.empty() && has_ended && !is_passed_on; }
};

class TlsSide {
 public:
  TlsSide(Descriptor client, Descriptor session, TlsStream tls, const TlsSideLimits& limits)
      : client_(std::move(client)),
        session_(std::move(session)),
        tls_(std::move(tls)),
        limits_(limits) {
    for (const Descriptor* each : {&client_, &session_})
      fcntl(each->get(), F_SETFL, fcntl(each->get(), F_GETFL) | O_NONBLOCK);
  }

  int serve() {
    if (!shake_hands())
      return 1;
    while (!is_over_) {
      const bool has_heard = pass_from_client();
      const bool has_said = pass_from_session();
      if (is_over_ || (said_.has_ended && said_.is_passed_on))
        break;
      if (!has_heard && !has_said && !wait())
        break;
    }
    if (said_.is_passed_on)
      part();
    return 0;
  }

 private:
  bool shake_hands() {
    const auto end = TlsClock::now() + limits_.handshake;
    while (true) {
      const TlsStep step = tls_.shake_hands();
      if (step == TlsStep::done)
        return true;
      const Duration left = end - TlsClock::now();
      if (events_of(step) == 0) {
        if (tls_.fault() == TlsFault::clear_text)
          refuse_clear_text();
        part();
      }
      if (events_of(step) == 0 || left <= Duration(0))
        return false;
      // A session that has ended waits for nobody.
      std::array<pollfd, 2> polled{pollfd{client_.get(), events_of(step), 0},
                                   pollfd{session_.get(), 0, 0}};
      if (poll_for(polled, left) <= 0 || polled[1].revents != 0)
        return false;
    }
  }

  void refuse_clear_text() {
    const std::string reply =
        refusal_reply({400, "it speaks TLS alone: its address begins with `https://`"});
    static_cast<void>(!::send(client_.get(), reply.data(), reply.size(), MSG_NOSIGNAL));
  }

  /// Whether something went on.
  bool pass_from_client() {
    bool progress = false;
    if (heard_.wants_more()) {
      size_t count = 0;
      reading_ = tls_.read(buffer_, count);
      heard_.bytes.assign(buffer_.data(), count);
      heard_.has_ended = reading_ == TlsStep::ended;
      is_over_ = is_over_ || reading_ == TlsStep::failed;
      progress = count > 0 || heard_.has_ended;
    }
    if (!heard_.bytes.empty()) {
      const ssize_t count =
          ::send(session_.get(), heard_.bytes.data(), heard_.bytes.size(), MSG_NOSIGNAL);
      if (count > 0)
        heard_.bytes.erase(0, static_cast<size_t>(count));
      else if (errno != EAGAIN && errno != EINTR)  // nobody hears it any more
        heard_ = {.bytes = {}, .has_ended = true, .is_passed_on = true};
      progress = progress || count > 0;
    }
    if (heard_.has_to_end()) {
      ::shutdown(session_.get(), SHUT_WR);
      heard_.is_passed_on = true;
    }
    return progress;
  }

  bool pass_from_session() {
    bool progress = false;
    if (said_.wants_more()) {
      const ssize_t count = ::recv(session_.get(), buffer_.data(), buffer_.size(), 0);
      if (count > 0)
        said_.bytes.assign(buffer_.data(), static_cast<size_t>(count));
      said_.has_ended = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
      progress = count > 0 || said_.has_ended;
    }
    writing_ = TlsStep::done;
    if (!said_.bytes.empty()) {
      size_t count = 0;
      writing_ = tls_.write(said_.bytes, count);
      said_.bytes.erase(0, count);
      progress = progress || count > 0;
    } else if (said_.has_to_end()) {
      writing_ = tls_.finish_writing();
      said_.is_passed_on = writing_ == TlsStep::done;
    }
    is_over_ = is_over_ || writing_ == TlsStep::failed;
    return progress;
  }

  /// False: there is nobody to wait for.
  bool wait() {
    const short reads = heard_.wants_more() ? events_of(reading_) : short{0};
    std::array<pollfd, 2> polled{
        pollfd{client_.get(), static_cast<short>(reads | events_of(writing_)), 0},
        pollfd{session_.get(),
               static_cast<short>((said_.wants_more() ? POLLIN : 0) |
                                  (heard_.bytes.empty() ? 0 : POLLOUT)),
               0}};
    // Of a session that has gone, `poll` would tell again and again.
    if (has_gone_)
      polled[1].fd = -1;
    const int ready = poll_for(polled, has_gone_ ? limits_.write : Duration(-1));
    has_gone_ = has_gone_ || (polled[1].revents & (POLLHUP | POLLERR)) != 0;
    // Without anything to be heard or said, the client has gone both ways.
    const bool is_alone = polled[0].events == 0 && polled[0].revents != 0;
    return ready > 0 && !is_alone;
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
    session_.close();
    ::shutdown(client_.get(), SHUT_WR);
    const auto end = TlsClock::now() + tls_closing_limit;
    std::array<pollfd, 1> polled{pollfd{client_.get(), POLLIN, 0}};
    while (TlsClock::now() < end && poll_for(polled, end - TlsClock::now()) > 0 &&
           ::recv(client_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT) > 0) {
    }
  }

  Descriptor client_, session_;
  TlsStream tls_;  ///< goes before its socket
  const TlsSideLimits& limits_;
  std::array<char, piece_bytes> buffer_{};
  Piece heard_, said_;  ///< by the client, by the session
  TlsStep reading_ = TlsStep::wants_to_read, writing_ = TlsStep::done;
  bool is_over_ = false;
  bool has_gone_ = false;  ///< the session; what it has said is still there
};

}  // namespace

int serve_tls(Descriptor client, Descriptor session, const TlsIdentity& identity,
              const TlsSideLimits& limits) {
  Result<TlsStream> tls = TlsStream::serve(client.get(), identity);
  if (!tls)
    return 1;
  // It needs no file, no other socket and no child; its core would have the key.
  const rlimit none{most_descriptors, most_descriptors}, no_more{0, 0};
  setrlimit(RLIMIT_NOFILE, &none);
  setrlimit(RLIMIT_NPROC, &no_more);
  setrlimit(RLIMIT_CORE, &no_more);
  return TlsSide(std::move(client), std::move(session), *std::move(tls), limits).serve();
}

}  // namespace fettle
