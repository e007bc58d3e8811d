#include "drivers/engine/probe.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/file.h"
#include "base/text.h"
#include "base/wait.h"
#include "drivers/engine/exec.h"
#include "drivers/engine/subnets.h"

namespace fettle {

bool accepts_connections(const std::string& address, int port, Duration limit,
                         const std::stop_token& stop) {
  const Descriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Never through a gateway: a bridge goes with its last container, and whoever answers then is
  // somebody else.
  const int direct = 1;
  setsockopt(connection.get(), SOL_SOCKET, SO_DONTROUTE, &direct, sizeof direct);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<uint16_t>(port));
  if (inet_pton(AF_INET, address.c_str(), &where.sin_addr) != 1)
    return false;
  if (connect(connection.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) == 0)
    return true;
  if (errno != EINPROGRESS)
    return false;
  if (!await_descriptor(connection.get(), POLLOUT, limit, stop).value_or(false))
    return false;
  int failure = 0;
  socklen_t size = sizeof failure;
  return getsockopt(connection.get(), SOL_SOCKET, SO_ERROR, &failure, &size) == 0 && failure == 0;
}

bool is_reachable(const Engine& engine, const std::string& address) {
  const auto wanted = parse_address(address);
  const std::vector<Subnet> routes = subnets_in_use();
  return engine.address().is_local() && wanted &&
         std::ranges::any_of(routes, [&](const Subnet& route) { return route.contains(*wanted); });
}

bool has_listener(std::string_view table, int port) {
  // `0: 00000000:0050 00000000:0000 0A …`: address and port here and there, state; 0A listens.
  for (const std::string_view line : split(table, '\n')) {
    std::vector<std::string_view> fields = split(trim(line), ' ');
    std::erase(fields, "");
    if (fields.size() < 4 || fields[3] != "0A")
      continue;
    const std::string number(fields[1].substr(std::min(fields[1].find(':') + 1, fields[1].size())));
    if (std::strtol(number.c_str(), nullptr, 16) == port)
      return true;
  }
  return false;
}

Result<bool> listens_inside(Engine& engine, const std::string& container, int port,
                            std::stop_token stop) {
  std::string table, said;
  const auto take = [&](OutputStream stream, std::string_view bytes) -> Status {
    return sink_to(stream == OutputStream::out ? table : said, 16 << 20)(bytes);
  };
  const Result<int64_t> code = run_exec(
      engine, container, {.command = {"cat", "/proc/net/tcp", "/proc/net/tcp6"}}, take, stop);
  if (!code && is_cancelled(code.error()))
    return code.error();
  if (!code)
    return false;  // it is starting or has ended, which others look at
  const std::string words = lower_case(table + said);
  const bool no_program =
      (*code == 126 || *code == 127) &&
      (words.find("not found") != words.npos || words.find("no such file") != words.npos);
  if (!no_program)
    return has_listener(table, port);
  const auto state = TRY(inspect_container(engine, container, stop));
  return state && state->runs();
}

Duration probe_pause(Duration waited) { return std::clamp<Duration>(waited / 10, 5ms, 250ms); }

}  // namespace fettle
