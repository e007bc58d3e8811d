#include "base/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "base/wait.h"

extern char** environ;

namespace fettle {
namespace {

constexpr Duration grace_of_a_stop = 50ms;
constexpr Duration patience_after_kill = 40ms;
constexpr int code_nobody_knows = 255;    ///< of a child that somebody else has waited for
constexpr int most_descriptors = 65'536;  ///< that are closed one by one, on old kernels
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
  int descriptors = most_descriptors;  ///< how many there may be
  const std::function<int()>* prepare = nullptr;
};

Result<Launch> make_launch(const Invocation& command) {
  Launch launch;
  if (command.arguments.empty() || command.arguments[0].empty())
    return world_error("no program is given");
  if (!command.is_own && !why_only_own_programs().empty())
    return user_error(
        cat("`", command.arguments[0], "` is not started: ", why_only_own_programs()));
  launch.program = find_program(command.arguments[0]);
  if (launch.program.empty())
    return world_error(cat("the program `", command.arguments[0], "` is not found"));
  std::map<std::string, std::string> variables;
  for (char** at = environ; !command.clean_environment && at != nullptr && *at != nullptr; ++at) {
    const std::string_view line(*at);
    const size_t equals = std::min(line.find('='), line.size());
    variables[std::string(line.substr(0, equals))] = std::string(line);
  }
  for (const std::string& name : command.without)
    variables.erase(name);
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
  launch.session = command.session;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < most_descriptors)
    launch.descriptors = static_cast<int>(limit.rlim_cur);
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
[[noreturn]] void become(const Launch& launch, int report) {
  const auto fail = [report](int code) {
    (void)!write(report, &code, sizeof code);
    _exit(127);
  };
  for (int number = 1; number < NSIG; ++number)
    signal(number, SIG_DFL);
  const bool grouped = launch.session ? setsid() >= 0 : setpgid(0, 0) == 0;
  if (!grouped || !put_at(launch.input, 0) || !put_at(launch.output, 1) ||
      !put_at(launch.errors, 2) || (launch.directory != nullptr && chdir(launch.directory) != 0))
    fail(errno);
  if (syscall(SYS_close_range, 3U, ~0U, 4U) != 0)  // 4: close when the program starts
    for (int number = 3; number < launch.descriptors; ++number)
      fcntl(number, F_SETFD, FD_CLOEXEC);
  if (launch.prepare != nullptr)
    if (const int code = (*launch.prepare)(); code != 0)
      fail(code);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(launch.program.c_str(), launch.arguments.data(), launch.variables.data());
  fail(errno);
  _exit(127);
}

/// `vfork`, so that a process of many gigabytes starts others as quickly as a small one.
__attribute__((noinline)) pid_t start_child(const Launch& launch, int report) {
  const pid_t pid = vfork();
  if (pid == 0)
    become(launch, report);
  return pid;
}

Result<pid_t> start(const Launch& launch) {
  Pipe report = TRY(make_pipe());  // says why no program was started, or is closed by its start
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  const pid_t pid = start_child(launch, report.write.get());
  int code = pid < 0 ? errno : 0;
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  report.write.close();
  if (pid > 0 && read(report.read.get(), &code, sizeof code) == sizeof code)
    waitpid(pid, nullptr, 0);
  if (code != 0)
    return call_error(cat("cannot start `", launch.program.string(), "`"), code);
  return pid;
}

/// Kills groups of children when this process ends without having ended them, as when it is killed
/// itself: whoever goes on in its place must not find what it began still at work. It is a shell
/// that reads which groups there are, until nobody is there to write. A signal at the parent's
/// death would reach the leader only, and come when a thread ends.
class Guardian {
 public:
  /// Whether there is one that has heard it. `sign`: `+` for a group that begins, `-` for one that
  /// has ended.
  bool tell(char sign, pid_t group) const {
    const std::string line = cat(std::string_view(&sign, 1), " ", group, "\n");
    return socket_.is_open() && send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) ==
                                    static_cast<ssize_t>(line.size());
  }

