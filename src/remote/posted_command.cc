#include "remote/posted_command.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "base/text.h"
#include "remote/line.h"
#include "remote/run_answers.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view posted_path = "/api/commands", posted_runs = "/api/runs/",
                           cancel_end = "/cancel";
/// Of each stream; what comes then is in the run alone.
constexpr size_t most_posted_output = size_t{8} << 20;
constexpr std::array<std::string_view, 6> posted_members{"words",     "folder", "files",
                                                         "variables", "input",  "wait"};

Result<std::vector<std::string>> words_posted(const Value& body) {
  const Value& words = body.at("words");
  std::vector<std::string> all;
  for (const Value& word : items_of(words))
    if (word.is_text())
      all.push_back(word.text().str());
  if (!words.is_list() || all.empty() || all.size() != words.items().size())
    return user_error(R"(`words` must be a list of texts, such as ["enclave", "ls"])");
  return all;
}

Result<std::map<std::string, std::string>> texts_posted(const Value& body, std::string_view key) {
  std::map<std::string, std::string> texts;
  const Value& given = body.at(key);
  if (given.is_null())
    return texts;
  if (!given.is_dict())
    return user_error(cat("`", key, "` must be an object whose members are texts"));
  for (const Entry& entry : given.entries()) {
    if (!entry.value.is_text())
      return user_error(cat("`", printable(entry.key.view()), "` in `", key, "` must be a text"));
    texts.emplace(entry.key.str(), entry.value.text().str());
  }
  return texts;
}

Result<std::string> text_posted(const Value& body, std::string_view key, std::string otherwise) {
  const Value& given = body.at(key);
  if (given.is_null())
    return otherwise;
  if (!given.is_text())
    return user_error(cat("`", key, "` must be a text"));
  return given.text().str();
}

Result<Duration> wait_posted(const Value& body, Duration otherwise) {
  const Value& given = body.at("wait");
  if (given.is_null())
    return otherwise;
  const std::optional<int64_t> seconds = given.is_integer() ? given.integer() : std::nullopt;
  if (!seconds || *seconds < 0 || *seconds > longest_posted_wait / 1s)
    return user_error(
        cat("`wait` must be a number of seconds from 0 to ", longest_posted_wait / 1s));
  return std::chrono::seconds(*seconds);
}

/// The files with the folders above them, each once.
Status list_files(PostedCommand& command, const std::map<std::string, std::string>& files) {
  std::map<std::string, FileEntry> entries;
  for (const auto& [name, content] : files) {
    const std::string path = name.starts_with('/') ? name
                             : command.request.folder == "/"
                                 ? cat("/", name)
                                 : cat(command.request.folder, "/", name);
    if (!is_plain_path(path))
      return user_error(cat("`", printable(name), "` in `files` must be a path without `.`, `..` ",
                            "and an end in `/`"));
    for (size_t at = path.find('/', 1); at != path.npos; at = path.find('/', at + 1)) {
      const std::string above = path.substr(0, at);
      entries.try_emplace(above, FileEntry{above, FileEntry::Type::folder, 0755, 0});
    }
    entries[path] = {path, FileEntry::Type::file, 0644, content.size(), sha256_hex(content)};
    command.contents[path] = content;
    command.request.paths.push_back(path);
  }
  for (auto& [path, entry] : entries)
    command.request.files.push_back(std::move(entry));
  return {};
}

int status_of_cancel(const Error& error) {
  if (error.blame != Blame::user)
    return 503;
  if (error.message.find("there is no run") != std::string::npos)
    return 404;
  return error.message.find("has ended") != std::string::npos ? 409 : 403;
}

std::string reply_of_cancel(int64_t number, const ServeSettings& settings, Visit& visit) {
  const Result<RunView> run = stop_run(number, settings.folder() / "runs", visit);
  if (!run)
    return refusal_reply({status_of_cancel(run.error()), run.error().message});
  return closing_reply(
      200, json_type,
      write_json(Value::dict({{"run", run->number}, {"status", status_of(*run)}, {"schema", 1}})));
}

/// What a command has printed at one of its streams, as far as it is sent.
struct PostedStream {
  std::string text;
  bool is_cut = false;

  void add(std::string_view bytes) {
    const size_t room = most_posted_output - std::min(most_posted_output, text.size());
    text += bytes.substr(0, room);
    is_cut = is_cut || bytes.size() > room;
  }
};

