/// What a node pulls, under a played clock: commands are ended by the test, and the server answers
/// to writes as it would.

#include "node/pulls.h"

#include <gtest/gtest.h>

#include "base/prng.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/patches.h"
#include "value/json.h"
#include "value/with.h"

namespace fettle::node {
namespace {

using kubernetes::json;

/// A node with its NodeImage.
class PlayedNode {
 public:
  explicit PlayedNode(PullSettings settings = {}) : pulls(settings) {}

  /// Another process takes over.
  void restart(PullSettings settings = {}) {
    pulls = NodePulls(settings);
    commands.clear();
    unanswered.reset();
    pulls.take_object(object, now);
    go();
  }
  /// `images`: of the spec.
  void order(std::string_view images, std::string_view uid = "u1") {
    object = with(object, "spec", Value::dict({{"images", json(images)}}));
    stored(uid);
    pulls.take_object(object, now);
    go();
  }
  void pass(Duration time) {
    now.instant += time;
    now.wall += time;
    go();
  }
  /// Steps, and writes the status if that is wanted.
  void go() {
    NodeStep step = pulls.step(now);
    for (const uint64_t id : step.end) {
      told += cat("end ", commands.at(id).order.reference(), "; ");
      commands.erase(id);
    }
    for (const PullCommand& command : step.begin) {
      told += cat(command.kind == PullCommand::Kind::look ? "look " : "pull ",
                  command.order.reference(), "; ");
      commands.emplace(command.id, command);
    }
    for (const PullNotice& notice : step.notices)
      notices += cat(notice.reason, " ", notice.about.text_at("kind"), " ", notice.text, "\n");
    wake = step.wake;
    if (!step.status)
      return;
    if (!answers) {
      unanswered = step.status;
      return;
    }
    ++writes;
    object = kubernetes::merge_patch(object, *step.status);
    stored(object.at("metadata").text_at("uid"));
    pulls.status_written(object, now);
    go();
  }
  /// Has another version from now on.
  void stored(std::string_view uid) {
    object = with(object, "metadata",
                  Value::dict({{"name", "n"}, {"uid", uid}, {"resourceVersion", cat(++version_)}}));
  }
  /// The server answers to a write that it left unanswered. One that is not about the newest object
  /// is refused, as are those that it is told to.
  void answer(bool refuses) {
    const std::optional<Value> write = std::exchange(unanswered, {});
    if (!write)
      return;
    const bool is_outrun =
        write->at("metadata").at("resourceVersion") != object.at("metadata").at("resourceVersion");
    if (refuses || is_outrun) {
      kubernetes::ApiError error(world_error("on purpose"));
      if (is_outrun)
        error.reason = kubernetes::ApiReason::conflict;
      pulls.status_written(error, now);
    } else {
      object = kubernetes::merge_patch(object, *write);
      stored(object.at("metadata").text_at("uid"));
      pulls.status_written(object, now);
    }
    go();
  }
  /// The command for this image has ended.
  void end(std::string_view image, const PullOutcome& outcome) {
    const auto found = std::ranges::find_if(
        commands, [&](const auto& each) { return each.second.order.reference() == image; });
    ASSERT_NE(found, commands.end()) << image;
    const uint64_t id = found->first;
    commands.erase(found);
    pulls.ended(id, outcome, now);
    go();
  }
  void fail(std::string_view image, std::string message = "no") {
    end(image, {.kind = PullOutcome::Kind::failed, .message = std::move(message)});
  }
  void find_absent(std::string_view image) { end(image, {.kind = PullOutcome::Kind::absent}); }
  void find_there(std::string_view image) {
    end(image, {.kind = PullOutcome::Kind::there, .image_id = "sha256:1d"});
  }

