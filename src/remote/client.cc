#include "remote/client.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "remote/parcel.h"
#include "remote/server_line.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr Duration answer_limit = 60s;
constexpr Duration end_limit = 3s, look_pause = 50ms;
constexpr size_t enough_unsent = 256 << 10;

int64_t number_in(std::string_view json, std::string_view key) {
  const Result<Value> told = read_json(json);
  return told ? told->integer_at(key) : 0;
}

/// A terminal at which each key counts while it lives.
class RawInput {
 public:
  ~RawInput() { set(false); }
  void set(bool raw) {
    if (raw == is_raw_ || (raw && tcgetattr(STDIN_FILENO, &before_) != 0))
      return;
    termios form = before_;
    if (raw)
      cfmakeraw(&form);
    if (tcsetattr(STDIN_FILENO, raw ? TCSANOW : TCSADRAIN, &form) == 0)
      is_raw_ = raw;
  }

 private:
  termios before_{};
  bool is_raw_ = false;
};

bool is_one_stream() {
  struct stat output{}, errors{};
  return fstat(STDOUT_FILENO, &output) == 0 && fstat(STDERR_FILENO, &errors) == 0 &&
         output.st_dev == errors.st_dev && output.st_ino == errors.st_ino;
}

WindowRows window_of_terminal() {
  winsize size{};
  for (const int number : {STDERR_FILENO, STDOUT_FILENO, STDIN_FILENO})
    if (ioctl(number, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
      return {size.ws_row, size.ws_col};
  return {};
}

/// Follows a command or a run until it ends, one thread for all.
class Follower {
 public:
  Follower(Line line, const ServerChoice& server, const ClientPlace& place, WrittenPaths writes,
           bool takes_input, bool is_reader)
      : line_(std::move(line)),
        server_(server),
        place_(place),
        writes_(std::move(writes)),
        reads_input_(takes_input),
        is_reader_(is_reader) {}

  Result<ClientEnd> follow() {
    sigset_t set, before;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH})
      sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, &before);
    const Descriptor signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    Result<ClientEnd> end = follow_until_end(signals);
    raw_.set(false);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return end;
  }

 private:
  Result<ClientEnd> follow_until_end(const Descriptor& signals) {
    while (true) {
      while (told_.empty()) {
        std::optional<Frame> frame = line_.take();
        if (!frame)
          break;
        if (const std::optional<ClientEnd> end = TRY(take(*std::move(frame))))
          return *end;
      }
      // While nobody takes what was told, nothing more is read.
      const bool listens = told_.empty();
      if (listens && line_.is_gone())
        return leaves_at_ ? Result<ClientEnd>(ClientEnd{0, true}) : lost_in_the_middle();
      line_.push();
      const bool reads = reads_input_ && may_send_ > 0;
      const bool has_reader = is_reader_ && !lost_reader_ && unwritten_ == 0;
      std::array<pollfd, 5> polled{
          pollfd{listens || line_.unsent() > 0 ? line_.descriptor() : -1,
                 listens ? line_.events() : static_cast<short>(POLLOUT), 0},
          pollfd{signals.get(), POLLIN, 0}, pollfd{reads ? STDIN_FILENO : -1, POLLIN, 0},
          // Whoever stops reading ends what only tells something.
          pollfd{has_reader ? STDOUT_FILENO : -1, 0, 0},
          pollfd{listens ? -1 : told_to_, POLLOUT, 0}};
      const int patience = leaves_at_ ? static_cast<int>(look_pause / 1ms) : -1;
      static_cast<void>(poll(polled.data(), polled.size(), patience));
      if (listens && polled[0].revents != 0)
        line_.pull();
      if (polled[1].revents != 0)
        if (const std::optional<ClientEnd> end = hear_signals(signals))
          return *end;
      if (polled[2].revents != 0)
        read_input();
      if ((polled[3].revents & POLLNVAL) != 0)
        unwritten_ = EBADF;
      else if (polled[3].revents != 0)
        lost_reader_ = true;
      if (polled[4].revents != 0)
        write_told();
      if (lost_reader_ && is_reader_ && tell_of_lost_reader())
        return ClientEnd{0, true};
    }
  }

  /// The command may have something to end in a service, and whoever waits for us means that, too.
  /// Whether it has had its time.
  bool tell_of_lost_reader() {
    const auto now = std::chrono::steady_clock::now();
    if (!leaves_at_) {
      line_.send(FrameType::output_end);
      leaves_at_ = now + end_limit;
    }
    return now > *leaves_at_;
  }

  Result<std::optional<ClientEnd>> take(Frame frame) {
    switch (frame.type) {
      case FrameType::alive:
        break;
      case FrameType::run:
        run_ = number_in(frame.payload, "run");
        break;
      case FrameType::output:
        if (!lost_reader_ && unwritten_ == 0)
          tell(STDOUT_FILENO, std::move(frame.payload));
        break;
      case FrameType::errors:
        tell(STDERR_FILENO, std::move(frame.payload));
        break;
      case FrameType::input:  // it has taken so much of ours
        may_send_ += static_cast<size_t>(std::clamp<int64_t>(number_in(frame.payload, "taken"), 0,
                                                             static_cast<int64_t>(input_window)));
        break;
      case FrameType::raw:
        raw_.set(frame.payload == "1");
        break;
      case FrameType::file:
        arriving_ =
            TRY(ArrivingFile::begin(writes_, TRY(file_entry_of(TRY(read_json(frame.payload))))));
        break;
      case FrameType::file_bytes:
        TRY(arriving_.add(frame.payload));
        break;
      case FrameType::end:
        return end_with(static_cast<int>(number_in(frame.payload, "code")));
      case FrameType::error:
        return error_told(frame.payload);
      default:
        return world_error("the server says something that this program does not understand");
    }
    return std::optional<ClientEnd>();
  }

  void tell(int descriptor, std::string bytes) {
    told_ = std::move(bytes);
    told_to_ = descriptor;
    write_told();
  }

  /// As much as is taken now: Ctrl-C would not be heard in a `write` that waits. What has room takes
  /// so much at once. A disk that is full ends nothing: the command goes on, and the end tells of it.
  void write_told() {
    while (!told_.empty() && await_events(told_to_, POLLOUT, Duration(0))) {
      const ssize_t count =
          ::write(told_to_, told_.data(), std::min<size_t>(told_.size(), PIPE_BUF));
      if (count >= 0) {
        told_.erase(0, static_cast<size_t>(count));
        continue;
      }
      if (errno == EAGAIN || errno == EINTR)
        return;
      if (told_to_ == STDOUT_FILENO && errno == EPIPE)
        lost_reader_ = true;
      else if (told_to_ == STDOUT_FILENO)
        unwritten_ = errno;
      told_.clear();
    }
  }

  Result<std::optional<ClientEnd>> end_with(int code) const {
    if (unwritten_ != 0)
      return world_error(
          cat("cannot write to standard output: ",
              unwritten_ == EBADF ? "it is closed" : lower_case(std::strerror(unwritten_))));
    return std::optional(ClientEnd{code, lost_reader_});
  }

  void read_input() {
    std::array<char, piece_bytes> buffer{};
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), std::min(buffer.size(), may_send_));
    if (count > 0) {
      may_send_ -= static_cast<size_t>(count);
      line_.send(FrameType::input, {buffer.data(), static_cast<size_t>(count)});
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      line_.send(FrameType::input_end);
      // At a terminal, more may be typed after Ctrl-D.
      reads_input_ = count == 0 && isatty(STDIN_FILENO) == 1;
    }
  }

  std::optional<ClientEnd> hear_signals(const Descriptor& signals) {
    signalfd_siginfo said{};
    while (::read(signals.get(), &said, sizeof said) == static_cast<ssize_t>(sizeof said)) {
      switch (said.ssi_signo) {
        case SIGWINCH: {
          const WindowRows window = window_of_terminal();
          line_.send(FrameType::window_size,
                     write_json(Value::dict({{"rows", window.rows}, {"columns", window.columns}})));
          break;
        }
        case SIGHUP:
          return ClientEnd{interrupted_command, false};
        default:
          if (std::exchange(has_asked_, true)) {
            if (run_ > 0 && !place_.is_quiet)
              place_.tell(cat("\nleaving; ", followed_by()));
            return ClientEnd{interrupted_command, false};
          }
          line_.send(FrameType::stop, said.ssi_signo == SIGTERM ? stop_by_end : "");
          break;
      }
    }
    return std::nullopt;
  }

  std::string followed_by() const {
    return cat("run ", run_, " goes on at the server: `fettle attach ", run_, "` follows it");
  }

  Error lost_in_the_middle() const {
    Error error = lost(server_);
    if (run_ > 0)
      error.message += cat("; unless the server was killed, ", followed_by());
    error.unknown_outcome = run_ > 0;
    return error;
  }

  Line line_;
  const ServerChoice& server_;
  const ClientPlace& place_;
  const WrittenPaths writes_;
  bool reads_input_;
  size_t may_send_ = input_window;  ///< of standard input
  const bool is_reader_;
  RawInput raw_;
  ArrivingFile arriving_;
  int64_t run_ = 0;
  bool lost_reader_ = false, has_asked_ = false;
  std::optional<std::chrono::steady_clock::time_point> leaves_at_;  ///< without its reader
  std::string told_;             ///< what nobody has taken so far
  int told_to_ = STDOUT_FILENO;  ///< who is to take it
  int unwritten_ = 0;            ///< why standard output takes nothing more, by `errno`
};

