#pragma once
/// How a server is called: directly, or through a reverse proxy, which gives it another name, may
/// leave a path in front of its own, and stands between it and its clients.
///
/// A proxy says for whom it asks (`X-Forwarded-For`), and so may everybody else. The obvious way
/// believes that field; then an audit has any address that somebody wishes. So it counts only from
/// addresses that were named (`--trusted-proxy`), and of a list only what the last of those added.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "remote/contexts.h"

namespace fettle {

struct CalledAt {
  /// Ours, at 127.0.0.1. None with TLS: a client has seen by our certificate that the name is ours.
  std::optional<int> port;
  std::optional<ServerAddress> by_proxy{};

  /// Whether `Host` means us.
  bool is_ours(std::string_view host) const;
  /// The target of a request without the path of the proxy, if it is there.
  std::string own_target(const std::string& target) const;
};

/// `--public-url`. Error (`Blame::user`): it is no URL of a server.
Result<ServerAddress> parse_public_url(std::string_view url);
/// `--trusted-proxy`. Error (`Blame::user`): it is no address.
Status check_proxy_address(std::string_view address);

/// Who calls, for notes: `127.0.0.1:40000`, or `10.0.0.7 by 127.0.0.1:40000`. `peer`: the other end
/// of the connection, with its port. `forwarded`: what it says for whom it asks.
std::string caller_behind(const std::string& peer, std::string_view forwarded,
                          std::span<const std::string> trusted);

}  // namespace fettle
