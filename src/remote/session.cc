#include "remote/session.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "remote/agent_hub.h"
#include "remote/api_answers.h"
#include "remote/command_child.h"
#include "remote/health.h"
#include "remote/hooks.h"
#include "remote/line.h"
#include "remote/mirror.h"
#include "remote/page_door.h"
#include "remote/path_filter.h"
#include "remote/posted_command.h"
#include "remote/run_answers.h"
#include "remote/run_log.h"
#include "remote/server_line.h"
#include "remote/upgrade.h"
#include "remote/visit.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr Duration look_again = 20ms;
/// More reads than the pipes of a command that has ended can fill.
constexpr int last_reads = 64;
/// With what a handshake of TLS begins, and no request.
constexpr char first_of_tls = 0x16;
/// For a command whose reader has gone, until it is told so by a signal.
constexpr Duration reader_limit = 2s;

/// The part of a log's bytes that is whole frames: something else may be sent behind them.
size_t size_of_whole_frames(std::string_view bytes) {
  FrameReader reader;
  reader.add(bytes);
  size_t size = 0;
  for (Result<std::optional<Frame>> frame = reader.next(); frame && *frame; frame = reader.next())
    size += packed((*frame)->type, (*frame)->payload).size();
  return size;
}

/// A command and its client.
class CommandSession {
 public:
  CommandSession(Line& line, const ServeSettings& settings, const CommandHost& host, Visit& visit)
      : line_(line),
        settings_(settings),
        host_(host),
        visit_(visit),
        out_filter_((settings.folder() / "mirrors").string()),
        error_filter_((settings.folder() / "mirrors").string()) {}

