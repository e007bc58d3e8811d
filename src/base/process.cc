#include "base/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/http.h"
#include "base/text.h"

extern char** environ;

namespace fettle {
namespace {

constexpr int stop_interval_ms = 50;
constexpr std::string_view system_folders =
    "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";

Error call_error(std::string_view what, int code) {
  return world_error(cat(what, ": ", lower_case(std::strerror(code))));
}

/// Everything that the child needs, made before it exists: afterwards it may only call the system.
struct Launch {
  Path program;
  std::vector<std::string> texts;
  std::vector<char*> arguments;
  std::vector<char*> variables;
  const char* directory = nullptr;
  int input = -1, output = -1, errors = -1;
  bool session = false;
  const std::function<int()>* prepare = nullptr;
};

Result<Launch> make_launch(const Invocation& command) {
  Launch launch;
  if (command.arguments.empty() || command.arguments[0].empty())
    return world_error("no program is given");
  launch.program = find_program(command.arguments[0]);
  if (launch.program.empty())
    return world_error(cat("the program `", command.arguments[0], "` is not found"));
  std::map<std::string, std::string> variables;
  for (char** at = environ; !command.clean_environment && at != nullptr && *at != nullptr; ++at) {
    const std::string_view line(*at);
    const size_t equals = std::min(line.find('='), line.size());
    variables[std::string(line.substr(0, equals))] = std::string(line);
  }
  for (const auto& [name, value] : command.environment)
    variables[name] = name + "=" + value;
  launch.texts = command.arguments;
  for (auto& [name, line] : variables)
    launch.texts.push_back(line);
  for (size_t i = 0; i < launch.texts.size(); ++i)
    (i < command.arguments.size() ? launch.arguments : launch.variables)
        .push_back(launch.texts[i].data());
  launch.arguments.push_back(nullptr);
  launch.variables.push_back(nullptr);
  launch.directory = command.directory.empty() ? nullptr : command.directory.c_str();
  if (command.prepare)
    launch.prepare = &command.prepare;
  return launch;
}

bool put_at(int descriptor, int number) {
  if (descriptor == number)  // it must survive the program's start
    return fcntl(descriptor, F_SETFD, 0) == 0;
  return dup2(descriptor, number) >= 0;
}

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return call_error("cannot create a pipe", errno);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// The child's part. It shares our memory until the program runs, so it only calls the system.
[[noreturn]] void become(const Launch& launch, const sigset_t& mask, int report) {
  const auto fail = [report](int code) {
    (void)!write(report, &code, sizeof code);
    _exit(127);
  };
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction before{};
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      signal(number, SIG_DFL);
  }
  signal(SIGPIPE, SIG_DFL);
  const bool grouped = launch.session ? setsid() >= 0 : setpgid(0, 0) == 0;
  if (!grouped || !put_at(launch.input, 0) || !put_at(launch.output, 1) ||
      !put_at(launch.errors, 2) || (launch.directory != nullptr && chdir(launch.directory) != 0))
    fail(errno);
  syscall(SYS_close_range, 3U, ~0U, 4U);  // 4: close when the program starts
  if (launch.prepare != nullptr)
    if (const int code = (*launch.prepare)(); code != 0)
      fail(code);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execve(launch.program.c_str(), launch.arguments.data(), launch.variables.data());
  fail(errno);
  _exit(127);
}

/// `vfork`, so that a process of many gigabytes starts others as quickly as a small one.
__attribute__((noinline)) pid_t start_child(const Launch& launch, const sigset_t& mask,
                                            int report) {
  const pid_t pid = vfork();
  if (pid == 0)
    become(launch, mask, report);
  return pid;
}

Result<pid_t> start(const Launch& launch) {
  Pipe report = TRY(make_pipe());  // says why no program was started, or is closed by its start
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  const pid_t pid = start_child(launch, mask, report.write.get());
  int code = pid < 0 ? errno : 0;
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  report.write.close();
  if (pid > 0 && read(report.read.get(), &code, sizeof code) == sizeof code)
    waitpid(pid, nullptr, 0);
  if (code != 0)
    return call_error(cat("cannot start `", launch.program.string(), "`"), code);
  return pid;
}

/// A child between its start and its end.
class Child {
 public:
  explicit Child(const Invocation& command) : command_(command), left_(command.input) {}
  ~Child() {
    if (pid_ > 0 && !ended_)
      end_now();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Status start_with_pipes();
  Result<Finished> wait(const std::stop_token& stop);

 private:
  using Clock = std::chrono::steady_clock;

  Status step(int timeout_ms);
  Status take(Descriptor& from, const ByteSink& sink);
  void give_input();
  void end_now();
  bool reap(int options);
  bool is_done() const { return ended_ && !output_.is_open() && !errors_.is_open(); }

  const Invocation& command_;
  std::string_view left_;
  Finished finished_;
  pid_t pid_ = -1;
  bool ended_ = false;
  Descriptor input_, output_, errors_, pidfd_;
};

Status Child::start_with_pipes() {
  Launch launch = TRY(make_launch(command_));
  Pipe input = TRY(make_pipe()), output = TRY(make_pipe()), errors = TRY(make_pipe());
  launch.input = input.read.get();
  launch.output = output.write.get();
  launch.errors = errors.write.get();
  pid_ = TRY(start(launch));
  pidfd_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_.is_open())
    return call_error("cannot watch a process", errno);
  input_ = std::move(input.write);
  output_ = std::move(output.read);
  errors_ = std::move(errors.read);
  for (const Descriptor* end : {&input_, &output_, &errors_})
    fcntl(end->get(), F_SETFL, O_NONBLOCK);
  if (left_.empty())
    input_.close();
  return {};
}

bool Child::reap(int options) {
  int status = 0;
  if (ended_ || waitpid(pid_, &status, options) != pid_)
    return ended_;
  ended_ = true;
  finished_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  finished_.code = WIFSIGNALED(status) ? 128 + finished_.signal : WEXITSTATUS(status);
  return true;
}

Status Child::take(Descriptor& from, const ByteSink& sink) {
  std::array<char, 64 * 1024> buffer;
  const ssize_t count = read(from.get(), buffer.data(), buffer.size());
  if (count > 0)
    return sink({buffer.data(), static_cast<size_t>(count)});
  if (count == 0 || (errno != EAGAIN && errno != EINTR))
    from.close();
  return {};
}

void Child::give_input() {
  // A child that does not read its input to the end is no error, and no signal for us.
  sigset_t broken_pipe, before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  const ssize_t count = write(input_.get(), left_.data(), left_.size());
  const int code = errno;
  if (count < 0 && code == EPIPE) {
    const timespec now{};
    sigtimedwait(&broken_pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (count > 0)
    left_.remove_prefix(static_cast<size_t>(count));
  if (left_.empty() || (count < 0 && code != EAGAIN && code != EINTR))
    input_.close();
}

Status Child::step(int timeout_ms) {
  std::array<pollfd, 4> waited{{{ended_ ? -1 : pidfd_.get(), POLLIN, 0},
                                {input_.get(), POLLOUT, 0},
                                {output_.get(), POLLIN, 0},
                                {errors_.get(), POLLIN, 0}}};
  if (poll(waited.data(), waited.size(), timeout_ms) < 0 && errno != EINTR)
    return call_error("cannot wait for a process", errno);
  if (waited[1].revents != 0)
    give_input();
  if (waited[2].revents != 0)
    TRY(take(output_, command_.on_output ? command_.on_output
                                         : sink_to(finished_.output, command_.output_limit)));
  if (waited[3].revents != 0)
    TRY(take(errors_, command_.on_errors ? command_.on_errors
                                         : sink_to(finished_.errors, command_.output_limit)));
  if (waited[0].revents != 0)
    reap(WNOHANG);
  return {};
}

void Child::end_now() {
  kill(-pid_, SIGTERM);
  const Clock::time_point patience = Clock::now() + command_.grace;
  while (!reap(WNOHANG) && Clock::now() < patience) {
    pollfd waited{pidfd_.get(), POLLIN, 0};
    poll(&waited, 1, stop_interval_ms);
  }
  kill(-pid_, SIGKILL);  // also what the child left behind in its group
  reap(0);
}

Result<Finished> Child::wait(const std::stop_token& stop) {
  const Clock::time_point deadline = Clock::now() + command_.time_limit;
  // A grandchild may hold the pipes open after the child's end: what is there is read, no more.
  while (!is_done()) {
    if (stop.stop_requested())
      return cancelled_error();
    if (command_.time_limit > 0s && Clock::now() >= deadline)
      return world_error(
          cat("`", command_.arguments[0], "` did not end within ", to_string(command_.time_limit)));
    const bool was_ended = ended_;
    TRY(step(was_ended ? 0 : stop_interval_ms));
    if (was_ended) {
      std::array<pollfd, 2> more{{{output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}}};
      if (poll(more.data(), more.size(), 0) <= 0)
        break;
    }
  }
  return std::move(finished_);
}

}  // namespace

Result<Finished> run_process(const Invocation& command, std::stop_token stop) {
  Child child(command);
  TRY(child.start_with_pipes());
  return child.wait(stop).context(cat("running `", command.arguments[0], "`"));
}

Result<pid_t> start_detached(const Invocation& command, const Path& output) {
  Launch launch = TRY(make_launch(command));
  const Path target = output.empty() ? Path("/dev/null") : output;
  const Descriptor nothing = TRY(open_to_read("/dev/null"));
  const Descriptor log(open(target.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log.is_open())
    return file_error("cannot write", target);
  launch.input = nothing.get();
  launch.output = launch.errors = log.get();
  launch.session = true;
  return start(launch);
}

Result<Dialogue> Dialogue::start(const Invocation& command) {
  Launch launch = TRY(make_launch(command));
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return call_error("cannot create a pair of sockets", errno);
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  launch.input = launch.output = theirs.get();
  launch.errors = 2;
  const pid_t pid = TRY(fettle::start(launch));
  return Dialogue(pid, std::move(ours));
}

Dialogue::~Dialogue() {
  if (pid_.number <= 0)
    return;
  socket_.close();
  kill(-pid_.number, SIGTERM);
  for (int i = 0; i < 40 && waitpid(pid_.number, nullptr, WNOHANG) == 0; ++i) {
    const timespec pause{0, 25'000'000};
    nanosleep(&pause, nullptr);
    if (i == 38)
      kill(-pid_.number, SIGKILL);
  }
}

Path find_program(std::string_view program) {
  if (program.find('/') != program.npos)
    return access(std::string(program).c_str(), X_OK) == 0 ? Path(program) : Path();
  const char* const path = std::getenv("PATH");
  const std::string folders = cat(path == nullptr ? "" : path, ":", system_folders);
  for (const std::string_view folder : split(folders, ':')) {
    const Path candidate = Path(folder) / program;
    if (!folder.empty() && access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  return {};
}

}  // namespace fettle
