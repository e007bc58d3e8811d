#include "controller/cluster_history.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/kubernetes/json_text.h"

namespace fettle {
namespace {

using kubernetes::json;
using Lines = std::vector<std::string>;

TEST(ClusterHistory, AnEventHasTheTimeOfTheLastTime) {
  struct Row {
    const char *fields, *time;
    int64_t count;
  };
  for (const Row& row : std::vector<Row>{
           {R"("firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-02T00:00:00Z",
               "count":3)",
            "2026-01-02T00:00:00.000Z", 3},
           {R"("lastTimestamp":null,"eventTime":"2026-01-03T00:00:00.500000Z")",
            "2026-01-03T00:00:00.500Z", 1},
           {R"("eventTime":"2026-01-03T00:00:00.000000Z",
               "series":{"count":7,"lastObservedTime":"2026-01-04T00:00:00.000000Z"})",
            "2026-01-04T00:00:00.000Z", 7},
           {R"("metadata":{"creationTimestamp":"2026-01-05T00:00:00Z"},"count":-2)",
            "2026-01-05T00:00:00.000Z", 1}}) {
    const ClusterEvent event = event_of_cluster(json(cat("{", row.fields, "}")));
    EXPECT_EQ(to_string(event.time), row.time) << row.fields;
    EXPECT_EQ(event.count, row.count) << row.fields;
  }
}

TEST(ClusterHistory, AnEventIsAboutAnObject) {
  const ClusterEvent event = event_of_cluster(json(R"({"type":"Warning","reason":"BackOff",
      "message":" again \n","involvedObject":{"kind":"Pod","namespace":"shop","name":"web-1"}})"));
  EXPECT_EQ(event.object, "Pod/shop/web-1");
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.reason, "BackOff");
  EXPECT_EQ(event.text, "again");
}

TEST(ClusterHistory, OfWhatIsNoEventNothingIsKnown) {
  for (const char* text : {"7", "null", "[]", R"({"involvedObject":"x","series":[],"count":"a"})"})
    EXPECT_EQ(event_of_cluster(json(text)).count, 1) << text;
}

TEST(ClusterHistory, EventsAreSortedByTime) {
  const auto events =
      events_in_order({json(R"({"reason":"b","eventTime":"2026-01-02T00:00:00Z"})"),
                       json(R"({"reason":"a","eventTime":"2026-01-01T00:00:00Z"})")});
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].reason, "a");
}

TEST(ClusterHistory, WhatNoControllerHasSeenIsSaid) {
  EXPECT_EQ(unseen_text(json(R"({"metadata":{"generation":2},"status":{"observedGeneration":2}})")),
            "");
  EXPECT_EQ(unseen_text(json(R"({"metadata":{"generation":2},"status":{"observedGeneration":1}})")),
            "its controller has seen generation 1 of 2");
  EXPECT_EQ(unseen_text(json(R"({"metadata":{"generation":1}})")), "no controller has seen it yet");
}

TEST(ClusterHistory, AStatusTellsItsReasonAndItsConditionsOnce) {
  const Value workload = json(R"({"metadata":{"generation":1},"status":{"observedGeneration":1,
      "phase":"failed","reason":"no quota","conditions":[
        {"type":"Progressing","status":"False","message":"too late",
         "lastTransitionTime":"2026-01-02T03:04:05Z"},
        {"type":"FailedScale","status":"True","message":"no quota"},
        {"type":"Quiet","status":"True"},7]}})");
  EXPECT_EQ(status_lines(workload, "pod web-1: it waits"),
            (Lines{"its controller says: failed: no quota",
                   "2026-01-02T03:04:05.000Z Progressing is False: too late",
                   "FailedScale is True: no quota"}));
  EXPECT_EQ(status_lines(workload, "no quota"),
            (Lines{"2026-01-02T03:04:05.000Z Progressing is False: too late"}));
}

TEST(ClusterHistory, TheLastActIsThatOnTheNewestPodOrTheLastUpdateInPlace) {
  const Value made = json(R"({"metadata":{"name":"a","namespace":"shop",
      "creationTimestamp":"2026-01-02T00:00:00Z","labels":{"controller-revision-hash":"web-1"}}})");
  const Value updated = json(R"({"metadata":{"name":"b","namespace":"shop",
      "creationTimestamp":"2026-01-01T00:00:00Z","labels":{"controller-revision-hash":"web-2"},
      "annotations":{"apps.kruise.io/inplace-update-state":
        "{\"revision\":\"web-2\",\"updateTimestamp\":\"2026-01-03T00:00:00Z\"}"}}})");
  EXPECT_EQ(last_act_on({}), "");
  EXPECT_EQ(last_act_on({made}),
            "last act: 2026-01-02T00:00:00.000Z pod `shop/a` was made; it has revision `web-1`");
  EXPECT_EQ(last_act_on({updated, made}),
            "last act: 2026-01-03T00:00:00.000Z pod `shop/b` was updated in place; it has revision "
            "`web-2`");
  EXPECT_TRUE(last_act_on({json(R"({"metadata":{"name":"c","annotations":{
      "apps.kruise.io/inplace-update-state":"{broken"}}})")})
                  .ends_with("pod `/c` was made"));
}

}  // namespace
}  // namespace fettle
