#include "cli/commands/state_configuration.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/commands/state_options.h"
#include "controller/cluster_access.h"

namespace fettle {
namespace {

class Words : public Face {
 public:
  Result<Workplace*> workplace() override { return world_error("none is needed"); }
  std::pair<std::vector<Diagnosis>, bool> diagnosis() override { return {}; }
  Result<EngineState> engine(EngineVerb) override { return EngineState{}; }
  Result<ClusterAccess> cluster(const ClusterRequest&) override {
    return world_error("there is none");
  }
  Result<kubernetes::Client*> cluster_client(const ClusterRequest&) override {
    return world_error("there is none");
  }
  Build build() const override { return {}; }
  void show_work(const std::string&) override {}
};

class StateConfiguration : public testing::Test {
 protected:
  ~StateConfiguration() override { std::filesystem::remove(file_); }

  /// What a command learns from a file with this text; `ok`, or the error with its place.
  std::string told(const std::string& text) {
    EXPECT_TRUE(write_file(file_, text));
    const CommandLine given = face_.parsed;
    face_.parsed.options["config"] = {file_};
    const Result<StatesRequest> read = read_states_request(face_);
    face_.parsed = given;
    if (read) {
      request_ = *read;
      return "ok";
    }
    EXPECT_EQ(read.error().blame, Blame::user);
    const Error& error = read.error();
    return cat(error.where.line, ":", error.where.column, " ", error.message);
  }

  const std::string file_ = cat(testing::TempDir(), "configuration-", getpid(), ".cfg");
  Words face_;
  StatesRequest request_;
};

TEST_F(StateConfiguration, FillsInWhatNoFlagSays) {
  face_.parsed.options["reconciler"] = {"none"};
  EXPECT_EQ(told("idem:\n  sls_sources: [a, b]\n  params: p.sls\n  reconciler: basic\n"
                 "  max_pending_reruns: '5'\n  batch_size: 7\n  test: yes\n  output: json\n"
                 "  run_name: lab\n  deadline: 90s\n  memory: 9000000\nrend:\n  anything: 5\n"),
            "ok");
  EXPECT_EQ(request_.compile.sources.at(0), "a");
  EXPECT_EQ(request_.compile.sources.at(1), "b");
  EXPECT_EQ(request_.compile.params, std::vector<std::string>{"p.sls"});
  EXPECT_EQ(request_.reconciler, "none");
  EXPECT_EQ(request_.max_reruns, 5);
  EXPECT_EQ(request_.parallelism, 7);
  EXPECT_TRUE(request_.is_test);
  EXPECT_EQ(request_.environment, "lab");
  EXPECT_EQ(request_.deadline, std::chrono::seconds(90));
  EXPECT_EQ(request_.compile.host.limits.memory, 9'000'000U);
  EXPECT_EQ(request_.compile.host.limits.steps, jinja::Limits().steps);
  EXPECT_TRUE(face_.json);
}

TEST_F(StateConfiguration, WhatMakesNoSenseIsToldWithItsPlace) {
  EXPECT_EQ(told("idem:\n  test: maybe\n"), "2:9 `test` must be true or false, not a text");
  EXPECT_EQ(told("idem:\n  max_pending_reruns: 1.5\n"),
            "2:23 `max_pending_reruns` must be a whole number, not a fraction");
  EXPECT_EQ(told("idem:\n  batch_size: x\n"),
            "2:15 `batch_size` must be a whole number, not a text");
  EXPECT_EQ(told("idem:\n  reconciler: [basic]\n"), "2:15 `reconciler` must be a text, not a list");
  EXPECT_EQ(told("idem:\n  params: [1]\n"),
            "2:11 `params` must be a text or a list of texts, not a list");
  EXPECT_EQ(told("idem: 5\n"), "1:7 `idem` is a dictionary, not a whole number");
  EXPECT_EQ(told("[1]\n"), "1:1 a configuration is a dictionary with `idem`, not a list");
  EXPECT_EQ(told("idem:\n  reconcilr: none\n"),
            "2:3 `idem` has no setting `reconcilr`, did you mean `reconciler`?");
  EXPECT_EQ(told("idem:\n  group: nunber\n"),
            "2:10 `--group` must be one of number, sort, duration, omit_noop, not `nunber`, did "
            "you mean `number`?");
}

TEST_F(StateConfiguration, LimitsAndNamesAreCheckedWhereverTheyStand) {
  EXPECT_EQ(told("idem:\n  max_pending_reruns: -1\n"),
            "2:23 `--max-pending-reruns` must be at least 0, not -1");
  EXPECT_EQ(told("idem:\n  steps: 0\n"), "2:10 `--steps` must be at least 1, not 0");
  EXPECT_EQ(told("idem:\n  deadline: soon\n").substr(0, 18), "2:13 `--deadline`:");
  EXPECT_NE(told("idem:\n  run_name: a/../b\n").find("2:13 `--run-name`: environment name"),
            std::string::npos);
  face_.parsed.options["enclave"] = {"a/../b"};
  EXPECT_NE(told("idem: {}\n").find("0:0 `--enclave`: environment name"), std::string::npos);
}

}  // namespace
}  // namespace fettle
