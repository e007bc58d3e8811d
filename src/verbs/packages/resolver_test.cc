/// The scenarios that users of Kurtosis know, under the default resolver and under the seeds':
/// where the table of the manual says that both agree, they run under both.

#include "tests/fixtures/package_fixture.h"
#include "verbs/environments/services.h"

namespace fettle {
namespace {

std::string web(const std::string& name, const std::string& image) {
  return cat("  plan.add_service(\"", name, "\", ServiceConfig(image = \"", image,
             "\", ports = {\"http\": PortSpec(number = 80)}))\n");
}
std::string render(const std::string& name, const std::string& text) {
  return cat("  plan.render_templates({\"a\": struct(template = \"", text,
             "\", data = {})}, name = \"", name, "\")\n");
}
std::string add_with(const std::string& name, const std::string& artifact,
                     const std::string& command = "c") {
  return cat("  plan.add_service(\"", name, "\", ServiceConfig(image = \"a\", cmd = [\"", command,
             "\"], files = {\"/f\": \"", artifact, "\"}))\n");
}
std::string store(const std::string& service, const std::string& name) {
  return cat("  plan.store_service_files(\"", service, "\", \"/x\", name = \"", name, "\")\n");
}

/// Once for each resolver: both must agree where the manual's table says so.
class BothResolvers : public RunPackageTest,
                      public testing::WithParamInterface<PackageRequest::Resolver> {
 protected:
  void SetUp() override {
    RunPackageTest::SetUp();
    request_.resolver = GetParam();
  }
};
INSTANTIATE_TEST_SUITE_P(Resolver, BothResolvers,
                         testing::Values(PackageRequest::Resolver::keys,
                                         PackageRequest::Resolver::overlap));

TEST_P(BothResolvers, AnIdenticalPackageIsSkippedWhole) {
  const std::string script = print("1") + print("2") + print("3");
  EXPECT_EQ(run(script), "RRR");
  open();
  EXPECT_EQ(run(script), "SSS");
  EXPECT_EQ(results_[0], "SKIPPED - This instruction has already been run in this enclave");
}

TEST_P(BothResolvers, AnAppendedInstructionRunsAlone) {
  EXPECT_EQ(run(print("1") + print("2")), "RR");
  EXPECT_EQ(run(print("1") + print("2") + print("3")), "SSR");
}

TEST_P(BothResolvers, DisjointScriptsRun) {
  EXPECT_EQ(run(print("1") + print("2")), "RR");
  EXPECT_EQ(run(print("3")), "R");
}

TEST_P(BothResolvers, OverlappingScriptsSkipWhatTheyShare) {
  EXPECT_EQ(run(print("a") + print("b")), "RR");
  EXPECT_EQ(run(print("b") + print("c")), "SR");
}

TEST_P(BothResolvers, AnUpdatedServiceRunsItsExecAndNotThePrintOfItsAddress) {
  const auto script = [](const std::string& image) {
    return add("s", image) + "  plan.print(s.ip_address + s.hostname)\n" + exec("s", "x") +
           "  plan.verify(s.ip_address, \"==\", \"ip of s\")\n";
  };
  EXPECT_EQ(run(script("a")), "RRRR");
  EXPECT_EQ(run(script("b")), "RSRS");
  EXPECT_EQ(engine_.containers["s"].commands, std::vector<std::string>{"x"});
}

TEST_P(BothResolvers, AnUpdatedTemplateRunsTheServiceThatMountsItAndItsExec) {
  const auto script = [](const std::string& text) {
    return cat("  f = plan.render_templates({\"a\": struct(template = \"", text,
               "\", data = {})}, name = \"f\")\n",
               "  plan.add_service(\"s\", ServiceConfig(image = \"a\", files = {\"/f\": f}))\n",
               exec("s", "x"), add("t"), print("end"));
  };
  EXPECT_EQ(run(script("1")), "RRRRR");
  EXPECT_EQ(run(script("2")), "RRRSS");
}

TEST_P(BothResolvers, ASetServiceRunsItsServiceAndSkipsOthers) {
  const auto script = [](const std::string& image) {
    return add("db") + add("back") +
           cat("  plan.set_service(\"db\", ServiceConfig(image = \"", image, "\"))\n");
  };
  EXPECT_EQ(run(add("db") + add("back")), "RR");
  EXPECT_EQ(run(script("b")), "RSR");
  EXPECT_EQ(run(script("c")), "RSR");
}

TEST_P(BothResolvers, AStoredFileOfAnUpdatedServiceIsStoredAgain) {
  const auto script = [](const std::string& image) {
    return add("s", image) + "  plan.store_service_files(\"s\", \"/x\", name = \"f\")\n" + add("t");
  };
  EXPECT_EQ(run(script("a")), "RRR");
  EXPECT_EQ(run(script("b")), "RRS");
}

TEST_P(BothResolvers, ANewInstructionAtTheEndIsAddedToThePlanAndSkippedNextTime) {
  EXPECT_EQ(run(print("1")), "R");
  EXPECT_EQ(run(print("1") + print("2")), "SR");
  EXPECT_EQ(run(print("1") + print("2") + print("3")), "SSR");
  EXPECT_EQ(run(print("1") + print("2") + print("3")), "SSS");
}

TEST_P(BothResolvers, EveryKindOfInstructionIsSkippedInASecondRun) {
  write("data/x", "1");
  const std::string script =
      web("s", "a") + "  plan.add_services({\"t\": ServiceConfig(image = \"a\")})\n" +
      "  plan.upload_files(\"./data\", name = \"up\")\n" + render("f", "1") + exec("s", "x") +
      "  plan.request(\"s\", GetHttpRequestRecipe(port_id = \"http\", endpoint = \"/r\"))\n" +
      "  plan.wait(\"s\", ExecRecipe(command = [\"w\"]), \"code\", \"==\", 0)\n" +
      store("s", "st") +
      "  plan.get_service(\"s\")\n  plan.get_services()\n  plan.get_files_artifact(\"f\")\n" +
      "  plan.verify(\"v\", \"==\", \"v\")\n  plan.run_sh(run = \"r\", image = \"i\")\n" +
      "  plan.run_python(run = \"p\")\n  plan.get_cluster_type()\n" + print("end");
  EXPECT_EQ(run(script), std::string(16, 'R'));
  EXPECT_EQ(run(script), std::string(16, 'S'));
}

TEST_P(BothResolvers, AChangedTemplateRunsOnlyTheServiceThatMountsIt) {
  const auto script = [](const std::string& text) {
    return render("f", text) + add("generator") + store("generator", "st") + add_with("user", "f");
  };
  EXPECT_EQ(run(script("1")), "RRRR");
  EXPECT_EQ(run(script("2")), "RSSR");
}

TEST_P(BothResolvers, AnUpdatedGeneratorStoresAgainAndLeavesTheConsumerOfAnotherArtifact) {
  const auto script = [](const std::string& command) {
    return render("f", "1") + add_with("generator", "f", command) + store("generator", "st") +
           add_with("consumer", "f");
  };
  EXPECT_EQ(run(script("1")), "RRRR");
  EXPECT_EQ(run(script("2")), "SRRS");
}

TEST_P(BothResolvers, ARequestAndAWaitRunAgainOnAnUpdatedServiceOnly) {
  const auto script = [](const std::string& image) {
    std::string text = web("s", image) + web("t", "a");
    for (const char* service : {"s", "t"})
      text += cat("  plan.request(\"", service,
                  "\", GetHttpRequestRecipe(port_id = \"http\", endpoint = \"/r\"))\n",
                  "  plan.wait(\"", service,
                  "\", ExecRecipe(command = [\"w\"]), \"code\", \"==\", 0)\n");
    return text;
  };
  EXPECT_EQ(run(script("a")), "RRRRRR");
  EXPECT_EQ(run(script("b")), "RSRRSS");
}

TEST_P(BothResolvers, UploadedFilesWithOtherContentsAreUpdatedWithTheServiceThatMountsThem) {
  const std::string script = "  plan.upload_files(\"./data\", name = \"f\")\n" +
                             add_with("s", "f") + exec("s", "x") + add("t");
  write("data/x", "1");
  EXPECT_EQ(run(script), "RRRR");
  EXPECT_TRUE(results_[0].starts_with("Files with artifact name 'f' uploaded with artifact UUID"));
  write("data/x", "2");
  EXPECT_EQ(run(script), "RRRS");
  EXPECT_TRUE(results_[0].starts_with("Files with artifact name 'f' with artifact UUID '"))
      << results_[0];
  EXPECT_TRUE(results_[0].ends_with("' updated")) << results_[0];
}

TEST_P(BothResolvers, UnnamedArtifactsDoNotKeepAPackageFromBeingSkipped) {
  write("data/x", "1");
  const std::string script =
      "  f = plan.upload_files(\"./data\")\n  plan.add_service(\"s\", ServiceConfig(image = \"a\", "
      "files = {\"/f\": f}))\n";
  EXPECT_EQ(run(script), "RR");
  EXPECT_EQ(run(script), "SS");
}

TEST_P(BothResolvers, TheUserOfAnExecsResultIsSkippedWhileTheResultIsReadByName) {
  const auto script = [](const std::string& image) {
    return add("s", image) +
           "  r = plan.exec(\"s\", ExecRecipe(command = [\"x\"]))\n  plan.verify(r[\"output\"], "
           "\"==\", \"x\")\n";
  };
  EXPECT_EQ(run(script("a")), "RRR");
  EXPECT_EQ(run(script("b")), "RRS");
}

TEST_P(BothResolvers, MoreServicesAtOnceAreAnUpdate) {
  const auto script = [](const std::string& more) {
    return cat("  plan.add_services({\"a\": ServiceConfig(image = \"i\")", more, "})\n",
               print("end"));
  };
  EXPECT_EQ(run(script("")), "RR");
  EXPECT_EQ(run(script(", \"b\": ServiceConfig(image = \"i\")")), "RS");
  EXPECT_EQ(engine_.containers.size(), 2u);
}

TEST_P(BothResolvers, WhatWasKeptOfThePlanIsFoundByALaterRun) {
  EXPECT_EQ(run(add("a") + add("b")), "RR");
  EXPECT_EQ(run(add("c")), "R");
  EXPECT_EQ(run(add("a") + add("b") + add("c") + print("x")), "SSSR");
}

TEST_P(BothResolvers, ADryRunLeavesThePlanAsItWas) {
  const std::string script = add("s") + exec("s", "x") + print("1");
  EXPECT_EQ(run(script), "RRR");
  write("script.star", "def run(plan):\n" + print("another"));
  const int made = engine_.made;
  ASSERT_TRUE(dry_run_package(place_, request_));
  EXPECT_EQ(engine_.made, made);
  EXPECT_EQ(run(script), "SSS");
}

TEST_P(BothResolvers, AFailedParallelRunSkipsNothingThatNeverRan) {
  request_.order = ScriptOrder::needs;
  const auto script = [](const std::string& command) {
    return add("s") + exec("s", command) + exec("s", "after");
  };
  EXPECT_EQ(run(script("fail")), "RFN");
  EXPECT_EQ(run(script("good")), "SRR");
  EXPECT_EQ(engine_.containers["s"].commands, (std::vector<std::string>{"good", "after"}));
}

TEST_P(BothResolvers, AFailedUpdateInsideTheOverlapIsRunAgain) {
  const auto script = [](const std::string& image, const std::string& command) {
    return add("s", image) + exec("s", command) + print("end");
  };
  EXPECT_EQ(run(script("a", "x")), "RRR");
  EXPECT_EQ(run(script("b", "fail")), "RFN");
  EXPECT_EQ(run(script("b", "x")).back(), GetParam() == PackageRequest::Resolver::keys ? 'S' : 'R');
  EXPECT_EQ(run(script("b", "x")), "SSS");
}

TEST_P(BothResolvers, WithoutCachingEverythingRuns) {
  EXPECT_EQ(run(add("s") + print("1")), "RR");
  request_.redo = Redo::always;
  EXPECT_EQ(run(add("s") + print("1")), "RR");
  EXPECT_EQ(engine_.made, 2);
  request_.redo = Redo::as_needed;
  EXPECT_EQ(run(add("s") + print("1")), "SS");
}

TEST_P(BothResolvers, AfterAFailureARepairedRunGoesOn) {
  EXPECT_EQ(run(add("s") + exec("s", "fail") + print("1")), "RFN");
  EXPECT_EQ(run(add("s") + exec("s", "good") + print("1")), "SRR");
  EXPECT_EQ(engine_.made, 1);
}

TEST_P(BothResolvers, ForcedUpdatesAlwaysRun) {
  const std::string script =
      "  plan.add_service(\"s\", ServiceConfig(image = \"a\"), force_update = True)\n";
  EXPECT_EQ(run(script), "R");
  EXPECT_EQ(run(script), "R");
}

// The three examples of the document.

TEST_P(BothResolvers, ExampleOfADisjointPlanIsExecutedAndAppended) {
  write("data/x", "1");
  const std::string known = "  plan.upload_files(\"./data\", name = \"f\")\n" + add("s");
  const std::string submitted = add("t") + exec("t", "x");
  EXPECT_EQ(run(known), "RR");
  EXPECT_EQ(run(submitted), "RR");
  EXPECT_EQ(engine_.containers.size(), 2u);
  EXPECT_EQ(run(known + submitted + print("more")), "SSSSR") << "they stand one behind the other";
}

TEST_P(BothResolvers, ExampleOfAPartialOverlapRunsOnlyTheEnd) {
  write("data/x", "1");
  const std::string services = add("s1") + add("s2");
  EXPECT_EQ(run("  plan.upload_files(\"./data\", name = \"f\")\n" + services), "RRR");
  EXPECT_EQ(run(services + exec("s1", "x") + store("s2", "files")), "SSRR");
  EXPECT_EQ(engine_.made, 2);
}

TEST_P(BothResolvers, ExampleOfAPartialOverlapWithUpdatesRunsWhatDependsOnThem) {
  write("data/x", "1");
  const auto script = [](const std::string& image) {
    return "  plan.upload_files(\"./data\", name = \"f\")\n" + add("s1", image) + add("s2") +
           exec("s1", "x") + store("s2", "files");
  };
  EXPECT_EQ(run(script("a")), "RRRRR");
  EXPECT_EQ(run(script("b")), "SRSRS");
  EXPECT_EQ(engine_.containers["s1"].image, "b");
  EXPECT_EQ(engine_.containers["s1"].commands, std::vector<std::string>{"x"});
}

TEST_P(BothResolvers, StoredFilesFromAnotherPathOrServiceAreUpdatedWithWhoMountsThem) {
  const auto script = [](const std::string& service, const std::string& path) {
    return add("s") + add("t") +
           cat("  plan.store_service_files(\"", service, "\", \"", path, "\", name = \"st\")\n") +
           add_with("user", "st") + print("end");
  };
  EXPECT_EQ(run(script("s", "/x")), "RRRRR");
  // What was copied turns out the same, so only the list runs the one who mounts it.
  EXPECT_EQ(run(script("s", "/y")),
            GetParam() == PackageRequest::Resolver::keys ? "SSRSS" : "SSRRS");
  EXPECT_EQ(run(script("t", "/y")), "SSRRS");
}

TEST_P(BothResolvers, ForcedUpdatesWithAnotherConfigAreUpdates) {
  const auto script = [](const std::string& image) {
    return cat("  plan.add_service(\"s\", ServiceConfig(image = \"", image,
               "\"), force_update = True)\n") +
           add("t");
  };
  EXPECT_EQ(run(script("a")), "RR");
  EXPECT_EQ(run(script("b")), "RS");
  EXPECT_EQ(engine_.containers["s"].image, "b");
}

TEST_P(BothResolvers, AFailureNamesTheInstructionAndEndsTheRun) {
  EXPECT_EQ(run(add("s") + exec("s", "fail") + print("never")), "RFN");
  EXPECT_NE(results_[1].find("unexpected exit code 1"), std::string::npos) << results_[1];
  EXPECT_EQ(results_[2].find("never\n"), std::string::npos);
  const auto failed = home_.store().events("e", 0, 100);
  ASSERT_TRUE(failed);
  EXPECT_EQ(std::ranges::count(*failed, EventType::failed, &Event::type), 1);
}

// Where the list alone runs everything.

class SeedsResolver : public RunPackageTest {
 protected:
  void SetUp() override {
    RunPackageTest::SetUp();
    request_.resolver = PackageRequest::Resolver::overlap;
  }
};

TEST_F(SeedsResolver, AChangedMiddleInstructionRunsEverything) {
  EXPECT_EQ(run(print("1") + print("2") + print("3")), "RRR");
  EXPECT_EQ(run(print("1") + print("x") + print("3")), "RRR");
}

TEST_F(SeedsResolver, InsertionDeletionAndReorderingRunEverything) {
  EXPECT_EQ(run(add("a") + add("b") + print("1")), "RRR");
  EXPECT_EQ(run(print("0") + add("a") + add("b") + print("1")), "RRRR");
  EXPECT_EQ(run(add("a") + print("1")), "RR");
  EXPECT_EQ(run(print("1") + add("a")), "SR");
}

TEST_F(SeedsResolver, RemovingStartingOrStoppingAServiceMakesThePlansNotResolvable) {
  for (const char* verb : {"remove", "start", "stop"}) {
    request_.environment = verb;
    const std::string script = add("s") + print("1") + cat("  plan.", verb, "_service(\"s\")\n");
    EXPECT_EQ(run(script), "RRR") << verb;
    EXPECT_EQ(run(script), "RRR") << verb;
  }
}

TEST_F(SeedsResolver, AnEditByACommandBreaksTheOverlap) {
  const std::string script = add("s") + print("1");
  EXPECT_EQ(run(script), "RR");
  ASSERT_TRUE(transit("s", Verb::stop));
  EXPECT_EQ(run(script), "RR");
  EXPECT_EQ(run(script), "SS");
}

TEST_F(SeedsResolver, TwoPackagesInTurnFindNoOverlap) {
  EXPECT_EQ(run(print("1") + print("2")), "RR");
  EXPECT_EQ(run(print("3")), "R");
  EXPECT_EQ(run(print("1") + print("2")), "RR");
}

TEST_P(BothResolvers, AnArtifactWithTwoAuthorsIsSkippedWhole) {
  const std::string script = render("f", "1") + add_with("a", "f") +
                             "  plan.run_sh(run = \"x\", store = [StoreSpec(src = \"/o\", name = "
                             "\"f\")])\n" +
                             add_with("b", "f");
  EXPECT_EQ(run(script), "RRRR");
  open();
  EXPECT_EQ(run(script), "SSSS");
}

/// A record belongs to an entry of the list, not to its place among equal ones of a package.
TEST_F(SeedsResolver, EqualInstructionsOfSeveralRunsAreEntriesOfTheirOwn) {
  EXPECT_EQ(run(print("s") + print("x")), "RR");
  EXPECT_EQ(run(print("p") + print("x")), "RR");
  EXPECT_EQ(run(print("x") + print("p") + print("x")), "SSS");
  EXPECT_EQ(run(print("x") + print("p") + print("x") + print("x")), "SSSR");
  EXPECT_EQ(run(print("x") + print("x")), "SS");
}

/// The default resolver keeps one record for both.
TEST_F(SeedsResolver, EqualInstructionsWithOneRecordAreOneAction) {
  request_.resolver = PackageRequest::Resolver::keys;
  EXPECT_EQ(run(print("s") + print("x")), "RR");
  EXPECT_EQ(run(print("p") + print("x")), "RS");
  request_.resolver = PackageRequest::Resolver::overlap;
  EXPECT_EQ(run(print("x") + print("p") + print("x")), "SSS");
}

TEST_F(SeedsResolver, DriftIsNotLookedAt) {
  EXPECT_EQ(run(add("s")), "R");
  engine_.containers.erase("s");
  EXPECT_EQ(run(add("s")), "S");
}

TEST_F(SeedsResolver, ARefusedRunLeavesThePlanUntouched) {
  EXPECT_EQ(run(add("s") + print("1")), "RR");
  EXPECT_NE(run(add("s", "b") + "  plan.set_service(\"s\", ServiceConfig(image = \"c\"))\n" +
                "  fail(\"no\")\n")
                .find("fail: no"),
            std::string::npos);
  EXPECT_EQ(run(add("s") + print("1")), "SS");
}

TEST_P(BothResolvers, SeveralSetServicesOfOneServiceRunItOnce) {
  const std::string set =
      "  plan.set_service(\"s\", ServiceConfig(image = \"b\"))\n  plan.set_service(\"s\", "
      "ServiceConfig(image = \"c\"))\n";
  EXPECT_EQ(run(add("s")), "R");
  EXPECT_EQ(run(add("s") + set), "RRR");
  EXPECT_EQ(engine_.made, 2);
  EXPECT_EQ(run(add("s") + set), "SSS");
}

/// What an edit did before it was killed is seen by the next run, though nothing says that it
/// ended.
TEST_P(BothResolvers, AnEditThatIsKilledIsMadeGood) {
  const std::string script = add("s") + print("1");
  const std::string repaired = request_.resolver == PackageRequest::Resolver::overlap ? "RR" : "RS";
  for (const Verb verb : {Verb::stop, Verb::remove}) {
    run(script);
    EXPECT_EQ(run(script), "SS");
    engine_.dies = true;
    EXPECT_FALSE(transit("s", verb));
    EXPECT_NE(engine_.containers["s"].status, verb == Verb::stop ? "running" : "exited");
    open();
    EXPECT_EQ(run(script), repaired) << to_string(verb);
    EXPECT_EQ(engine_.containers["s"].status, "running");
  }
  engine_.dies = true;
  EXPECT_FALSE(put("s", Value::dict({{"image", "by-hand"}})));
  EXPECT_EQ(engine_.containers["s"].image, "by-hand");
  open();
  EXPECT_EQ(run(script), repaired);
  EXPECT_EQ(engine_.containers["s"].image, "a");
  EXPECT_EQ(run(script), "SS");
}

// Where the default knows better.

TEST_F(RunPackageTest, AnEditByACommandIsDriftToTheDefault) {
  const std::string script = add("s") + print("1");
  EXPECT_EQ(run(script), "RR");
  ASSERT_TRUE(transit("s", Verb::stop));
  EXPECT_EQ(run(script), "RS");
  EXPECT_EQ(engine_.containers["s"].status, "running");
}

TEST_F(RunPackageTest, TwoPackagesInTurnAreComparedWithTheirOwnRecords) {
  EXPECT_EQ(run(print("1") + print("2")), "RR");
  EXPECT_EQ(run(print("3")), "R");
  EXPECT_EQ(run(print("1") + print("2")), "SS");
}

}  // namespace
}  // namespace fettle