  Value status(std::string_view image, std::string_view tag) const {
    for (const Value& each : items_of(object.at("status").at("imageStatuses").at(image).at("tags")))
      if (each.text_at("tag") == tag)
        return each;
    return {};
  }
  std::string phase(std::string_view image, std::string_view tag = "1") const {
    return std::string(status(image, tag).text_at("phase"));
  }
  /// `desired succeeded failed pulling waiting`
  std::string counts() const {
    std::string text;
    for (const char* const key : {"desired", "succeeded", "failed", "pulling", "waiting"})
      text += cat(text.empty() ? "" : " ", object.at("status").integer_at(key, -1));
    return text;
  }
  std::string take_told() { return std::exchange(told, {}); }
  Duration until_wake() const { return *wake - now.instant; }

  Value object = json(R"({"metadata":{"name":"n"}})");
  NodePulls pulls;
  std::map<uint64_t, PullCommand> commands;
  Moment now{Instant(1h), *read_moment("2026-11-29T01:00:00Z")};
  std::string told, notices;
  std::optional<Instant> wake;
  bool answers = true;
  std::optional<Value> unanswered;
  int writes = 0;

 private:
  int version_ = 100;
};

constexpr const char* one = R"({"a":{"tags":[{"tag":"1","version":1}]}})";

TEST(NodePulls, AnImageThatIsThereIsNotPulled) {
  PlayedNode node;
  node.order(one);
  EXPECT_EQ(node.take_told(), "look a:1; ");
  EXPECT_EQ(node.phase("a"), "Waiting");
  EXPECT_EQ(node.counts(), "1 0 0 0 1");
  node.pass(2s);
  node.find_there("a:1");
  EXPECT_EQ(node.take_told(), "");
  EXPECT_EQ(
      write_json(node.status("a", "1")),
      R"({"completionTime":"2026-11-29T01:00:02Z","imageID":"a@sha256:1d","phase":"Succeeded",)"
      R"("progress":100,"startTime":"2026-11-29T01:00:02Z","tag":"1","version":1})");
  EXPECT_EQ(node.counts(), "1 1 0 0 0");
  EXPECT_EQ(node.notices, "PullImageSucceed NodeImage image `a:1` was there\n");
  EXPECT_FALSE(node.wake) << "nothing is left to do";
}

TEST(NodePulls, OneThatIsAbsentIsPulled) {
  PlayedNode node;
  node.order(one);
  node.find_absent("a:1");
  EXPECT_EQ(node.take_told(), "look a:1; pull a:1; ");
  EXPECT_EQ(node.commands.begin()->second.limit, 10min);
  node.pass(100ms);
  EXPECT_EQ(node.phase("a"), "Pulling");
  EXPECT_EQ(node.counts(), "1 0 0 1 0");
  node.pass(90s);
  node.find_there("a:1");
  EXPECT_EQ(node.status("a", "1").text_at("startTime"), "2026-11-29T01:00:00Z");
  EXPECT_EQ(node.status("a", "1").text_at("completionTime"), "2026-11-29T01:01:30Z");
  EXPECT_EQ(node.notices,
            "PullImageSucceed NodeImage image `a:1` is there, 1m30.1s after its pull began\n");
  EXPECT_EQ(node.pulls.succeeded(), 1u);
}

TEST(NodePulls, AlwaysPullsWithoutALook) {
  PlayedNode node;
  node.order(R"({"a":{"tags":[{"tag":"1","imagePullPolicy":"Always"}]}})");
  EXPECT_EQ(node.take_told(), "pull a:1; ");
}

TEST(NodePulls, AttemptsPauseLongerAndLongerAndEnd) {
  PlayedNode node;
  node.order(
      R"({"a":{"tags":[{"tag":"1","version":1,"pullPolicy":{"backoffLimit":2},
          "ownerReferences":[{"kind":"ImagePullJob","name":"j"}]}]}})");
  node.find_absent("a:1");
  node.fail("a:1", "first");
  node.pass(100ms);
  EXPECT_EQ(node.phase("a"), "Pulling");
  EXPECT_EQ(node.status("a", "1").text_at("message"), "attempt 1 of 3: first");
  EXPECT_EQ(node.until_wake(), 900ms);
  node.take_told();
  node.pass(899ms);
  EXPECT_EQ(node.take_told(), "");
  node.pass(1ms);
  EXPECT_EQ(node.take_told(), "look a:1; ") << "somebody may have pulled it meanwhile";
  node.find_absent("a:1");
  node.fail("a:1", "second");
  node.pass(1'999ms);
  EXPECT_EQ(node.take_told(), "pull a:1; ");
  node.pass(1ms);
  node.find_absent("a:1");
  node.fail("a:1", "third");
  node.pass(100ms);
  EXPECT_EQ(node.phase("a"), "Failed");
  EXPECT_EQ(node.status("a", "1").text_at("message"), "third");
  EXPECT_NE(node.status("a", "1").text_at("completionTime"), "");
  EXPECT_EQ(node.counts(), "1 0 1 0 0");
  EXPECT_EQ(node.notices,
            "PullImageFailed ImagePullJob image `a:1` cannot be pulled: third\n"
            "PullImageFailed NodeImage image `a:1` cannot be pulled: third\n");
  node.take_told();
  node.pass(24h);
  EXPECT_EQ(node.take_told(), "");
}

