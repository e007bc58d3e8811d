/// The prompt, on its own terminal: a child runs it, this process types and reads.

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/text.h"
#include "starlark/command.h"

namespace fettle::starlark {
namespace {

class Terminal {
 public:
  explicit Terminal(const std::string& home) {
    child_ = forkpty(&screen_, nullptr, nullptr, nullptr);
    if (child_ == 0) {
      setenv("HOME", home.c_str(), 1);
      const std::string arguments[] = {"--repl", "--recursion"};
      _exit(run_starlark_command(arguments));
    }
    read_to(">>> ");
  }
  ~Terminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(std::string_view keys) {
    ASSERT_EQ(::write(screen_, keys.data(), keys.size()), ssize_t(keys.size()));
  }
  /// The output up to `wanted`, which must come; the rest is left for the next call.
  std::string read_to(std::string_view wanted) {
    for (;;) {
      if (const size_t at = unread_.find(wanted); at != std::string::npos) {
        const std::string read = unread_.substr(0, at + wanted.size());
        unread_.erase(0, at + wanted.size());
        return read;
      }
      if (!read_more()) {
        ADD_FAILURE() << "no " << wanted << " in: " << unread_;
        return unread_;
      }
    }
  }
  /// Whether a line gives this output, and then the next prompt: the terminal itself edits earlier
  /// keys.
  bool answers(std::string_view shown) {
    const std::string end = cat("\r\n", shown, "\r\n");
    return read_to(end).ends_with(end) && read_to(">>> ").ends_with(">>> ");
  }
  /// The exit code, once the child has ended by itself.
  int ended() {
    while (read_more()) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  bool read_more() {
    pollfd waiting{screen_, POLLIN, 0};
    constexpr int hang = 60'000;  // only a prompt that hangs takes so long
    char bytes[4096];
    if (poll(&waiting, 1, hang) != 1)
      return false;
    const ssize_t size = ::read(screen_, bytes, sizeof bytes);
    if (size <= 0)
      return false;
    unread_.append(bytes, size_t(size));
    return true;
  }

  pid_t child_ = 0;
  int screen_ = -1;
  std::string unread_;
};

std::string text_of_file(const Path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Repl : public testing::Test {
 protected:
  TemporaryDirectory home_ = TemporaryDirectory::make().value();
  Path history() const { return home_.path() / ".fettle_starlark_history"; }
};

TEST_F(Repl, ShowsValuesAndKeepsNames) {
  Terminal terminal(home_.path().string());
  terminal.type("x = 6\r");
  terminal.read_to("\r\n");
  terminal.type("x * 7\r");
  EXPECT_TRUE(terminal.answers("42"));
  terminal.type("None\r'a' + 1\r");
  EXPECT_EQ(terminal.read_to("unknown binary op: string + int").find("None\r\nNone"),
            std::string::npos);
  terminal.type("y\r");
  terminal.read_to("undefined: y");
  terminal.read_to(">>> ");
  terminal.type("\x04");
  EXPECT_EQ(terminal.ended(), 0);
}

TEST_F(Repl, TakesSeveralLines) {
  Terminal terminal(home_.path().string());
  terminal.type("def f(\r  a,\r  b):\r  return [\ra, b]\r\r");
  for (int i = 0; i < 5; ++i)
    terminal.read_to("... ");
  terminal.type("f(1,\r2)\r");
  EXPECT_TRUE(terminal.answers("[1, 2]"));
  terminal.type("'''a\rb'''\r");
  EXPECT_TRUE(terminal.answers("\"a\\nb\""));
  terminal.type("f(3, [4])\r");
  EXPECT_TRUE(terminal.answers("[3, [4]]"));
}

TEST_F(Repl, EditsTheLine) {
  Terminal terminal(home_.path().string());
  terminal.type(
      "100 + 9\x7f"
      "7\r");  // backspace
  EXPECT_TRUE(terminal.answers("107"));
  terminal.type("34\x1b[D\x1b[D12\x1b[F5\r");  // left twice, end
  EXPECT_TRUE(terminal.answers("12345"));
  terminal.type(
      "777 888\x17\x01"
      "1\r");  // deletes a word, then at the start
  EXPECT_TRUE(terminal.answers("1777"));
  terminal.type(
      "'\xc3\xa4\xc3\xb6'\x1b[D\x7f"
      "u\r");  // letters of two bytes go as one
  EXPECT_TRUE(terminal.answers("\"\xc3\xa4u\""));
}

TEST_F(Repl, RemembersLinesAcrossRuns) {
  {
    Terminal terminal(home_.path().string());
    terminal.type("1000 + 1\r");
    EXPECT_TRUE(terminal.answers("1001"));
    terminal.type("2000 + 2\r2000 + 2\r");
    EXPECT_TRUE(terminal.answers("2002"));
    EXPECT_TRUE(terminal.answers("2002"));
    terminal.type("\x1b[A\x1b[A0\r");  // up twice: both lines in a row were one
    EXPECT_TRUE(terminal.answers("1010"));
    terminal.type("\x04");
    EXPECT_EQ(terminal.ended(), 0);
  }
  EXPECT_EQ(text_of_file(history()), "1000 + 1\n2000 + 2\n1000 + 10\n");
  Terminal terminal(home_.path().string());
  terminal.type(
      "7\x1b[A\x1b[A\x1b[B\x1b[B"
      "8\r");  // up and down again: the typed text is there
  EXPECT_TRUE(terminal.answers("78"));
  terminal.type("\x10\x10\r");
  EXPECT_TRUE(terminal.answers("1010"));
}

TEST_F(Repl, InterruptGivesUpALineOrARun) {
  Terminal terminal(home_.path().string());
  terminal.type("x = [1,\r");
  terminal.read_to("... ");
  terminal.type("2\x03");
  terminal.read_to("^C\r\n");
  terminal.read_to(">>> ");
  terminal.type("5 + 5\r");
  EXPECT_TRUE(terminal.answers("10"));
  terminal.type("def f():\r  print('begun')\r  for i in range(1 << 60): pass\r\rf()\r");
  terminal.read_to("\r\nbegun\r\n");
  terminal.type("\x03");
  terminal.read_to("Starlark computation cancelled");
  terminal.read_to(">>> ");
  terminal.type("6 + 6\r");
  EXPECT_TRUE(terminal.answers("12"));
  terminal.type("\x04");
  EXPECT_EQ(terminal.ended(), 0);
}

}  // namespace
}  // namespace fettle::starlark
