/// Pulls into a runtime that is played, with Secrets of an API server of our own.

#include "node/puller.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/text.h"
#include "node/notice_writer.h"
#include "tests/kubernetes/api_server_face.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_runtime.h"
#include "value/json.h"

namespace fettle::node {
namespace {

using kubernetes::json;

class NodePuller : public testing::Test {
 protected:
  void make_secret(const std::string& name, std::string_view config) {
    const auto made = client_->create(
        {"", "v1", "secrets", "Secret"}, {"default", ""},
        json(cat(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")", name,
                 R"(","namespace":"default"},"type":"kubernetes.io/dockerconfigjson",
                 "data":{".dockerconfigjson":")",
                 base64_encode(config), R"("}})")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  PullOutcome pull(ImageOrder order, Duration limit = 10s) {
    return puller_.carry_out(
        {.id = 1, .kind = PullCommand::Kind::pull, .order = std::move(order), .limit = limit}, {});
  }
  static ImageOrder order(std::string image, std::vector<kubernetes::ObjectName> secrets = {}) {
    return {.image = std::move(image), .tag = "1", .secrets = std::move(secrets)};
  }

  kubernetes::ApiServerFace server_;
  std::unique_ptr<kubernetes::Client> client_ = server_.client();
  PlayedRuntime runtime_;
  HttpClient http_;
  const cri::Client cri_{http_, runtime_.socket()};
  const Puller puller_{*client_, cri_};
};

TEST_F(NodePuller, LooksAndPulls) {
  const PullCommand look{.id = 1, .kind = PullCommand::Kind::look, .order = order("a")};
  EXPECT_EQ(puller_.carry_out(look, {}).kind, PullOutcome::Kind::absent);
  runtime_.offer("a:1", {.id = "sha256:ab"});
  ImageOrder wanted = order("a");
  wanted.labels = {{"app", "web"}};
  const PullOutcome pulled = pull(wanted);
  EXPECT_EQ(pulled.kind, PullOutcome::Kind::there) << pulled.message;
  EXPECT_EQ(pulled.image_id, "sha256:ab");
  EXPECT_EQ(puller_.carry_out(look, {}).image_id, "sha256:ab");
  const std::string sandbox = PlayedRuntime::field(runtime_.last_request(), 3);
  const std::string label = PlayedRuntime::field(sandbox, 6);
  EXPECT_EQ(PlayedRuntime::field(label, 1), "app");
  EXPECT_EQ(PlayedRuntime::field(label, 2), "web");
  EXPECT_EQ(PlayedRuntime::field(PlayedRuntime::field(sandbox, 7), 1),
            "apps.kruise.io/pulling-image-by");
}

TEST_F(NodePuller, ADigestIsAskedForWithAnAt) {
  const std::string digest = cat("sha256:", std::string(64, 'a'));
  runtime_.offer(cat("r.test/a@", digest));
  ImageOrder wanted = order("r.test/a");
  wanted.tag = digest;
  EXPECT_EQ(pull(wanted).kind, PullOutcome::Kind::there);
}

TEST_F(NodePuller, LoginsAreTriedInTurnAndAtLastNone) {
  runtime_.offer("r.test/a:1", {.login = "me:right"});
  runtime_.offer("r.test/b:1");
  make_secret("old", R"({"auths":{"r.test":{"username":"me","password":"old"}}})");
  make_secret("other", R"({"auths":{"elsewhere.test":{"username":"x","password":"y"}}})");
  make_secret("good", R"({"auths":{"r.test":{"username":"me","password":"right"}}})");
  const std::vector<kubernetes::ObjectName> all{
      {"default", "old"}, {"default", "other"}, {"default", "good"}};
  EXPECT_EQ(pull(order("r.test/a", all)).kind, PullOutcome::Kind::there);
  EXPECT_EQ(join(runtime_.log(), ", "),
            "pull r.test/a:1 as me:old, pull r.test/a:1 as me:right, pulled r.test/a:1");
  EXPECT_EQ(pull(order("r.test/b", {{"default", "other"}})).kind, PullOutcome::Kind::there);
  EXPECT_EQ(runtime_.count("pull r.test/b:1"), 1u) << "what is for another registry is not shown";
  const PullOutcome denied = pull(order("r.test/a", {{"default", "old"}, {"default", "gone"}}));
  EXPECT_EQ(denied.kind, PullOutcome::Kind::failed);
  EXPECT_EQ(denied.message.substr(0, denied.message.find("`default/gone`")),
            "as `me`: pull access denied; without a login: pull access denied; the secret ");
  EXPECT_EQ(denied.message.find("old"), std::string::npos) << "a password is shown nowhere";
}

TEST_F(NodePuller, WhatAnotherLoginCannotHelpEndsTheAttempt) {
  make_secret("good", R"({"auths":{"r.test":{"username":"me","password":"right"}}})");
  runtime_.fail(1, {.status = "3", .error = "bad"});
  EXPECT_EQ(pull(order("r.test/a", {{"default", "good"}})).kind, PullOutcome::Kind::refused);
  EXPECT_EQ(runtime_.log().size(), 1u);
  runtime_.fail(1, {.status = "", .http_status = 502});
  EXPECT_EQ(pull(order("r.test/a")).kind, PullOutcome::Kind::away);
  runtime_.fail(1, {.status = "14", .error = "registry%20away"});
  const PullOutcome failed = pull(order("r.test/a"));
  EXPECT_EQ(failed.kind, PullOutcome::Kind::failed) << "the runtime is there, and its registry not";
  EXPECT_EQ(failed.message, "registry away");
}

TEST_F(NodePuller, ALimitEndsAnAttempt) {
  runtime_.hold("a:1");
  const PullOutcome late = pull(order("a"), 30ms);
  EXPECT_EQ(late.kind, PullOutcome::Kind::failed);
  EXPECT_EQ(late.message, "it was not pulled within 30ms");
}

TEST_F(NodePuller, ARuntimeThatIsNotThereIsAway) {
  const cri::Client nobody(http_, "/nowhere/s");
  const Puller puller(*client_, nobody);
  EXPECT_EQ(puller.carry_out({.id = 1, .order = order("a")}, {}).kind, PullOutcome::Kind::away);
}

TEST(NodeNotices, AreEventsAboutTheirObject) {
  const PullNotice notice{.is_warning = true,
                          .reason = "PullImageFailed",
                          .text = std::string(2'000, 'x'),
                          .about = json(R"({"kind":"ImagePullJob","namespace":"s","name":"j"})")};
  const Value event = event_of(notice, "n1", Time(1h), 7);
  EXPECT_EQ(event.at("metadata").text_at("namespace"), "s");
  EXPECT_EQ(event.at("involvedObject"), notice.about);
  EXPECT_EQ(event.text_at("type"), "Warning");
  EXPECT_EQ(event.at("source").text_at("host"), "n1");
  EXPECT_LT(event.text_at("message").size(), 1'100u);
  EXPECT_NE(event_of(notice, "n1", Time(1h), 8).at("metadata"), event.at("metadata"));
}

}  // namespace
}  // namespace fettle::node
