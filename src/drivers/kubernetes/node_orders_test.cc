#include "drivers/kubernetes/node_orders.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/types.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_transport.h"
#include "workloads/decide/pulls.h"

namespace fettle {
namespace {

using kubernetes::json;
namespace types = cluster::types;

class NodeOrdersTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const kubernetes::ResourceType& type : {types::pull_jobs, types::node_images})
      define(type);
    const auto node = client_.create(types::nodes, {}, json(R"({"apiVersion":"v1","kind":"Node",
      "metadata":{"name":"n1","labels":{"zone":"z1"}}})"),
                                     {}, {});
    ASSERT_TRUE(node) << to_string(node.error());
    objects_.take_answer(types::nodes.kind, *node);
  }

  void define(const kubernetes::ResourceType& type) {
    const auto made = client_.create(
        kubernetes::types::definitions, {},
        json(cat(
            R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":
            {"name":")",
            type.plural, ".", type.group, R"("},"spec":{"group":")", type.group, R"(","scope":")",
            type.is_namespaced ? "Namespaced" : "Cluster", R"(","names":{"plural":")", type.plural,
            R"(","singular":"one","kind":")", type.kind, R"(","listKind":"List"},"versions":[
            {"name":"v1beta1","served":true,"storage":true,"subresources":{"status":{}},
            "schema":{"openAPIV3Schema":{"type":"object","properties":{
            "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
            "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }

  void make_job(std::string_view name, std::string_view image) {
    const auto job = client_.create(
        types::pull_jobs, {"default", ""},
        json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"ImagePullJob","metadata":
          {"name":")",
                 name, R"(","namespace":"default"},"spec":{"image":")", image, R"("}})")),
        {}, {});
    ASSERT_TRUE(job) << to_string(job.error());
    objects_.take_answer(types::pull_jobs.kind, *job);
  }

  static Image image_of(std::string_view job, std::string_view reference) {
    Image image;
    image.reference = reference;
    image.node = "n1";
    image.attempts = 4;
    image.timeout = 600;
    image.job = cat("default/", job);
    return image;
  }

  /// One call. `attempt` counts those of an act.
  Result<Outcome> call(const Image& image, int attempt) {
    Act act;
    act.key = {"cluster", "image", workloads::pull_key(image.node.get(), image.reference.get())};
    act.attributes = write(image);
    act.attempt = attempt;
    return orders_.keep(act, {moment_, now_}, {});
  }
  /// So long that all orders have come.
  void pass() { moment_ += 1s; }
  bool is_pending(const Image& image, int attempt) {
    const Result<Outcome> outcome = call(image, attempt);
    return outcome && std::holds_alternative<Pending>(*outcome);
  }
  bool is_done(const Image& image, int attempt, bool changed = true) {
    const Result<Outcome> outcome = call(image, attempt);
    const Done* const done = outcome ? std::get_if<Done>(&*outcome) : nullptr;
    return done != nullptr && done->changed == changed;
  }

  Value stored() {
    const auto found = client_.get(types::node_images, {"", "n1"}, {});
    return found ? *found : Value();
  }
  /// How often its spec was written.
  int64_t writes() { return stored().at("metadata").integer_at("generation"); }

  kubernetes::ApiServer server_;
  Time now_ = Time(Duration(1'800'000'000'000'000'000));
  kubernetes::Client client_{std::make_unique<kubernetes::PlayedTransport>(server_, now_),
                             {.qps = 0}};
  kubernetes::ObjectCache objects_{{types::nodes, types::pull_jobs, types::node_images}};
  NodeOrders orders_{client_, objects_};
  Instant moment_{};
};

TEST_F(NodeOrdersTest, OneWriteHasAllOrdersOfANode) {
  std::vector<Image> images;
  for (const char* name : {"a", "b", "c"}) {
    make_job(name, cat("web:", name));
    images.push_back(image_of(name, cat("web:", name)));
  }
  for (const Image& image : images)
    EXPECT_TRUE(is_pending(image, 1));
  EXPECT_TRUE(is_pending(images[0], 2)) << "another one may still come";
  EXPECT_TRUE(stored().is_null());
  pass();
  for (const Image& image : images)
    EXPECT_TRUE(is_done(image, 3)) << image.reference.view();
  EXPECT_EQ(writes(), 1);
  EXPECT_EQ(items_of(stored().at("spec").at("images").at("web").at("tags")).size(), 3u);
  EXPECT_EQ(stored().at("metadata").at("labels"), json(R"({"zone":"z1"})"));
  for (const Image& image : images) {
    EXPECT_TRUE(orders_.is_there(write(image)));
    EXPECT_TRUE(is_done(image, 1, false)) << "it is there";
  }
  EXPECT_EQ(writes(), 1);
}

TEST_F(NodeOrdersTest, NobodyWaitsForOthersForEver) {
  make_job("a", "web:1");
  EXPECT_TRUE(is_pending(image_of("a", "web:1"), 1));
  for (int i = 0; i < 199; ++i) {
    moment_ += 10ms;
    make_job(cat("more", i), cat("more:", i));
    EXPECT_TRUE(is_pending(image_of(cat("more", i), cat("more:", i)), 1));
    EXPECT_TRUE(is_pending(image_of("a", "web:1"), 2 + i)) << i;
  }
  moment_ += 10ms;
  EXPECT_TRUE(is_done(image_of("a", "web:1"), 201));
  EXPECT_EQ(items_of(stored().at("spec").at("images").at("more").at("tags")).size(), 199u);
  EXPECT_EQ(writes(), 1);
}

TEST_F(NodeOrdersTest, ADaemonThatWritesStopsNoOrder) {
  make_job("a", "web:1");
  EXPECT_TRUE(is_pending(image_of("a", "web:1"), 1));
  pass();
  EXPECT_TRUE(is_done(image_of("a", "web:1"), 2));
  const auto told =
      client_.patch(types::node_images, {"", "n1"}, kubernetes::PatchType::merge,
                    json(R"({"status":{"pulling":1}})"), {.subresource = "status"}, {});
  ASSERT_TRUE(told) << to_string(told.error());
  make_job("b", "web:2");
  EXPECT_TRUE(is_pending(image_of("b", "web:2"), 1));
  pass();
  EXPECT_TRUE(is_done(image_of("b", "web:2"), 2));
  EXPECT_EQ(writes(), 2);
  EXPECT_EQ(stored().at("status").integer_at("pulling"), 1);
}

TEST_F(NodeOrdersTest, AnOrderWaitsForItsJob) {
  EXPECT_TRUE(is_pending(image_of("a", "web:1"), 1));
  make_job("a", "web:1");
  EXPECT_TRUE(is_pending(image_of("a", "web:1"), 2)) << "only now it is left";
  pass();
  EXPECT_TRUE(is_done(image_of("a", "web:1"), 3));
  // It never comes, or asks for something else.
  for (const auto& [job, attempt] : {std::pair("b", 51), std::pair("a", 1)}) {
    const Result<Outcome> skipped = call(image_of(job, "web:7"), attempt);
    ASSERT_TRUE(skipped);
    EXPECT_TRUE(std::holds_alternative<Skipped>(*skipped)) << job;
  }
}

TEST_F(NodeOrdersTest, WhatIsRefusedIsSaid) {
  make_job("a", "web:1");
  server_.fail(
      1, [](const kubernetes::ApiRequest& request) { return request.method == "POST"; },
      {.status = 403, .body = json(R"({"kind":"Status","status":"Failure","reason":"Forbidden",
        "code":403,"message":"no nodeimages for you"})")});
  EXPECT_TRUE(is_pending(image_of("a", "web:1"), 1));
  pass();
  const Result<Outcome> outcome = call(image_of("a", "web:1"), 2);
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(std::holds_alternative<Failed>(*outcome));
  EXPECT_EQ(std::get<Failed>(*outcome).error.message, "no nodeimages for you");
  // The next act begins anew.
  EXPECT_TRUE(is_pending(image_of("a", "web:1"), 1));
  pass();
  EXPECT_TRUE(is_done(image_of("a", "web:1"), 2));
}

TEST_F(NodeOrdersTest, AnOrderThatNobodyAsksForAnyMoreIsNotWritten) {
  make_job("a", "web:1");
  make_job("b", "web:2");
  EXPECT_TRUE(is_pending(image_of("a", "web:1"), 1));
  ASSERT_TRUE(client_.remove(types::pull_jobs, {"default", "a"}, {}, {}));
  objects_.listener(types::pull_jobs.kind)
      .gone({"default", "a"}, std::string(objects_.find(types::pull_jobs.kind, {"default", "a"})
                                              .at("metadata")
                                              .text_at("uid")));
  EXPECT_TRUE(is_pending(image_of("b", "web:2"), 1));
  pass();
  EXPECT_TRUE(is_done(image_of("b", "web:2"), 2));
  EXPECT_EQ(items_of(stored().at("spec").at("images").at("web").at("tags")).size(), 1u);
}

TEST_F(NodeOrdersTest, AnOrderThatNobodyAsksForAnyMoreIsForgotten) {
  const auto pause_of = [&](const Image& image) {
    const Result<Outcome> outcome = call(image, 1);
    const Pending* const pending = outcome ? std::get_if<Pending>(&*outcome) : nullptr;
    return pending == nullptr ? Duration(0) : pending->retry_after.value_or(Duration(0));
  };
  moment_ += 1h;
  for (const char* name : {"a", "b", "c"})
    make_job(name, cat("web:", name));
  const Duration alone = pause_of(image_of("a", "web:a"));
  const Duration beside = pause_of(image_of("b", "web:b"));
  EXPECT_GT(beside, alone) << "the more wait, the longer";
  moment_ += 11min;
  EXPECT_EQ(pause_of(image_of("c", "web:c")), alone);
  pass();
  EXPECT_TRUE(is_done(image_of("c", "web:c"), 2));
  const Value tags = stored().at("spec").at("images").at("web").at("tags");
  ASSERT_EQ(items_of(tags).size(), 1u) << "nobody wants the others";
  EXPECT_EQ(items_of(tags)[0].text_at("tag"), "c");
}

TEST_F(NodeOrdersTest, ANodeThatIsGoneIsToldNothing) {
  make_job("a", "web:1");
  Image image = image_of("a", "web:1");
  image.node = "n9";
  const Result<Outcome> outcome = call(image, 1);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(std::holds_alternative<Skipped>(*outcome));
}

}  // namespace
}  // namespace fettle
