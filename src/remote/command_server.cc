#include "remote/command_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/listener.h"
#include "base/text.h"
#include "remote/agent_hub.h"
#include "remote/handover.h"
#include "remote/mirror.h"
#include "remote/scheduled_run.h"
#include "remote/tls_side.h"
#include "remote/tokens.h"

namespace fettle {
namespace {

constexpr uint64_t kept_contents = 4ULL << 30;
constexpr int backlog = 1'024;
/// Before the hub is tried again.
constexpr useconds_t without_processes = 100'000;
/// While somebody waits.
constexpr Duration look_at_door = 10ms;
/// Besides clients, strangers and agents: processes that have ended and were not waited for.
constexpr size_t more_seats = 256;

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    sigaddset(&set, number);
  return set;
}

void signal_all(const std::vector<pid_t>& processes, int number) {
  for (const pid_t process : processes)
    kill(process, number);
}

}  // namespace

Result<std::unique_ptr<CommandServer>> CommandServer::open(ServeSettings settings) {
  std::optional<RenewedIdentity> identity;
  if (settings.tls)
    identity.emplace(TRY(RenewedIdentity::open(*settings.tls)));
  Descriptor listener = settings.inherited >= 0
                            ? Descriptor(settings.inherited)
                            : TRY(listen_at({settings.host, cat(settings.port)}, backlog));
  TRY(make_directories(settings.folder() / "schedules"));
  prune_contents(settings.folder() / "mirrors", kept_contents);
  Seats seats = TRY(Seats::make(settings.connections * 2 + settings.strangers.inside +
                                settings.agents + settings.views + more_seats));
  return std::unique_ptr<CommandServer>(new CommandServer(std::move(settings), std::move(listener),
                                                          std::move(identity), TRY(handover_ends()),
                                                          std::move(seats)));
}

CommandServer::CommandServer(ServeSettings settings, Descriptor listener,
                             std::optional<RenewedIdentity> identity,
                             std::array<Descriptor, 2> arrivals, Seats seats)
    : settings_(std::move(settings)),
      listener_(std::move(listener)),
      identity_(std::move(identity)),
      port_(port_of(listener_)),
      seats_(std::move(seats)),
      arrivals_(std::move(arrivals)) {}

std::string CommandServer::address() const {
  if (settings_.by_proxy)
    return cat(settings_.by_proxy->is_secured ? "https" : "http", "://", settings_.by_proxy->text(),
               settings_.by_proxy->path);
  std::string name = settings_.host;
  const TlsIdentity* const identity = identity_ ? &identity_->last() : nullptr;
  if (identity != nullptr && (name.empty() || !identity->is_for(name)))
    for (const std::string& one : identity->names())
      if (!one.starts_with('*')) {
        name = one;
        break;
      }
  const bool is_ipv6 = name.find(':') != name.npos;
  return cat(identity != nullptr ? "https" : "http", "://", is_ipv6 ? "[" : "", name,
             is_ipv6 ? "]" : "", ":", port_);
}

