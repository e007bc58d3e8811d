#include "base/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/listener.h"

namespace fettle {
namespace {

/// What `work` gives in a process that has `given` as its third descriptor; its variables are its
/// own.
int in_process(int given, const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    if (given >= 0)
      dup2(given, 3);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void set_given(const char* count, pid_t process = getpid()) {
  setenv("LISTEN_PID", std::to_string(process).c_str(), 1);
  setenv("LISTEN_FDS", count, 1);
}

TEST(ServiceManager, ASocketThatWasMadeForUsIsTaken) {
  const Descriptor made = *listen_at({"127.0.0.1", "0"}, 4);
  const int port = port_of(made);
  EXPECT_EQ(in_process(made.get(),
                       [&] {
                         set_given("1");
                         const auto taken = inherited_listener();
                         if (!taken || !*taken || port_of(**taken) != port)
                           return 1;
                         return std::getenv("LISTEN_FDS") == nullptr &&
                                        !inherited_listener()->has_value()
                                    ? 0
                                    : 2;
                       }),
            0);
}

TEST(ServiceManager, WhatIsNotForUsIsLeft) {
  const Descriptor made = *listen_at({"127.0.0.1", "0"}, 4);
  const auto code = [&](const char* count, bool is_ours) {
    return in_process(made.get(), [&] {
      set_given(count, is_ours ? getpid() : getppid());
      const auto taken = inherited_listener();
      return !taken ? 2 : *taken ? 1 : 0;
    });
  };
  EXPECT_EQ(code("1", false), 0) << "it is the parent's";
  EXPECT_EQ(code("0", true), 0);
  EXPECT_EQ(code("2", true), 2);
  EXPECT_EQ(code("many", true), 2);
  const Descriptor pipe(dup(STDIN_FILENO));
  EXPECT_EQ(in_process(pipe.get(),
                       [] {
                         set_given("1");
                         return inherited_listener() ? 0 : 2;
                       }),
            2);
}

TEST(ServiceManager, HearsThatWeAreReady) {
  for (const bool is_file : {true, false}) {
    const auto folder = TemporaryDirectory::make();
    const std::string path =
        is_file ? (folder->path() / "notify").string() : "@" + (folder->path() / "x").string();
    const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (!is_file)
      address.sun_path[0] = '\0';
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size())),
              0);
    EXPECT_EQ(in_process(-1,
                         [&] {
                           setenv("NOTIFY_SOCKET", path.c_str(), 1);
                           tell_ready();
                           tell_ready();  // once is enough
                           return 0;
                         }),
              0);
    std::array<char, 64> heard{};
    EXPECT_EQ(recv(socket.get(), heard.data(), heard.size(), 0), 7);
    EXPECT_STREQ(heard.data(), "READY=1");
    EXPECT_LT(recv(socket.get(), heard.data(), heard.size(), MSG_DONTWAIT), 0);
  }
  tell_ready();  // nobody wants to know
}

}  // namespace
}  // namespace fettle
