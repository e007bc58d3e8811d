#include "app/signals.h"

#include <array>
#include <csignal>
#include <functional>
#include <thread>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "base/shutdown_hold.h"
#include "cli/print.h"

namespace fettle {
namespace {

/// The time that a command has for leaving, and the time for ending what would otherwise run on.
constexpr auto patience = 80ms, patience_with_parting = 1500ms;
constexpr auto look_again = 50ms;

[[noreturn]] void leave(int code) {
  kill_children();
  _exit(code);
}

/// Waits until whoever leaves has had its time. `pause` waits and says whether somebody loses
/// patience.
void wait_for_parting(const std::function<bool(std::chrono::milliseconds)>& pause) {
  const auto began = std::chrono::steady_clock::now();
  if (pause(patience))
    return;
  while (ShutdownHold::is_under_way() &&
         std::chrono::steady_clock::now() - began < patience_with_parting)
    if (pause(look_again))
      return;
}

void set_default_dispositions() {
  signal(SIGCHLD, SIG_DFL);  // if ignored, it would hide how children end
  signal(SIGPIPE, SIG_IGN);  // writing to nobody becomes an error
}

}  // namespace

Signals::Signals(Interrupt& interrupt) {
  set_default_dispositions();
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    const bool ignored = sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
    if (number != SIGHUP || !ignored)  // nohup
      sigaddset(&set, number);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread([set, &interrupt] {
    for (int number = 0; sigwait(&set, &number) == 0;) {
      const bool is_first = interrupt.asked() == 0;
      if (is_first)
        first_ = number;
      const bool leaves = !is_first || interrupt.leaves_at_once();
      if (interrupt.asked() > 0)
        print_error("\nstopping at once");
      else if (!leaves)
        print_error("\nfinishing running changes; press Ctrl-C again to stop at once");
      interrupt.ask();
      if (!leaves)
        continue;
      wait_for_parting([&](std::chrono::milliseconds time) {
        const timespec span{0, std::chrono::nanoseconds(time).count()};
        return sigtimedwait(&set, nullptr, &span) > 0;
      });
      const bool is_proper =
          interrupt.is_expected_by_any() || (interrupt.is_expected() && is_ended());
      leave(is_first && is_proper ? 0 : code_of_interruption);
    }
  }).detach();
}

std::atomic<int> Signals::first_{0};
std::atomic<bool> OutputWatch::closed_{false};

/// The thread that watches may not know yet.
bool OutputWatch::is_closed() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return closed_ || (poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0);
}

OutputWatch::OutputWatch(Interrupt& interrupt, bool ends_with_reader) {
  if (!ends_with_reader)
    return;
  struct stat about{};
  if (fstat(STDOUT_FILENO, &about) != 0 || !(S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)))
    return;
  std::thread([&interrupt] {
    pollfd waited{STDOUT_FILENO, 0, 0};
    while (poll(&waited, 1, -1) < 0 || (waited.revents & (POLLERR | POLLHUP)) == 0)
      std::this_thread::sleep_for(look_again);
    closed_ = true;
    while (!interrupt.leaves_at_once())
      std::this_thread::sleep_for(look_again);
    interrupt.ask();
    wait_for_parting([](std::chrono::milliseconds time) {
      std::this_thread::sleep_for(time);
      return false;
    });
    leave(code_of_closed_output);
  }).detach();
}

}  // namespace fettle
