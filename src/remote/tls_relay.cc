#include "remote/tls_relay.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "remote/frames.h"

namespace fettle {
namespace {

/// Of a piece that is passed on, this much room is kept: most of them are small.
constexpr size_t kept_room = 1'024;

}  // namespace

void TlsRelay::Piece::take(size_t count) {
  bytes.erase(0, count);
  if (bytes.empty() && bytes.capacity() > kept_room)
    bytes = std::string();
}

TlsRelay::TlsRelay(Descriptor client, Descriptor session, TlsStream tls)
    : client_(std::move(client)), session_(std::move(session)), tls_(std::move(tls)) {
  for (const Descriptor* each : {&client_, &session_})
    fcntl(each->get(), F_SETFL, fcntl(each->get(), F_GETFL) | O_NONBLOCK);
}

bool TlsRelay::pass() {
  const bool has_heard = pass_from_client();
  const bool has_said = pass_from_session();
  return has_heard || has_said;
}

bool TlsRelay::pass_from_client() {
  bool progress = false;
  if (heard_.wants_more()) {
    std::array<char, piece_bytes> buffer;
    size_t count = 0;
    reading_ = tls_.read(buffer, count);
    heard_.bytes.assign(buffer.data(), count);
    heard_.has_ended = reading_ == TlsStep::ended;
    is_lost_ = is_lost_ || reading_ == TlsStep::failed;
    progress = count > 0 || heard_.has_ended;
  }
  if (!heard_.bytes.empty()) {
    const ssize_t count =
        ::send(session_.get(), heard_.bytes.data(), heard_.bytes.size(), MSG_NOSIGNAL);
    if (count > 0)
      heard_.take(static_cast<size_t>(count));
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

bool TlsRelay::pass_from_session() {
  bool progress = false;
  if (said_.wants_more()) {
    std::array<char, piece_bytes> buffer;
    const ssize_t count = ::recv(session_.get(), buffer.data(), buffer.size(), 0);
    if (count > 0)
      said_.bytes.assign(buffer.data(), static_cast<size_t>(count));
    said_.has_ended = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    progress = count > 0 || said_.has_ended;
  }
  writing_ = TlsStep::done;
  if (!said_.bytes.empty()) {
    size_t count = 0;
    writing_ = tls_.write(said_.bytes, count);
    said_.take(count);
    progress = progress || count > 0;
  } else if (said_.has_to_end()) {
    writing_ = tls_.finish_writing();
    said_.is_passed_on = writing_ == TlsStep::done;
  }
  is_lost_ = is_lost_ || writing_ == TlsStep::failed;
  return progress;
}

std::array<pollfd, 2> TlsRelay::awaited() const {
  const short reads = heard_.wants_more() ? events_of(reading_) : short{0};
  const short of_session =
      static_cast<short>((said_.wants_more() ? POLLIN : 0) | (heard_.bytes.empty() ? 0 : POLLOUT));
  return {pollfd{client_.get(), static_cast<short>(reads | events_of(writing_)), 0},
          pollfd{has_lost_session_ ? -1 : session_.get(), of_session, 0}};
}

bool TlsRelay::note(const std::array<pollfd, 2>& polled) {
  has_lost_session_ = has_lost_session_ || (polled[1].revents & (POLLHUP | POLLERR)) != 0;
  // Without anything to be heard or said, the client has gone both ways.
  return polled[0].events != 0 || polled[0].revents == 0;
}

}  // namespace fettle
