#include "verbs/cluster/put_aside.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_transport.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"

namespace fettle {
namespace {

using kubernetes::json;

constexpr std::string_view aside_kind = "MutatingWebhookConfiguration";

class PutAsideTest : public testing::Test {
 protected:
  PutAsideTest() {
    const auto made = client_.create(
        cluster::types::spaces, {},
        json(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}})"), {}, {});
    EXPECT_TRUE(made) << to_string(made.error());
  }
  PutAside aside() {
    auto read = PutAside::read(client_, "a", {});
    EXPECT_TRUE(read) << to_string(read.error());
    return std::move(*read);
  }
  static Value webhooks_called(std::string_view name, const std::string& more = "x") {
    return Value::dict({{"apiVersion", "admissionregistration.k8s.io/v1"},
                        {"kind", aside_kind},
                        {"metadata", Value::dict({{"name", name}})},
                        {"webhooks", Value::list({Value::dict({{"name", more}})})}});
  }
  size_t copies() { return client_.list(cluster_types::config_maps, "a", {}, {})->items.size(); }
  /// Which of the next writes is refused, from 1 on, and all after it.
  void refuse_from(int write) {
    server_.fail(
        1'000,
        [left = write](const kubernetes::ApiRequest& request) mutable {
          return request.method != "GET" && --left <= 0;
        },
        kubernetes::refusal(500, "InternalError", "on purpose"));
  }

  kubernetes::ApiServer server_;
  Time now_ = Time(Duration(1'800'000'000'000'000'000));
  kubernetes::Client client_{std::make_unique<kubernetes::PlayedTransport>(server_, now_),
                             {.qps = 0}};
};

TEST_F(PutAsideTest, WhatIsStoredIsFoundByTheNext) {
  EXPECT_FALSE(*PutAside::is_there(client_, "a", {}));
  PutAside first = aside();
  ASSERT_TRUE(first.store(webhooks_called("one")));
  ASSERT_TRUE(first.store(webhooks_called("two")));
  EXPECT_TRUE(*PutAside::is_there(client_, "a", {}));
  EXPECT_EQ(aside().find(aside_kind, "one"), webhooks_called("one"));
  EXPECT_EQ(aside().find(aside_kind, "two"), webhooks_called("two"));
  EXPECT_TRUE(aside().find(aside_kind, "three").is_null());
  EXPECT_TRUE(aside().find("Other", "one").is_null());
}

TEST_F(PutAsideTest, WhatAServerKeepsForItselfIsLeftOut) {
  Value object = webhooks_called("one");
  object = with(object,
                {{"status", 7}, {"metadata", json(R"({"name":"one","uid":"u","resourceVersion":"9",
                           "generation":2,"creationTimestamp":"2026-11-22T13:40:53Z",
                           "managedFields":[{}],"labels":{"a":"b"},"annotations":{"c":"d"}})")}});
  ASSERT_TRUE(aside().store(object));
  EXPECT_EQ(aside().find(aside_kind, "one"),
            with(webhooks_called("one"), "metadata",
                 json(R"({"name":"one","labels":{"a":"b"},"annotations":{"c":"d"}})")));
}

TEST_F(PutAsideTest, TheSameIsNotStoredTwice) {
  ASSERT_TRUE(aside().store(webhooks_called("one")));
  refuse_from(1);
  EXPECT_TRUE(aside().store(webhooks_called("one")));
  EXPECT_FALSE(aside().store(webhooks_called("one", "other")));
}

/// The parts are cut between characters.
TEST_F(PutAsideTest, ALargeObjectHasSeveralCopies) {
  std::string text = "x";
  while (text.size() < 2'000'000)
    text += "größe ☃ ";
  ASSERT_TRUE(aside().store(webhooks_called("one", text)));
  EXPECT_EQ(copies(), 3u);
  EXPECT_EQ(aside().find(aside_kind, "one"), webhooks_called("one", text));
  ASSERT_TRUE(aside().store(webhooks_called("one", "short")));
  EXPECT_EQ(copies(), 1u);
  EXPECT_EQ(aside().find(aside_kind, "one"), webhooks_called("one", "short"));
}

TEST_F(PutAsideTest, HalfACopyIsNoneAndIsWrittenAgain) {
  const Value large = webhooks_called("one", std::string(1'500'000, 'a'));
  for (int write = 2; write <= 3; ++write) {
    refuse_from(write);
    EXPECT_FALSE(aside().store(large));
    server_.stop_failing();
    EXPECT_EQ(copies(), static_cast<size_t>(write - 1));
    EXPECT_TRUE(aside().find(aside_kind, "one").is_null());
    EXPECT_TRUE(*PutAside::is_there(client_, "a", {}));
  }
  ASSERT_TRUE(aside().store(large));
  EXPECT_EQ(aside().find(aside_kind, "one"), large);
  // One part of another text over one of this.
  refuse_from(2);
  EXPECT_FALSE(aside().store(webhooks_called("one", std::string(1'500'000, 'b'))));
  server_.stop_failing();
  EXPECT_TRUE(aside().find(aside_kind, "one").is_null());
}

TEST_F(PutAsideTest, AllCopiesGo) {
  ASSERT_TRUE(aside().store(webhooks_called("one", std::string(1'500'000, 'a'))));
  ASSERT_TRUE(aside().store(webhooks_called("two")));
  refuse_from(3);
  EXPECT_FALSE(aside().remove_all());
  server_.stop_failing();
  EXPECT_EQ(copies(), 2u);
  ASSERT_TRUE(aside().remove_all());
  EXPECT_EQ(copies(), 0u);
  EXPECT_FALSE(*PutAside::is_there(client_, "a", {}));
}

}  // namespace
}  // namespace fettle
