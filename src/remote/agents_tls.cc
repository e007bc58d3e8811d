#include "remote/agents_tls.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <set>

#include "base/time.h"
#include "remote/handover.h"
#include "remote/tls_relay.h"

namespace fettle {
namespace {

using RelayClock = std::chrono::steady_clock;

constexpr Duration second_handshake = 10s, relay_look = 1s;
/// For a client that takes nothing when its line has gone.
constexpr Duration last_words_limit = 10s;
/// Pieces of one client before others have their turn.
constexpr int pieces_at_once = 4;

struct Client {
  explicit Client(TlsRelay made) : relay(std::move(made)) {}
  TlsRelay relay;
  bool is_open = false;  ///< they have shaken hands
  RelayClock::time_point since = RelayClock::now();
  std::array<pollfd, 2> polled{pollfd{-1, 0, 0}, pollfd{-1, 0, 0}};  ///< what is waited for
};

class AgentsTls {
 public:
  AgentsTls(Descriptor clients, RenewedIdentity& identity)
      : clients_(std::move(clients)), identity_(identity), polled_(epoll_create1(EPOLL_CLOEXEC)) {
    watch(EPOLL_CTL_ADD, clients_.get(), EPOLLIN, 0);
  }

  int serve() {
    auto next_look = RelayClock::now() + relay_look;
    while (clients_.is_open() || !all_.empty()) {
      std::array<epoll_event, 64> events{};
      const int patience = ready_.empty() ? static_cast<int>(relay_look / 1ms) : 0;
      const int count = epoll_wait(polled_.get(), events.data(), events.size(), patience);
      std::set<uint64_t> turns = std::exchange(ready_, {});
      for (int i = 0; i < count; ++i)
        note(events[static_cast<size_t>(i)], turns);
      for (const uint64_t number : turns)
        if (const auto found = all_.find(number); found != all_.end())
          take_turn(number, *found->second);
      if (RelayClock::now() < next_look)
        continue;
      next_look = RelayClock::now() + relay_look;
      look_at_all();
    }
    return 0;
  }

 private:
  void watch(int change, int descriptor, uint32_t events, uint64_t key) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    epoll_ctl(polled_.get(), change, descriptor, &event);
  }

  void note(const epoll_event& event, std::set<uint64_t>& turns) {
    if (event.data.u64 == 0)
      return receive();
    const uint64_t number = event.data.u64 / 2;
    const auto found = all_.find(number);
    if (found == all_.end())
      return;
    Client& client = *found->second;
    // The bits of both are the same.
    std::array<pollfd, 2> polled = client.polled;
    polled[event.data.u64 % 2].revents = static_cast<short>(event.events);
    const bool had_session = !client.relay.has_lost_session();
    if (!client.relay.note(polled) && client.is_open)
      return forget(number, client);
    if (had_session && client.relay.has_lost_session())
      client.since = RelayClock::now();
    turns.insert(number);
  }

  void receive() {
    std::optional<HandedOver> handed = take_over(clients_.get());
    if (!handed)
      return;
    if (handed->words.empty()) {
      watch(EPOLL_CTL_DEL, clients_.get(), 0, 0);
      clients_.close();
    } else if (handed->words == "line") {
      line_ = std::move(handed->socket);
    } else if (handed->socket.is_open() && line_.is_open()) {
      begin(std::move(handed->socket), std::move(line_));
    }
  }

  void begin(Descriptor socket, Descriptor line) {
    Result<TlsStream> tls = TlsStream::serve(socket.get(), identity_.now([](const auto&) {}));
    if (!tls)
      return;
    const uint64_t number = ++last_;
    Client& client =
        *all_.emplace(number, std::make_unique<Client>(
                                  TlsRelay(std::move(socket), std::move(line), *std::move(tls))))
             .first->second;
    take_turn(number, client);
  }

  void take_turn(uint64_t number, Client& client) {
    TlsRelay& relay = client.relay;
    if (!client.is_open) {
      const TlsStep step = relay.tls().shake_hands();
      if (step != TlsStep::done) {
        if (events_of(step) == 0 || relay.has_lost_session())
          return forget(number, client);
        return await(number, client,
                     {pollfd{relay.client().get(), events_of(step), 0},
                      pollfd{relay.session().get(), 0, 0}});
      }
      client.is_open = true;
    }
    bool goes_on = true;
    for (int i = 0; goes_on && i < pieces_at_once; ++i) {
      goes_on = relay.pass();
      if (relay.is_lost() || relay.has_said_all())
        return forget(number, client);
    }
    if (goes_on)
      ready_.insert(number);
    await(number, client, relay.awaited());
  }

  void await(uint64_t number, Client& client, const std::array<pollfd, 2>& wanted) const {
    for (size_t i = 0; i < wanted.size(); ++i) {
      pollfd& now = client.polled[i];
      const uint32_t events = static_cast<uint32_t>(wanted[i].events);
      if (wanted[i].fd < 0 && now.fd >= 0)
        watch(EPOLL_CTL_DEL, now.fd, 0, 0);
      else if (wanted[i].fd >= 0 && now.fd < 0)
        watch(EPOLL_CTL_ADD, wanted[i].fd, events, number * 2 + i);
      else if (wanted[i].fd >= 0 && wanted[i].events != now.events)
        watch(EPOLL_CTL_MOD, wanted[i].fd, events, number * 2 + i);
      now = wanted[i];
    }
  }

  /// Nobody else has its sockets, so closing them is enough.
  void forget(uint64_t number, const Client&) { all_.erase(number); }

  void look_at_all() {
    const auto now = RelayClock::now();
    for (auto each = all_.begin(); each != all_.end();) {
      const auto at = each++;
      Client& client = *at->second;
      const bool is_late = !client.is_open && now - client.since >= second_handshake;
      const bool hears_nothing =
          client.relay.has_lost_session() && now - client.since >= last_words_limit;
      if (is_late || hears_nothing)
        forget(at->first, client);
    }
  }

  Descriptor clients_;
  RenewedIdentity& identity_;
  const Descriptor polled_;
  Descriptor line_;  ///< of the client that comes next
  std::map<uint64_t, std::unique_ptr<Client>> all_;
  std::set<uint64_t> ready_;  ///< have more to pass on, of which no descriptor may tell
  uint64_t last_ = 0;
};

}  // namespace

int serve_tls_of_agents(Descriptor clients, RenewedIdentity& identity) {
  // It ends with the lines of its agents.
  for (const int number : {SIGTERM, SIGINT, SIGHUP})
    signal(number, SIG_IGN);
  const rlimit no_more{0, 0};
  setrlimit(RLIMIT_NPROC, &no_more);
  setrlimit(RLIMIT_CORE, &no_more);
  return AgentsTls(std::move(clients), identity).serve();
}

}  // namespace fettle
