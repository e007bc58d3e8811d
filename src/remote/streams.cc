#include "remote/streams.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"

namespace fettle {
namespace {

constexpr size_t number_bytes = 8, count_bytes = 4;
/// Taken bytes of which the other side hears at the latest.
constexpr size_t worth_telling = stream_window / 4;
/// Those that are too many and still hear so.
constexpr size_t most_parting = 64;
/// They are not of the line.
constexpr uint64_t first_refused = uint64_t{1} << 63;

std::string text_of_number(uint64_t number, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = size; i-- > 0; number >>= 8)
    bytes[i] = static_cast<char>(static_cast<unsigned char>(number & 0xff));
  return bytes;
}

uint64_t number_in(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes)
    number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

bool would_block() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

bool Streams::is_of_stream(FrameType type) {
  return type == FrameType::stream_bytes || type == FrameType::stream_taken ||
         type == FrameType::stream_end || type == FrameType::stream_break;
}

void Streams::open(Descriptor local, StreamGoal goal, std::string_view busy) {
  fcntl(local.get(), F_SETFL, fcntl(local.get(), F_GETFL) | O_NONBLOCK);
  if (count() < most_) {
    line_.send(FrameType::stream_open,
               text_of_number(++last_, number_bytes) + static_cast<char>(goal));
    Stream& opened = streams_[last_];
    opened.local = std::move(local);
    opened.goal = goal;
    return;
  }
  if (count() >= most_ + most_parting)
    return;
  Stream& refused = streams_[first_refused + ++last_refused_];
  refused.local = std::move(local);
  part(refused, busy);
}

bool Streams::join(const Frame& opened,
                   const std::function<Result<Descriptor>(StreamGoal)>& local) {
  const std::string_view payload = opened.payload;
  if (payload.size() != number_bytes + 1)
    return false;
  const Number number = number_in(payload.substr(0, number_bytes));
  const StreamGoal goal = static_cast<StreamGoal>(payload.back());
  if (number <= last_ || number >= first_refused ||
      (goal != StreamGoal::engine && goal != StreamGoal::acts))
    return false;
  last_ = number;
  Result<Descriptor> socket = count() < most_
                                  ? local(goal)
                                  : Result<Descriptor>(world_error("it has too many connections"));
  if (!socket) {
    line_.send(FrameType::stream_break, cat(payload.substr(0, number_bytes),
                                            clipped(to_string(socket.error()), piece_bytes / 16)));
    return true;
  }
  fcntl(socket->get(), F_SETFL, fcntl(socket->get(), F_GETFL) | O_NONBLOCK);
  streams_[number].local = *std::move(socket);
  return true;
}

bool Streams::take(const Frame& frame) {
  const std::string_view payload = frame.payload;
  if (payload.size() < number_bytes)
    return false;
  const Number number = number_in(payload.substr(0, number_bytes));
  const std::string_view rest = payload.substr(number_bytes);
  if (number == 0 || number > last_)
    return false;
  const auto found = streams_.find(number);
  if (found == streams_.end())  // what was under way when it ended here
    return true;
  Stream& stream = found->second;
  bool is_right = true;
  switch (frame.type) {
    case FrameType::stream_bytes:
      is_right = hear_bytes(number, stream, rest);
      break;
    case FrameType::stream_taken:
      stream.may_send += rest.size() == count_bytes ? number_in(rest) : stream_window + 1;
      is_right = stream.may_send <= stream_window;
      break;
    case FrameType::stream_end:
      is_right = rest.empty() && !stream.is_ended;
      stream.is_ended = true;
      break;
    default:
      hear_break(stream, rest);
  }
  if (is_right)
    write(number, stream);
  if (stream.is_over)
    streams_.erase(found);
  return is_right;
}

bool Streams::hear_bytes(Number number, Stream& stream, std::string_view bytes) {
  if (stream.is_ended || stream.is_broken ||
      bytes.size() > stream_window - stream.untold - stream.unwritten.size())
    return false;
  stream.has_heard = true;
  if (stream.is_deaf) {
    stream.untold += bytes.size();
    tell_taken(number, stream, worth_telling);
  } else {
    stream.unwritten += bytes;
  }
  return true;
}

void Streams::hear_break(Stream& stream, std::string_view why) {
  stream.is_broken = true;
  if (!stream.has_heard && !why.empty() && answer_)
    part(stream, answer_(stream.goal, why));
}

/// It gets an answer of this side, and what it says until it closes is not heard: closing before
/// could take the answer away.
void Streams::part(Stream& stream, std::string_view answer) {
  stream.is_broken = stream.is_parting = true;
  stream.unwritten = answer;
}

std::vector<pollfd> Streams::awaited() const {
  std::vector<pollfd> polled;
  polled.reserve(streams_.size());
  for (const auto& [number, stream] : streams_) {
    const short events = static_cast<short>((wants_to_read(stream) ? POLLIN : 0) |
                                            (stream.unwritten.empty() ? 0 : POLLOUT));
    // Of one that has gone, `poll` would tell again and again.
    polled.push_back({events == 0 && stream.is_gone ? -1 : stream.local.get(), events, 0});
  }
  return polled;
}

void Streams::act(std::span<const pollfd> polled) {
  std::vector<std::pair<Number, short>> turns;
  size_t i = 0;
  for (const auto& [number, stream] : streams_)
    if (const short events = i < polled.size() ? polled[i++].revents : short{0}; events != 0)
      turns.emplace_back(number, events);
  // The one behind who was served last is the first.
  std::ranges::rotate(
      turns, std::ranges::upper_bound(turns, last_served_, {}, &std::pair<Number, short>::first));
  for (const auto& [number, events] : turns) {
    const auto found = streams_.find(number);
    serve(number, found->second, events);
    if (found->second.is_over)
      streams_.erase(found);
  }
}

bool Streams::wants_to_read(const Stream& stream) const {
  if (stream.is_parting)
    return true;
  return !stream.has_ended && !stream.is_broken && stream.may_send > 0 &&
         line_.unsent() < most_unsent;
}

void Streams::serve(Number number, Stream& stream, short events) {
  stream.is_gone = stream.is_gone || (events & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  if (!stream.unwritten.empty())
    write(number, stream);
  if (stream.is_over)
    return;
  if (wants_to_read(stream)) {
    read(number, stream);
    last_served_ = number;
  } else if (stream.is_gone && stream.is_broken) {
    stream.is_over = true;
  } else if (stream.is_gone && stream.has_ended) {
    say_break(number, stream, "");
  }
}

void Streams::read(Number number, Stream& stream) {
  std::array<char, piece_bytes> buffer;
  const size_t room = stream.is_parting ? buffer.size() : std::min(buffer.size(), stream.may_send);
  const ssize_t count = ::recv(stream.local.get(), buffer.data(), room, MSG_DONTWAIT);
  if (count < 0 && would_block())
    return;
  if (stream.is_parting) {
    stream.is_over = count <= 0;
    return;
  }
  if (count > 0) {
    stream.may_send -= static_cast<size_t>(count);
    std::string payload = text_of_number(number, number_bytes);
    payload.append(buffer.data(), static_cast<size_t>(count));
    line_.send(FrameType::stream_bytes, payload);
  } else if (count < 0) {
    say_break(number, stream,
              stream.failure.empty() ? lower_case(std::strerror(errno)) : stream.failure);
  } else if (stream.is_gone) {
    say_break(number, stream, "");
  } else {
    say_end(number, stream);
  }
}

void Streams::write(Number number, Stream& stream) {
  while (!stream.unwritten.empty()) {
    const ssize_t count = ::send(stream.local.get(), stream.unwritten.data(),
                                 stream.unwritten.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && would_block())
      break;
    // It may still have something to say, as why it takes no more.
    if (count < 0 && !std::exchange(stream.is_deaf, true) && errno != EPIPE)
      stream.failure = lower_case(std::strerror(errno));
    const size_t taken = count < 0 ? stream.unwritten.size() : static_cast<size_t>(count);
    stream.untold += taken;
    stream.unwritten.erase(0, taken);
  }
  if (!stream.is_broken)
    tell_taken(number, stream, worth_telling);
  if (!stream.unwritten.empty())
    return;
  if (stream.is_broken && !stream.is_parting) {
    stream.is_over = true;
  } else if ((stream.is_ended || stream.is_parting) && !stream.is_shut) {
    ::shutdown(stream.local.get(), SHUT_WR);
    stream.is_shut = true;
  }
  if (stream.is_shut && stream.has_ended)
    stream.is_over = true;
}

void Streams::tell_taken(Number number, Stream& stream, size_t least) {
  if (stream.untold < least)
    return;
  line_.send(FrameType::stream_taken,
             cat(text_of_number(number, number_bytes), text_of_number(stream.untold, count_bytes)));
  stream.untold = 0;
}

void Streams::say_end(Number number, Stream& stream) {
  line_.send(FrameType::stream_end, text_of_number(number, number_bytes));
  stream.has_ended = true;
  stream.is_over = stream.is_shut;
}

void Streams::say_break(Number number, Stream& stream, std::string_view why) {
  line_.send(FrameType::stream_break, cat(text_of_number(number, number_bytes), why));
  stream.is_over = true;
}

}  // namespace fettle
