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
#include "remote/agents.h"
#include "remote/mirror.h"
#include "remote/page_door.h"
#include "remote/scheduled_run.h"
#include "remote/tls_side.h"

namespace fettle {
namespace {

constexpr uint64_t kept_contents = 4ULL << 30;
constexpr int backlog = 64;
constexpr size_t most_refused = 16;

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
  return std::unique_ptr<CommandServer>(
      new CommandServer(std::move(settings), std::move(listener), std::move(identity)));
}

CommandServer::CommandServer(ServeSettings settings, Descriptor listener,
                             std::optional<RenewedIdentity> identity)
    : settings_(std::move(settings)),
      listener_(std::move(listener)),
      identity_(std::move(identity)),
      port_(port_of(listener_)) {}

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
  while (first == 0 || !sessions_.empty() || !agents_.empty() || !tls_sides_.empty()) {
    std::array<pollfd, 3> polled{pollfd{signals.get(), POLLIN, 0},
                                 pollfd{listener_.get(), POLLIN, 0},
                                 pollfd{first == 0 ? schedules.descriptor() : -1, POLLIN, 0}};
    static_cast<void>(poll(polled.data(), polled.size(), first == 0 ? schedules.patience() : -1));
    signalfd_siginfo said{};
    while (::read(signals.get(), &said, sizeof said) == static_cast<ssize_t>(sizeof said)) {
      const int number = static_cast<int>(said.ssi_signo);
      if (number == SIGCHLD)
        continue;
      if (first != 0) {
        signal_all(sessions_, SIGKILL);
        signal_all(agents_, SIGKILL);
        signal_all(tls_sides_, SIGKILL);
        continue;
      }
      first = number;
      listener_.close();
      set_agents_apart();
      signal_all(sessions_, SIGTERM);
      if (!sessions_.empty())
        told("finishing running commands; press Ctrl-C again to stop at once");
    }
    reap();
    if (first == 0)
      schedules.look(sessions_, host, [&](const auto& work) { return begin_session(work); }, told);
    if (first != 0 && sessions_.empty())
      signal_all(agents_, SIGTERM);
    if (listener_.is_open() && (polled[1].revents & POLLIN) != 0)
      accept(host, told);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return first;
}

void CommandServer::accept(const CommandHost& host, const Teller& told) {
  sockaddr_storage client{};
  socklen_t size = sizeof client;
  Descriptor socket(
      ::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&client), &size, SOCK_CLOEXEC));
  if (!socket.is_open())
    return;
  const int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // Those who are too many are told so, as long as these are not too many.
  // The page of somebody who looks takes no place from commands.
  const size_t pages = settings_.page ? std::min(pages_served(settings_), sessions_.size()) : 0;
  const size_t count = std::max(sessions_.size() - pages, tls_sides_.size());
  if (count >= settings_.connections + most_refused)
    return;
  Caller caller{text_of_address(client), {port_, settings_.by_proxy}, count};
  if (identity_) {
    caller.at.port.reset();
    socket = begin_tls(std::move(socket), told);
    if (!socket.is_open())
      return;
  }
  begin_session([&] { return serve_connection(std::move(socket), caller, settings_, host); });
}

pid_t CommandServer::begin_session(const std::function<int()>& work) {
  const pid_t server = getpid();
  const pid_t session = begin_process([&] {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    identity_.reset();
    return getppid() == server ? work() : 1;
  });
  if (session > 0)
    sessions_.push_back(session);
  return session;
}

Descriptor CommandServer::begin_tls(Descriptor client, const Teller& told) {
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
                     {settings_.header_limit, settings_.write_limit});
  });
  if (side < 0)
    return Descriptor();
  tls_sides_.push_back(side);
  return theirs;
}

/// Commands that end need the engines of agents to the last.
void CommandServer::set_agents_apart() {
  for (const AgentView& agent : agents_of(settings_.home))
    if (std::erase(sessions_, agent.process) > 0)
      agents_.push_back(agent.process);
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
  for (std::vector<pid_t>* const all : {&sessions_, &agents_, &tls_sides_})
    std::erase_if(*all, [](pid_t process) {
      const pid_t ended = waitpid(process, nullptr, WNOHANG);
      return ended == process || (ended < 0 && errno == ECHILD);
    });
}

}  // namespace fettle
