/// Many agents at rest in one process, each the real one in a thread of its own, for `bench/agents`:
///
///     FETTLE_TOKEN=… idle_agents URL COUNT VERSION [FILE]
///
/// `FILE`: the authority of the server's certificate. A token that ends with `-` is the beginning of
/// all, and each agent's ends with its name. Each time that another number of them is
/// connected, it prints that number.

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "base/text.h"
#include "remote/agent.h"

namespace fettle {
namespace {

constexpr Duration look_pause = 20ms;

void be_one(const ServerChoice& server, const std::string& version, int number,
            std::atomic<int>& connected) {
  AgentSettings settings;
  settings.server = server;
  settings.name = cat("agent-", number);
  if (settings.server.token.ends_with('-'))
    settings.server.token += settings.name;
  settings.acts = {"files"};
  settings.version = version;
  settings.connect = [](StreamGoal) -> Result<Descriptor> {
    return world_error("this agent only rests");
  };
  std::mt19937_64 chance(static_cast<uint64_t>(number));
  settings.random = [&] { return chance(); };
  bool is_connected = false;
  settings.tell = [&](const std::string& text) {
    const bool now = text.starts_with("connected to ");
    connected += static_cast<int>(now) - static_cast<int>(std::exchange(is_connected, now));
  };
  if (const Status ended = run_agent(settings, {}); !ended) {
    std::fprintf(stderr, "%s: %s\n", settings.name.c_str(), to_string(ended.error()).c_str());
    std::_Exit(1);
  }
}

int rest(const std::string& url, int count, const std::string& version, const char* authorities) {
  ServerChoice server;
  server.url = url;
  const char* const token = std::getenv("FETTLE_TOKEN");
  server.token = token == nullptr ? "" : token;
  const Result<ServerAddress> address = parse_server_url(url);
  if (!address) {
    std::fprintf(stderr, "%s\n", to_string(address.error()).c_str());
    return 2;
  }
  server.address = *address;
  if (authorities != nullptr)
    server.authorities = read_file(authorities).value_or("");
  std::atomic<int> connected = 0;
  for (int i = 0; i < count; ++i)
    std::thread([&, i] { be_one(server, version, i, connected); }).detach();
  for (int last = -1;; std::this_thread::sleep_for(look_pause))
    if (const int now = connected; now != std::exchange(last, now)) {
      std::printf("%d\n", now);
      std::fflush(stdout);
    }
}

}  // namespace
}  // namespace fettle

int main(int argc, char** argv) {
  int count = 0;
  if (argc >= 4)
    std::from_chars(argv[2], argv[2] + std::string_view(argv[2]).size(), count);
  if (count < 1) {
    std::fputs("FETTLE_TOKEN=… idle_agents URL COUNT VERSION [FILE]\n", stderr);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  return fettle::rest(argv[1], count, argv[3], argc > 4 ? argv[4] : nullptr);
}
