#include "cluster/node_images.h"

#include <gtest/gtest.h>

#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/secret_copies.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/patches.h"
#include "value/with.h"
#include "workloads/decide/pulls.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;
using workloads::PullSeen;

const Time now = *read_moment("2027-01-15T08:00:00Z");

Value job_object(std::string_view name, std::string_view image, std::string_view more = {}) {
  return json(cat(R"({"metadata":{"namespace":"default","name":")", name, R"(","uid":"uid-of-)",
                  name, R"("},"spec":{"image":")", image, R"(")", more, "}}"));
}

WantedOrder wanted_order(const Value& job) {
  WantedOrder wanted;
  wanted.image.reference = job.at("spec").text_at("image");
  wanted.image.node = "n1";
  wanted.image.attempts = 2;
  wanted.image.timeout = 300;
  wanted.image.job = cat("default/", job.at("metadata").text_at("name"));
  wanted.job = job;
  return wanted;
}

Value node_object(std::string_view labels = "{}", std::string_view ready = "True") {
  return json(cat(R"({"metadata":{"name":"n1","labels":)", labels,
                  R"(},"status":{"conditions":[{"type":"Ready","status":")", ready,
                  R"(","lastTransitionTime":"2027-01-15T07:59:00Z"}]}})"));
}

Value empty_node_image() {
  return with(node_image_for(node_object()), "metadata",
              json(R"({"name":"n1","uid":"u","resourceVersion":"7","labels":{}})"));
}

/// The NodeImage after some orders were given to it.
Value ordered(const Value& node_image, const std::vector<Value>& jobs, Time when = now) {
  std::vector<WantedOrder> orders;
  for (const Value& job : jobs)
    orders.push_back(wanted_order(job));
  return kubernetes::merge_patch(node_image, orders_change(node_image, orders, when));
}

const Value& order_in(const Value& node_image, std::string_view image, std::string_view tag) {
  static const Value none;
  for (const Value& each : items_of(node_image.at("spec").at("images").at(image).at("tags")))
    if (each.text_at("tag") == tag)
      return each;
  return none;
}

/// What the node tells of an order.
Value told(const Value& node_image, std::string_view image, std::string_view row) {
  return with(node_image, "status",
              json(cat(R"({"imageStatuses":{")", image, R"(":{"tags":[)", row, "]}}}")));
}

/// Jobs that go on, by name.
FindJob finder(std::map<std::string, JobOfOrder> jobs) {
  return [jobs = std::move(jobs)](const kubernetes::ObjectName& name,
                                  std::string_view uid) -> std::optional<JobOfOrder> {
    const auto found = jobs.find(name.name);
    if (found == jobs.end() || uid != cat("uid-of-", name.name))
      return std::nullopt;
    return found->second;
  };
}

TEST(NodeImages, ImagesAreCalledAsPeopleCallThem) {
  const std::string digest = cat("sha256:", std::string(64, 'a'));
  EXPECT_EQ(name_and_tag("nginx"), (NameAndTag{"nginx", "latest"}));
  EXPECT_EQ(name_and_tag("docker.io/library/nginx:1.28"), (NameAndTag{"nginx", "1.28"}));
  EXPECT_EQ(name_and_tag("docker.io/a/b:2"), (NameAndTag{"a/b", "2"}));
  EXPECT_EQ(name_and_tag("ghcr.io/a/b:2"), (NameAndTag{"ghcr.io/a/b", "2"}));
  EXPECT_EQ(name_and_tag("localhost:5000/a"), (NameAndTag{"localhost:5000/a", "latest"}));
  EXPECT_EQ(name_and_tag(cat("nginx:1@", digest)), (NameAndTag{"nginx", digest}));
}