TEST(NodePulls, APauseHasALongestLength) {
  PlayedNode node;
  node.order(
      R"({"a":{"tags":[{"tag":"1","imagePullPolicy":"Always","pullPolicy":{"backoffLimit":9}}]}})");
  for (const Duration pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    node.fail("a:1");
    node.take_told();
    node.pass(pause - 1ms);
    EXPECT_EQ(node.take_told(), "") << to_string(pause);
    node.pass(1ms);
    EXPECT_EQ(node.take_told(), "pull a:1; ") << to_string(pause);
  }
}

TEST(NodePulls, WhatIsRefusedIsNotTriedAgain) {
  PlayedNode node;
  node.order(one);
  node.find_absent("a:1");
  node.end("a:1", {.kind = PullOutcome::Kind::refused, .message = "invalid reference"});
  node.pass(100ms);
  EXPECT_EQ(node.phase("a"), "Failed");
  node.order(R"({"A B":{"tags":[{"tag":"1"}]}})");
  node.pass(100ms);
  EXPECT_EQ(node.phase("A B"), "Failed") << "what is no image is not even asked for";
  EXPECT_NE(node.status("A B", "1").text_at("message").find("lower case"), std::string::npos);
}

TEST(NodePulls, ADeadlineEndsAllAttemptsAndStaysThroughARestart) {
  PlayedNode node;
  node.order(
      R"({"a":{"tags":[{"tag":"1",
          "pullPolicy":{"timeoutSeconds":40,"activeDeadlineSeconds":60}}]}})");
  node.pass(5s);
  node.find_absent("a:1");
  EXPECT_EQ(node.commands.begin()->second.limit, 40s);
  node.pass(30s);
  node.restart();
  node.find_absent("a:1");
  EXPECT_EQ(node.commands.begin()->second.limit, 30s);
  node.pass(29s);
  EXPECT_EQ(node.phase("a"), "Pulling");
  EXPECT_EQ(node.until_wake(), 1s);
  node.take_told();
  node.pass(1s);
  EXPECT_EQ(node.take_told(), "end a:1; ");
  node.pass(100ms);
  EXPECT_EQ(node.phase("a"), "Failed");
  EXPECT_EQ(node.status("a", "1").text_at("message"),
            "it was not pulled within its deadline of 1m0s");
}

TEST(NodePulls, AnEndThatOthersTellOfIsNotTakenBackWhileItGoesOn) {
  PlayedNode node;
  node.order(one);
  node.end("a:1", {.kind = PullOutcome::Kind::away, .message = "nobody answers"});
  node.pass(100ms);
  EXPECT_EQ(node.phase("a"), "Waiting");
  node.object = with(node.object, "status", json(R"({"desired":1,"failed":1,"pulling":0,
      "succeeded":0,"waiting":0,"imageStatuses":{"a":{"tags":[{"tag":"1","version":1,
      "phase":"Failed","completionTime":"2026-11-29T01:00:00Z","message":"it took too long"}]}}})"));
  node.stored("u1");
  const int writes = node.writes;
  node.pulls.take_object(node.object, node.now);
  node.go();
  node.pass(1s);
  EXPECT_EQ(node.writes, writes) << "whoever has ended it would do so again";
  EXPECT_EQ(node.status("a", "1").text_at("message"), "it took too long");
  node.find_absent("a:1");
  node.pass(1s);
  EXPECT_EQ(node.writes, writes);
  node.find_there("a:1");
  node.pass(1s);
  EXPECT_EQ(node.phase("a"), "Succeeded") << "it has come after all";
  EXPECT_EQ(node.counts(), "1 1 0 0 0");
}

