#include "cluster/secret_copies.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/kubernetes/json_text.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;
using kubernetes::ObjectName;

Value job_with_secrets(std::string_view name, std::string_view secrets,
                       std::string_view more = {}) {
  return json(cat(R"({"metadata":{"namespace":"shop","name":")", name, "\"", more,
                  R"(},"spec":{"pullSecrets":)", secrets, "}}"));
}

TEST(SecretCopies, ACopyIsCalledAfterItsSource) {
  const ObjectName copy = copy_of({"shop", "key"});
  EXPECT_EQ(copy.space, "kruise-daemon-config");
  EXPECT_TRUE(copy.name.starts_with("key-")) << copy.name;
  EXPECT_TRUE(is_own_copy(copy.name));
  EXPECT_FALSE(is_own_copy("key-4f2a1c")) << "as OpenKruise calls them";
  EXPECT_EQ(copy_of({"shop", "key"}), copy);
  EXPECT_NE(copy_of({"bank", "key"}), copy);
  EXPECT_NE(copy_of({"shop", "other"}).name.substr(6), copy.name.substr(4));
}

TEST(SecretCopies, TheNameOfACopyIsOneForAServer) {
  for (const std::string& name : {std::string(253, 'a'), cat(std::string(199, 'a'), ".b"),
                                  cat(std::string(199, 'a'), "-b")}) {
    const std::string copy = copy_of({"shop", name}).name;
    EXPECT_LE(copy.size(), 253u);
    EXPECT_EQ(copy.find(".-"), copy.npos) << copy;
    EXPECT_EQ(copy.find("--"), copy.npos) << copy;
  }
  EXPECT_NE(copy_of({"shop", std::string(253, 'a')}), copy_of({"shop", std::string(252, 'a')}));
}

TEST(SecretCopies, ACopyHasTheDataAndWhatOpenKruiseKnowsItBy) {
  const Value source = json(R"({"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"shop",
    "name":"key","uid":"u","resourceVersion":"9","annotations":{"kubectl":"all of it again"}},
    "type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":"e30="}})");
  const std::vector<Value> jobs{job_with_secrets("b", R"(["other","key"])"),
                                job_with_secrets("a", R"(["key"])"),
                                job_with_secrets("c", R"(["other"])")};
  EXPECT_EQ(copied_secret(source, jobs),
            json(cat(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")",
                     copy_of({"shop", "key"}).name, R"(","namespace":"kruise-daemon-config",
              "labels":{"app.kubernetes.io/name":"fettle"},"annotations":{
              "imagepulljobs.kruise.io/source-key":"shop/key",
              "imagepulljobs.kruise.io/references":"shop/a,shop/b",
              "imagepulljobs.kruise.io/mode":"batch"}},"type":"kubernetes.io/dockerconfigjson",
              "data":{".dockerconfigjson":"e30="}})")));
}