int CommandServer::serve(const CommandHost& host,
                         const std::function<void(const std::string&)>& told) {
  const sigset_t set = watched_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &set, &before);
  const Descriptor signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  int first = 0;
  ScheduleClock schedules(settings_);
  while (first == 0 || !sessions_.empty() || hub_ > 0 || !tls_sides_.empty()) {
    std::array<pollfd, 4> polled{pollfd{signals.get(), POLLIN, 0},
                                 pollfd{listener_.get(), POLLIN, 0},
                                 pollfd{first == 0 ? schedules.descriptor() : -1, POLLIN, 0},
                                 pollfd{hub_ < 0 ? arrivals_[0].get() : -1, POLLIN, 0}};
    const int patience = first == 0 ? schedules.patience() : -1;
    // Who proves something says so to nobody.
    static_cast<void>(poll(polled.data(), polled.size(),
                           waiting_.empty() ? patience : static_cast<int>(look_at_door / 1ms)));
    signalfd_siginfo said{};
    while (::read(signals.get(), &said, sizeof said) == static_cast<ssize_t>(sizeof said)) {
      const int number = static_cast<int>(said.ssi_signo);
      if (number == SIGCHLD)
        continue;
      if (first != 0) {
        signal_all(sessions_, SIGKILL);
        end_hub(SIGKILL);
        signal_all(tls_sides_, SIGKILL);
        continue;
      }
      first = number;
      listener_.close();
      waiting_.clear();
      signal_all(sessions_, SIGTERM);
      if (!sessions_.empty())
        told("finishing running commands; press Ctrl-C again to stop at once");
    }
    reap();
    if (first == 0)
      schedules.look(
          sessions_, host,
          [&](const auto& work) {
            const std::optional<size_t> seat = seats_.take(Visitor::client);
            return seat ? begin_session(work, {.seat = *seat}) : pid_t{-1};
          },
          told);
    if (first == 0 && (polled[3].revents & POLLIN) != 0)
      begin_hub();
    if (first != 0 && sessions_.empty())
      end_hub(SIGTERM);
    if (listener_.is_open() && (polled[1].revents & POLLIN) != 0)
      accept();
    if (first == 0 && !waiting_.empty())
      admit(host, told);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return first;
}

void CommandServer::accept() {
  sockaddr_storage client{};
  socklen_t size = sizeof client;
  Descriptor socket(
      ::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&client), &size, SOCK_CLOEXEC));
  if (!socket.is_open())
    return;
  const int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  std::string from = text_of_address(client);
  std::string address = address_without_port(from);
  const auto of_address =
      std::ranges::count_if(waiting_, [&](const Knock& one) { return one.who.address == address; });
  const StrangerLimits& limits = settings_.strangers;
  if (waiting_.size() >= limits.waiting ||
      (!is_proxy(address) && static_cast<size_t>(of_address) >= limits.waiting_of_address))
    return;
  waiting_.push_back(
      {std::move(socket), std::move(from), {std::move(address), std::chrono::steady_clock::now()}});
}

bool CommandServer::is_proxy(const std::string& address) const {
  // In clear text, only a proxy brings somebody from elsewhere.
  return (settings_.by_proxy && !identity_) ||
         std::ranges::find(settings_.trusted_proxies, address) != settings_.trusted_proxies.end();
}

std::vector<size_t> CommandServer::strangers() const {
  std::vector<size_t> found;
  for (size_t i = 0; i < connections_.size(); ++i)
    if (!connections_[i].has_to_leave && seats_.at(connections_[i].seat) == Visitor::stranger)
      found.push_back(i);
  return found;
}

void CommandServer::admit(const CommandHost& host, const Teller& told) {
  const auto now = std::chrono::steady_clock::now();
  std::deque<Knock> still;
  for (Knock& one : std::exchange(waiting_, {})) {
    const std::vector<size_t> inside = strangers();
    std::vector<Stranger> who;
    for (const size_t each : inside)
      who.push_back(connections_[each].who);
    const Entrance entrance =
        entrance_of(who, one.who.address, is_proxy(one.who.address), settings_.strangers, now);
    if (!entrance.is_open) {
      if (now - one.who.since < settings_.header_limit)
        still.push_back(std::move(one));
      continue;
    }
    if (entrance.leaves) {
      Connection& leaving = connections_[inside[*entrance.leaves]];
      leaving.has_to_leave = true;
      for (const pid_t process : {leaving.session, leaving.tls})
        if (process > 0)
          kill(process, SIGKILL);
    }
    one.who.since = now;
    begin_connection(std::move(one), host, told);
  }
  waiting_ = std::move(still);
}