Status send_content(Line& line, const ServerChoice& server, const Parcel& parcel,
                    const std::string& path) {
  const auto send = [&](std::string_view bytes) -> Status {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), piece_bytes)))
      line.send(FrameType::content, bytes.substr(0, piece_bytes));
    return line.unsent() < enough_unsent || line.push_all(answer_limit) ? Status()
                                                                        : Status(lost(server));
  };
  if (const auto held = parcel.held.find(path); held != parcel.held.end())
    return send(held->second);
  // The server may ask for nothing but what was offered.
  const auto offered = std::ranges::find(parcel.files, path, &FileEntry::path);
  if (offered == parcel.files.end() || offered->type != FileEntry::Type::file)
    return Error(Blame::bug, cat("the server asks for `", printable(path),
                                 "`, which the command does not name"));
  return pump(TRY(source_of_file(path)), send);
}

/// Sends what the server does not have. What it says instead, or after that, is left in the line.
Result<std::optional<Frame>> send_contents(Line& line, const ServerChoice& server,
                                           const Parcel& parcel) {
  std::optional<Frame> frame = line.await(answer_limit);
  if (!frame)
    return lost(server);
  if (frame->type != FrameType::need)
    return frame;
  const Value paths = TRY(read_json(frame->payload));
  for (const Value& path : items_of(paths))
    if (path.is_text())
      TRY(send_content(line, server, parcel, path.text().str()));
  if (!line.push_all(answer_limit))
    return lost(server);
  return std::optional<Frame>();
}