TEST(NodePulls, AStartLongBeforeAllClocksIsNone) {
  PlayedNode node;
  node.object = with(node.object, "status", json(R"({"imageStatuses":{"a":{"tags":[
      {"tag":"1","version":1,"phase":"Pulling","startTime":"1700-01-01T00:00:00Z"}]}}})"));
  node.order(
      R"({"a":{"tags":[{"tag":"1","version":1,"pullPolicy":{"activeDeadlineSeconds":60}}]}})");
  node.find_absent("a:1");
  EXPECT_EQ(node.commands.begin()->second.limit, 60s);
  node.pass(100ms);
  EXPECT_EQ(node.status("a", "1").text_at("startTime"), "2026-11-29T01:00:00Z");
  node.pass(59s);
  node.find_there("a:1");
  EXPECT_EQ(node.phase("a"), "Succeeded");
}

TEST(NodePulls, ADaemonThatStartsGoesOn) {
  PlayedNode node;
  node.order(
      R"({"a":{"tags":[{"tag":"1","version":4},{"tag":"2","version":4},
                       {"tag":"3","version":4}]}})");
  node.find_there("a:1");
  node.find_absent("a:2");
  node.pass(1s);
  const Value before = node.status("a", "1");
  const std::string started(node.status("a", "2").text_at("startTime"));
  node.take_told();
  node.notices.clear();
  node.restart();
  EXPECT_EQ(node.take_told(), "look a:2; look a:3; ") << "what has ended is not begun again";
  EXPECT_EQ(node.status("a", "1"), before);
  node.pass(5s);
  node.find_absent("a:2");
  node.pass(100ms);
  EXPECT_EQ(node.status("a", "2").text_at("startTime"), started);
  EXPECT_EQ(node.notices, "");
}

TEST(NodePulls, ANewVersionIsANewOrder) {
  PlayedNode node;
  node.order(one);
  node.find_there("a:1");
  node.take_told();
  node.order(R"({"a":{"tags":[{"tag":"1","version":2}]}})");
  EXPECT_EQ(node.take_told(), "look a:1; ");
  node.pass(100ms);
  EXPECT_EQ(node.phase("a"), "Waiting");
  EXPECT_EQ(node.status("a", "1").integer_at("version"), 2);
  node.find_absent("a:1");
  node.take_told();
  node.order(R"({"a":{"tags":[{"tag":"1","version":3}]}})");
  EXPECT_EQ(node.take_told(), "end a:1; look a:1; ");
}

TEST(NodePulls, WhatIsNotOrderedAnyMoreEndsAndIsForgotten) {
  PlayedNode node;
  node.order(R"({"a":{"tags":[{"tag":"1"},{"tag":"2"}]},"b":{"tags":[{"tag":"1"}]}})");
  node.find_absent("a:1");
  node.find_there("b:1");
  node.take_told();
  node.order(R"({"a":{"tags":[{"tag":"2"}]}})");
  EXPECT_EQ(node.take_told(), "end a:1; ");
  node.pass(100ms);
  EXPECT_EQ(node.phase("a", "1"), "");
  EXPECT_EQ(node.object.at("status").at("imageStatuses").find("b"), nullptr);
  EXPECT_EQ(node.counts(), "1 0 0 0 1");
}

TEST(NodePulls, AnEndThatComesTooLateIsPassedOver) {
  PlayedNode node;
  node.order(one);
  const uint64_t id = node.commands.begin()->first;
  node.order("{}");
  node.pulls.ended(id, {.kind = PullOutcome::Kind::there}, node.now);
  node.pass(100ms);
  EXPECT_EQ(node.counts(), "0 0 0 0 0");
  EXPECT_EQ(node.notices, "");
}

