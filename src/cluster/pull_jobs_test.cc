#include "cluster/pull_jobs.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/text.h"
#include "cluster/names.h"
#include "tests/kubernetes/json_text.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

workloads::Object clone_set() {
  workloads::Object owner;
  owner.kind = "CloneSet";
  owner.space = "default";
  owner.name = "web";
  owner.uid = "uid-of-web";
  owner.document = json(R"({"apiVersion":"apps.kruise.io/v1beta1"})");
  return owner;
}

PullJob job_of_rollout() {
  PullJob job;
  job.name = "web-r2-c";
  job.space = "default";
  job.owner = "CloneSet/default/web";
  job.image = "web:2";
  job.labels = json(R"({"app":"web"})");
  job.spec = json(R"({"image":"web:2","parallelism":"50%","pullPolicy":{"timeoutSeconds":300}})");
  job.state.emplace().started = 1'800'000'000'123'456'789;
  job.state->revision = "web-r2";
  return job;
}

/// As a server has it.
Value stored(const Value& made) {
  const Value& metadata = made.at("metadata");
  std::vector<Entry> entries(metadata.entries().begin(), metadata.entries().end());
  entries.push_back({"uid", "uid-of-job"});
  entries.push_back({"creationTimestamp", "2027-01-15T08:00:00Z"});
  std::vector<Entry> all(made.entries().begin(), made.entries().end());
  all.push_back({"metadata", Value::dict(std::move(entries))});
  return Value::dict(std::move(all));
}

Value job_of_user(std::string_view more = {}) {
  return json(cat(R"({"metadata":{"namespace":"default","name":"warm","uid":"uid-of-warm",
    "creationTimestamp":"2027-01-15T08:00:00Z")",
                  more, R"(},"spec":{"image":"web:1"}})"));
}

TEST(PullJobs, WhatIsWrittenForARolloutIsReadAsThat) {
  const PullJob job = job_of_rollout();
  const Value object = stored(pull_job_object(job, clone_set()));
  EXPECT_EQ(object.at("spec").at("parallelism"), Value(1)) << "a share is no number of nodes";
  EXPECT_EQ(workload_of_job(meta_of(object)), "CloneSet/default/web");
  EXPECT_EQ(write(read_pull_job(object)), write(job));
  const RecordPointer record =
      record_of(read_pull_job(object), meta_of(object), job.owner, "cluster");
  EXPECT_EQ(record->applied->key, (Key{"cluster", "pull_job", "default/web-r2-c"}));
  EXPECT_EQ(record->remote_id, "uid-of-job");
  EXPECT_TRUE(record->wanted_by.contains("CloneSet/default/web"));
}

TEST(PullJobs, OneThatOpenKruiseHasMadeIsReadFromItsSpec) {
  const PullJob job = read_pull_job(json(R"({
    "metadata":{"namespace":"default","name":"web-r2-c","uid":"u",
      "creationTimestamp":"2027-01-15T08:00:00Z","labels":{"app":"web"},
      "ownerReferences":[{"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","name":"web",
        "uid":"uid-of-web","controller":true}]},
    "spec":{"image":"web:2","podSelector":{"matchExpressions":[
      {"key":"controller-revision-hash","operator":"NotIn","values":["web-r2","r2"]}]}}})"));
  EXPECT_EQ(job.owner, "CloneSet/default/web");
  EXPECT_EQ(job.image, "web:2");
  ASSERT_TRUE(job.state);
  EXPECT_EQ(job.state->revision, Name("web-r2"));
  EXPECT_EQ(job.state->started, 1'800'000'000 * int64_t{1'000'000'000});
}

TEST(PullJobs, OneOfAUserRemembersItself) {
  EXPECT_TRUE(workload_of_job(meta_of(job_of_user())).empty());
  PullJob job = read_pull_job(job_of_user());
  EXPECT_EQ(job.image, "web:1");
  EXPECT_FALSE(job.state->completed);
  job.state->completed = 1'800'000'007'000'000'001;
  job.state->failed_nodes = json(R"(["n2"])");
  const Value change = pull_job_change(job, job_of_user());
  EXPECT_EQ(change.find("spec"), nullptr);
  const Value written =
      job_of_user(cat(R"(,"annotations":)", write_json(change.at("metadata").at("annotations"))));
  EXPECT_EQ(write(read_pull_job(written)), write(job));
}