  /// Without it, children outlive a process that is killed, and nothing else is lost.
  Status start() {
    const Invocation shell{.arguments = {"sh", "-c", script},
                           .clean_environment = true,
                           .session = true,
                           .directory = "/"};
    Launch launch = TRY(make_launch(shell));
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return call_error("cannot create a pair of sockets", errno);
    socket_ = Descriptor(ends[0]);
    const Descriptor theirs(ends[1]), nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));
    launch.input = theirs.get();
    launch.output = launch.errors = nothing.get();
    TRY(fettle::start(launch));
    return {};
  }

 private:
  static constexpr const char* script = R"(trap '' HUP INT TERM
while read -r sign group; do
  case $sign in
    +) set -- "$@" "$group" ;;
    *) for each do shift; [ "$each" = "$group" ] || set -- "$@" "$each"; done ;;
  esac
done
for each do kill -s KILL -- "-$each"; done)";
  Descriptor socket_;
};

/// The groups of children that somebody waits for.
class Groups {
 public:
  static Groups& all() {
    static auto* const groups = new Groups;  // outlives whoever leaves in the middle
    return *groups;
  }
  /// Whoever kills all children waits for the one that is being started.
  Result<pid_t> start(const Launch& launch) {
    const std::lock_guard lock(mutex_);
    if (const pid_t us = getpid(); std::exchange(owner_, us) != us) {  // of whom we are a copy
      groups_.clear();
      guardian_ = {};
    }
    const pid_t leader = TRY(fettle::start(launch));
    groups_.insert(leader);
    if (!guardian_.tell('+', leader) && guardian_.start())
      for (const pid_t group : groups_)
        guardian_.tell('+', group);
    return leader;
  }
  void remove(pid_t group) {
    const std::lock_guard lock(mutex_);
    groups_.erase(group);
    guardian_.tell('-', group);
  }
  void kill_all() {
    const std::lock_guard lock(mutex_);
    for (const pid_t group : groups_)
      kill(-group, SIGKILL);
  }

 private:
  std::mutex mutex_;
  pid_t owner_ = -1;
  std::set<pid_t> groups_;
  Guardian guardian_;
};

/// A group of processes and its leader, a child of ours that nobody has waited for yet: until then
/// its number is nobody else's.
class Group {
 public:
  Group() = default;
  ~Group() { end(0s); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  Status start(const Launch& launch) {
    leader_ = TRY(Groups::all().start(launch));
    watch_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, leader_, 0)));
    if (!watch_.is_open())
      return call_error("cannot watch a process", errno);
    return {};
  }
  /// Readable when the leader has ended.
  int watch() const { return watch_.get(); }

  /// The leader's status once it has ended; what it left in its group stays.
  std::optional<int> status() {
    int status = code_nobody_knows << 8;
    if (leader_ <= 0 || waitpid(leader_, &status, WNOHANG) == 0)
      return std::nullopt;
    forget();
    return status;
  }

  /// Ends all of it: TERM when it has not ended within `patience`, and KILL when that takes longer
  /// than `grace` or a stop is asked for. The answer is the leader's status.
  int end(Duration grace, const std::stop_token& stop = {}, Duration patience = 0s) {
    int status = code_nobody_knows << 8;
    if (leader_ <= 0)
      return status;
    const auto ends_within = [&](Duration time) {
      return await_descriptor(watch_.get(), POLLIN, time, stop).value_or(false);
    };
    if (grace > 0s && (patience == 0s || !ends_within(patience))) {
      kill(-leader_, SIGTERM);
      ends_within(grace);
    }
    kill(-leader_, SIGKILL);  // also what the leader left behind
    // A process that the kernel does not let go yet is waited for by nobody in particular.
    const auto ended = await_descriptor(watch_.get(), POLLIN, patience_after_kill, {});
    if (ended.value_or(false))
      waitpid(leader_, &status, 0);
    else
      std::thread([leader = leader_] { waitpid(leader, nullptr, 0); }).detach();
    forget();
    return status;
  }

 private:
  void forget() {
    Groups::all().remove(leader_);
    leader_ = -1;
  }
  pid_t leader_ = -1;
  Descriptor watch_;
};

