/// Commands at a server that talk with a terminal: what is typed, Ctrl-C and Ctrl-D, sizes, and the
/// state of the terminal afterwards.

#include "tests/fixtures/command_server_fixture.h"

namespace fettle {
namespace {

volatile sig_atomic_t resized = 0;

/// Waits for what is typed; false where this signal came first. Between two calls it is held back:
/// one that came just before a plain `read` would not end it.
bool is_typed(int held) {
  sigset_t others;
  sigprocmask(SIG_SETMASK, nullptr, &others);
  sigdelset(&others, held);
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ppoll(&input, 1, nullptr, &others) > 0;
}

/// Holds a signal back but in `is_typed`, where this is called.
void hold(int number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, number);
  sigprocmask(SIG_BLOCK, &held, nullptr);
}

/// Shows each key as `<hex>` and each new size, until `q`.
int show_keys() {
  hold(SIGWINCH, [](int) { resized = 1; });
  termios before{};
  EXPECT_EQ(tcgetattr(STDIN_FILENO, &before), 0);
  termios raw = before;
  cfmakeraw(&raw);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  say("ready\r\n");
  while (true) {
    char key = 0;
    const ssize_t count = is_typed(SIGWINCH) ? ::read(STDIN_FILENO, &key, 1) : -1;
    if (resized != 0) {
      resized = 0;
      winsize size{};
      ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
      say(cat("size ", size.ws_row, "x", size.ws_col, "\r\n"));
    }
    if (count == 0 || key == 'q')
      break;
    if (count > 0)
      say(cat("<", static_cast<int>(key), ">"));
  }
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
  return 9;
}

/// Shows each line in brackets, until there is no more.
int show_lines() {
  hold(SIGINT, note_stop);
  say("ready\n");
  std::array<char, 256> line{};
  ssize_t count = 0;
  while (is_typed(SIGINT) && (count = ::read(STDIN_FILENO, line.data(), line.size())) > 0)
    say(cat("[", trim(std::string_view(line.data(), static_cast<size_t>(count))), "]\n"));
  say(stopped != 0 ? "stopped\n" : "end\n");
  return stopped != 0 ? 130 : 4;
}

int run_talk(const CommandRequest& request, const std::string& root) {
  return request.words[0] == "keys"    ? show_keys()
         : request.words[0] == "lines" ? show_lines()
                                       : run_command(request, root);
}

/// A client on a terminal of its own.
class TypedClient {
 public:
  explicit TypedClient(const Client::Work& work) {
    const winsize size{33, 101, 0, 0};
    std::fflush(nullptr);  // what is not written yet would be written twice
    int master = -1;
    process_ = forkpty(&master, nullptr, nullptr, &size);
    if (process_ == 0) {
      const Result<ClientEnd> end = work({"1.0", [](const std::string&) {}});
      if (!end)
        std::fprintf(stderr, "error: %s\n", to_string(end.error()).c_str());
      std::fflush(nullptr);
      _exit(end ? end->code : 99);
    }
    master_ = Descriptor(master);
    EXPECT_EQ(tcgetattr(master, &before_), 0);
  }
  ~TypedClient() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }
  TypedClient(const TypedClient&) = delete;
  TypedClient& operator=(const TypedClient&) = delete;