TEST(NodeImages, OneChangeHasAllOrders) {
  const Value node_image =
      ordered(empty_node_image(), {job_object("a", "web:2"), job_object("b", "web:3"),
                                   job_object("c", "side:1", R"(,"pullSecrets":["key"])")});
  const Value& order = order_in(node_image, "web", "2");
  EXPECT_EQ(order.integer_at("version", -1), 0);
  EXPECT_EQ(order.text_at("createdAt"), "2027-01-15T08:00:00Z");
  EXPECT_EQ(order.text_at("imagePullPolicy"), "IfNotPresent");
  EXPECT_EQ(order.at("pullPolicy").integer_at("backoffLimit"), 1);
  EXPECT_EQ(order.at("pullPolicy").integer_at("timeoutSeconds"), 300);
  EXPECT_EQ(order.at("ownerReferences"), json(R"([{"apiVersion":"apps.kruise.io/v1beta1",
    "kind":"ImagePullJob","namespace":"default","name":"a","uid":"uid-of-a"}])"));
  EXPECT_FALSE(order_in(node_image, "web", "3").is_null());
  EXPECT_TRUE(is_ordered(node_image, "docker.io/library/web:3"));
  EXPECT_FALSE(is_ordered(node_image, "web:4"));
  EXPECT_FALSE(is_ordered(node_image, "other:3"));
  EXPECT_FALSE(is_ordered(Value(), "web:3"));
  EXPECT_EQ(node_image.at("spec").at("images").at("side").at("pullSecrets"),
            json(R"([{"namespace":"default","name":"key"}])"));
}

/// OpenKruise's daemon reads copies, and ours the Secrets themselves.
TEST(NodeImages, SecretsAreThoseThatTheDaemonReads) {
  const Value job = job_object("a", "web:2", R"(,"pullSecrets":["key","gone"])");
  const auto secrets_of_order = [&](const Value& node_image, bool has_copies) {
    WantedOrder wanted = wanted_order(job);
    if (has_copies)
      wanted.copies = {copy_of({"default", "key"})};
    const std::vector<WantedOrder> orders{wanted};
    return kubernetes::merge_patch(node_image, orders_change(node_image, orders, now));
  };
  const auto names = [](const Value& node_image) {
    std::vector<std::string> found;
    for (const Value& each :
         items_of(node_image.at("spec").at("images").at("web").at("pullSecrets")))
      found.push_back(cat(each.text_at("namespace"), "/", each.text_at("name"),
                          each.text_at("mode").empty() ? "" : " ", each.text_at("mode")));
    return found;
  };
  const std::string copy = cat("kruise-daemon-config/", copy_of({"default", "key"}).name, " batch");
  const Value plain = secrets_of_order(empty_node_image(), false);
  EXPECT_EQ(names(plain), (std::vector<std::string>{"default/key", "default/gone"}));
  const Value copied = secrets_of_order(plain, true);
  EXPECT_EQ(names(copied), std::vector<std::string>{copy});
  EXPECT_EQ(names(secrets_of_order(copied, true)), std::vector<std::string>{copy}) << "once";
  EXPECT_EQ(names(secrets_of_order(copied, false)), names(plain));
  // None can be copied.
  WantedOrder without = wanted_order(job);
  without.copies.emplace();
  const std::vector<WantedOrder> orders{without};
  EXPECT_TRUE(names(kubernetes::merge_patch(plain, orders_change(plain, orders, now))).empty());
}

TEST(NodeImages, AnotherOrderOfATagHasAHigherVersionAndKeepsTheOthers) {
  const Value once = ordered(empty_node_image(), {job_object("a", "web:2")});
  const Value twice = ordered(once, {job_object("b", "web:2")});
  EXPECT_EQ(order_in(twice, "web", "2").integer_at("version"), 1);
  EXPECT_EQ(items_of(order_in(twice, "web", "2").at("ownerReferences")).size(), 2u);
  // The node still tells of a former one that is cleared.
  const Value before = told(empty_node_image(), "web", R"({"tag":"2","version":7})");
  EXPECT_EQ(order_in(ordered(before, {job_object("a", "web:2")}), "web", "2").integer_at("version"),
            8);
}

TEST(NodeImages, AnOrderIsReadAsItWasWanted) {
  const WantedOrder wanted = wanted_order(job_object("a", "docker.io/library/web:2"));
  const Value node_image = ordered(empty_node_image(), {wanted.job});
  EXPECT_TRUE(has_order(node_image, wanted.image, "uid-of-a"));
  EXPECT_FALSE(has_order(node_image, wanted.image, "uid-of-b"));
  const FindJob find =
      finder({{"a", {.owner = "CloneSet/default/web", .reference = "docker.io/library/web:2"}}});
  const KnownOrders known = read_orders(node_image, find, "cluster");
  ASSERT_EQ(known.orders.size(), 1u);
  const auto& [key, order] = *known.orders.begin();
  EXPECT_EQ(key, (Key{"cluster", "image", "n1|docker.io/library/web:2"}));
  EXPECT_EQ(order.owner, "CloneSet/default/web");
  EXPECT_EQ(order.record->applied->attributes, write(wanted.image));
  EXPECT_EQ(order.seen, PullSeen());
  EXPECT_TRUE(known.present.empty());
}