/// A child between its start and its end.
class Child {
 public:
  Child(const Invocation& command, std::stop_token stop)
      : command_(command), stop_(std::move(stop)), left_(command.input) {}
  ~Child() {
    if (stop_.stop_requested())
      group_.end(grace_of_a_stop);
    else
      group_.end(command_.grace, stop_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Status start_with_pipes();
  Result<ProcessResult> wait();

 private:
  using Clock = std::chrono::steady_clock;

  Status step(Poller& poller, Duration limit);
  Status take(Descriptor& from, const ByteSink& sink, size_t most);
  Status take_rest(Descriptor& from, const ByteSink& sink);
  ByteSink output_sink();
  ByteSink errors_sink();
  void give_input();
  void look_for_end();

  const Invocation& command_;
  std::stop_token stop_;
  std::string_view left_;
  ProcessResult finished_;
  Group group_;
  bool ended_ = false;
  Clock::time_point heard_{};
  Descriptor input_, output_, errors_;
};

Status Child::start_with_pipes() {
  Launch launch = TRY(make_launch(command_));
  Pipe input = TRY(make_pipe()), output = TRY(make_pipe()), errors = TRY(make_pipe());
  launch.input = input.read.get();
  launch.output = output.write.get();
  launch.errors = errors.write.get();
  TRY(group_.start(launch));
  input_ = std::move(input.write);
  output_ = std::move(output.read);
  errors_ = std::move(errors.read);
  for (const Descriptor* end : {&input_, &output_, &errors_})
    fcntl(end->get(), F_SETFL, O_NONBLOCK);
  if (left_.empty())
    input_.close();
  return {};
}

void tell_end(ProcessResult& finished, int status) {
  finished.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  finished.code = WIFSIGNALED(status) ? 128 + finished.signal : WEXITSTATUS(status);
}

void Child::look_for_end() {
  const std::optional<int> status = group_.status();
  if (!status)
    return;
  ended_ = true;
  tell_end(finished_, *status);
}

ByteSink Child::output_sink() {
  return command_.on_output ? command_.on_output : sink_to(finished_.output, command_.output_limit);
}

ByteSink Child::errors_sink() {
  return command_.on_errors ? command_.on_errors : sink_to(finished_.errors, command_.output_limit);
}

Status Child::take(Descriptor& from, const ByteSink& sink, size_t most) {
  std::array<char, 64 * 1024> buffer;
  const ssize_t count = read(from.get(), buffer.data(), std::min(most, buffer.size()));
  heard_ = Clock::now();
  if (count > 0)
    return sink({buffer.data(), static_cast<size_t>(count)});
  if (count == 0 || (errno != EAGAIN && errno != EINTR))
    from.close();
  return {};
}

/// Reads what is in the pipe when the child has ended. A grandchild may hold it open and go on
/// writing.
Status Child::take_rest(Descriptor& from, const ByteSink& sink) {
  int left = 0;
  if (!from.is_open() || ioctl(from.get(), FIONREAD, &left) != 0)
    return {};
  for (size_t taken = 0; left > 0 && from.is_open(); left -= static_cast<int>(taken)) {
    const auto counted = [&](std::string_view bytes) -> Status {
      taken = bytes.size();
      return sink(bytes);
    };
    taken = 0;
    TRY(take(from, counted, static_cast<size_t>(left)));
    if (taken == 0)
      break;
  }
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

Status Child::step(Poller& poller, Duration limit) {
  std::array<pollfd, 4> waited{{{group_.watch(), POLLIN, 0},
                                {input_.get(), POLLOUT, 0},
                                {output_.get(), POLLIN, 0},
                                {errors_.get(), POLLIN, 0}}};
  TRY(poller.wait(waited, limit));
  if (waited[1].revents != 0)
    give_input();
  if (waited[2].revents != 0)
    TRY(take(output_, output_sink(), SIZE_MAX));
  if (waited[3].revents != 0)
    TRY(take(errors_, errors_sink(), SIZE_MAX));
  if (waited[0].revents != 0)
    look_for_end();
  return {};
}

Result<ProcessResult> Child::wait() {
  const Clock::time_point began = Clock::now();
  heard_ = began;
  Poller poller(stop_);
  while (!ended_) {
    const Duration time = left_of(command_.time_limit, began);
    const Duration silence = left_of(command_.silence_limit, heard_);
    if (time == 0s)
      return world_error(
          cat("`", command_.arguments[0], "` did not end within ", to_string(command_.time_limit)));
    if (silence == 0s)
      return world_error(cat("`", command_.arguments[0], "` printed nothing for ",
                             to_string(command_.silence_limit)));
    TRY(step(poller, silence >= 0s && (time < 0s || silence < time) ? silence : time));
  }
  TRY(take_rest(output_, output_sink()));
  TRY(take_rest(errors_, errors_sink()));
  return std::move(finished_);
}

}  // namespace

std::string& why_only_own_programs() {
  static std::string why;
  return why;
}

Result<ProcessResult> run_process(const Invocation& command, std::stop_token stop) {
  if (stop.stop_requested())
    return cancelled_error();
  Child child(command, std::move(stop));
  TRY(child.start_with_pipes());
  return child.wait().context(cat("running `", command.arguments[0], "`"));
}

void kill_children() { Groups::all().kill_all(); }

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

struct Dialogue::State {
  Descriptor socket, errors;
  Group group;
  bool has_ended = false;
};

Dialogue::Dialogue(std::unique_ptr<State> state) : state_(std::move(state)) {}
Dialogue::Dialogue(Dialogue&&) noexcept = default;
int Dialogue::descriptor() const { return state_->socket.get(); }
int Dialogue::errors() const { return state_->errors.get(); }

Result<Dialogue> Dialogue::start(const Invocation& command, Errors errors) {
  Launch launch = TRY(make_launch(command));
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return call_error("cannot create a pair of sockets", errno);
  auto state = std::make_unique<State>();
  state->socket = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  Pipe kept;
  if (errors == Errors::kept)
    kept = TRY(make_pipe());
  launch.input = launch.output = theirs.get();
  launch.errors = errors == Errors::kept ? kept.write.get() : 2;
  TRY(state->group.start(launch));
  state->errors = std::move(kept.read);
  return Dialogue(std::move(state));
}

ProcessResult Dialogue::end(Duration patience, Duration grace) {
  ProcessResult finished;
  if (state_ == nullptr || std::exchange(state_->has_ended, true))
    return finished;
  state_->socket.close();
  tell_end(finished, state_->group.end(grace, {}, patience));
  return finished;
}

Dialogue::~Dialogue() { end(0s, grace_of_a_stop); }

namespace {

/// A folder may be entered, and is no program.
bool is_program(const Path& path) {
  struct stat status{};
  return access(path.c_str(), X_OK) == 0 && stat(path.c_str(), &status) == 0 &&
         !S_ISDIR(status.st_mode);
}

}  // namespace

Path find_program(std::string_view program) {
  if (program.find('/') != program.npos)
    return is_program(program) ? Path(program) : Path();
  const char* const path = std::getenv("PATH");
  const std::string folders = cat(path == nullptr ? "" : path, ":", system_folders);
  for (const std::string_view folder : split(folders, ':')) {
    const Path candidate = Path(folder) / program;
    if (!folder.empty() && is_program(candidate))
      return candidate;
  }
  return {};
}

}  // namespace fettle
