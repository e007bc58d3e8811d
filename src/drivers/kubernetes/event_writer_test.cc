#include "drivers/kubernetes/event_writer.h"

#include <gtest/gtest.h>

#include "base/wait.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_transport.h"

namespace fettle {
namespace {

using kubernetes::json;

constexpr Time now = Time(Duration(1'800'000'000'000'000'000));

workloads::Object set_of(const Name& space) {
  workloads::Object set;
  set.kind = space.empty() ? "SidecarSet" : "CloneSet";
  set.space = space;
  set.name = "web";
  set.uid = "u1";
  set.document = json(R"({"apiVersion":"apps.kruise.io/v1beta1"})");
  return set;
}

ObjectNotice notice_saying(const Name& text) {
  ObjectNotice notice;
  notice.reason = "SuccessfulCreate";
  notice.text = text;
  return notice;
}

TEST(EventObject, SaysWhatItIsAbout) {
  const Value event = event_object(notice_saying("made web-1"), set_of("shop"), now, 1);
  EXPECT_EQ(event.at("metadata").text_at("namespace"), "shop");
  EXPECT_TRUE(event.at("metadata").text_at("name").starts_with("web."));
  EXPECT_EQ(event.at("involvedObject"), json(R"({"apiVersion":"apps.kruise.io/v1beta1",
    "kind":"CloneSet","namespace":"shop","name":"web","uid":"u1"})"));
  EXPECT_EQ(event.text_at("message"), "made web-1");
  EXPECT_EQ(event.text_at("type"), "Normal");
  EXPECT_EQ(event.text_at("lastTimestamp"), "2027-01-15T08:00:00Z");
}

TEST(EventObject, HasANameOfItsOwn) {
  const auto name = [](Time at, uint64_t number) {
    return std::string(event_object(notice_saying("a"), set_of("shop"), at, number)
                           .at("metadata")
                           .text_at("name"));
  };
  EXPECT_NE(name(now, 1), name(now, 2));
  EXPECT_NE(name(now, 1), name(now + 1s, 1));
}

TEST(EventObject, OfNoNamespaceStandsInTheDefaultOne) {
  const Value event = event_object(notice_saying("a"), set_of(""), now, 1);
  EXPECT_EQ(event.at("metadata").text_at("namespace"), "default");
  EXPECT_EQ(event.at("involvedObject").text_at("namespace"), "");
}

TEST(EventObject, IsNoLongerThanAServerTakes) {
  const Value event =
      event_object(notice_saying(Name(std::string(5'000, 'x'))), set_of("shop"), now, 1);
  EXPECT_LE(event.text_at("message").size(), 1'024u);
}

TEST(EventLimit, IsForEachObject) {
  EventLimit limit;
  int taken = 0;
  for (int i = 0; i < 100; ++i)
    taken += limit.take("u1", now) ? 1 : 0;
  EXPECT_EQ(taken, 25);
  EXPECT_TRUE(limit.take("u2", now));
  EXPECT_FALSE(limit.take("u1", now + 299s));
  EXPECT_TRUE(limit.take("u1", now + 301s));
}

TEST(EventWriter, WritesInTheBackground) {
  kubernetes::ApiServer server;
  Time time = now;
  kubernetes::Client client(std::make_unique<kubernetes::PlayedTransport>(server, time),
                            {.qps = 0});
  {
    EventWriter writer(client);
    writer.tell(notice_saying("one"), set_of("default"), now);
    writer.tell(notice_saying("two"), set_of("default"), now);
    for (int i = 0; i < 500; ++i) {
      const auto found = client.list(kubernetes::types::events, "default", {}, {});
      ASSERT_TRUE(found) << to_string(found.error());
      if (found->items.size() == 2)
        return;
      ASSERT_TRUE(pause_for(10ms, {}));
    }
  }
  FAIL() << "nobody wrote them";
}

}  // namespace
}  // namespace fettle