  Status run(std::string_view json) {
    request_ = TRY(command_request_of(json));
    const CommandLook look = TRY(host_.look(request_));
    Permit permit{TRY(visit_.allow(look.needs, look.shown)), look.needs.right, {}};
    keep_variables(permit);
    std::optional<Mirror> mirror = TRY(Mirror::take(settings_.folder() / "mirrors"));
    if (!mirror)
      return world_error(cat("the server runs ", most_commands,
                             " commands already; try again when one has ended (`fettle runs`)"));
    std::vector<FileEntry> files = request_.files;
    if (request_.folder != "/" &&
        std::ranges::find(files, request_.folder, &FileEntry::path) == files.end())
      files.push_back({request_.folder, FileEntry::Type::folder, 0755, 0});
    TRY(receive(*mirror, TRY(mirror->place(std::move(files)))));
    TRY(mirror->finish());
    alarm(0);
    is_reader_ = look.is_reader;
    is_bound_ = is_reader_ || request_.is_stream;
    TRY(begin(look, permit.grant));
    const std::string root = mirror->root();
    Result<CommandChild> child =
        start_command(request_, request_.folder == "/" ? root : root + request_.folder,
                      [&] { return host_.run(request_, root, permit); });
    if (!child) {
      visit_.note_end(noted_, 1);
      return child.error();
    }
    child_ = *std::move(child);
    input_is_open_ = child_.input.is_open() || child_.input_is_typed;
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &before);
    const int code = follow(Descriptor(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK)));
    visit_.note_end(noted_, code);
    const Status ended = end(*mirror, code);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return ended;
  }

 private:
  /// Who may not act sets no variable by which a program or a library does what he wants.
  void keep_variables(Permit& permit) {
    permit.variables = request_.environment;
    permit.variables["PWD"] = request_.folder;
    if (permit.grant.right < Right::act)
      std::erase_if(request_.environment,
                    [](const auto& each) { return !is_variable_of_answers(each.first); });
  }

  /// Makes it a run, and notes it.
  Status begin(const CommandLook& look, const Grant& grant) {
    if (!is_bound_)
      log_.emplace(TRY(RunLog::begin(
          settings_.folder() / "runs",
          {look.shown, grant.token, look.needs.environments, look.watch, grant.token_id},
          settings_.clock())));
    Result<std::string> noted = visit_.note(look.needs, look.shown, log_ ? log_->number() : 0);
    if (!noted && log_)
      static_cast<void>(log_->end(1));
    noted_ = TRY(std::move(noted));
    if (log_)
      line_.send(FrameType::run, write_json(Value::dict({{"run", log_->number()}})));
    return {};
  }

  /// The contents that the mirror does not know.
  Status receive(Mirror& mirror, const std::vector<size_t>& unknown) {
    std::vector<Value> paths;
    for (const size_t entry : unknown)
      paths.emplace_back(mirror.path_of(entry));
    if (request_.files.empty())
      return {};
    line_.send(FrameType::need, write_json(Value::list(std::move(paths))));
    if (!line_.push_all(settings_.upload_limit))
      return world_error("the client went");
    for (const size_t entry : unknown) {
      TRY(mirror.begin_content(entry));
      while (!TRY(mirror.end_content())) {
        alarm(static_cast<unsigned>(2 * (settings_.upload_limit / 1s)));
        const std::optional<Frame> frame = line_.await(settings_.upload_limit);
        if (!frame)
          return world_error("the client went, or sends nothing");
        if (frame->type == FrameType::stop)
          return world_error("interrupted");
        if (frame->type != FrameType::content)
          return user_error("expected the contents that were asked for");
        TRY(mirror.add_content(frame->payload));
      }
    }
    return {};
  }

  /// `signals`: those that ask this process to end.
  int follow(const Descriptor& signals) {
    hear_client(0);  // what came together with the command
    SignOfLife sign(settings_.sign_pause);
    while (true) {
      sign.send_if_due(line_);
      feed_client();
      enum Place { client, ended, signalled, output, errors, terminal, input, control, places };
      std::array<pollfd, places> polled{};
      polled[client] = {line_.is_gone() ? -1 : line_.descriptor(), line_.events(), 0};
      polled[ended] = {child_.end.get(), POLLIN, 0};
      polled[signalled] = {signals.get(), POLLIN, 0};
      const bool takes = log_ || line_.is_gone() || line_.unsent() < most_unsent;
      polled[output] = {takes ? child_.output.get() : -1, POLLIN, 0};
      polled[errors] = {takes ? child_.errors.get() : -1, POLLIN, 0};
      polled[terminal] = {takes ? child_.terminal.get() : -1, POLLIN, 0};
      polled[input] = {input_.empty() ? -1 : input_descriptor(), POLLOUT, 0};
      polled[control] = {log_ ? log_->control() : -1, POLLIN, 0};
      const bool looks_again =
          child_.input_is_typed || out_filter_.holds() || error_filter_.holds() || hangs_up_at_;
      const Duration patience = looks_again ? look_again : sign.left() + 1ms;
      const bool waits_for_ever = line_.is_gone() && !looks_again;
      const int ready = poll(polled.data(), polled.size(),
                             waits_for_ever ? -1 : static_cast<int>(patience / 1ms));
      if (ready == 0)
        tell_rest();
      if (hangs_up_at_ && std::chrono::steady_clock::now() > *hangs_up_at_) {
        hangs_up_at_ = std::chrono::steady_clock::time_point::max();
        kill(child_.process, SIGHUP);
      }
      if (polled[client].revents != 0)
        hear_client(polled[client].revents);
      if (polled[signalled].revents != 0) {
        signalfd_siginfo ignored{};
        static_cast<void>(!::read(signals.get(), &ignored, sizeof ignored));
        is_server_ending_ = true;
        kill(child_.process, SIGTERM);
      }
      if (polled[control].revents != 0) {
        log_->take_request();
        kill(child_.process, SIGINT);
      }
      hear(child_.output, polled[output].revents, FrameType::output);
      hear(child_.errors, polled[errors].revents, FrameType::errors);
      hear(child_.terminal, polled[terminal].revents, stream_of_terminal());
      if (polled[input].revents != 0)
        feed_input();
      tell_raw();
      if (polled[ended].revents != 0)
        return last_words();
    }
  }

  /// What the command has written before it ended; what it left running may write for ever.
  int last_words() {
    for (const auto& [descriptor, type] : {std::pair(&child_.output, FrameType::output),
                                           std::pair(&child_.errors, FrameType::errors),
                                           std::pair(&child_.terminal, stream_of_terminal())})
      for (int left = last_reads; left > 0 && descriptor->is_open(); --left)
        if (!hear(*descriptor, POLLIN, type) || is_stuck())
          break;
    tell_rest();
    int status = 0;
    while (waitpid(child_.process, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) {
      // Who interrupts a command knows why it ends without a word; here nobody did.
      if (is_server_ending_ && WEXITSTATUS(status) == interrupted_command)
        tell(FrameType::errors, "error: the server ended, and interrupted the command\n");
      return WEXITSTATUS(status);
    }
    // It could not say so itself. Whoever interrupts it, or reads no more, knows.
    const int signal = WTERMSIG(status);
    if (signal != SIGINT && signal != SIGPIPE && signal != SIGHUP)
      tell(FrameType::errors,
           cat("error: the command was ended at the server by signal ", signal, "\n"));
    return 128 + signal;
  }

  /// With much unsent, the client must take some first.
  bool is_stuck() {
    if (log_ || line_.is_gone() || line_.unsent() < most_unsent)
      return false;
    return !line_.push_all(settings_.write_limit);
  }

  Status end(const Mirror& mirror, int code) {
    const Result<std::vector<FileEntry>> files = mirror.changed(request_.writes);
    if (log_) {
      TRY(log_->end(code));
      while (line_.push_all(settings_.write_limit) && sent_ < log_->size()) {
        const uint64_t before = sent_;
        feed_client();
        if (sent_ == before)  // the rest cannot be read
          break;
      }
    }
    if (!files)
      return files.error();
    for (const FileEntry& entry : *files)
      TRY(send_file(mirror, entry));
    line_.send(FrameType::end, write_json(Value::dict({{"code", code}})));
    line_.push_all(settings_.write_limit);
    return {};
  }

  Status send_file(const Mirror& mirror, FileEntry entry) {
    if (line_.is_gone())
      return {};
    entry.digest = std::string(64, '0');
    line_.send(FrameType::file, write_json(value_of(entry)));
    if (entry.type != FileEntry::Type::file)
      return {};
    // No more than was announced, even if something still writes to it.
    uint64_t left = entry.size;
    const ByteSource source = TRY(source_of_file(mirror.root() + entry.path));
    TRY(pump(source, [&](std::string_view bytes) -> Status {
      const std::string_view piece = bytes.substr(0, std::min<uint64_t>(left, bytes.size()));
      left -= piece.size();
      if (!piece.empty())
        line_.send(FrameType::file_bytes, piece);
      if (line_.unsent() > most_unsent && !line_.push_all(settings_.write_limit))
        return world_error("the client went");
      return {};
    }));
    return left == 0 ? Status() : world_error(cat("`", entry.path, "` became shorter"));
  }

  /// From the run's file, as far as the client takes it.
  void feed_client() {
    if (log_ && !line_.is_gone() && line_.unsent() < piece_bytes && sent_ < log_->size())
      if (const Result<std::string> bytes = log_->read(sent_)) {
        const size_t size = size_of_whole_frames(*bytes);
        sent_ += size;
        line_.send_packed(std::string_view(*bytes).substr(0, size));
      }
    line_.push();
    if (line_.is_gone())
      client_went();
  }

  void hear_client(short events) {
    if ((events & POLLOUT) != 0)
      line_.push();
    if ((events & ~POLLOUT) != 0)
      line_.pull();
    while (!line_.is_gone()) {
      const std::optional<Frame> frame = line_.take();
      if (!frame)
        break;
      if (frame->type == FrameType::stop)
        kill(child_.process, frame->payload == stop_by_end ? SIGTERM : SIGINT);
      else if (frame->type == FrameType::input)
        input_ += frame->payload;
      else if (frame->type == FrameType::input_end)
        input_ends_ = true;
      else if (frame->type == FrameType::output_end)
        reader_went();
      else if (frame->type == FrameType::window_size)
        resize(frame->payload);
      else
        line_.leave();
      if (input_.size() > input_window)  // no client of ours
        line_.leave();
    }
    if (input_.empty() && input_ends_)
      feed_input();
    if (line_.is_gone())
      client_went();
  }

  void client_went() {
    if (std::exchange(has_gone_, true))
      return;
    // Nobody will say the rest of what it reads.
    if (!input_is_open_ && reader_went())
      return;
    if (is_bound_ || input_is_open_)
      kill(child_.process, SIGHUP);
  }

  /// What only tells something ends as with any pipe that nobody reads: it learns of that at once,
  /// and may have to end something in a service. False: it is no such command, or has no pipe.
  bool reader_went() {
    if (!is_reader_ || (!child_.output.is_open() && !hangs_up_at_))
      return false;
    child_.output.close();
    if (!hangs_up_at_)
      hangs_up_at_ = std::chrono::steady_clock::now() + reader_limit;
    return true;
  }

  void resize(std::string_view json) {
    const Result<Value> said = read_json(json);
    if (!said)
      return;
    const auto within = [&](std::string_view key) {
      return static_cast<int>(std::clamp<int64_t>(said->integer_at(key), 1, 1'000));
    };
    set_window(child_, {within("rows"), within("columns")});
  }

  int input_descriptor() const {
    return child_.input_is_typed ? child_.terminal.get() : child_.input.get();
  }

  void feed_input() {
    if (input_.empty() && input_ends_ && input_is_open_) {
      input_is_open_ = false;
      if (child_.input_is_typed)
        static_cast<void>(!::write(child_.terminal.get(), "\004", 1));
      else
        child_.input.close();
      return;
    }
    const ssize_t count = ::write(input_descriptor(), input_.data(), input_.size());
    if (count > 0) {
      input_.erase(0, static_cast<size_t>(count));
      line_.send(FrameType::input, write_json(Value::dict({{"taken", count}})));
    } else if (count < 0 && errno != EAGAIN && errno != EINTR) {  // it reads no more
      input_.clear();
      child_.input.close();
      input_is_open_ = false;
    }
    if (input_.empty() && input_ends_ && input_is_open_)
      feed_input();
  }

  FrameType stream_of_terminal() const {
    return request_.output_is_terminal ? FrameType::output : FrameType::errors;
  }

  /// Whether something was there.
  bool hear(Descriptor& from, short events, FrameType type) {
    if (events == 0)
      return false;
    std::array<char, piece_bytes> buffer{};
    const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
    if (count > 0) {
      PathFilter& filter = type == FrameType::output ? out_filter_ : error_filter_;
      tell(type, filter.pass({buffer.data(), static_cast<size_t>(count)}));
      return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR))
      from.close();
    return false;
  }

  void tell(FrameType type, std::string_view bytes) {
    if (bytes.empty())
      return;
    if (log_) {
      // A full disk takes the output, not the run.
      static_cast<void>(log_->add(type, bytes));
    } else {
      line_.send(type, bytes);
    }
  }

  void tell_rest() {
    if (out_filter_.holds())
      tell(FrameType::output, out_filter_.rest());
    if (error_filter_.holds())
      tell(FrameType::errors, error_filter_.rest());
  }

  void tell_raw() {
    if (!child_.input_is_typed || is_raw(child_) == is_raw_)
      return;
    is_raw_ = !is_raw_;
    line_.send(FrameType::raw, is_raw_ ? "1" : "0");
  }

  Line& line_;
  const ServeSettings& settings_;
  const CommandHost& host_;
  Visit& visit_;
  CommandRequest request_;
  std::string noted_;  ///< its line of the audit
  CommandChild child_;
  std::optional<RunLog> log_;
  uint64_t sent_ = 0;  ///< of the log
  PathFilter out_filter_, error_filter_;
  std::string input_;
  bool input_is_open_ = false, input_ends_ = false;
  std::optional<std::chrono::steady_clock::time_point> hangs_up_at_;
  bool is_reader_ = false, is_bound_ = false, has_gone_ = false, is_raw_ = false;
  bool is_server_ending_ = false;
};

int64_t run_in(std::string_view json) {
  const Result<Value> said = read_json(json);
  return said ? said->integer_at("run") : 0;
}

Status answer(Line& line, const Frame& first, const Caller& caller, const ServeSettings& settings,
              const CommandHost& host, Visit& visit) {
  switch (first.type) {
    case FrameType::command:
      return CommandSession(line, settings, host, visit).run(first.payload);
    case FrameType::attach:
      return RunAnswers(line, settings, visit).attach(run_in(first.payload));
    case FrameType::runs:
      return RunAnswers(line, settings, visit).list();
    case FrameType::cancel:
      return RunAnswers(line, settings, visit).cancel(run_in(first.payload));
    case FrameType::agent:
      return let_agent_in(line, caller, visit, first.payload);
    default:
      return user_error("a client begins with what it wants");
  }
}

/// What a client said before it knew that its command had ended.
bool is_for_a_running_command(FrameType type) {
  return type == FrameType::input || type == FrameType::input_end ||
         type == FrameType::output_end || type == FrameType::stop || type == FrameType::window_size;
}

/// A connection that has been let in.
struct Guest {
  Visit visit;
  std::string rest{};  ///< the bytes behind the request
  bool is_agent = false;
  Descriptor instead{};  ///< of the socket: a process between speaks with the client
};

/// The reply to whoever is not let in. None: he is, by his token, or by the session of his browser.
std::optional<std::string> refuse_entry(const UpgradeRequest& request, Descriptor& socket,
                                        std::string& bytes, const Caller& caller,
                                        const ServeSettings& settings, const CommandHost& host,
                                        Visit& visit) {
  if (is_page_request(request, settings))
    return refusal_of_page_client(socket, bytes, caller, settings, host, visit);
  const Status known = visit.enter();
  const auto refusal = is_api_request(request)
                           ? refusal_of_client(request, caller.at, known)
                           : refusal_of(request, caller.at, known, settings.version);
  return refusal ? std::optional(refusal_reply(*refusal)) : std::nullopt;
}

/// None: it was refused.
std::optional<Guest> shake_hands(Descriptor& socket, const Caller& caller,
                                 const ServeSettings& settings, const CommandHost& host) {
  const auto end_with = [&](const std::string& reply) {
    for (std::string_view left = reply; !left.empty();) {
      const ssize_t count = ::send(socket.get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (count <= 0)
        return std::nullopt;
      left.remove_prefix(static_cast<size_t>(count));
    }
    ::shutdown(socket.get(), SHUT_WR);
    // Closing at once could take the reply away from who is still sending.
    std::array<char, 16'384> ignored{};
    for (size_t i = 0; i < 256 && await_events(socket.get(), POLLIN, 1s) &&
                       ::recv(socket.get(), ignored.data(), ignored.size(), 0) > 0;
         ++i) {
    }
    return std::nullopt;
  };
  const auto refuse = [&](const UpgradeRefusal& refusal) {
    return end_with(refusal_reply(refusal));
  };
  std::string bytes;
  while (true) {
    if (bytes.starts_with(first_of_tls))
      return refuse({400, "it speaks no TLS: its address begins with `http://`"});
    size_t used = 0;
    Result<std::optional<UpgradeRequest>> request = read_upgrade(bytes, used);
    if (!request)
      return refuse({request.error().message.find("too large") != std::string::npos ? 431 : 400,
                     request.error().message});
    if (*request) {
      (*request)->target = caller.at.own_target((*request)->target);
      Visit visit(settings, (*request)->token,
                  caller_behind(caller.from, (*request)->forwarded_for, settings.trusted_proxies));
      if (const auto reply = health_reply(**request, settings, caller, visit))
        return end_with(*reply);
      if (is_hook_request(**request)) {
        alarm(static_cast<unsigned>(settings.upload_limit / 1s));
        Caller behind = caller;
        behind.from = visit.from();
        return end_with(hook_reply(socket, std::move(bytes), settings, behind));
      }
      if (is_page_request(**request, settings) && !is_as_client(**request)) {
        const auto reply =
            answer_page(socket, std::move(bytes), caller, visit.from(), settings, host);
        return reply ? end_with(*reply) : std::nullopt;
      }
      if (const auto refusal =
              refuse_entry(**request, socket, bytes, caller, settings, host, visit))
        return end_with(*refusal);
      const bool is_agent = (*request)->target == agents_path;
      if (!caller.seats.move(caller.seat, is_agent ? Visitor::agent : Visitor::client,
                             settings.connections))
        return refuse({503, cat("the server has ", settings.connections,
                                is_agent ? " agents at its door" : " connections",
                                " already; try again when one has ended")});
      if (is_posted_command(**request)) {
        alarm(static_cast<unsigned>(settings.upload_limit / 1s));
        auto taken = take_posted(socket, std::move(bytes), caller, settings, host, visit);
        if (const auto* const reply = std::get_if<std::string>(&taken))
          return end_with(*reply);
        return Guest{std::move(visit), {}, false, std::get<Descriptor>(std::move(taken))};
      }
      if (is_api_request(**request)) {
        alarm(0);  // the command has a limit of its own
        const std::string reply = api_reply(**request, settings, host, visit);
        alarm(static_cast<unsigned>(settings.write_limit / 1s));
        return end_with(reply);
      }
      return Guest{std::move(visit), bytes.substr(used), is_agent};
    }
    std::array<char, 4'096> buffer{};
    const ssize_t count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0)
      return std::nullopt;
    bytes.append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace

int serve_connection(Descriptor socket, const Caller& caller, const ServeSettings& settings,
                     const CommandHost& host) {
  // Whoever is slow loses its process, and nothing else.
  alarm(static_cast<unsigned>(settings.header_limit / 1s));
  caller.seats.keep_from_children();
  std::optional<Guest> guest = shake_hands(socket, caller, settings, host);
  if (!guest)
    return 1;
  const bool is_posted = guest->instead.is_open();
  Line line(is_posted ? std::move(guest->instead) : std::move(socket), guest->rest);
  if (is_posted)
    socket.close();
  else
    line.send_packed(upgrade_reply());
  if (!line.push_all(settings.write_limit))
    return 1;
  // A connection that is kept saves the next command its beginning.
  for (bool is_first = true;; is_first = false) {
    const Duration patience = is_first ? settings.upload_limit : settings.idle_limit;
    std::optional<Frame> first = line.await(patience);
    while (first && !is_first && is_for_a_running_command(first->type))
      first = line.await(patience);
    alarm(0);
    if (!first)
      return 0;
    const Status answered = (first->type == FrameType::agent) == guest->is_agent
                                ? answer(line, *first, caller, settings, host, guest->visit)
                                : Status(user_error(cat("an agent comes to `", agents_path,
                                                        "`, and nobody else does")));
    alarm(0);
    if (!answered)
      line.send(FrameType::error, told_form(answered.error()));
    // Whatever went wrong, a client that goes on begins anew.
    if (!line.push_all(settings.write_limit) || !answered)
      return 0;
  }
}

}  // namespace fettle
