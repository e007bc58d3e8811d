#include "drivers/engine/allocation.h"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "drivers/engine/marks.h"
#include "value/json.h"

namespace fettle {
namespace {

// Below the range from which the kernel takes ports for outgoing connections.
constexpr int first_port = 20'000;
constexpr int port_count = 12'000;
constexpr std::string_view somebody = "somebody";  // no owner of ours: they are `kind/name`
constexpr uint32_t reserved_addresses = 8;  ///< at the beginning: the gateway, and room for later

}  // namespace

std::string owner_of(const Key& key) { return key.kind.str() + "/" + key.name.str(); }

bool is_port_free(int port) {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int reuse = 1;  // a connection that is closing is no listener
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  return bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

bool Allocation::knows(const std::string& network_id) {
  const std::lock_guard lock(mutex_);
  return addresses_.contains(network_id);
}

void Allocation::learn(const std::string& network_id,
                       const std::vector<ContainerState>& containers) {
  const std::lock_guard lock(mutex_);
  auto& taken = addresses_[network_id];
  for (const ContainerState& container : containers) {
    const auto key = key_in(container.labels);
    if (!key || label(container.labels, mark::network) != network_id)
      continue;
    if (const auto address = parse_address(label(container.labels, mark::address)))
      taken.emplace(*address, owner_of(*key));
    const auto ports = read_json(label(container.labels, mark::ports));
    if (ports && ports->is_dict())
      for (const Entry& entry : ports->entries())
        if (const int64_t port = entry.value.integer_at("public"); port > 0)
          ports_.emplace(static_cast<int>(port),
                         cat(key->environment, "/", key->name, "/", entry.key));
  }
}

Result<std::string> Allocation::address(const std::string& network_id, const Subnet& subnet,
                                        const std::string& gateway, const std::string& owner,
                                        std::string_view kept) {
  const std::lock_guard lock(mutex_);
  auto& taken = addresses_[network_id];
  const auto take = [&](uint32_t address) {
    taken[address] = owner;
    return address_text(address);
  };
  for (const auto& [address, who] : taken)
    if (who == owner && subnet.contains(address))
      return address_text(address);
  if (const auto address = parse_address(kept))
    if (subnet.contains(*address) && !taken.contains(*address))
      return take(*address);
  if (subnet.size() <= reserved_addresses + 1)
    return world_error(cat("the range ", to_string(subnet), " is too small"));
  const uint32_t count = subnet.size() - reserved_addresses - 1;  // the last one is for broadcasts
  const auto start = static_cast<uint32_t>(hash64(owner) % count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t address = subnet.address + reserved_addresses + (start + i) % count;
    if (!taken.contains(address) && address_text(address) != gateway)
      return take(address);
  }
  return world_error(cat("no address is free in ", to_string(subnet)));
}

void Allocation::free_address(const std::string& network_id, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  std::erase_if(addresses_[network_id], [&](const auto& taken) { return taken.second == owner; });
}

void Allocation::give_up_address(const std::string& network_id, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  for (auto& [address, who] : addresses_[network_id])
    if (who == owner)
      who = somebody;
}

bool Allocation::is_used(const std::string& network_id) {
  const std::lock_guard lock(mutex_);
  const auto found = addresses_.find(network_id);
  return found != addresses_.end() && std::ranges::any_of(found->second, [](const auto& taken) {
           return taken.second != somebody;
         });
}

Result<int> Allocation::port(const std::string& owner, int kept) {
  const std::lock_guard lock(mutex_);
  for (const auto& [port, who] : ports_)
    if (who == owner && (kept == 0 || kept == port))
      return port;
  if (kept > 0) {
    const auto found = ports_.find(kept);
    if (found == ports_.end() && is_free_(kept)) {
      ports_[kept] = owner;
      return kept;
    }
  }
  const int start = static_cast<int>(hash64(owner) % port_count);
  for (int i = 0; i < port_count; ++i) {
    const int port = first_port + (start + i) % port_count;
    if (ports_.contains(port) || !is_free_(port))
      continue;
    ports_[port] = owner;
    return port;
  }
  return world_error("no port of this machine is free");
}

void Allocation::hold_port(const std::string& owner, int port) {
  const std::lock_guard lock(mutex_);
  ports_[port] = owner;
}

void Allocation::free_port(const std::string& owner) {
  const std::lock_guard lock(mutex_);
  std::erase_if(ports_, [&](const auto& taken) { return taken.second == owner; });
}

}  // namespace fettle