/// The client of one command, for a caller who waits for a reply.
class PostedClient {
 public:
  PostedClient(const Descriptor& caller, Descriptor line, PostedCommand command)
      : caller_(caller), line_(std::move(line)), command_(std::move(command)) {}

  /// The whole reply. None: the caller went.
  std::optional<std::string> reply() {
    const auto until = std::chrono::steady_clock::now() + command_.wait;
    line_.send(FrameType::command, write_json(value_of(command_.request)));
    while (true) {
      while (const std::optional<Frame> frame = line_.take())
        if (std::optional<std::string> told = take(*frame))
          return told;
      if (line_.is_gone())
        return refusal_reply({502, lost_text()});
      send_input();
      line_.push();
      const auto left = until - std::chrono::steady_clock::now();
      // The number of a run comes as soon as it has begun, and names what goes on.
      if (left <= 0s && (command_.is_reader || run_ != 0))
        return late_reply();
      std::array<pollfd, 2> polled{pollfd{line_.descriptor(), line_.events(), 0},
                                   pollfd{caller_.get(), POLLRDHUP, 0}};
      poll(polled.data(), polled.size(), left > 0s ? static_cast<int>(left / 1ms) + 1 : -1);
      if (polled[1].revents != 0)
        return std::nullopt;
      if (polled[0].revents != 0)
        line_.pull();
    }
  }

 private:
  std::optional<std::string> take(const Frame& frame) {
    const Result<Value> told = read_json(frame.payload);
    const auto number = [&](std::string_view key) { return told ? told->integer_at(key) : 0; };
    switch (frame.type) {
      case FrameType::run:
        run_ = number("run");
        break;
      case FrameType::need:
        if (told)
          for (const Value& path : items_of(*told))
            send_content(path);
        break;
      case FrameType::input:  // so much of ours was taken
        may_send_ += static_cast<size_t>(
            std::clamp<int64_t>(number("taken"), 0, static_cast<int64_t>(input_window)));
        break;
      case FrameType::output:
        output_.add(frame.payload);
        break;
      case FrameType::errors:
        errors_.add(frame.payload);
        break;
      case FrameType::end:
        return reply_with(200, number("code"));
      case FrameType::error:
        return refusal_reply({told && told->text_at("blame") == "user" ? 400 : 503,
                              told ? std::string(told->text_at("message")) : lost_text()});
      default:
        break;
    }
    return std::nullopt;
  }

  void send_content(const Value& path) {
    const auto known =
        path.is_text() ? command_.contents.find(path.text().str()) : command_.contents.end();
    if (known == command_.contents.end())
      return;
    std::string_view bytes = known->second;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), piece_bytes)))
      line_.send(FrameType::content, bytes.substr(0, piece_bytes));
  }

  void send_input() {
    if (!command_.request.takes_input || has_sent_input_)
      return;
    const std::string_view bytes = std::string_view(command_.input).substr(input_sent_, may_send_);
    for (size_t at = 0; at < bytes.size(); at += piece_bytes)
      line_.send(FrameType::input, bytes.substr(at, piece_bytes));
    input_sent_ += bytes.size();
    may_send_ -= bytes.size();
    if (input_sent_ < command_.input.size())
      return;
    line_.send(FrameType::input_end);
    has_sent_input_ = true;
  }

  std::string reply_with(int status, std::optional<int64_t> code) const {
    const Result<Value> document =
        output_.is_cut ? Result<Value>(Value()) : read_json(output_.text);
    return closing_reply(
        status, json_type,
        write_json(Value::dict(
            {{"run", run_ == 0 ? Value() : Value(run_)},
             {"status", code ? "ended" : "running"},
             {"code", code ? Value(*code) : Value()},
             {"output", output_.text},
             {"errors", errors_.text},
             {"is_cut", output_.is_cut || errors_.is_cut},
             {"document",
              document && (document->is_dict() || document->is_list()) ? *document : Value()},
             {"schema", 1}})));
  }

  std::string late_reply() const {
    if (run_ != 0)
      return reply_with(202, {});
    return refusal_reply(
        {504, cat("the command did not end within ", command_.wait / 1s,
                  " s, and is stopped: it only tells something, so it is no run")});
  }

  std::string lost_text() const {
    return run_ == 0 ? "the process of the command ended without an answer"
                     : cat("the server was killed, or run ", run_, " was; `GET /api/runs/", run_,
                           "` tells what became of it");
  }

  const Descriptor& caller_;
  Line line_;
  const PostedCommand command_;
  size_t input_sent_ = 0, may_send_ = input_window;
  bool has_sent_input_ = false;
  int64_t run_ = 0;  ///< 0: it is none, or has not begun
  PostedStream output_, errors_;
};

