#include "remote/page_handover.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/text.h"
#include "remote/handover.h"

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

}  // namespace

Result<Descriptor> open_page_entrance(const Path& folder, const std::string& name) {
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

std::optional<Descriptor> begin_page_handover(const Path& folder, const std::string& name,
                                              const HandedConnection& connection) {
  const std::string bytes = cat(connection.from, "\n", connection.bytes);
  const auto where = address_in(folder, name);
  Descriptor line = local_socket();
  if (!where || !line.is_open() || bytes.size() > most_handed_bytes ||
      ::connect(line.get(), reinterpret_cast<const sockaddr*>(&where->address),
                sizeof where->address) != 0)
    return std::nullopt;
  if (!hand_over(line.get(), bytes, connection.socket.get()))
    return std::nullopt;
  return line;
}

bool hand_to_page(const Path& folder, const std::string& name, const HandedConnection& connection) {
  const std::optional<Descriptor> line = begin_page_handover(folder, name, connection);
  char taken = 0;
  return line && is_ready(line->get(), taking_limit) && ::recv(line->get(), &taken, 1, 0) == 1;
}

std::optional<HandedConnection> take_for_page(const Descriptor& door, Duration patience) {
  if (!is_ready(door.get(), patience))
    return std::nullopt;
  const Descriptor line(::accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!line.is_open() || !is_ready(line.get(), taking_limit))
    return std::nullopt;
  std::optional<HandedOver> taken = take_over(line.get());
  if (!taken || !taken->socket.is_open())
    return std::nullopt;
  HandedConnection handed{std::move(taken->socket), {}, std::move(taken->words)};
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
