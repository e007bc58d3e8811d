#include "remote/hand_over.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/text.h"

namespace fettle {
namespace {

constexpr Duration taking_limit = 5s;
constexpr int handing_backlog = 64;

/// The address of a socket in a folder, whose path may be longer than an address has room for.
struct FolderAddress {
  Descriptor folder;
  sockaddr_un address{};
};

std::optional<FolderAddress> address_in(const Path& folder, const std::string& name) {
  FolderAddress made{Descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  const std::string path = cat("/proc/self/fd/", made.folder.get(), "/", name);
  if (!made.folder.is_open() || path.size() >= sizeof made.address.sun_path)
    return std::nullopt;
  made.address.sun_family = AF_UNIX;
  std::memcpy(made.address.sun_path, path.c_str(), path.size() + 1);
  return made;
}

Descriptor local_socket() {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

bool is_ready(int descriptor, Duration patience) {
  pollfd one{descriptor, POLLIN, 0};
  return poll(&one, 1, static_cast<int>(patience / 1ms)) > 0;
}

union ControlRoom {
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  cmsghdr alignment;
};

}  // namespace

Result<Descriptor> open_hand_over(const Path& folder, const std::string& name) {
  unlink((folder / name).c_str());
  const auto where = address_in(folder, name);
  Descriptor socket = local_socket();
  if (!where || !socket.is_open() ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&where->address),
             sizeof where->address) != 0 ||
      ::listen(socket.get(), handing_backlog) != 0)
    return file_error("cannot listen at", folder / name);
  return socket;
}

std::optional<Descriptor> begin_hand_over(const Path& folder, const std::string& name,
                                          const HandedConnection& connection) {
  const std::string bytes = cat(connection.from, "\n", connection.bytes);
  const auto where = address_in(folder, name);
  Descriptor line = local_socket();
  if (!where || !line.is_open() || bytes.size() > most_handed_bytes ||
      ::connect(line.get(), reinterpret_cast<const sockaddr*>(&where->address),
                sizeof where->address) != 0)
    return std::nullopt;
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  ControlRoom room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes.data();
  message.msg_controllen = room.bytes.size();
  cmsghdr* const control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = connection.socket.get();
  std::memcpy(CMSG_DATA(control), &number, sizeof number);
  if (::sendmsg(line.get(), &message, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
    return std::nullopt;
  return line;
}

bool hand_over(const Path& folder, const std::string& name, const HandedConnection& connection) {
  const std::optional<Descriptor> line = begin_hand_over(folder, name, connection);
  char taken = 0;
  return line && is_ready(line->get(), taking_limit) && ::recv(line->get(), &taken, 1, 0) == 1;
}

std::optional<HandedConnection> take_handed(const Descriptor& door, Duration patience) {
  if (!is_ready(door.get(), patience))
    return std::nullopt;
  const Descriptor line(::accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!line.is_open() || !is_ready(line.get(), taking_limit))
    return std::nullopt;
  HandedConnection handed;
  handed.bytes.resize(most_handed_bytes);
  iovec part{handed.bytes.data(), handed.bytes.size()};
  ControlRoom room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes.data();
  message.msg_controllen = room.bytes.size();
  const ssize_t count = ::recvmsg(line.get(), &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* const control = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS ||
      control->cmsg_len != CMSG_LEN(sizeof(int)))
    return std::nullopt;
  int number = -1;
  std::memcpy(&number, CMSG_DATA(control), sizeof number);
  handed.socket = Descriptor(number);
  handed.bytes.resize(static_cast<size_t>(count));
  const size_t end = handed.bytes.find('\n');
  if (end == std::string::npos || end + 1 == handed.bytes.size())
    return std::nullopt;
  handed.from = handed.bytes.substr(0, end);
  handed.bytes.erase(0, end + 1);
  if (::send(line.get(), "t", 1, MSG_NOSIGNAL) != 1)  // it has gone to somebody else meanwhile
    return std::nullopt;
  return handed;
}

}  // namespace fettle