TEST(NodePulls, WithoutItsObjectNothingGoesOn) {
  PlayedNode node;
  node.order(one);
  node.find_absent("a:1");
  node.take_told();
  node.pulls.object_gone();
  node.writes = 0;
  node.pass(1s);
  EXPECT_EQ(node.take_told(), "end a:1; ");
  EXPECT_EQ(node.writes, 0);
  EXPECT_FALSE(node.wake);
  node.order(one, "u2");
  EXPECT_EQ(node.take_told(), "look a:1; ") << "another one of the same name is another one";
}

TEST(NodePulls, AnObjectThatIsLeavingOrdersNothing) {
  PlayedNode node;
  node.order(one);
  node.take_told();
  Value leaving =
      with(node.object, "metadata",
           with(node.object.at("metadata"),
                {{"deletionTimestamp", "2026-11-29T01:00:00Z"}, {"resourceVersion", "900"}}));
  node.pulls.take_object(leaving, node.now);
  node.answers = false;
  node.go();
  EXPECT_EQ(node.take_told(), "end a:1; ");
}

TEST(NodePulls, WorkersAreLimitedAndLooksDoNotWaitForThem) {
  PlayedNode node({.most_pulls = 1, .most_looks = 2});
  node.order(
      R"({"a":{"tags":[{"tag":"1"}]},"b":{"tags":[{"tag":"1"}]},"c":{"tags":[{"tag":"1"}]}})");
  EXPECT_EQ(node.take_told(), "look a:1; look b:1; ");
  node.find_absent("a:1");
  EXPECT_EQ(node.take_told(), "pull a:1; look c:1; ");
  node.find_absent("b:1");
  node.find_there("c:1");
  EXPECT_EQ(node.take_told(), "") << "b:1 waits for the worker";
  node.pass(100ms);
  EXPECT_EQ(node.phase("c"), "Succeeded");
  EXPECT_EQ(node.phase("b"), "Waiting");
  node.find_there("a:1");
  EXPECT_EQ(node.take_told(), "pull b:1; ");
}

TEST(NodePulls, OlderOrdersGoFirstAndRepeatedOnesLast) {
  PlayedNode node({.most_pulls = 1});
  node.order(
      R"({"a":{"tags":[{"tag":"1","imagePullPolicy":"Always","createdAt":"2026-11-29T00:00:03Z"}]},
          "b":{"tags":[{"tag":"1","imagePullPolicy":"Always","createdAt":"2026-11-29T00:00:02Z"}]},
          "c":{"tags":[{"tag":"1","imagePullPolicy":"Always","createdAt":"2026-11-29T00:00:01Z"}]}
          })");
  EXPECT_EQ(node.take_told(), "pull c:1; ");
  node.fail("c:1");
  EXPECT_EQ(node.take_told(), "pull b:1; ");
  node.pass(10s);
  node.find_there("b:1");
  EXPECT_EQ(node.take_told(), "pull a:1; ");
  node.find_there("a:1");
  EXPECT_EQ(node.take_told(), "pull c:1; ");
}

TEST(NodePulls, ARuntimeThatIsAwayCostsNoAttemptForAWhile) {
  PlayedNode node;
  const PullOutcome away{.kind = PullOutcome::Kind::away, .message = "nobody answers"};
  node.order(R"({"a":{"tags":[{"tag":"1","pullPolicy":{"backoffLimit":0,"timeoutSeconds":60}}]}})");
  for (int i = 0; i < 3; ++i) {
    node.end("a:1", away);
    node.pass(10s);
  }
  EXPECT_EQ(node.status("a", "1").text_at("message"), "nobody answers");
  EXPECT_EQ(node.counts(), "1 0 0 0 1");
  node.find_absent("a:1");
  node.pass(100ms);
  EXPECT_EQ(node.status("a", "1").text_at("message"), "");
  node.end("a:1", away);
  for (int i = 0; i < 2; ++i) {
    node.pass(30s);
    node.end("a:1", away);
  }
  node.pass(100ms);
  EXPECT_EQ(node.phase("a"), "Failed") << "it was away for as long as an attempt may take";
}

