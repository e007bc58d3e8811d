#include "remote/handover.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace fettle {
namespace {

/// All that is said has less.
constexpr size_t longest_words = 32 << 10;
/// A process that hears nothing for so long hangs.
constexpr timeval patience{10, 0};

union SocketRoom {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

}  // namespace

Result<std::array<Descriptor, 2>> handover_ends() {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return world_error(cat("cannot make a socket: ", lower_case(std::strerror(errno))));
  for (const int end : pair)
    setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return std::array{Descriptor(pair[0]), Descriptor(pair[1])};
}

Status hand_over(int end, std::string_view words, int socket) {
  std::string said(words);
  iovec part{said.data(), said.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  SocketRoom room{};
  if (socket >= 0) {
    message.msg_control = room.bytes.data();
    message.msg_controllen = room.bytes.size();
    cmsghdr* const about = CMSG_FIRSTHDR(&message);
    about->cmsg_level = SOL_SOCKET;
    about->cmsg_type = SCM_RIGHTS;
    about->cmsg_len = CMSG_LEN(sizeof socket);
    std::memcpy(CMSG_DATA(about), &socket, sizeof socket);
  }
  ssize_t count = 0;
  do
    count = ::sendmsg(end, &message, MSG_NOSIGNAL);
  while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(said.size()))
    return world_error(cat("the server does not get on: ", lower_case(std::strerror(errno))));
  return {};
}

std::optional<HandedOver> take_over(int end) {
  HandedOver taken;
  taken.words.resize(longest_words);
  iovec part{taken.words.data(), taken.words.size()};
  SocketRoom room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes.data();
  message.msg_controllen = room.bytes.size();
  const ssize_t count = ::recvmsg(end, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return std::nullopt;
  taken.words.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  taken.words.shrink_to_fit();
  const cmsghdr* const about = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (about != nullptr && about->cmsg_level == SOL_SOCKET && about->cmsg_type == SCM_RIGHTS) {
    int socket = -1;
    std::memcpy(&socket, CMSG_DATA(about), sizeof socket);
    taken.socket = Descriptor(socket);
  }
  return taken;
}

void close_all_but(std::vector<int> kept) {
  std::erase_if(kept, [](int each) { return each <= STDERR_FILENO; });
  std::ranges::sort(kept);
  unsigned first = STDERR_FILENO + 1;
  for (const int each : kept) {
    const unsigned next = static_cast<unsigned>(each);
    if (next > first)
      syscall(SYS_close_range, first, next - 1, 0U);
    first = next + 1;
  }
  syscall(SYS_close_range, first, ~0U, 0U);
}

}  // namespace fettle
