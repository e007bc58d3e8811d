#include "remote/line.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

namespace fettle {
namespace {

int milliseconds_of(Duration time) {
  return time.count() < 0
             ? -1
             : static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

}  // namespace

bool await_events(int descriptor, short events, Duration patience) {
  pollfd one{descriptor, events, 0};
  int ready = 0;
  do
    ready = poll(&one, 1, milliseconds_of(patience));
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

Line::Line(Descriptor socket, std::string_view already_read) : socket_(std::move(socket)) {
  fcntl(socket_.get(), F_SETFL, fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
  reader_.add(already_read);
}

Line::Line(Descriptor socket, TlsStream tls) : Line(std::move(socket)) {
  tls_.emplace(std::move(tls));
}

void Line::leave() {
  is_gone_ = true;
  tls_.reset();
  socket_.close();
}

Descriptor Line::leave_tls(Duration patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  std::array<char, piece_bytes> ignored{};
  const auto finish = [&](const auto& step_of) {
    while (true) {
      const TlsStep step = step_of();
      const Duration left = end - std::chrono::steady_clock::now();
      if (events_of(step) == 0)
        return step;
      if (left <= Duration(0) || !await_events(socket_.get(), events_of(step), left))
        return TlsStep::failed;
    }
  };
  size_t count = 0;
  const bool has_ended = tls_ && finish([&] { return tls_->finish_writing(); }) == TlsStep::done &&
                         finish([&] {
                           TlsStep step = TlsStep::done;
                           while (step == TlsStep::done)
                             step = tls_->read(ignored, count);
                           return step;
                         }) == TlsStep::ended;
  tls_.reset();
  if (!has_ended)
    socket_.close();
  return take_socket();
}

Descriptor Line::take_socket() {
  is_gone_ = true;
  return std::move(socket_);
}

short Line::events() const {
  return static_cast<short>(POLLIN | (unsent() > 0 || reading_waits_to_write_ ? POLLOUT : 0));
}

ssize_t Line::write_some(std::string_view bytes) {
  if (!tls_)
    return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  size_t count = 0;
  const TlsStep step = tls_->write(bytes, count);
  errno = events_of(step) != 0 ? EAGAIN : ECONNRESET;
  return step == TlsStep::done ? static_cast<ssize_t>(count) : -1;
}

ssize_t Line::read_some(std::span<char> into) {
  if (!tls_)
    return ::recv(socket_.get(), into.data(), into.size(), MSG_DONTWAIT);
  size_t count = 0;
  const TlsStep step = tls_->read(into, count);
  reading_waits_to_write_ = step == TlsStep::wants_to_write;
  errno = events_of(step) != 0 ? EAGAIN : ECONNRESET;
  return step == TlsStep::done ? static_cast<ssize_t>(count) : step == TlsStep::ended ? 0 : -1;
}

void Line::send(FrameType type, std::string_view payload) {
  if (!is_gone_)
    unsent_ += packed(type, payload);
}

void Line::push() {
  while (!is_gone_ && unsent() > 0) {
    const ssize_t count = write_some(std::string_view(unsent_).substr(sent_));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      if (errno != EAGAIN)
        leave();
      break;
    }
    sent_ += static_cast<size_t>(count);
  }
  if (unsent() == 0) {
    unsent_.clear();
    sent_ = 0;
  } else if (sent_ > largest_frame) {
    unsent_.erase(0, sent_);
    sent_ = 0;
  }
}

bool Line::push_all(Duration patience) {
  for (push(); !is_gone_ && unsent() > 0; push())
    if (!await_events(socket_.get(), POLLOUT, patience))
      leave();
  return !is_gone_;
}

void Line::pull() {
  // A record of TLS is smaller than what is read at once, so several are taken, and none in part.
  for (size_t total = 0; !is_gone_ && total < piece_bytes;) {
    std::array<char, piece_bytes> buffer{};
    const ssize_t count = read_some(buffer);
    if (count > 0) {
      reader_.add({buffer.data(), static_cast<size_t>(count)});
      received_ += static_cast<uint64_t>(count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      leave();
    }
    if (count <= 0 || !tls_)
      break;
    total += static_cast<size_t>(count);
  }
}

std::string Line::receive(Duration patience) {
  std::array<char, piece_bytes> buffer{};
  while (!is_gone_) {
    const ssize_t count = read_some(buffer);
    if (count > 0)
      return {buffer.data(), static_cast<size_t>(count)};
    if (count == 0 || (errno != EAGAIN && errno != EINTR))
      leave();
    else if (!await_events(socket_.get(), POLLIN, patience))
      break;
  }
  return {};
}

std::optional<Frame> Line::take() {
  if (back_)
    return std::exchange(back_, std::nullopt);
  Result<std::optional<Frame>> next = reader_.next();
  if (next)
    return *std::move(next);
  leave();
  return std::nullopt;
}

std::optional<Frame> Line::await(Duration patience) {
  while (true) {
    if (std::optional<Frame> frame = take())
      return frame;
    if (is_gone_ || !await_events(socket_.get(), POLLIN, patience))
      return std::nullopt;
    pull();
  }
}

}  // namespace fettle