TEST(NodePulls, ChangesDuringAWriteAreGathered) {
  PlayedNode node;
  node.answers = false;
  node.order(R"({"a":{"tags":[{"tag":"1"}]},"b":{"tags":[{"tag":"1"}]}})");
  node.find_there("a:1");
  node.find_there("b:1");
  EXPECT_EQ(node.counts(), "-1 -1 -1 -1 -1");
  // The first write was of the beginning; its answer comes now.
  node.answers = true;
  node.pulls.status_written(node.object, node.now);
  node.go();
  EXPECT_EQ(node.writes, 0);
  EXPECT_EQ(node.until_wake(), 100ms);
  node.pass(100ms);
  EXPECT_EQ(node.writes, 1);
  EXPECT_EQ(node.counts(), "2 2 0 0 0");
}

TEST(NodePulls, AStatusThatIsRefusedIsWrittenLaterAndSoonerIfTheObjectHasChanged) {
  PlayedNode node;
  node.answers = false;
  node.order(one);
  kubernetes::ApiError error(world_error("on purpose"));
  node.pulls.status_written(error, node.now);
  node.go();
  EXPECT_EQ(node.until_wake(), 1s);
  node.answers = true;
  node.pass(999ms);
  EXPECT_EQ(node.writes, 0);
  node.answers = false;
  node.pass(1ms);
  error.reason = kubernetes::ApiReason::conflict;
  node.pulls.status_written(error, node.now);
  node.answers = true;
  node.go();
  EXPECT_EQ(node.writes, 0);
  node.order(R"({"a":{"tags":[{"tag":"1","version":1},{"tag":"2"}]}})");
  EXPECT_EQ(node.writes, 1);
  EXPECT_EQ(node.counts(), "2 0 0 0 2");
}

TEST(NodePulls, AWriteThatWasOutrunByAKnownChangeIsSoonRepeated) {
  PlayedNode node;
  node.answers = false;
  node.order(one);
  node.order(R"({"a":{"tags":[{"tag":"1","version":1},{"tag":"2"}]}})");
  node.answer(false);
  EXPECT_EQ(node.until_wake(), 100ms);
  node.answers = true;
  node.pass(100ms);
  EXPECT_EQ(node.counts(), "2 0 0 0 2");
}

TEST(NodePulls, WhatAServerLeavesOutIsNotWrittenAgain) {
  PlayedNode node;
  node.answers = false;
  node.order(one);
  const Value pruned =
      with(node.object, "status", json(R"({"desired":1,"imageStatuses":{"a":{"tags":[]}}})"));
  node.pulls.status_written(pruned, node.now);
  node.answers = true;
  node.pass(1h);
  EXPECT_EQ(node.writes, 0);
  EXPECT_FALSE(node.wake);
}

TEST(NodePulls, WhatOthersWroteIntoTheStatusIsPutRight) {
  PlayedNode node;
  node.order(one);
  node.pass(1s);
  node.writes = 0;
  node.object =
      with(node.object, "status",
           with(node.object.at("status"), {{"desired", 7},
                                           {"firstSyncStatus", json(R"({"status":"x"})")},
                                           {"imageStatuses", json(R"({"z":{"tags":[]}})")}}));
  node.stored("u1");
  node.pulls.take_object(node.object, node.now);
  node.go();
  EXPECT_EQ(node.writes, 1);
  EXPECT_EQ(node.counts(), "1 0 0 0 1");
  EXPECT_EQ(node.phase("a"), "Waiting");
  EXPECT_EQ(node.object.at("status").at("imageStatuses").find("z"), nullptr);
  EXPECT_NE(node.object.at("status").find("firstSyncStatus"), nullptr);
}

/// As it was, from a store that was put back: with a version before all others.
Value put_back(const Value& object) {
  return with(object, "metadata", with(object.at("metadata"), "resourceVersion", "50"));
}