Result<Value> asked(const ServerChoice& server, FrameType type, std::string_view payload,
                    const ClientPlace& place) {
  Line line = TRY(line_to_server(server, place.version));
  line.send(type, payload);
  if (!line.push_all(answer_limit))
    return lost(server);
  const std::optional<Frame> frame = line.await(answer_limit);
  if (!frame)
    return lost(server);
  if (frame->type == FrameType::error)
    return error_told(frame->payload);
  return read_json(frame->payload);
}

std::string run_json(int64_t number) { return write_json(Value::dict({{"run", number}})); }

}  // namespace

std::map<std::string, std::string> client_variables() {
  std::map<std::string, std::string> chosen;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    const size_t equals = text.find('=');
    if (equals == text.npos || !is_valid_utf8(text))
      continue;
    const std::string_view name = text.substr(0, equals);
    if (is_variable_of_answers(name))
      chosen.emplace(name, text.substr(equals + 1));
  }
  return chosen;
}

Result<ClientEnd> run_at_server(const ServerChoice& server, CommandRequest request,
                                const NamedFiles& named, bool is_reader, const ClientPlace& place) {
  for (const std::string& word : request.words)
    if (!is_valid_utf8(word))
      return user_error(cat("`", printable(word), "` is no UTF-8, so it cannot be sent"));
  std::error_code failure;
  request.folder = std::filesystem::current_path(failure).string();
  if (failure || !is_valid_utf8(request.folder))
    return user_error("the folder in which the command is called has no name that can be sent");
  Parcel parcel = TRY(pack_parcel(named, request.folder));
  request.environment = client_variables();
  request.environment.merge(std::map<std::string, std::string>(parcel.variables));
  request.input_is_terminal = isatty(STDIN_FILENO) == 1;
  request.output_is_terminal = isatty(STDOUT_FILENO) == 1;
  request.errors_are_terminal = isatty(STDERR_FILENO) == 1;
  request.is_one_stream = is_one_stream();
  request.window = window_of_terminal();
  request.paths = parcel.paths;
  for (const auto& [plain, spelled] : parcel.writes)
    request.writes.push_back(plain);
  request.takes_input = named.takes_input;
  request.is_stream = named.is_stream;
  request.files = parcel.files;
  Line line = TRY(line_to_server(server, place.version));
  const std::string json = write_json(value_of(request));
  if (json.size() > largest_frame)
    return user_error(
        "what the command names is too much for the way to a server; name a smaller "
        "folder");
  line.send(FrameType::command, json);
  if (!line.push_all(answer_limit))
    return lost(server);
  if (!parcel.files.empty())
    if (std::optional<Frame> first = TRY(send_contents(line, server, parcel)))
      line.put_back(*std::move(first));
  return Follower(std::move(line), server, place, parcel.writes, named.takes_input, is_reader)
      .follow();
}

Result<ClientEnd> attach_to_run(const ServerChoice& server, int64_t number,
                                const ClientPlace& place) {
  Line line = TRY(line_to_server(server, place.version));
  line.send(FrameType::attach, run_json(number));
  return Follower(std::move(line), server, place, {}, false, true).follow();
}

Result<std::vector<RunView>> runs_of_server(const ServerChoice& server, const ClientPlace& place) {
  const Value list = TRY(asked(server, FrameType::runs, {}, place));
  std::vector<RunView> runs;
  for (const Value& item : items_of(list))
    runs.push_back(run_view_of(item));
  return runs;
}

Result<RunView> cancel_run(const ServerChoice& server, int64_t number, const ClientPlace& place) {
  return run_view_of(TRY(asked(server, FrameType::cancel, run_json(number), place)));
}

}  // namespace fettle