TEST(NodeImages, WhatANodeTellsCountsForTheVersionThatWasOrdered) {
  const Value node_image = ordered(empty_node_image(), {job_object("a", "web:2")});
  const FindJob find = finder({{"a", {.owner = "x", .reference = "web:2"}}});
  const auto seen = [&](std::string_view row) {
    return read_orders(told(node_image, "web", row), find, "cluster").orders.begin()->second.seen;
  };
  EXPECT_EQ(seen(R"({"tag":"2","version":0,"phase":"Pulling"})").phase, PullSeen::Phase::pulling);
  EXPECT_EQ(seen(R"({"tag":"2","version":5,"phase":"Succeeded"})").phase, PullSeen::Phase::pulling);
  EXPECT_EQ(seen(R"({"tag":"2","version":0,"phase":"Succeeded",
                     "completionTime":"2027-01-15T08:00:05Z"})"),
            (PullSeen{.phase = PullSeen::Phase::succeeded, .finished = now + 5s}));
  const PullSeen failed =
      seen(R"({"tag":"2","version":0,"phase":"Failed","message":"no such image"})");
  EXPECT_EQ(failed.phase, PullSeen::Phase::failed);
  EXPECT_EQ(failed.error, "no such image");
}

TEST(NodeImages, AnImageIsPresentAlsoWhenItsJobIsOver) {
  const Value node_image = told(ordered(empty_node_image(), {job_object("a", "web:2")}), "web",
                                R"({"tag":"2","version":0,"phase":"Succeeded"})");
  const KnownOrders known = read_orders(
      node_image, finder({{"a", {.owner = "x", .reference = "web:2", .is_over = true}}}),
      "cluster");
  EXPECT_TRUE(known.orders.empty());
  EXPECT_EQ(known.present, std::set<Name>{"web:2"});
}