TEST(NodePulls, WhatWasOnItsWayBeforeAWriteIsPassedOver) {
  PlayedNode node;
  node.order(one);
  const Value before = node.object;
  node.find_there("a:1");
  node.pass(100ms);
  ASSERT_EQ(node.phase("a"), "Succeeded");
  const int writes = node.writes;
  node.take_told();
  node.pulls.take_object(before, node.now);
  node.pass(1s);
  EXPECT_EQ(node.take_told(), "");
  EXPECT_EQ(node.writes, writes);
}

TEST(NodePulls, AStoreThatWasPutBackIsToldAgainWhatWasDone) {
  PlayedNode node;
  node.order(one);
  const Value before = node.object;
  node.find_there("a:1");
  node.pass(100ms);
  ASSERT_EQ(node.phase("a"), "Succeeded");
  node.take_told();
  node.object = put_back(with(before, "status", Value()));
  node.pulls.take_object(node.object, node.now);
  node.pulls.listed(node.now);
  node.pass(1s);
  EXPECT_EQ(node.take_told(), "") << "it is the same order";
  EXPECT_EQ(node.phase("a"), "Succeeded");
}

TEST(NodePulls, AnOrderWhoseVersionWentBackIsANewOne) {
  PlayedNode node;
  node.order(R"({"a":{"tags":[{"tag":"1","version":3,"createdAt":"2026-11-29T01:00:00Z"}]}})");
  node.find_there("a:1");
  node.pass(100ms);
  node.take_told();
  const auto given = [&](std::string_view tag) {
    node.object =
        put_back(with(node.object, "spec", json(cat(R"({"images":{"a":{"tags":[)", tag, "]}}}"))));
    node.object = with(node.object, "status", Value());
    node.pulls.take_object(node.object, node.now);
    node.pass(100ms);
  };
  given(R"({"tag":"1","version":2,"createdAt":"2026-11-29T00:50:00Z"})");
  EXPECT_EQ(node.take_told(), "look a:1; ");
  node.find_there("a:1");
  node.pass(100ms);
  EXPECT_EQ(node.status("a", "1").integer_at("version"), 2);
  EXPECT_EQ(node.phase("a"), "Succeeded");
  node.take_told();
  // Whoever gives it anew counts from what the object says.
  given(R"({"tag":"1","version":2,"createdAt":"2026-11-29T01:10:00Z"})");
  EXPECT_EQ(node.take_told(), "look a:1; ");
}

TEST(NodePulls, AnOwnerThatGoesMakesNoNewOrder) {
  PlayedNode node;
  node.order(R"({"a":{"tags":[{"tag":"1","version":1,"ownerReferences":[{"uid":"j1"},
    {"uid":"j2"}]}]}})");
  node.find_absent("a:1");
  node.take_told();
  node.order(R"({"a":{"tags":[{"tag":"1","version":1,"ownerReferences":[{"uid":"j2"}]}]}})");
  EXPECT_EQ(node.take_told(), "");
}

TEST(NodePulls, AHostileStatusIsNoStatus) {
  PlayedNode node;
  for (const char* const status :
       {"1", "[]", R"({"imageStatuses":[]})", R"({"imageStatuses":{"a":7}})",
        R"({"imageStatuses":{"a":{"tags":[1,{"tag":"1","version":1,"completionTime":""}]}}})"}) {
    node.object = with(node.object, "status", json(status));
    node.order(one, status);
    EXPECT_EQ(node.take_told(), "look a:1; ") << status;
    node.pass(1s);
    EXPECT_EQ(node.counts(), "1 0 0 0 1") << status;
    node.commands.clear();
    node.pulls.object_gone();
    node.pulls.step(node.now);
  }
}

constexpr PullSettings few{.most_pulls = 2, .most_looks = 2};

/// Whatever can happen to a node, by chance.
class ChanceNode {
 public:
  explicit ChanceNode(uint64_t seed) : prng_(seed) {}

