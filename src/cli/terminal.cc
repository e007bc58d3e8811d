#include "cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace fettle {
namespace {

/// A pipe: a signal handler may do no more than write.
std::array<int, 2> bell_pipe{-1, -1};

void ring(int) {
  const int saved = errno;
  const char note = 'w';
  static_cast<void>(!::write(bell_pipe[1], &note, 1));
  errno = saved;
}

void unblock(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

std::optional<WindowSize> window_size(int terminal) {
  winsize size{};
  if (ioctl(terminal, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return std::nullopt;
  return WindowSize{size.ws_row, size.ws_col};
}

RawTerminal::RawTerminal(int terminal) : terminal_(terminal) {
  if (tcgetattr(terminal_, &before_) != 0)
    return;
  if (bell_pipe[0] < 0 && pipe2(bell_pipe.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
    struct sigaction action{};
    action.sa_handler = ring;
    action.sa_flags = SA_RESTART;
    sigaction(SIGWINCH, &action, nullptr);
    unblock(SIGWINCH);
  }
  termios raw = before_;
  cfmakeraw(&raw);
  is_raw_ = tcsetattr(terminal_, TCSANOW, &raw) == 0;
}

RawTerminal::~RawTerminal() {
  if (is_raw_)
    tcsetattr(terminal_, TCSANOW, &before_);
}

int RawTerminal::bell() const { return bell_pipe[0]; }

}  // namespace fettle
