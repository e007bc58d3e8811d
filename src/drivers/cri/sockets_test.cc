#include "drivers/cri/sockets.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>

#include "base/text.h"

namespace fettle::cri {
namespace {

SocketAnswer says(const char* socket, const char* name, const char* version) {
  return {socket, RuntimeVersion{.name = name, .version = version}};
}
SocketAnswer fails(const char* socket, const char* why) {
  return {socket, GrpcError(GrpcCode::unavailable, why)};
}

/// A socket file to which nobody listens.
void make_socket(const Path& path) {
  ASSERT_TRUE(make_directories(path.parent_path()));
  const Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

TEST(RuntimeSockets, AVersionIsToldAsTheKubeletDoes) {
  const auto told = [](const char* version) {
    return runtime_as_kubelets_tell({.name = "n", .version = version});
  };
  EXPECT_EQ(told("1.7.2"), "n://1.7.2");
  EXPECT_EQ(told("v1.7.2"), "n://1.7.2");
  EXPECT_EQ(told("1.6.20~ds1"), "n://1.6.20");
  EXPECT_EQ(told("1.5.9-0ubuntu3.1"), "n://1.5.9-0ubuntu3.1");
  EXPECT_EQ(told("v2.0.4-k3s2"), "n://2.0.4-k3s2");
  EXPECT_EQ(told("1.29.1+ab.c"), "n://1.29.1+ab.c");
  EXPECT_EQ(told("1.29.1-rc.1+ab"), "n://1.29.1-rc.1+ab");
  EXPECT_EQ(told("1.29.1+"), "n://1.29.1");
  EXPECT_EQ(told("24.0"), "n://24.0");
  EXPECT_EQ(told("24.0-beta"), "n://24.0");
  EXPECT_EQ(told("1.7."), "n://1.7");
  EXPECT_EQ(told("unknown"), "n://");
}

TEST(RuntimeSockets, TheOneOfTheKubeletIsChosen) {
  const std::vector<SocketAnswer> answers{
      says("/run/a", "containerd", "v1.7.2"), says("/run/b", "containerd", "v2.0.4-k3s2"),
      fails("/run/c", "nothing answers at the socket `/run/c`"), says("/run/d", "cri-o", "1.7.2")};
  EXPECT_EQ(choose_socket(answers, "containerd://1.7.2").value(), "/run/a");
  EXPECT_EQ(choose_socket(answers, "containerd://2.0.4-k3s2").value(), "/run/b");
  EXPECT_EQ(choose_socket(answers, "cri-o://1.7.2").value(), "/run/d");
}

TEST(RuntimeSockets, NoneAndTwoAreErrorsThatSayWhatIsThere) {
  const auto why = [](const std::vector<SocketAnswer>& answers, const char* told) {
    return choose_socket(answers, told).error().message;
  };
  EXPECT_EQ(
      why({says("/run/a", "containerd", "1.7.1"), fails("/run/c", "away")}, "containerd://1.7.2"),
      "the kubelet works with the runtime `containerd://1.7.2`, and no socket is of it: "
      "`/run/a`: containerd://1.7.1, `/run/c`: away");
  EXPECT_EQ(why({says("/run/a", "containerd", "1.7.2"), says("/run/b", "containerd", "1.7.2")},
                "containerd://1.7.2"),
            "the kubelet works with the runtime `containerd://1.7.2`, and two sockets are of such "
            "a one: `/run/a` and `/run/b`; name the right one with `--socket-file`");
  EXPECT_EQ(why({}, "cri-o://1.0.0"),
            "there is no socket of a container runtime where they usually are; the kubelet works "
            "with one `cri-o://1.0.0`; name its socket with `--socket-file`");
}

TEST(RuntimeSockets, EachSocketIsFoundOnce) {
  const auto folder = TemporaryDirectory::make();
  const Path run = folder->path() / "run", snap = folder->path() / "snap";
  make_socket(run / "containerd" / "containerd.sock");
  make_socket(run / "k3s" / "containerd" / "containerd.sock");
  make_socket(snap / "microk8s/common/run/containerd.sock");
  std::filesystem::create_symlink(run / "containerd" / "containerd.sock", run / "containerd.sock");
  ASSERT_TRUE(write_file(run / "crio.sock", "no socket"));
  EXPECT_EQ(
      existing_sockets(run, snap),
      (std::vector<Path>{run / "containerd/containerd.sock", run / "k3s/containerd/containerd.sock",
                         snap / "microk8s/common/run/containerd.sock"}));
  EXPECT_TRUE(existing_sockets(folder->path() / "none", "/none").empty());
}

TEST(RuntimeSockets, WhoDoesNotAnswerIsToldOf) {
  const auto folder = TemporaryDirectory::make();
  make_socket(folder->path() / "s");
  HttpClient http;
  const std::vector<SocketAnswer> answers = ask_sockets(http, {folder->path() / "s"}, {});
  ASSERT_EQ(answers.size(), 1u);
  ASSERT_FALSE(answers[0].version);
  EXPECT_EQ(answers[0].version.error().code, GrpcCode::unavailable);
}

}  // namespace
}  // namespace fettle::cri