/// Whoever copies a job copies its annotations.
TEST(PullJobs, TheMemoryOfAnotherJobIsNone) {
  PullJob job = read_pull_job(job_of_user());
  job.state->completed = 1'800'000'007'000'000'001;
  const Value annotations = pull_job_change(job, job_of_user()).at("metadata").at("annotations");
  const auto copied = [&](std::string_view name, std::string_view made) {
    return json(cat(R"({"metadata":{"namespace":"default","name":")", name,
                    R"(","uid":"u","creationTimestamp":")", made, R"(","annotations":)",
                    write_json(annotations), R"(},"spec":{"image":"web:1"}})"));
  };
  EXPECT_TRUE(read_pull_job(copied("warm", "2027-01-15T08:00:00Z")).state->completed);
  EXPECT_FALSE(read_pull_job(copied("other", "2027-01-15T08:00:00Z")).state->completed);
  EXPECT_FALSE(read_pull_job(copied("warm", "2027-01-15T08:00:09Z")).state->completed);
}

TEST(PullJobs, OneThatOpenKruiseHasCompletedIsComplete) {
  const PullJob job = read_pull_job(json(R"({
    "metadata":{"namespace":"default","name":"warm","uid":"u",
      "creationTimestamp":"2027-01-15T08:00:00Z"},
    "spec":{"image":"web:1"},
    "status":{"completionTime":"2027-01-15T08:00:09Z","desired":3,"succeeded":2,"failed":1,
      "failedNodes":["n3",7]}})"));
  EXPECT_EQ(job.state->completed, 1'800'000'009 * int64_t{1'000'000'000});
  EXPECT_EQ(job.state->desired, 3);
  EXPECT_EQ(job.state->succeeded, 2);
  EXPECT_EQ(job.state->failed_nodes->value(), json(R"(["n3"])"));
}

TEST(PullJobs, NonsenseInAnAnnotationIsPassedOver) {
  for (const char* text : {"7", "[]", "{}", "{", R"({"name":7,"state":"x","labels":[1]})",
                           R"({"name":"warm","namespace":"default","state":{"started":"x"}})"}) {
    const Value object =
        job_of_user(cat(R"(,"annotations":{"fettle/job":)", write_json(Value(text)), "}"));
    EXPECT_EQ(write(read_pull_job(object)), write(read_pull_job(job_of_user()))) << text;
  }
}

TEST(PullJobs, TimesThatCannotBeAreBounded) {
  PullJob job = job_of_rollout();
  job.state->started = std::numeric_limits<int64_t>::max();
  job.state->completed = std::numeric_limits<int64_t>::min();
  job.state->failed = Value::dict(
      {{"n1", Value::dict({{"error", "no"}, {"since", std::numeric_limits<int64_t>::max()}})},
       {"n2", Value::dict({{"error", "no"}, {"since", 1'800'000'000'000'000'000}})}});
  const PullJob read = read_pull_job(stored(pull_job_object(job, clone_set())));
  // The longest time of a spec can be added to it.
  EXPECT_LE(read.state->started,
            std::numeric_limits<int64_t>::max() - int64_t{0x7fffffff} * 1'000'000'000);
  EXPECT_EQ(read.state->completed, 0);
  ASSERT_TRUE(read.state->failed);
  EXPECT_FALSE(read.state->failed->find("n1"));
  EXPECT_TRUE(read.state->failed->find("n2"));
}

TEST(PullJobs, AShareOfTheNodesThatChangesIsWritten) {
  const Value object = stored(pull_job_object(job_of_rollout(), clone_set()));
  EXPECT_EQ(pull_job_change(job_of_rollout(), object).find("spec"), nullptr);
  PullJob job = job_of_rollout();
  job.spec = json(R"({"image":"web:2","parallelism":4,"pullPolicy":{"timeoutSeconds":300}})");
  EXPECT_EQ(pull_job_change(job, object).at("spec"), json(R"({"parallelism":4})"));
}

}  // namespace
}  // namespace fettle::cluster
