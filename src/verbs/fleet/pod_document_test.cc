/// What a row about a pod says, beside what kubectl says of one like it.

#include "verbs/fleet/pod_document.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

Value resource_json(const std::string& text) {
  const auto value = read_json(text);
  EXPECT_TRUE(value) << to_string(value.error()) << text;
  return value.value_or(Value());
}

class PodDocument : public testing::Test {
 protected:
  PodDocument() {
    resource_.key = {"fleet", "pod", "n1|shop/web-1"};
    resource_.attributes = resource_json(
        R"({"name":"web-1","node":"n1","template":{"spec":{"initContainers":[)"
        R"({"name":"first","image":"i:1"},{"name":"side","image":"s:1","restartPolicy":"Always"},)"
        R"({"name":"second","image":"i:2"}],"containers":[{"name":"main","image":"m:1"},)"
        R"({"name":"log","image":"l:1"}]}}})");
  }
  /// A container's row in the status.
  static std::string row(std::string_view name, std::string_view state, bool is_ready = false,
                         int restarts = 0, std::string_view more = "") {
    return cat(R"({"name":")", name, R"(","ready":)", is_ready ? "true" : "false",
               R"(,"restartCount":)", restarts, R"(,"state":{)", state, "}", more, "}");
  }
  static std::string ended(int code) {
    return cat(R"("terminated":{"exitCode":)", code, R"(,"reason":")",
               code == 0 ? "Completed" : "Error", R"("})");
  }
  /// `READY STATUS RESTARTS` of a pod that is being made.
  std::string text(const std::string& init, const std::string& others,
                   const std::string& error = "", Verb verb = Verb::create,
                   Value outputs = Value::dict({})) {
    Record record;
    record.outputs = std::move(outputs);
    record.attempt = Attempt{.resource = resource_,
                             .verb = verb,
                             .started = {},
                             .failed = !error.empty(),
                             .error = error};
    return told(record, cat(R"({"phase":"Pending","initContainerStatuses":[)", init,
                            R"(],"containerStatuses":[)", others, "]}"));
  }
  static std::string told(const Record& record, const std::string& status) {
    Observation seen;
    if (!status.empty())
      seen.state = resource_json(status);
    const PodRowText text =
        pod_row_text(pod_document(Key{"fleet", "pod", "n1|shop/web-1"}, record, &seen));
    return cat(text.ready, " ", text.status, " ", text.restarts);
  }

  Resource resource_;
  const std::string running_ = R"("running":{})", done_ = row("first", ended(0), true);
  const std::string side_ = row("side", running_, true, 0, R"(,"started":true)");
};

TEST_F(PodDocument, InitContainersAreToldAsKubectlTellsThem) {
  EXPECT_EQ(text("", ""), "0/3 Init:0/3 0");
  EXPECT_EQ(text(row("first", running_), ""), "0/3 Init:0/3 0");
  EXPECT_EQ(text(row("first", ended(3)), ""), "0/3 Init:Error 0");
  EXPECT_EQ(text(row("first", running_, false, 4, R"(,"backOff":true)"), ""),
            "0/3 Init:CrashLoopBackOff 4");
  EXPECT_EQ(text(cat(done_, ",", row("side", running_)), ""), "0/3 Init:1/3 0");
  EXPECT_EQ(text(cat(done_, ",", side_), ""), "1/3 Init:2/3 0");
  EXPECT_EQ(text(cat(done_, ",", side_, ",", row("second", ended(0), true)), ""),
            "1/3 PodInitializing 0");
}

TEST_F(PodDocument, AnImageThatCannotBePulledIsNamed) {
  const auto lacks = [](const char* image, const char* reason) {
    return Value::dict({{"image_error", Value::dict({{"image", image}, {"reason", reason}})}});
  };
  const auto with = [&](const std::string& init, Value outputs) {
    return text(init, "", "no such image", Verb::create, std::move(outputs));
  };
  EXPECT_EQ(with("", lacks("i:1", "ErrImagePull")), "0/3 Init:ErrImagePull 0");
  const std::string init = cat(done_, ",", side_, ",", row("second", ended(0), true));
  EXPECT_EQ(with(init, lacks("m:1", "ErrImagePull")), "1/3 ErrImagePull 0");
  EXPECT_EQ(with(init, lacks("m:1", "ErrImageNeverPull")), "1/3 ErrImageNeverPull 0");
  EXPECT_EQ(text(init, "", "cannot pull `m:1`: words say nothing"), "1/3 PodInitializing 0");
  EXPECT_EQ(text(init, "", "", Verb::create, lacks("m:1", "ErrImagePull")), "1/3 PodInitializing 0")
      << "it is tried again";
}

TEST_F(PodDocument, ContainersAreCountedAndTheFirstThatDoesNotRunIsTold) {
  const std::string init = cat(done_, ",", side_, ",", row("second", ended(0), true));
  Record record;
  record.applied = resource_;
  const auto pod = [&](const std::string& main, const std::string& log) {
    return told(record, cat(R"({"phase":"Running","initContainerStatuses":[)", init,
                            R"(],"containerStatuses":[)", main, ",", log, "]}"));
  };
  const std::string log = row("log", running_, true);
  EXPECT_EQ(pod(row("main", running_, true, 2), log), "3/3 Running 2");
  EXPECT_EQ(pod(row("main", ended(1), false, 1), log), "2/3 Error 1");
  EXPECT_EQ(pod(row("main", running_, false, 1, R"(,"backOff":true)"), log),
            "2/3 CrashLoopBackOff 1");
  EXPECT_EQ(pod(row("main", ended(0)), log), "2/3 NotReady 0");
}

TEST_F(PodDocument, ContainersOfWhichNoKubeletHasSaidAnythingAreCounted) {
  const PodRowText row = pod_row_text(*read_json(R"({"metadata":{"name":"a"},
      "spec":{"containers":[{"name":"c"},{"name":"d"}]},"status":{"phase":"Pending"}})"));
  EXPECT_EQ(row.ready, "0/2");
  EXPECT_EQ(row.status, "Pending");
}

TEST_F(PodDocument, WhatGoesAndWhatNobodySawIsTold) {
  EXPECT_EQ(text("", "", "", Verb::remove), "0/3 Terminating 0");
  Record record;
  record.applied = resource_;
  EXPECT_EQ(told(record, ""), "0/2 Unknown 0");
}

}  // namespace
}  // namespace fettle