void CommandServer::begin_connection(Knock knock, const CommandHost& host, const Teller& told) {
  const std::optional<size_t> seat = seats_.take(Visitor::stranger);
  if (!seat)
    return;
  token_book(settings_.home).look();
  Caller caller{knock.from, {port_, settings_.by_proxy}, seats_, *seat, arrivals_[1].get()};
  Connection connection{*seat, -1, -1, std::move(knock.who)};
  std::array<Descriptor, 2> handing;
  if (identity_) {
    caller.at.port.reset();
    // Behind a proxy that speaks TLS, the other side of ours is that proxy.
    if (!settings_.by_proxy)
      if (Result<std::array<Descriptor, 2>> ends = handover_ends())
        handing = *std::move(ends);
    caller.handing = handing[1].get();
    knock.socket = begin_tls(std::move(knock.socket), std::move(handing[0]), told);
    if (!knock.socket.is_open())
      return seats_.free(*seat);
    connection.tls = tls_sides_.back();
  }
  begin_session([&] { return serve_connection(std::move(knock.socket), caller, settings_, host); },
                std::move(connection));
}

pid_t CommandServer::begin_session(const std::function<int()>& work, Connection connection) {
  const pid_t server = getpid();
  connection.session = begin_process([&] {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    identity_.reset();
    waiting_.clear();
    return getppid() == server ? work() : 1;
  });
  if (connection.session > 0)
    sessions_.push_back(connection.session);
  const pid_t session = connection.session;
  connections_.push_back(std::move(connection));
  return session;
}

Descriptor CommandServer::begin_tls(Descriptor client, Descriptor handing, const Teller& told) {
  // A client elsewhere may go without a word.
  const int yes = 1, idle_seconds = 30, seconds_between = 10, probes = 6;
  setsockopt(client.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(client.get(), IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  setsockopt(client.get(), IPPROTO_TCP, TCP_KEEPINTVL, &seconds_between, sizeof seconds_between);
  setsockopt(client.get(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return Descriptor();
  Descriptor ours(pair[0]), theirs(pair[1]);
  const TlsIdentity& identity = identity_->now(told);
  const pid_t side = begin_process([&] {
    theirs.close();
    // It ends with its session, which has a command to finish.
    for (const int number : {SIGTERM, SIGINT, SIGHUP})
      signal(number, SIG_IGN);
    return serve_tls(std::move(client), std::move(ours), identity,
                     {settings_.header_limit, settings_.write_limit}, std::move(handing));
  });
  if (side < 0)
    return Descriptor();
  tls_sides_.push_back(side);
  return theirs;
}

/// For the first agent that comes.
void CommandServer::begin_hub() {
  const pid_t server = getpid();
  hub_ = begin_process([&] {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    arrivals_[1].close();
    return getppid() == server
               ? serve_agents(std::move(arrivals_[0]), settings_, identity_ ? &*identity_ : nullptr)
               : 1;
  });
  if (hub_ < 0)
    usleep(without_processes);
}

/// Commands that end need the agents to the last.
void CommandServer::end_hub(int number) const {
  if (hub_ > 0)
    kill(number == SIGKILL ? -hub_ : hub_, number);
}

pid_t CommandServer::begin_process(const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process != 0)
    return process;
  setpgid(0, 0);  // Ctrl-C at the server is for the server, which asks us to stop
  listener_.close();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  _exit(work());
}

void CommandServer::reap() {
  const auto has_ended = [](pid_t process) {
    const pid_t ended = waitpid(process, nullptr, WNOHANG);
    return ended == process || (ended < 0 && errno == ECHILD);
  };
  for (std::vector<pid_t>* const all : {&sessions_, &tls_sides_})
    std::erase_if(*all, has_ended);
  if (hub_ > 0 && has_ended(hub_))
    hub_ = -1;
  const auto lives = [](const std::vector<pid_t>& all, pid_t process) {
    return std::ranges::find(all, process) != all.end();
  };
  std::erase_if(connections_, [&](const Connection& one) {
    if (lives(sessions_, one.session) || lives(tls_sides_, one.tls))
      return false;
    seats_.free(one.seat);
    return true;
  });
}

}  // namespace fettle
