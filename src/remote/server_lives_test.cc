/// A server of commands in a process of its own, and clients in others, over real sockets.

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
#include <unistd.h>

#include "remote/client.h"
#include "remote/command_server.h"
#include "remote/line.h"
#include "remote/upgrade.h"
#include "value/json.h"

namespace fettle {
namespace {

void say(std::string_view text) {
  static_cast<void>(!::write(STDOUT_FILENO, text.data(), text.size()));
}

std::string all_of(int descriptor) {
  std::string text;
  std::array<char, 65'536> buffer{};
  for (ssize_t count = 0; (count = ::read(descriptor, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<size_t>(count));
  return text;
}

volatile sig_atomic_t stopped = 0;
void note_stop(int) { stopped = 1; }

/// The commands of this program: the first word says what it does.
int run_command(const CommandRequest& request, const std::string& root) {
  const std::string& word = request.words[0];
  if (word == "hello") {
    std::fputs("out\n", stdout);
    std::fputs("err\n", stderr);
    return 7;
  }
  if (word == "both") {
    for (int i = 0; i < 50; ++i) {
      say(cat("o", i, "\n"));
      const std::string text = cat("e", i, "\n");
      EXPECT_EQ(::write(STDERR_FILENO, text.data(), text.size()),
                static_cast<ssize_t>(text.size()));
    }
    return 0;
  }
  if (word == "where") {
    const char* const zone = std::getenv("TZ");
    say(cat(*read_file("given"), " ", root, request.folder, " ", zone == nullptr ? "" : zone));
    EXPECT_TRUE(write_file("made", "written"));
    return 0;
  }
  if (word == "echo") {
    say(all_of(STDIN_FILENO));
    return 0;
  }
  if (word == "late") {
    usleep(500'000);
    say(std::to_string(all_of(STDIN_FILENO).size()));
    return 0;
  }
  if (word == "much") {
    for (int i = 0; i < 2'000; ++i)
      say(std::string(1'000, 'x'));
    return 0;
  }
  if (word == "terminal") {
    winsize size{};
    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    say(cat(isatty(0), isatty(1), isatty(2), " ", size.ws_row, "x", size.ws_col, "\n"));
    return 0;
  }
  // "wait", and "ignore", which does not hear Ctrl-C: until it is asked to stop, or there is a file.
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    signal(number, word == "ignore" && number == SIGINT ? SIG_IGN : note_stop);
  say("waiting\n");
  while (stopped == 0 && !file_exists(request.words[1]))
    usleep(5'000);
  say(stopped != 0 ? "stopped\n" : "done\n");
  if (stopped != 0)
    static_cast<void>(write_file(request.words[1] + ".stopped", ""));
  return stopped != 0 ? 130 : 5;
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

  void serve(ServeSettings settings = {}) {
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
      const CommandHost host{[](const CommandRequest& request) -> Result<CommandLook> {
                               if (request.words[0] == "state")
                                 return user_error("acts on a machine");
                               return CommandLook{request.words.back() == "reader",
                                                  request.words[0]};
                             },
                             run_command};
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
  /// A connection that says what it is told to say, and hears until the other side closes.
  std::string sent(std::string_view bytes, bool waits = true) const {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(server_.address.port));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
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

TEST_F(ServerOfCommandsTest, ACommandIsAsIfItRanHere) {
  serve();
  const Told hello = told({"hello"});
  EXPECT_EQ(hello.output, "out\n");
  EXPECT_EQ(hello.errors, "err\n");
  EXPECT_EQ(hello.code, 7);
  const Told refused = told({"state"});
  EXPECT_EQ(refused.errors, "error: acts on a machine\n");
  EXPECT_EQ(refused.code, 2);
}

TEST_F(ServerOfCommandsTest, FilesTravelThereAndBack) {
  serve();
  const TemporaryDirectory here = *TemporaryDirectory::make();
  ASSERT_TRUE(write_file(here.path() / "given", "text"));
  for (int i = 0; i < 2; ++i) {
    Client client([&](const ClientPlace& place) {
      setenv("TZ", "Europe/Berlin", 1);
      EXPECT_EQ(chdir(here.path().c_str()), 0);
      return command({"where"}, {{"given"}, {"made"}})(place);
    });
    const Told where = client.end();
    EXPECT_EQ(where.code, 0) << where.errors;
    EXPECT_EQ(where.output, cat("text ", here.path().string(), " Europe/Berlin"));
    EXPECT_EQ(*read_file(here.path() / "made"), "written");
    EXPECT_TRUE(remove_tree(here.path() / "made"));
  }
}

TEST_F(ServerOfCommandsTest, StandardInputTravelsOnlyWhenItIsRead) {
  serve();
  Client echo(command({"echo"}, {{}, {}, true}), "typed");
  EXPECT_EQ(echo.end().output, "typed");
  Client none(command({"echo"}), "typed");
  EXPECT_EQ(none.end().output, "");
}

TEST_F(ServerOfCommandsTest, InputThatACommandReadsLateWaitsAtTheClient) {
  serve();
  const std::string path = (home_.path() / "input").string();
  constexpr size_t bytes = 2 * largest_frame;
  ASSERT_TRUE(write_file(path, std::string(bytes, 'x')));
  Client client([&](const ClientPlace& place) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    dup2(file.get(), STDIN_FILENO);
    NamedFiles named;
    named.takes_input = true;
    CommandRequest request;
    request.words = {"late"};
    return run_at_server(server_, request, named, false, place);
  });
  const Told told = client.end();
  EXPECT_EQ(told.code, 0) << told.errors;
  EXPECT_EQ(told.output, std::to_string(bytes));
}

TEST_F(ServerOfCommandsTest, OutputAndErrorsKeepTheirOrderInOneFile) {
  serve();
  Client client([this](const ClientPlace& place) {
    dup2(STDOUT_FILENO, STDERR_FILENO);
    return command({"both"})(place);
  });
  std::string expected;
  for (int i = 0; i < 50; ++i)
    expected += cat("o", i, "\ne", i, "\n");
  EXPECT_EQ(client.end().output, expected);
}

TEST_F(ServerOfCommandsTest, ALotOfOutputArrives) {
  serve();
  EXPECT_EQ(told({"much"}).output.size(), 2'000'000U);
  EXPECT_EQ(told({"much", "reader"}).output.size(), 2'000'000U);
}

TEST_F(ServerOfCommandsTest, OutputThatNoDiskTakesIsAnErrorInTheEnd) {
  serve();
  const auto fill = [this](const std::string& word) {
    Client client([this, word](const ClientPlace& place) {
      const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
      dup2(full.get(), STDOUT_FILENO);
      return command({word})(place);
    });
    return client.end();
  };
  const Told much = fill("much");
  EXPECT_EQ(much.code, 1);
  EXPECT_EQ(much.errors, "error: cannot write to standard output: no space left on device\n");
  EXPECT_EQ(fill("hello").code, 1) << "as here";
}

TEST_F(ServerOfCommandsTest, ATerminalIsATerminalThere) {
  serve();
  int master = -1;
  const winsize size{33, 101, 0, 0};
  std::fflush(nullptr);
  const pid_t process = forkpty(&master, nullptr, nullptr, &size);
  if (process == 0) {
    const Result<ClientEnd> end = command({"terminal"})({"1.0", {}});
    _exit(end ? end->code : 99);
  }
  EXPECT_EQ(all_of(master), "111 33x101\r\n");
  ::close(master);
  int status = 0;
  waitpid(process, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(told({"terminal"}).output, "000 0x0\n");
}

TEST_F(ServerOfCommandsTest, ARunGoesOnWithoutItsClientAndIsFollowedAgain) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  client.end(SIGKILL);
  ASSERT_EQ(runs().size(), 1U);
  EXPECT_EQ(status_of(runs()[0]), "running");
  Client follower(attach(0));
  follower.await("waiting\n");
  raise_flag();
  const Told end = follower.end();
  EXPECT_EQ(end.output, "waiting\ndone\n");
  EXPECT_EQ(end.code, 5);
  // And once more, when it has long ended.
  EXPECT_EQ(Client(attach(1)).end().output, "waiting\ndone\n");
  EXPECT_EQ(runs()[0].code, 5);
  EXPECT_EQ(Client(attach(9)).end().code, 2);
}

TEST_F(ServerOfCommandsTest, AReaderEndsWithItsClient) {
  serve();
  Client client(command({"wait", flag(), "reader"}, {}, true));
  client.await("waiting\n");
  client.end(SIGKILL);
  EXPECT_TRUE(comes([&] { return file_exists(flag() + ".stopped"); }));
  EXPECT_TRUE(runs().empty());
  Client second(command({"wait", flag(), "reader"}, {}, true));
  second.await("waiting\n");
  second.close_output();
  EXPECT_EQ(second.end().code, 141);
}

TEST_F(ServerOfCommandsTest, CtrlCOnceAsksAndTwiceLeaves) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  client.send(SIGINT);
  const Told asked = client.end();
  EXPECT_EQ(asked.output, "waiting\nstopped\n");
  EXPECT_EQ(asked.code, 130);
  // One that does not stop at once.
  Client stubborn(command({"ignore", flag()}));
  stubborn.await("waiting\n");
  const Told left = stubborn.end_by(SIGINT);
  EXPECT_EQ(left.code, 130);
  EXPECT_NE(left.errors.find("leaving; run 2 goes on at the server"), std::string::npos)
      << left.errors;
  // A terminal that is closed.
  Client third(command({"wait", flag()}));
  third.await("waiting\n");
  EXPECT_EQ(third.end(SIGHUP).code, 130);
  for (const RunView& run : runs())
    EXPECT_EQ(status_of(run), run.number == 1 ? "ended" : "running");
  raise_flag();
}

TEST_F(ServerOfCommandsTest, ARunIsCancelledFromElsewhere) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  EXPECT_EQ(cancel_run(server_, 1, {"1.0", {}})->number, 1);
  EXPECT_EQ(client.end().code, 130);
  EXPECT_FALSE(cancel_run(server_, 1, {"1.0", {}}));
}

TEST_F(ServerOfCommandsTest, AServerThatIsKilledTakesItsCommandsAlongAndTheClientSaysSo) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  stop(SIGKILL);
  const Told lost = client.end();
  EXPECT_TRUE(comes([&] { return file_exists(flag() + ".stopped"); }));
  EXPECT_NE(lost.code, 0);
  serve();
  EXPECT_NE(status_of(runs()[0]), "running");
}

TEST_F(ServerOfCommandsTest, AProperEndAsksCommandsToStop) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  EXPECT_EQ(stop(SIGTERM), 0);
  EXPECT_EQ(client.end().output, "waiting\nstopped\n");
}

TEST_F(ServerOfCommandsTest, TooManyConnectionsAreToldSo) {
  serve({.connections = 1});
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  const Told refused = told({"hello"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.errors.find("connections already"), std::string::npos) << refused.errors;
  raise_flag();
  EXPECT_EQ(client.end().code, 5);
  EXPECT_TRUE(comes([&] { return told({"hello"}).code == 7; }));
}

TEST_F(ServerOfCommandsTest, NobodyComesInWithoutTheToken) {
  serve();
  const ServerChoice good = server_;
  server_.token = "another-token-of-the-same-length";
  const Told refused = told({"hello"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.errors.find("does not know this token"), std::string::npos) << refused.errors;
  EXPECT_TRUE(sent("GET / HTTP/1.1\r\nHost: evil\r\n\r\n").starts_with("HTTP/1.1 421 "));
  EXPECT_TRUE(sent("\x16\x03\x01 no request\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(
      sent(cat("GET / HTTP/1.1\r\nA: ", std::string(17'000, 'x'))).starts_with("HTTP/1.1 431 "));
  server_ = good;
  EXPECT_EQ(told({"hello"}).code, 7);
}

TEST_F(ServerOfCommandsTest, GarbageEndsItsOwnConnectionOnly) {
  serve();
  const std::string hello = greeting();
  EXPECT_NE(sent(hello + "no frame at all").find("101 Switching"), std::string::npos);
  EXPECT_NE(sent(hello + packed(FrameType::command, "{")).find("\"message\""), std::string::npos);
  EXPECT_NE(sent(hello + packed(FrameType::input, "x")).find("begins with what it wants"),
            std::string::npos);
  const std::string outside =
      R"({"words":["hello"],"paths":[],"writes":[],"folder":"/","files":[{"path":"/a/../../x"}]})";
  EXPECT_NE(sent(hello + packed(FrameType::command, outside)).find("no absolute path"),
            std::string::npos);
  EXPECT_EQ(sent(hello + std::string("c\xff\xff\xff\xff", 5)).find("\"code\""), std::string::npos);
  EXPECT_EQ(told({"hello"}).code, 7);
}

TEST_F(ServerOfCommandsTest, AnUploadThatBreaksOffRunsNothing) {
  serve();
  const std::string digest = sha256_hex("whole");
  const std::string request =
      cat(R"({"words":["wait",")", flag(), R"("],"paths":[],"writes":[],"folder":"/",)",
          R"("files":[{"path":"/a","type":"file","size":5,"digest":")", digest, R"("}]})");
  sent(greeting() + packed(FrameType::command, request) + packed(FrameType::content, "who"), false);
  // Other bytes than those that were announced.
  const std::string refused =
      sent(greeting() + packed(FrameType::command, request) + packed(FrameType::content, "wrong"));
  EXPECT_NE(refused.find("has changed while it was sent"), std::string::npos) << refused;
  const std::string longer = sent(greeting() + packed(FrameType::command, request) +
                                  packed(FrameType::content, "whole and more"));
  EXPECT_NE(longer.find("more bytes than were announced"), std::string::npos) << longer;
  EXPECT_TRUE(runs().empty());
}

TEST_F(ServerOfCommandsTest, ASlowRequestEnds) {
  serve({.header_limit = 1s});
  EXPECT_EQ(sent("GET / HTTP/1.1\r\nHost: "), "");
  EXPECT_EQ(told({"hello"}).code, 7);
}

/// A server that somebody else has put in the place of ours: it says this after the greeting.
Told with_server_that_says(std::string_view bytes, const NamedFiles& named, std::string& heard) {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int port = ntohs(address.sin_port);
  const ServerChoice server{cat("http://127.0.0.1:", port), "token", {"127.0.0.1", port}};
  Client client([&](const ClientPlace& place) {
    CommandRequest request;
    request.words = {"run"};
    return run_at_server(server, request, named, false, place);
  });
  {
    const Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::string reply = upgrade_reply() + std::string(bytes);
    EXPECT_GT(::send(socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL), 0);
    ::shutdown(socket.get(), SHUT_WR);
    heard = all_of(socket.get());
  }
  return client.end();
}

TEST(ForeignServer, AClientSendsAndWritesOnlyWhatItsCommandNames) {
  const TemporaryDirectory here = *TemporaryDirectory::make();
  const std::string named = (here.path() / "named").string(),
                    other = (here.path() / "other").string();
  ASSERT_TRUE(write_file(named, "this may go"));
  ASSERT_TRUE(write_file(other, "this is a secret"));
  std::string heard;
  const Told asked = with_server_that_says(
      packed(FrameType::need, write_json(Value::list({Value(other)}))), {{named}, {}}, heard);
  EXPECT_EQ(asked.code, 1);
  EXPECT_NE(asked.errors.find("which the command does not name"), std::string::npos)
      << asked.errors;
  EXPECT_EQ(heard.find("this is a secret"), std::string::npos);
  FileEntry entry{other, FileEntry::Type::file, 0644, 3, std::string(64, '0')};
  const Told written = with_server_that_says(
      packed(FrameType::file, write_json(value_of(entry))) + packed(FrameType::file_bytes, "bad"),
      {{}, {named}}, heard);
  EXPECT_NE(written.errors.find("which the command does not write"), std::string::npos)
      << written.errors;
  EXPECT_EQ(*read_file(other), "this is a secret");
  const Told garbage = with_server_that_says("no frame", {}, heard);
  EXPECT_EQ(garbage.code, 1);
  EXPECT_NE(garbage.errors.find("was lost"), std::string::npos) << garbage.errors;
}

}  // namespace
}  // namespace fettle