void send_all(const Descriptor& socket, std::string_view reply) {
  while (!reply.empty()) {
    const ssize_t count = ::send(socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
    if (count <= 0)
      return;
    reply.remove_prefix(static_cast<size_t>(count));
  }
}

/// The process between: its end of the line is kept open until all is said.
Result<Descriptor> begin_client(const Descriptor& caller, PostedCommand command,
                                Duration write_limit) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return file_error("cannot make a line for", "a command");
  Descriptor server_end(ends[0]), client_end(ends[1]);
  const pid_t process = fork();
  if (process < 0)
    return file_error("cannot start", "a process");
  if (process > 0)
    return server_end;
  server_end.close();
  const std::optional<std::string> reply =
      PostedClient(caller, std::move(client_end), std::move(command)).reply();
  alarm(static_cast<unsigned>(write_limit / 1s));
  if (reply)
    send_all(caller, *reply);
  ::shutdown(caller.get(), SHUT_WR);
  _exit(0);
}

}  // namespace

Result<PostedCommand> posted_command_of(std::string_view json) {
  const Value body = TRY(read_json(json).context("the body"));
  if (!body.is_dict())
    return user_error("the body must be a JSON object with `words`");
  for (const Entry& entry : body.entries())
    if (std::ranges::find(posted_members, entry.key.view()) == posted_members.end())
      return user_error(cat("`", printable(entry.key.view()), "` is unknown in the body",
                            suggestion(entry.key.view(), posted_members)));
  PostedCommand command;
  command.request.words = TRY(words_posted(body));
  command.request.folder = TRY(text_posted(body, "folder", "/"));
  if (command.request.folder != "/" && !is_plain_path(command.request.folder))
    return user_error("`folder` must be an absolute path without `.`, `..` and an end in `/`");
  command.request.environment = TRY(texts_posted(body, "variables"));
  command.request.takes_input = !body.at("input").is_null();
  command.input = TRY(text_posted(body, "input", {}));
  command.wait = TRY(wait_posted(body, command.wait));
  TRY(list_files(command, TRY(texts_posted(body, "files"))));
  return command;
}

std::optional<int64_t> run_to_cancel(std::string_view target) {
  if (!target.starts_with(posted_runs) || !target.ends_with(cancel_end))
    return std::nullopt;
  const std::string_view digits =
      target.substr(posted_runs.size(), target.size() - posted_runs.size() - cancel_end.size());
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc() || end != digits.data() + digits.size() || number < 1)
    return std::nullopt;
  return number;
}

bool is_posted_command(const UpgradeRequest& request) {
  return request.method == "POST" &&
         (request.target == posted_path || run_to_cancel(request.target));
}

std::variant<Descriptor, std::string> take_posted(const Descriptor& socket, std::string bytes,
                                                  const Caller& caller,
                                                  const ServeSettings& settings,
                                                  const CommandHost& host, Visit& visit) {
  const std::optional<PostedResult> posted = receive_posted(socket, bytes, most_posted_bytes);
  if (!posted)
    return refusal_reply({400, "the request broke off"});
  if (!*posted)
    return refusal_reply(posted->error());
  if (const auto run = run_to_cancel(caller.at.own_target((*posted)->target)))
    return reply_of_cancel(*run, settings, visit);
  if (const std::string type = (*posted)->field("Content-Type");
      !type.starts_with("application/json"))
    return refusal_reply({415, "a command is posted as `application/json`"});
  Result<PostedCommand> command = posted_command_of((*posted)->body);
  if (!command)
    return refusal_reply({400, to_string(command.error())});
  // The process of the command asks both again, and tells of errors that have no status.
  const Result<CommandLook> look = host.look(command->request);
  if (!look)
    return refusal_reply({400, look.error().message});
  command->is_reader = look->is_reader;
  if (const Result<Grant> grant = visit.allow(look->needs, look->shown); !grant)
    return refusal_reply({403, grant.error().message});
  Result<Descriptor> line = begin_client(socket, *std::move(command), settings.write_limit);
  if (!line)
    return refusal_reply({503, line.error().message});
  return *std::move(line);
}

}  // namespace fettle
