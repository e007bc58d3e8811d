#include "base/listener.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include "base/text.h"

namespace fettle {
namespace {

struct AddressRelease {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};
using FoundAddresses = std::unique_ptr<addrinfo, AddressRelease>;

Result<FoundAddresses> find_addresses(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(),
                                  address.port.c_str(), &hints, &found);
  if (failure != 0)
    return user_error(cat("no address is known of `", address.host, "`: ", gai_strerror(failure)));
  return FoundAddresses(found);
}

/// Those of one family first. Of all addresses of a machine, that of IPv6 takes connections of both;
/// a name is reached by IPv4 more often.
std::vector<const addrinfo*> in_order(const addrinfo& found, int first_family) {
  std::vector<const addrinfo*> all;
  for (const addrinfo* each = &found; each != nullptr; each = each->ai_next)
    all.push_back(each);
  std::ranges::stable_partition(
      all, [&](const addrinfo* each) { return each->ai_family == first_family; });
  return all;
}

/// Closed, with `errno`, if the address is not to be had.
Descriptor listener_at(const addrinfo& address, int waiting) {
  Descriptor listener(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.is_open())
    return listener;
  const int on = 1, off = 0;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6)
    setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(listener.get(), address.ai_addr, address.ai_addrlen) == 0 &&
      ::listen(listener.get(), waiting) == 0)
    return listener;
  const int failure = errno;
  listener.close();
  errno = failure;
  return listener;
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const Error failure = user_error(cat("`", text,
                                       "` is no address to listen at, such as `:8080` or "
                                       "`127.0.0.1:8080`"));
  const size_t colon = text.rfind(':');
  if (colon == text.npos)
    return failure;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets)
    host = host.substr(1, host.size() - 2);
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || error != std::errc() || end != port.data() + port.size() ||
      host.find_first_of("[] ") != host.npos || (!has_brackets && host.find(':') != host.npos))
    return failure;
  return ListenAddress{std::string(host), std::string(port)};
}

Result<Descriptor> listen_at(const ListenAddress& address, int waiting) {
  const FoundAddresses found = TRY(find_addresses(address));
  Descriptor listener;
  for (const addrinfo* each : in_order(*found, address.host.empty() ? AF_INET6 : AF_INET))
    // Where one is taken, another family would be only half of what was asked for.
    if (listener = listener_at(*each, waiting); listener.is_open() || errno == EADDRINUSE)
      break;
  if (!listener.is_open()) {
    const bool is_ipv6 = address.host.find(':') != address.host.npos;
    return world_error(cat("cannot listen at `", is_ipv6 ? "[" : "", address.host,
                           is_ipv6 ? "]" : "", ":", address.port,
                           "`: ", lower_case(std::strerror(errno))));
  }
  return listener;
}

int port_of(const Descriptor& socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

std::string text_of_address(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    return cat(text.data(), ":", ntohs(four.sin_port));
  }
  if (address.ss_family != AF_INET6)
    return "?";
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
    return cat(text.data() + std::strlen("::ffff:"), ":", ntohs(six.sin6_port));
  return cat("[", text.data(), "]:", ntohs(six.sin6_port));
}

}  // namespace fettle