  pid_t process() const { return process_; }
  void type(std::string_view keys) const {
    EXPECT_EQ(::write(master_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void resize(unsigned short rows, unsigned short columns) const {
    const winsize size{rows, columns, 0, 0};
    EXPECT_EQ(ioctl(master_.get(), TIOCSWINSZ, &size), 0);
  }
  /// What is shown from here on, until this text.
  std::string await(std::string_view text) {
    std::array<char, 4'096> buffer{};
    size_t found = 0;
    while ((found = shown_.find(text)) == std::string::npos) {
      const ssize_t count = read_soon(master_.get(), buffer);
      if (count <= 0) {
        ADD_FAILURE() << "`" << text << "` is not shown, but: " << shown_;
        return std::exchange(shown_, {});
      }
      shown_.append(buffer.data(), static_cast<size_t>(count));
    }
    const std::string told = shown_.substr(0, found + text.size());
    shown_.erase(0, told.size());
    return told;
  }
  bool is_raw() const {
    termios form{};
    EXPECT_EQ(tcgetattr(master_.get(), &form), 0);
    return (form.c_lflag & (ICANON | ECHO | ISIG)) == 0;
  }
  bool is_as_before() const {
    termios form{};
    return tcgetattr(master_.get(), &form) == 0 && form.c_lflag == before_.c_lflag &&
           form.c_iflag == before_.c_iflag && form.c_oflag == before_.c_oflag;
  }
  /// Its exit code.
  int end() {
    shown_ += all_of(master_.get());
    int status = 0;
    waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  const std::string& shown() const { return shown_; }

 private:
  pid_t process_ = -1;
  Descriptor master_;
  termios before_{};
  std::string shown_;
};

class TerminalsTest : public ServerOfCommandsTest {
 protected:
  TerminalsTest() { serve({}, run_talk); }
  Client::Work typed(const std::string& word) const {
    return command({word}, {{}, {}, true}, true);
  }
};

TEST_F(TerminalsTest, EachKeyCountsAndTheTerminalIsAsBeforeInTheEnd) {
  TypedClient client(typed("keys"));
  client.await("ready");
  ASSERT_TRUE(comes([&] { return client.is_raw(); }));
  client.type("a\x03\x04\r");
  EXPECT_EQ(client.await("<13>"), "\r\n<97><3><4><13>") << "nothing is echoed";
  client.resize(40, 120);
  client.await("size 40x120");
  client.type("q");
  EXPECT_TRUE(comes([&] { return client.is_as_before(); }));
  EXPECT_EQ(client.end(), 9);
}

TEST_F(TerminalsTest, LinesAreEchoedHereAndEndWithCtrlD) {
  TypedClient client(typed("lines"));
  client.await("ready");
  client.type("one\n");
  EXPECT_EQ(client.await("[one]"), "\r\none\r\n[one]");
  client.type("\x04");
  client.await("end");
  EXPECT_EQ(client.end(), 4);
}

TEST_F(TerminalsTest, CtrlCStopsWhatReadsLines) {
  TypedClient client(typed("lines"));
  client.await("ready");
  client.type("half\x03");
  client.await("stopped");
  EXPECT_EQ(client.end(), 130);
}

TEST_F(TerminalsTest, TheTerminalIsAsBeforeWhenTheServerIsKilled) {
  TypedClient client(typed("keys"));
  client.await("ready");
  ASSERT_TRUE(comes([&] { return client.is_raw(); }));
  kill_all();
  client.await("was lost");
  EXPECT_TRUE(client.is_as_before());
  EXPECT_EQ(client.end(), 99);
}

TEST_F(TerminalsTest, TwoTalkAtOnce) {
  TypedClient first(typed("keys")), second(typed("keys"));
  for (TypedClient* const one : {&first, &second}) {
    one->await("ready");
    ASSERT_TRUE(comes([&] { return one->is_raw(); }));
  }
  first.type("a");
  second.type("b");
  EXPECT_EQ(first.await("<97>"), "\r\n<97>");
  EXPECT_EQ(second.await("<98>"), "\r\n<98>");
  first.type("q");
  EXPECT_EQ(first.end(), 9);
  second.type("cq");
  EXPECT_EQ(second.end(), 9);
  EXPECT_EQ(second.shown(), "<99>");
}

TEST_F(TerminalsTest, AttachFollowsAndCtrlCAsksTheRunToStop) {
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  TypedClient follower(attach(0));
  follower.await("waiting\r\n");
  EXPECT_TRUE(follower.is_as_before());
  follower.type("\x03");
  follower.await("stopped\r\n");
  EXPECT_EQ(follower.end(), 130);
  EXPECT_EQ(client.end().code, 130);
}

}  // namespace
}  // namespace fettle
