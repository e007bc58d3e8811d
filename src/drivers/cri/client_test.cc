/// Calls to a gRPC server of the tests, over HTTP/2 on a unix socket.

#include "drivers/cri/client.h"

#include <future>
#include <mutex>

#include <gtest/gtest.h>

#include "drivers/cri/wire.h"
#include "tests/fixtures/grpc_server.h"

namespace fettle::cri {
namespace {

using namespace std::string_literals;

/// An answer with one text.
std::string with_text(uint32_t field, std::string_view text) {
  MessageWriter message;
  message.text(field, text);
  return message.bytes();
}

TEST(RuntimeClient, AsksAndReads) {
  std::mutex mutex;
  std::vector<GrpcCall> calls;
  GrpcServer server([&](const GrpcCall& call) -> GrpcAnswer {
    const std::lock_guard lock(mutex);
    calls.push_back(call);
    if (call.method == "/runtime.v1.RuntimeService/Version")
      return {.message = with_text(2, "containerd") + with_text(3, "1.7.2")};
    if (call.method == "/runtime.v1.ImageService/ImageStatus")
      return {.message = call.message == image_status_request("there:1")
                             ? with_text(1, with_text(1, "sha256:ab"))
                             : ""};
    return {.message = with_text(1, call.method.ends_with("/PullImage") ? "sha256:cd" : "")};
  });
  HttpClient http;
  const Client client(http, server.path());
  const auto version = client.version({});
  ASSERT_TRUE(version) << to_string(version.error());
  EXPECT_EQ(version->name, "containerd");
  EXPECT_EQ(version->version, "1.7.2");
  EXPECT_EQ(client.image_status("there:1", {}).value()->id, "sha256:ab");
  EXPECT_FALSE(client.image_status("absent:1", {})->has_value());
  EXPECT_EQ(client.pull_image({.image = "a:1"}, 10s, {}).value(), "sha256:cd");
  EXPECT_EQ(client.list_images({})->size(), 0u);
  EXPECT_EQ(client.image_filesystems({})->size(), 0u);
  ASSERT_EQ(calls.size(), 6u);
  EXPECT_EQ(calls[0].message, version_request());
  EXPECT_EQ(calls[3].message, pull_image_request({.image = "a:1"}));
  const std::string headers = lower_case(calls[3].headers);
  EXPECT_NE(headers.find("grpc-timeout: 10000m"), headers.npos) << headers;
  EXPECT_NE(headers.find("content-type: application/grpc"), headers.npos) << headers;
}

TEST(RuntimeClient, ErrorsKeepTheirKindAndWords) {
  std::mutex mutex;
  GrpcAnswer answer;
  GrpcServer server([&](const GrpcCall&) {
    const std::lock_guard lock(mutex);
    return answer;
  });
  HttpClient http;
  const Client client(http, server.path());
  const auto pulled = [&](GrpcAnswer next) {
    {
      const std::lock_guard lock(mutex);
      answer = std::move(next);
    }
    const auto got = client.pull_image({.image = "a:1"}, 10s, {});
    return got ? *got : cat(to_string(got.error().code), ": ", got.error().message);
  };
  EXPECT_EQ(pulled({.status = "5", .error = "a:1%3A not found"}), "not found: a:1: not found");
  EXPECT_EQ(pulled({.status = "16", .error = "who", .is_without_body = true}),
            "unauthenticated: who");
  EXPECT_EQ(pulled({.status = ""}), "internal error: the runtime did not say how the call ended");
  EXPECT_EQ(pulled({.status = "", .http_status = 503}),
            "unavailable: what answers is no runtime: it says HTTP 503");
  EXPECT_EQ(pulled({.frame = "\0\0\0\0\x09x"s, .has_own_frame = true}),
            "internal error: the answer of the runtime is cut off");
  EXPECT_EQ(pulled({.message = "\x0A"}),
            "internal error: the answer is no message of the runtime interface: it is cut off in "
            "a number");
  EXPECT_EQ(pulled({.message = with_text(1, "sha256:1")}), "sha256:1")
      << "others are not disturbed";
}

TEST(RuntimeClient, ALimitEndsACallThatTheRuntimeDoesNotEnd) {
  GrpcServer server([](const GrpcCall& call) -> GrpcAnswer {
    while (!call.is_over())
      std::this_thread::sleep_for(1ms);
    return {};
  });
  HttpClient http;
  const auto got = Client(http, server.path()).pull_image({.image = "a:1"}, 20ms, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, GrpcCode::deadline_exceeded) << got.error().message;
  EXPECT_EQ(got.error().message, "the runtime did not end the call within 20ms");
}

TEST(RuntimeClient, AStopEndsACallAndTheRuntimeSeesIt) {
  std::stop_source stop;
  std::promise<void> seen;
  GrpcServer server([&](const GrpcCall& call) -> GrpcAnswer {
    stop.request_stop();
    while (!call.is_over())
      std::this_thread::sleep_for(1ms);
    seen.set_value();
    return {};
  });
  HttpClient http;
  const auto got = Client(http, server.path()).pull_image({.image = "a:1"}, 1h, stop.get_token());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, GrpcCode::cancelled);
  EXPECT_TRUE(is_cancelled(got.error()));
  seen.get_future().wait();
}

TEST(RuntimeClient, ASocketThatIsNotThereIsUnavailable) {
  HttpClient http;
  const auto got = Client(http, "/nowhere/s").version({});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, GrpcCode::unavailable);
  EXPECT_EQ(got.error().message, "nothing answers at the socket `/nowhere/s`");
}

}  // namespace
}  // namespace fettle::cri
