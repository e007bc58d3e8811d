#include "remote/called_at.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

bool is_address(std::string_view text) {
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  const std::string own(text);
  return inet_pton(AF_INET, own.c_str(), ignored.data()) == 1 ||
         inet_pton(AF_INET6, own.c_str(), ignored.data()) == 1;
}

/// `127.0.0.1:80`, `[::1]:80` and `[::1]` without brackets and port.
std::string_view without_port(std::string_view text) {
  if (text.starts_with('['))
    return text.substr(1, std::min(text.find(']'), text.size()) - 1);
  const size_t colon = text.find(':');
  return colon != text.npos && text.find(':', colon + 1) == text.npos ? text.substr(0, colon)
                                                                      : text;
}

}  // namespace

bool CalledAt::is_ours(std::string_view host) const {
  if (by_proxy) {
    const std::string name = lower_case(host), whole = lower_case(by_proxy->text());
    // Clients leave out the port that is usual for the scheme.
    const std::string_view alone = std::string_view(whole).substr(0, whole.rfind(':'));
    if (name == whole || name == alone)
      return true;
  }
  return port ? host == cat("127.0.0.1:", *port) || host == cat("localhost:", *port)
              : !host.empty();
}

std::string CalledAt::own_target(const std::string& target) const {
  if (!by_proxy || by_proxy->path.empty() || !target.starts_with(by_proxy->path + "/"))
    return target;
  return target.substr(by_proxy->path.size());
}

Result<ServerAddress> parse_public_url(std::string_view url) {
  return parse_server_url(url).context("`--public-url`");
}

Status check_proxy_address(std::string_view address) {
  if (is_address(address))
    return {};
  return user_error(
      cat("`--trusted-proxy` must be the address from which the proxy calls, such as "
          "127.0.0.1, not `",
          printable(address), "`"));
}

std::string caller_behind(const std::string& peer, std::string_view forwarded,
                          std::span<const std::string> trusted) {
  const auto is_trusted = [&](std::string_view address) {
    return std::ranges::find(trusted, address) != trusted.end();
  };
  if (!is_trusted(without_port(peer)))
    return peer;
  // Each proxy adds at the end who asked it.
  const std::vector<std::string_view> all = split(forwarded, ',');
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    const std::string_view address = without_port(trim(*each));
    if (!is_address(address))
      break;
    if (!is_trusted(address))
      return cat(address, " by ", peer);
  }
  return peer;
}

}  // namespace fettle
