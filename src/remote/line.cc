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

void Line::leave() {
  is_gone_ = true;
  socket_.close();
}

short Line::events() const { return static_cast<short>(POLLIN | (unsent() > 0 ? POLLOUT : 0)); }

void Line::send(FrameType type, std::string_view payload) {
  if (!is_gone_)
    unsent_ += packed(type, payload);
}

void Line::push() {
  while (!is_gone_ && unsent() > 0) {
    const ssize_t count =
        ::send(socket_.get(), unsent_.data() + sent_, unsent(), MSG_NOSIGNAL | MSG_DONTWAIT);
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
  std::array<char, piece_bytes> buffer{};
  const ssize_t count =
      is_gone_ ? 0 : ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0)
    reader_.add({buffer.data(), static_cast<size_t>(count)});
  else if (!is_gone_ && (count == 0 || (errno != EAGAIN && errno != EINTR)))
    leave();
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
