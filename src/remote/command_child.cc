#include "remote/command_child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>

#include "base/text.h"

namespace fettle {
namespace {

/// Variables that say how somebody wants to be answered: those of the server mean nothing.
constexpr std::array<const char*, 10> of_client{
    "TERM", "COLORTERM", "NO_COLOR", "COLUMNS",       "LINES",
    "TZ",   "LANG",      "LC_ALL",   "FETTLE_SERVER", "FETTLE_TOKEN"};

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> new_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return file_error("cannot make a pipe for", "a command");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

struct Terminal {
  Descriptor ours, its;
};

/// Changes nothing on its way: the client's own terminal does what terminals do with line ends,
/// echo and the keys that stop something.
Result<Terminal> new_terminal(const WindowRows& window) {
  Terminal terminal;
  terminal.ours = Descriptor(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 64> name{};
  if (!terminal.ours.is_open() || grantpt(terminal.ours.get()) != 0 ||
      unlockpt(terminal.ours.get()) != 0 ||
      ptsname_r(terminal.ours.get(), name.data(), name.size()) != 0)
    return file_error("cannot make a terminal for", "a command");
  terminal.its = Descriptor(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios form{};
  if (!terminal.its.is_open() || tcgetattr(terminal.its.get(), &form) != 0)
    return file_error("cannot open", name.data());
  cfmakeraw(&form);
  form.c_lflag |= ICANON;  // until somebody wants single keys
  tcsetattr(terminal.its.get(), TCSANOW, &form);
  const winsize size{static_cast<unsigned short>(window.rows),
                     static_cast<unsigned short>(window.columns), 0, 0};
  ioctl(terminal.its.get(), TIOCSWINSZ, &size);
  return terminal;
}

void take_signals_back() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGCHLD})
    signal(number, SIG_DFL);
  alarm(0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void set_environment(const CommandRequest& request) {
  for (const char* const name : of_client)
    unsetenv(name);
  for (const auto& [name, value] : request.environment)
    if (!is_variable_of_machine(name))
      setenv(name.c_str(), value.c_str(), 1);
  // A model may ask where it is: there is no other name for that than the client's.
  setenv("PWD", request.folder.c_str(), 1);
  tzset();
}

struct ChildEnds {
  int input, output, errors;
};

[[noreturn]] void become_command(const CommandRequest& request, const std::string& folder,
                                 const ChildEnds& ends, pid_t parent,
                                 const std::function<int()>& run) {
  setsid();
  // Whoever kills the server means its commands, too: they end as after Ctrl-C.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  take_signals_back();
  if (getppid() != parent)
    _exit(1);
  dup2(ends.input, STDIN_FILENO);
  dup2(ends.output, STDOUT_FILENO);
  dup2(ends.errors, STDERR_FILENO);
  syscall(SYS_close_range, 3U, ~0U, 0U);
  std::setvbuf(stdout, nullptr, isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF, BUFSIZ);
  set_environment(request);
  if (chdir(folder.c_str()) != 0) {
    static_cast<void>(!::write(STDERR_FILENO, "error: the folder is not there\n", 31));
    _exit(1);
  }
  const int code = run();
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace

Result<CommandChild> start_command(const CommandRequest& request, const std::string& folder,
                                   const std::function<int()>& run) {
  CommandChild child;
  Terminal terminal;
  if (request.input_is_terminal || request.output_is_terminal || request.errors_are_terminal)
    terminal = TRY(new_terminal(request.window));
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Pipe input, output, errors;
  ChildEnds ends{nothing.get(), terminal.its.get(), terminal.its.get()};
  if (request.input_is_terminal) {
    ends.input = terminal.its.get();
    child.input_is_typed = request.takes_input;
  } else if (request.takes_input) {
    input = TRY(new_pipe());
    ends.input = input.read.get();
  }
  if (!request.output_is_terminal) {
    output = TRY(new_pipe());
    ends.output = output.write.get();
  }
  if (request.is_one_stream) {
    ends.errors = ends.output;
  } else if (!request.errors_are_terminal) {
    errors = TRY(new_pipe());
    ends.errors = errors.write.get();
  }
  std::fflush(nullptr);
  const pid_t parent = getpid();
  child.process = fork();
  if (child.process < 0)
    return file_error("cannot start", "a process");
  if (child.process == 0)
    become_command(request, folder, ends, parent, run);
  child.end = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, child.process, 0U)));
  if (!child.end.is_open()) {  // nobody would learn that it has ended
    Error error = file_error("cannot watch", "a process");
    kill(child.process, SIGKILL);
    waitpid(child.process, nullptr, 0);
    return error;
  }
  child.input = std::move(input.write);
  child.output = std::move(output.read);
  child.errors = std::move(errors.read);
  child.terminal = std::move(terminal.ours);
  for (const Descriptor* const one : {&child.input, &child.output, &child.errors, &child.terminal})
    if (one->is_open())
      fcntl(one->get(), F_SETFL, fcntl(one->get(), F_GETFL) | O_NONBLOCK);
  return child;
}

bool is_raw(const CommandChild& child) {
  termios form{};
  return child.terminal.is_open() && tcgetattr(child.terminal.get(), &form) == 0 &&
         (form.c_lflag & ICANON) == 0;
}

void set_window(const CommandChild& child, const WindowRows& window) {
  const winsize size{static_cast<unsigned short>(window.rows),
                     static_cast<unsigned short>(window.columns), 0, 0};
  if (child.terminal.is_open() && ioctl(child.terminal.get(), TIOCSWINSZ, &size) == 0)
    kill(child.process, SIGWINCH);
}

}  // namespace fettle
