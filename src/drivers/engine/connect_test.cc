/// Who may use the socket of an engine, and what is told to who may not.

#include "drivers/engine/connect.h"

#include <gtest/gtest.h>

#include <array>

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/http.h"
#include "base/text.h"
#include "drivers/engine/dial.h"

namespace fettle {
namespace {

constexpr uid_t nobody = 65534;
constexpr gid_t some_group = 1;

class SocketPermission : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_);
    path_ = (folder_->path() / "engine.sock").string();
    ASSERT_EQ(chmod(folder_->path().c_str(), 0755), 0);
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(listen(listener_, 1), 0);
  }
  void TearDown() override { close(listener_); }

  /// What a process of nobody is told; without rights of root, what we are.
  std::string told(uid_t owner, gid_t group, mode_t mode) {
    EXPECT_EQ(chown(path_.c_str(), owner, group), 0);
    EXPECT_EQ(chmod(path_.c_str(), mode), 0);
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      std::string text = "cannot become nobody";
      if (geteuid() != 0 ||
          (setgroups(0, nullptr) == 0 && setgid(nobody) == 0 && setuid(nobody) == 0))
        text = as_we_are();
      _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t size = 0; (size = ::read(ends[0], part.data(), part.size())) > 0;)
      text.append(part.data(), static_cast<size_t>(size));
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return text;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make("fettle-socket-");
  std::string path_;

 private:
  std::string as_we_are() const {
    HttpClient http;
    EngineAddress address;
    address.unix_socket = path_;
    address.base = "http://engine";
    const WaitLimits limits{.connect = 1s, .silence = 100ms, .whole = 1s};
    const Result<EngineLink> link = link_engine(http, address, limits, {});
    return link ? "linked" : to_string(link.error());
  }
  int listener_ = -1;
};

TEST_F(SocketPermission, TheAdviceNamesWhoMayUseIt) {
  if (geteuid() != 0) {
    EXPECT_EQ(
        told(geteuid(), getegid(), 0),
        cat("permission denied: only `", getpwuid(geteuid())->pw_name, "` may use this socket"));
    return;
  }
  EXPECT_EQ(told(0, 0, 0600), "permission denied: only root may use this socket");
  EXPECT_EQ(told(0, 0, 0660), "permission denied: only root may use this socket")
      << "nobody is made a member of root";
  const passwd* const owner = getpwuid(1);
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(told(1, some_group, 0600),
            cat("permission denied: only `", owner->pw_name, "` may use this socket"));
  const group* const members = getgrgid(some_group);
  ASSERT_NE(members, nullptr);
  const std::string name = members->gr_name;
  EXPECT_EQ(told(0, some_group, 0660),
            cat("permission denied: the group `", name, "` may use this socket; `sudo usermod -aG ",
                name, " $USER` and another login make you a member"));
  EXPECT_EQ(told(0, some_group, 0640), "permission denied: only root may use this socket")
      << "reading alone is of no use";
  EXPECT_EQ(told(0, 0, 0666).find("permission denied"), std::string::npos);
  ASSERT_EQ(chmod(folder_->path().c_str(), 0700), 0);
  EXPECT_EQ(told(0, 0, 0666), "permission denied: you may not enter the folder of this socket")
      << "it is there";
}

TEST(AgentAddress, IsFoundByWhoKnowsAgentsAlone) {
  HttpClient http;
  const EngineAddress address = *parse_engine_address("agent://b", process_variable);
  const auto nobody = link_engine(http, address, {}, {});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().blame, Blame::world);
  EXPECT_EQ(nobody.error().message, "agents are known to a server of commands alone");
  std::string asked;
  const auto gone = link_engine(http, address, {}, {}, [&](const std::string& name) {
    asked = name;
    return Result<std::string>(world_error("it has gone"));
  });
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message, "it has gone");
  EXPECT_EQ(asked, "b");
}

/// Dials, and says what became of it.
std::string dialled(const char* text) {
  const auto address = parse_engine_address(text, [](const char*) { return std::nullopt; });
  const auto socket = dial_engine(*address);
  return socket ? ""
                : cat(socket.error().blame == Blame::user ? "user: " : "", socket.error().message);
}

TEST_F(SocketPermission, AnEngineIsDialledWhereItsBytesAreInClearText) {
  EXPECT_EQ(dialled(cat("unix://", path_).c_str()), "");
  EXPECT_EQ(dialled("unix:///nowhere"),
            "no engine answers at `unix:///nowhere`: no such file or directory");
  EXPECT_EQ(dialled("tcp://127.0.0.1:1"), "") << "it is told of later";
  EXPECT_TRUE(dialled("https://127.0.0.1:1").starts_with("user: an agent passes on"));
  EXPECT_TRUE(dialled("agent://b").starts_with("user: an agent brings the engine of its own"));
}

}  // namespace
}  // namespace fettle