  void happen() {
    switch (prng_.below(10)) {
      case 0:
      case 1:
        return change_order();
      case 2:
      case 3:
      case 4:
        return end_something();
      case 5:
        return node.pass(Duration(1s) * static_cast<int64_t>(prng_.below(40)));
      case 6:
        return node.pass(100ms);
      case 7:
        node.answers = !node.answers;
        return node.answer(prng_.chance(30));
      case 8:
        return node.answer(prng_.chance(30));
      default:
        if (prng_.chance(20))
          node.restart(few);
    }
  }
  /// From now on all goes well.
  void settle() {
    node.answers = true;
    node.answer(false);
    for (int i = 0; i < 1'000 && (!node.commands.empty() || node.wake); ++i) {
      if (!node.commands.empty())
        node.find_there(node.commands.begin()->second.order.reference());
      else
        node.pass(std::max<Duration>(node.until_wake(), 0s));
    }
  }
  /// What is under way is ordered, of the version that is under way, and not too much.
  void check() const {
    std::map<PullCommand::Kind, int> count;
    for (const auto& [id, command] : node.commands) {
      const auto wanted = versions_.find({command.order.image, command.order.tag});
      ASSERT_NE(wanted, versions_.end());
      EXPECT_EQ(wanted->second, command.order.version);
      EXPECT_LE(++count[command.kind], 2);
      EXPECT_TRUE(command.kind == PullCommand::Kind::look || command.limit > Duration(0));
    }
  }
  size_t orders() const { return versions_.size(); }

  PlayedNode node{few};

 private:
  void change_order() {
    const ImageAndTag key(std::string(1, static_cast<char>('a' + prng_.below(3))),
                          cat(prng_.below(3)));
    if (prng_.chance(30))
      versions_.erase(key);
    else
      versions_[key] = ++last_version_;
    std::map<std::string, std::string> tags;
    for (const auto& [each, version] : versions_)
      tags[each.first] +=
          cat(tags[each.first].empty() ? "" : ",", R"({"tag":")", each.second, R"(","version":)",
              version, R"(,"pullPolicy":{"backoffLimit":)", version % 3, R"(,"timeoutSeconds":30)",
              version % 2 == 0 ? R"(,"activeDeadlineSeconds":60)" : "", "}}");
    std::string images;
    for (const auto& [image, list] : tags)
      images += cat(images.empty() ? "" : ",", "\"", image, R"(":{"tags":[)", list, "]}");
    node.order(cat("{", images, "}"));
  }
  void end_something() {
    if (node.commands.empty())
      return;
    const auto any =
        std::next(node.commands.begin(), static_cast<int64_t>(prng_.below(node.commands.size())));
    using Kind = PullOutcome::Kind;
    const bool is_look = any->second.kind == PullCommand::Kind::look;
    const Kind kinds[] = {Kind::there, is_look ? Kind::absent : Kind::failed, Kind::away,
                          Kind::failed, Kind::refused};
    node.end(any->second.order.reference(),
             {.kind = kinds[prng_.below(5)], .image_id = {}, .message = "by chance"});
  }

  Prng prng_;
  std::map<ImageAndTag, int64_t> versions_;
  int64_t last_version_ = 0;
};

TEST(NodePulls, WhateverHappensEachOrderEndsOnce) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    ChanceNode chance(seed);
    for (int i = 0; i < 80; ++i) {
      chance.happen();
      chance.check();
    }
    chance.settle();
    EXPECT_TRUE(chance.node.commands.empty());
    EXPECT_FALSE(chance.node.wake);
    const Value& status = chance.node.object.at("status");
    const auto orders = static_cast<int64_t>(chance.orders());
    EXPECT_EQ(status.integer_at("desired", 0), orders);
    EXPECT_EQ(status.integer_at("succeeded") + status.integer_at("failed"), orders);
    // Another daemon has nothing to do.
    const Value before = chance.node.object;
    chance.node.restart(few);
    EXPECT_TRUE(chance.node.commands.empty());
    EXPECT_EQ(chance.node.object, before);
  }
}

}  // namespace
}  // namespace fettle::node
