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

namespace {

/// `0100007F`, 127.0.0.1, and `::1`: nobody else reaches what listens there.
bool is_of_itself(std::string_view address) {
  return (address.size() == 8 && address.ends_with("7F")) ||
         address == "00000000000000000000000001000000";
}

}  // namespace

bool accepts_connections(const std::string& address, int port, Duration limit,
                         const std::stop_token& stop) {
  const Descriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Never goes through a gateway: a bridge goes with its last container, and then somebody else
  // would answer.
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

bool has_listener(std::string_view table, const Socket& socket) {
  // `0: 00000000:0050 00000000:0000 0A …`: address and port on this side and the other, then the
  // state; 0A listens. A datagram socket without a peer has 07.
  const std::string_view state = socket.sort == Socket::Sort::tcp ? "0A" : "07";
  for (const std::string_view line : split(table, '\n')) {
    std::vector<std::string_view> fields = split(trim(line), ' ');
    std::erase(fields, "");
    if (fields.size() < 4 || fields[3] != state || !fields[2].ends_with(":0000"))
      continue;
    const size_t colon = std::min(fields[1].find(':'), fields[1].size() - 1);
    const std::string_view address = fields[1].substr(0, colon);
    const std::string number(fields[1].substr(colon + 1));
    if (!is_of_itself(address) && std::strtol(number.c_str(), nullptr, 16) == socket.port)
      return true;
  }
  return false;
}

bool has_address(std::string_view table, std::string_view address) {
  // `|-- 10.64.0.9`, and below it `/32 host LOCAL`.
  const std::vector<std::string_view> lines = split(table, '\n');
  for (size_t i = 0; i + 1 < lines.size(); ++i)
    if (trim(lines[i]) == cat("|-- ", address) && trim(lines[i + 1]) == "/32 host LOCAL")
      return true;
  return false;
}

Result<bool> serves_udp(Engine& engine, const std::string& container, const std::string& address,
                        int port, std::stop_token stop) {
  const Socket socket{Socket::Sort::udp, port};
  const auto state = TRY(inspect_container(engine, container, stop));
  if (!state || !state->runs())
    return false;  // others look at that
  const Path network = Path("/proc") / std::to_string(state->process) / "net";
  // The number may belong to another machine.
  const auto routes = read_file(network / "fib_trie");
  if (state->process > 0 && routes && has_address(*routes, address))
    return has_listener(cat(read_file(network / "udp").value_or(""), "\n",
                            read_file(network / "udp6").value_or("")),
                        socket);
  return listens_inside(engine, container, socket, stop);
}

Result<bool> listens_inside(Engine& engine, const std::string& container, const Socket& socket,
                            std::stop_token stop) {
  std::string table, said;
  const auto take = [&](OutputStream stream, std::string_view bytes) -> Status {
    return sink_to(stream == OutputStream::out ? table : said, 16 << 20)(bytes);
  };
  const std::string file = socket.sort == Socket::Sort::tcp ? "/proc/net/tcp" : "/proc/net/udp";
  const Result<int64_t> code =
      run_exec(engine, container, {.command = {"cat", file, file + "6"}}, take, stop);
  if (!code && is_cancelled(code.error()))
    return code.error();
  if (!code)
    return false;  // it is starting or has ended; others look at that
  const std::string words = lower_case(table + said);
  const bool no_program =
      (*code == 126 || *code == 127) &&
      (words.find("not found") != words.npos || words.find("no such file") != words.npos);
  if (!no_program)
    return has_listener(table, socket);
  const auto state = TRY(inspect_container(engine, container, stop));
  return state && state->runs();
}

Duration probe_pause(Duration waited) { return std::clamp<Duration>(waited / 10, 5ms, 250ms); }

}  // namespace fettle
