#include "remote/command_server.h"

#include <arpa/inet.h>
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
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "remote/mirror.h"

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

}  // namespace

Result<std::unique_ptr<CommandServer>> CommandServer::open(ServeSettings settings) {
  Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(settings.port));
  socklen_t size = sizeof address;
  if (!listener.is_open() ||
      ::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener.get(), backlog) != 0 ||
      getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return world_error(cat("cannot listen at `127.0.0.1:", settings.port,
                           "`: ", lower_case(std::strerror(errno))));
  TRY(make_directories(settings.folder()));
  prune_contents(settings.folder() / "mirrors", kept_contents);
  const int port = ntohs(address.sin_port);
  return std::unique_ptr<CommandServer>(
      new CommandServer(std::move(settings), std::move(listener), port));
}

CommandServer::CommandServer(ServeSettings settings, Descriptor listener, int port)
    : settings_(std::move(settings)), listener_(std::move(listener)), port_(port) {}

int CommandServer::serve(const CommandHost& host,
                         const std::function<void(const std::string&)>& told) {
  const sigset_t set = watched_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &set, &before);
  const Descriptor signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  int first = 0;
  while (first == 0 || !sessions_.empty()) {
    std::array<pollfd, 2> polled{pollfd{signals.get(), POLLIN, 0},
                                 pollfd{listener_.get(), POLLIN, 0}};
    static_cast<void>(poll(polled.data(), polled.size(), -1));
    signalfd_siginfo said{};
    while (::read(signals.get(), &said, sizeof said) == static_cast<ssize_t>(sizeof said)) {
      const int number = static_cast<int>(said.ssi_signo);
      if (number == SIGCHLD)
        continue;
      if (first != 0) {
        signal_all(SIGKILL);
        continue;
      }
      first = number;
      listener_.close();
      signal_all(SIGTERM);
      if (!sessions_.empty())
        told("finishing running commands; press Ctrl-C again to stop at once");
    }
    reap();
    if (listener_.is_open() && (polled[1].revents & POLLIN) != 0)
      accept(host);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return first;
}

void CommandServer::accept(const CommandHost& host) {
  Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.is_open())
    return;
  const int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // Those who are too many are told so, as long as these are not too many.
  const size_t before = sessions_.size();
  if (before >= settings_.connections + most_refused)
    return;
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process > 0)
    sessions_.push_back(process);
  if (process != 0)
    return;
  setpgid(0, 0);  // Ctrl-C at the server is for the server, which asks us to stop
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  listener_.close();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  _exit(getppid() == parent ? serve_connection(std::move(socket), port_, before, settings_, host)
                            : 1);
}

void CommandServer::reap() {
  std::erase_if(sessions_, [](pid_t process) {
    const pid_t ended = waitpid(process, nullptr, WNOHANG);
    return ended == process || (ended < 0 && errno == ECHILD);
  });
}

void CommandServer::signal_all(int number) const {
  for (const pid_t process : sessions_)
    kill(process, number);
}

}  // namespace fettle