TEST(SecretCopies, ACopyOfManyJobsIsOneThatAServerTakes) {
  const Value source = json(R"({"metadata":{"namespace":"shop","name":"key"},"data":{}})");
  std::vector<Value> jobs;
  for (int i = 0; i < 10'000; ++i)
    jobs.push_back(job_with_secrets(cat("job-with-a-long-name-", 10'000 + i), R"(["key"])"));
  const Value copy = copied_secret(source, jobs);
  const std::string references(
      copy.at("metadata").at("annotations").text_at("imagepulljobs.kruise.io/references"));
  EXPECT_LE(references.size(), 100'000u);
  EXPECT_TRUE(references.starts_with("shop/job-with-a-long-name-10000,"))
      << references.substr(0, 50);
  EXPECT_EQ(references.find(",,"), references.npos);
}

TEST(SecretCopies, JobsThatAreLeavingNeedNone) {
  const std::vector<Value> jobs{
      job_with_secrets("a", R"(["key",7,""])"),
      job_with_secrets("b", R"(["old"])", R"(,"deletionTimestamp":"2027-01-15T08:00:00Z")"),
      json("7"), json(R"({"spec":{"pullSecrets":{"x":1}}})")};
  EXPECT_EQ(needed_copies(jobs), std::set<std::string>{copy_of({"shop", "key"}).name});
}

TEST(SecretCopies, ThoseOfOthersInANodeImageAreNotOurs) {
  const std::string own = copy_of({"shop", "key"}).name;
  const Value node_image = json(cat(R"({"spec":{"images":{"web":{"pullSecrets":[
    {"namespace":"kruise-daemon-config","name":"key-4f2a1c"},7,{"namespace":"shop","name":")",
                                    own, R"("},{"namespace":"kruise-daemon-config","name":")", own,
                                    R"("}]},"side":7}}})"));
  EXPECT_EQ(copies_in(node_image), std::set<std::string>{own});
  EXPECT_TRUE(copies_in(json(R"({"spec":{"images":[]}})")).empty());
}

TEST(SecretCopies, WhatCannotBeCopiedIsSaidByItsJobs) {
  SecretCopies copies(true);
  const Instant now(1h);
  copies.note({"shop", "key"}, now, "it is not there");
  copies.note({"shop", "good"}, now, "");
  EXPECT_EQ(copies.complaint(job_with_secrets("a", R"(["good","key"])")),
            "pulled without Secret `shop/key`: it is not there");
  EXPECT_EQ(copies.complaint(job_with_secrets("b", R"(["good"])")), "");
  EXPECT_EQ(copies.names(), std::set<std::string>{copy_of({"shop", "good"}).name});
  EXPECT_EQ(copies.recent({"shop", "good"}, now + 9s), "");
  EXPECT_FALSE(copies.recent({"shop", "good"}, now + 10s)) << "the source may be another one";
  copies.forget(copy_of({"shop", "good"}).name);
  EXPECT_FALSE(copies.recent({"shop", "good"}, now));
  EXPECT_TRUE(copies.names().empty());
}

TEST(SecretCopies, NobodyWorksOnACopyWhileSomebodyElseDoes) {
  SecretCopies copies(true);
  std::stop_source stop;
  stop.request_stop();
  int count = 0;
  const auto work = [&] { ++count; };
  EXPECT_TRUE(copies.alone("a", {}, [&] {
    EXPECT_FALSE(copies.alone("a", stop.get_token(), work));
    EXPECT_TRUE(copies.alone("b", {}, work));
  }));
  EXPECT_EQ(count, 1);
  EXPECT_TRUE(copies.alone("a", {}, work));
  EXPECT_EQ(count, 2);
}

/// Else it would stay when its jobs go.
TEST(SecretCopies, ACopyWhoseSourceHasGoneIsThereStill) {
  SecretCopies copies(true);
  const std::string copy = copy_of({"shop", "key"}).name;
  copies.note({"shop", "key"}, Instant(1h), "");
  copies.note({"shop", "key"}, Instant(2h), "it is not there");
  EXPECT_EQ(copies.names(), std::set<std::string>{copy});
  copies.forget_failed_but({});
  EXPECT_EQ(copies.names(), std::set<std::string>{copy});
  copies.forget(copy);
  EXPECT_TRUE(copies.names().empty());
}

TEST(SecretCopies, WhatCouldNotBeCopiedIsForgottenWithItsJobs) {
  SecretCopies copies(true);
  copies.note({"shop", "key"}, Instant(1h), "it is not there");
  copies.note({"shop", "good"}, Instant(1h), "");
  copies.forget_failed_but({copy_of({"shop", "key"}).name});
  EXPECT_TRUE(copies.recent({"shop", "key"}, Instant(1h)));
  copies.forget_failed_but({});
  EXPECT_FALSE(copies.recent({"shop", "key"}, Instant(1h)));
  EXPECT_TRUE(copies.recent({"shop", "good"}, Instant(1h))) << "it has to be removed";
  copies.forget(copy_of({"shop", "good"}).name);
  EXPECT_TRUE(copies.is_empty());
}

}  // namespace
}  // namespace fettle::cluster