TEST(NodeImages, HowLongAnOrderLivesFollowsItsJob) {
  const auto policy = [&](std::string_view completion) {
    const Value job = job_object("a", "web:2", cat(R"(,"completionPolicy":)", completion));
    return order_in(ordered(empty_node_image(), {job}), "web", "2").at("pullPolicy");
  };
  const auto seconds = [&](std::string_view completion) {
    return policy(completion).integer_at("ttlSecondsAfterFinished");
  };
  const auto is_between = [](int64_t value, int64_t least, int64_t most) {
    return value >= least && value <= most;
  };
  EXPECT_PRED3(is_between, seconds(R"({"type":"Always","ttlSecondsAfterFinished":60})"), 360, 660);
  EXPECT_PRED3(is_between, seconds("{}"), 600, 900);
  EXPECT_PRED3(is_between, seconds(R"({"type":"Never"})"), 85'800, 87'000);
  EXPECT_EQ(policy(R"({"type":"Never"})").integer_at("activeDeadlineSeconds"), 1'800);
  EXPECT_EQ(policy(R"({"activeDeadlineSeconds":900})").integer_at("activeDeadlineSeconds"), 900);
  EXPECT_PRED3(is_between,
               seconds(R"({"type":"Always","ttlSecondsAfterFinished":9223372036854775807})"), 1,
               31 * 86'400 + 600);
}

class NodeImageUpkeep : public testing::Test {
 protected:
  Upkeep upkeep(const Value& node_image, Time when = now) const {
    return upkeep_of(node_, node_image, find_, when);
  }
  Value node_ = node_object();
  FindJob find_ = finder({{"a", {.owner = "x", .reference = "web:2"}},
                          {"over", {.owner = "x", .reference = "web:2", .is_over = true}},
                          {"never", {.owner = "x", .reference = "web:2", .goes_on = true}}});
};

TEST_F(NodeImageUpkeep, OneIsMadeForANodeThatIsReady) {
  node_ = node_object(R"({"zone":"z1"})");
  const Upkeep made = upkeep({});
  EXPECT_EQ(made.write, Upkeep::Write::create);
  EXPECT_EQ(made.body.at("metadata"), json(R"({"name":"n1","labels":{"zone":"z1"}})"));
  const Upkeep early = upkeep({}, now - 40s);
  EXPECT_EQ(early.write, Upkeep::Write::none);
  EXPECT_EQ(early.next, now - 30s);
  node_ = node_object("{}", "False");
  EXPECT_EQ(upkeep({}).write, Upkeep::Write::none);
  node_ = node_object(R"({"type":"virtual-kubelet"})");
  EXPECT_EQ(upkeep({}).write, Upkeep::Write::none);
}

TEST_F(NodeImageUpkeep, ItGoesWithItsNodeAndHasItsLabels) {
  EXPECT_EQ(upkeep(empty_node_image()).write, Upkeep::Write::none);
  node_ = node_object(R"({"zone":"z1"})");
  const Upkeep changed = upkeep(empty_node_image());
  EXPECT_EQ(changed.write, Upkeep::Write::change);
  EXPECT_EQ(changed.body,
            json(R"({"metadata":{"uid":"u","resourceVersion":"7","labels":{"zone":"z1"}}})"));
  node_ = Value();
  EXPECT_EQ(upkeep(empty_node_image()).write, Upkeep::Write::remove);
}

TEST_F(NodeImageUpkeep, OrdersOfJobsThatAreGoneAreCleared) {
  const Value kept = ordered(empty_node_image(), {job_object("a", "web:2")});
  EXPECT_EQ(upkeep(kept).write, Upkeep::Write::none);
  const Value mixed = ordered(kept, {job_object("gone", "web:2")});
  const Upkeep changed = upkeep(mixed);
  ASSERT_EQ(changed.write, Upkeep::Write::change);
  const Value after = kubernetes::merge_patch(mixed, changed.body);
  EXPECT_EQ(order_in(after, "web", "2").at("ownerReferences"),
            order_in(kept, "web", "2").at("ownerReferences"));
  // Its job asks for another image by now.
  const Value other = ordered(empty_node_image(), {job_object("a", "web:1")});
  const Value cleared = kubernetes::merge_patch(other, upkeep(other).body);
  EXPECT_TRUE(cleared.at("spec").at("images").at("web").is_null());
}

TEST_F(NodeImageUpkeep, OldOrdersGoUnlessAJobCountsOnThem) {
  const auto ended = [&](std::string_view job) {
    const std::string_view more =
        job == "never" ? R"(,"completionPolicy":{"type":"Never"})" : std::string_view();
    return told(ordered(empty_node_image(), {job_object(job, "web:2", more)}), "web",
                R"({"tag":"2","version":0,"phase":"Succeeded",
                    "completionTime":"2027-01-15T08:00:05Z"})");
  };
  const auto is_cleared = [&](std::string_view job) {
    return upkeep(ended(job), now + 1h).body.at("spec").at("images").find("web") != nullptr;
  };
  EXPECT_FALSE(is_cleared("a"));
  EXPECT_TRUE(is_cleared("over"));
  EXPECT_FALSE(is_cleared("never")) << "it lives for a day";
  EXPECT_FALSE(upkeep(ended("never"), now + 25h).body.is_null());
  const Upkeep early = upkeep(ended("over"), now + 10s);
  EXPECT_EQ(early.write, Upkeep::Write::none);
  ASSERT_TRUE(early.next);
  EXPECT_GT(*early.next, now + 10s);
}

TEST_F(NodeImageUpkeep, AnOrderThatANodeDoesNotAnswerHasFailed) {
  const Value node_image = ordered(empty_node_image(), {job_object("a", "web:2")});
  EXPECT_EQ(upkeep(node_image).next, now + 10min);
  const Upkeep failed = upkeep(node_image, now + 10min);
  ASSERT_EQ(failed.write, Upkeep::Write::change_status);
  EXPECT_EQ(failed.body.at("status").integer_at("failed"), 1);
  const Value after = kubernetes::merge_patch(node_image, failed.body);
  EXPECT_EQ(read_orders(after, find_, "cluster").orders.begin()->second.seen.error,
            "the node does not answer");
  EXPECT_EQ(upkeep(after, now + 10min).write, Upkeep::Write::none);
}

TEST(NodeImageJobs, AreThoseThatItsOrdersName) {
  const Value node_image = ordered(empty_node_image(), {job_object("a", "web:1")});
  const Value more = ordered(node_image, {job_object("b", "web:1"), job_object("c", "db:1")});
  EXPECT_EQ(jobs_in(empty_node_image()).size(), 0u);
  EXPECT_EQ(jobs_in(more), (std::set<kubernetes::ObjectName>{
                               {"default", "a"}, {"default", "b"}, {"default", "c"}}));
  EXPECT_TRUE(jobs_in(Value()).empty());
}

TEST(NodeDigest, ChangesWithWhatANodeImageFollows) {
  const Digest before = node_digest(node_object());
  EXPECT_EQ(node_digest(with(node_object(), "spec", json("{}"))), before);
  EXPECT_NE(node_digest(node_object(R"({"disk":"ssd"})")), before);
  EXPECT_NE(node_digest(node_object("{}", "False")), before);
  EXPECT_EQ(node_digest(Value()), Digest());
}

/// Its daemon has died, or nobody knows the node any more.
TEST_F(NodeImageUpkeep, APullThatANodeNeverEndsHasFailed) {
  const Value ordered_one = ordered(empty_node_image(), {job_object("a", "web:2")});
  const auto pulling = [&](std::string_view more) {
    return told(ordered_one, "web", cat(R"({"tag":"2","version":0)", more, "}"));
  };
  const Value begun = pulling(R"(,"phase":"Pulling","startTime":"2027-01-15T08:01:00Z")");
  // Two attempts of 300 seconds, each with a pause of 30, and ten minutes.
  const Time end = now + 1min + 660s + 10min;
  EXPECT_EQ(upkeep(begun, now + 1min).next, end);
  const Upkeep failed = upkeep(begun, end);
  ASSERT_EQ(failed.write, Upkeep::Write::change_status);
  EXPECT_EQ(read_orders(kubernetes::merge_patch(begun, failed.body), find_, "cluster")
                .orders.begin()
                ->second.seen.error,
            "the node has not ended it in time");
  const Upkeep waiting = upkeep(pulling(R"(,"phase":"Waiting")"), now + 24h);
  EXPECT_EQ(waiting.write, Upkeep::Write::none) << "others are pulled before it";
}

TEST_F(NodeImageUpkeep, HostileNumbersMakeNoTimesThatCannotBe) {
  const auto with_policy = [&](std::string_view policy) {
    const Value node_image = kubernetes::merge_patch(
        empty_node_image(),
        json(cat(R"({"spec":{"images":{"web":{"tags":[{"tag":"2","version":9223372036854775807,
          "createdAt":"2261-12-31T23:59:59Z","pullPolicy":)",
                 policy, "}]}}}}")));
    return told(node_image, "web", R"({"tag":"2","version":9223372036854775807,
      "phase":"Pulling","startTime":"2261-12-31T23:59:59Z"})");
  };
  for (const char* policy :
       {R"({"timeoutSeconds":9223372036854775807,"backoffLimit":9223372036854775807})",
        R"({"activeDeadlineSeconds":9223372036854775807})",
        R"({"timeoutSeconds":-9223372036854775807,"backoffLimit":-9223372036854775807})"}) {
    const Upkeep upkept = upkeep(with_policy(policy));
    EXPECT_EQ(upkept.write, Upkeep::Write::none) << policy;
    ASSERT_TRUE(upkept.next) << policy;
    EXPECT_GT(*upkept.next, now) << policy;
  }
  const Value again = ordered(with_policy("{}"), {job_object("a", "web:2")});
  EXPECT_EQ(order_in(again, "web", "2").integer_at("version", -1), 0) << "another one all the same";
}

TEST_F(NodeImageUpkeep, NonsenseIsPassedOver) {
  for (const char* spec :
       {"7", "[]", R"({"images":[]})", R"({"images":{"web":7}})",
        R"({"images":{"web":{"tags":{}}}})",
        R"({"images":{"web":{"tags":[7,{"tag":9,"ownerReferences":[7,{"uid":1}]}]}}})"}) {
    const Value node_image = with(empty_node_image(), "spec", json(spec));
    EXPECT_TRUE(read_orders(node_image, find_, "cluster").orders.empty()) << spec;
    EXPECT_NE(upkeep(node_image).write, Upkeep::Write::remove) << spec;
  }
}

}  // namespace
}  // namespace fettle::cluster
