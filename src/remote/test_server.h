#pragma once
/// For tests: a server of commands in a process of its own, and clients in others, over real
/// sockets. Its commands are those of `run_command`.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "remote/client.h"
#include "remote/command_server.h"
#include "remote/line.h"
#include "remote/upgrade.h"
#include "value/json.h"

namespace fettle {

inline void say(std::string_view text) {
  static_cast<void>(!::write(STDOUT_FILENO, text.data(), text.size()));
}

inline std::string all_of(int descriptor) {
  std::string text;
  std::array<char, 65'536> buffer{};
  for (ssize_t count = 0; (count = ::read(descriptor, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<size_t>(count));
  return text;
}

inline volatile sig_atomic_t stopped = 0;
inline void note_stop(int) { stopped = 1; }

inline int say_both() {
  for (int i = 0; i < 50; ++i) {
    say(cat("o", i, "\n"));
    const std::string text = cat("e", i, "\n");
    EXPECT_EQ(::write(STDERR_FILENO, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  return 0;
}

/// Reads and writes a file of the client, and says where it is.
inline int say_where(const CommandRequest& request, const std::string& root) {
  const char* const zone = std::getenv("TZ");
  say(cat(*read_file("given"), " ", root, request.folder, " ", zone == nullptr ? "" : zone));
  EXPECT_TRUE(write_file("made", "written"));
  return 0;
}

inline int say_variables() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const bool are_theirs = variable("FETTLE_HOME") == "/nowhere" || variable("PATH") == "/nowhere";
  say(cat(are_theirs ? "theirs " : "", variable("FETTLE_TAG"), " ", variable("PWD"), "\n"));
  return 0;
}

inline int say_terminal() {
  winsize size{};
  ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
  say(cat(isatty(0), isatty(1), isatty(2), " ", size.ws_row, "x", size.ws_col, "\n"));
  return 0;
}

/// Until nobody reads what it says; then it takes a while, and leaves a file.
inline int finish_after_reader(const CommandRequest& request) {
  say("waiting\n");
  pollfd output{STDOUT_FILENO, 0, 0};
  while (poll(&output, 1, -1) < 0 || (output.revents & POLLERR) == 0) {
  }
  usleep(100'000);
  return write_file(request.words[1], "") ? 0 : 1;
}

/// When there is a file, tells how much it has to read.
inline int count_input(const CommandRequest& request) {
  say("waiting\n");
  while (!file_exists(request.words[1]))
    usleep(5'000);
  std::array<char, 65'536> buffer{};
  size_t size = 0;
  for (ssize_t count = 0; (count = ::read(STDIN_FILENO, buffer.data(), buffer.size())) > 0;)
    size += static_cast<size_t>(count);
  say(cat(size, "\n"));
  return 0;
}

/// Until it is asked to stop, or there is a file.
inline int wait_for_file(const CommandRequest& request, bool hears_interrupts) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    signal(number, !hears_interrupts && number == SIGINT ? SIG_IGN : note_stop);
  say("waiting\n");
  while (stopped == 0 && !file_exists(request.words[1]))
    usleep(5'000);
  say(stopped != 0 ? "stopped\n" : "done\n");
  if (stopped != 0)
    static_cast<void>(write_file(request.words[1] + ".stopped", ""));
  return stopped != 0 ? 130 : 5;
}

/// The commands of this program: the first word says what it does.
inline int run_command(const CommandRequest& request, const std::string& root) {
  const std::string& word = request.words[0];
  if (word == "hello") {
    std::fputs("out\n", stdout);
    std::fputs("err\n", stderr);
    return 7;
  }
  if (word == "both")
    return say_both();
  if (word == "where")
    return say_where(request, root);
  if (word == "echo") {
    say(all_of(STDIN_FILENO));
    return 0;
  }
  if (word == "much") {
    for (int i = 0; i < 2'000; ++i)
      say(std::string(1'000, 'x'));
    return 0;
  }
  if (word == "variables")
    return say_variables();
  if (word == "terminal")
    return say_terminal();
  if (word == "counts")
    return count_input(request);
  if (word == "finishes")
    return finish_after_reader(request);
  return wait_for_file(request, word != "ignore");
}

struct Told {
  int code = -1;
  std::string output, errors;
};

/// A client in a process of its own.
class Client {
 public:
  using Work = std::function<Result<ClientEnd>(const ClientPlace&)>;
  explicit Client(const Work& work, const std::string& input = {}) {
    std::array<int, 2> in{}, out{}, err{};
    EXPECT_EQ(
        pipe2(in.data(), O_CLOEXEC) + pipe2(out.data(), O_CLOEXEC) + pipe2(err.data(), O_CLOEXEC),
        0);
    std::fflush(nullptr);  // what is not written yet would be written twice
    process_ = fork();
    if (process_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(err[1], 2);
      for (const int one : {in[1], out[0], err[0]})
        ::close(one);
      const ClientPlace place{
          "1.0", [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }};
      const Result<ClientEnd> end = work(place);
      if (!end)
        std::fprintf(stderr, "error: %s\n", to_string(end.error()).c_str());
      std::fflush(nullptr);
      _exit(end ? end->lost_reader ? 141 : end->code : end.error().blame == Blame::user ? 2 : 1);
    }
    EXPECT_EQ(::write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
    for (const int one : {in[0], in[1], out[1], err[1]})
      ::close(one);
    out_ = Descriptor(out[0]);
    err_ = Descriptor(err[0]);
  }
  ~Client() {
    if (process_ > 0)
      end(SIGKILL);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Waits for this text on its standard output.
  void await(std::string_view text) {
    std::array<char, 4'096> buffer{};
    while (told_.output.find(text) == std::string::npos) {
      const ssize_t count = ::read(out_.get(), buffer.data(), buffer.size());
      ASSERT_GT(count, 0) << told_.output << all_of(err_.get());
      told_.output.append(buffer.data(), static_cast<size_t>(count));
    }
  }
  void send(int number) const { kill(process_, number); }
  /// Sends it again and again until the process has ended.
  Told end_by(int number) {
    siginfo_t about{};
    while (waitid(P_PID, static_cast<id_t>(process_), &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           about.si_pid == 0) {
      send(number);
      usleep(20'000);
    }
    return end();
  }
  void close_output() { out_.close(); }
  Told end(int number = 0) {
    if (number != 0)
      send(number);
    if (out_.is_open())
      told_.output += all_of(out_.get());
    told_.errors = all_of(err_.get());
    int status = 0;
    waitpid(std::exchange(process_, -1), &status, 0);
    told_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return told_;
  }

 private:
  pid_t process_ = -1;
  Descriptor out_, err_;
  Told told_;
};

class ServerOfCommandsTest : public testing::Test {
 protected:
  ~ServerOfCommandsTest() override { stop(SIGKILL); }

  /// `run`: the commands.
  void serve(ServeSettings settings = {},
             std::function<int(const CommandRequest&, const std::string&)> run = run_command) {
    settings.token = server_.token = "token-of-the-server-of-commands";
    settings.version = "1.0";
    settings.folder = home_.path() / "serve";
    settings.port = server_.address.port;
    auto server = CommandServer::open(settings);
    ASSERT_TRUE(server) << to_string(server.error());
    server_.url = cat("http://127.0.0.1:", (*server)->port());
    server_.address = {"127.0.0.1", (*server)->port()};
    std::fflush(nullptr);  // what is not written yet would be written twice
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies leaves no server
      signal(SIGPIPE, SIG_IGN);          // as in the program
      const CommandHost host{[](const CommandRequest& request) -> Result<CommandLook> {
                               if (request.words[0] == "state")
                                 return user_error("acts on a machine");
                               return CommandLook{request.words.back() == "reader",
                                                  request.words[0]};
                             },
                             std::move(run)};
      _exit((*server)->serve(host, [](const std::string&) {}) == SIGTERM ? 0 : 1);
    }
  }
  int stop(int number) {
    if (process_ <= 0)
      return -1;
    kill(process_, number);
    int status = 0;
    waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// As when the machine goes: the server, its connections and their commands at once.
  void kill_all() {
    std::vector<pid_t> all{process_};
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string children =
          read_file(cat("/proc/", all[i], "/task/", all[i], "/children")).value_or("");
      for (const std::string_view child : split(children, ' '))
        if (!child.empty())
          all.push_back(std::stoi(std::string(child)));
    }
    for (const pid_t process : all)
      kill(process, SIGKILL);
    stop(SIGKILL);
  }
  Client::Work command(std::vector<std::string> words, NamedFiles named = {},
                       bool is_reader = false) const {
    return [this, words = std::move(words), named = std::move(named),
            is_reader](const ClientPlace& place) {
      CommandRequest request;
      request.words = words;
      return run_at_server(server_, request, named, is_reader, place);
    };
  }
  Told told(std::vector<std::string> words, NamedFiles named = {}) const {
    return Client(command(std::move(words), std::move(named))).end();
  }
  Client::Work attach(int64_t run) const {
    return [this, run](const ClientPlace& place) { return attach_to_run(server_, run, place); };
  }
  std::vector<RunView> runs() const { return *runs_of_server(server_, {"1.0", {}}); }
  std::string flag() const { return (home_.path() / "flag").string(); }
  void raise_flag() const { EXPECT_TRUE(write_file(flag(), "")); }
  /// Waits for something that another process does.
  template <typename Condition>
  static bool comes(Condition condition) {
    for (int i = 0; i < 4'000; ++i) {
      if (condition())
        return true;
      usleep(5'000);
    }
    return false;
  }
  Descriptor connected() const {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(server_.address.port));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  /// A connection that has been let in.
  Line open_line() const {
    Descriptor socket = connected();
    const std::string hello = greeting();
    EXPECT_EQ(::send(socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(hello.size()));
    std::string reply;
    char one = 0;
    while (!reply.ends_with("\r\n\r\n") && ::recv(socket.get(), &one, 1, 0) == 1)
      reply += one;
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 101 ")) << reply;
    return Line(std::move(socket));
  }
  /// A connection that says what it is told to say, and hears until the other side closes.
  std::string sent(std::string_view bytes, bool waits = true) const {
    const Descriptor socket = connected();
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    return waits ? all_of(socket.get()) : "";
  }
  std::string greeting() const {
    return upgrade_request(cat("127.0.0.1:", server_.address.port), server_.token, "1.0");
  }

  TemporaryDirectory home_ = *TemporaryDirectory::make();
  ServerChoice server_;
  pid_t process_ = -1;
};

}  // namespace fettle
