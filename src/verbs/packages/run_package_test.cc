/// Where the default resolver is finer than the list of the seeds, arguments and packages, result
/// lines, and errors before anything happens.

#include "core/open_payload.h"
#include "tests/fixtures/package_fixture.h"
#include "verbs/environments/explain.h"
#include "verbs/environments/files.h"
#include "verbs/environments/services.h"

namespace fettle {
namespace {

// Where the default is finer than the list.

TEST_F(RunPackageTest, AReadyConditionIsCalledByItsService) {
  const std::string service =
      "  plan.add_service(\"s\", ServiceConfig(image = \"a\", ready_conditions = "
      "ReadyCondition(recipe = ExecRecipe(command = [\"fail\"]), field = \"code\", assertion = "
      "\"==\", target_value = 0, timeout = \"1s\")))\n";
  EXPECT_EQ(run(service + exec("s", "x")), "FN");
  for (const std::string& said : results_)
    EXPECT_EQ(said.find("#ready"), std::string::npos) << said;
  EXPECT_NE(results_[1].find("`service/s (ready condition)`"), std::string::npos) << results_[1];
  const std::vector<Key> found = *find_keys(place_, "e", "service/s (ready condition)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(
      to_string(why(place_, "e", found[0])->front()).starts_with("service/s (ready condition)"));
}

TEST_F(RunPackageTest, AChangedMiddleInstructionRunsAlone) {
  EXPECT_EQ(run(print("1") + print("2") + print("3")), "RRR");
  EXPECT_EQ(run(print("1") + print("x") + print("3")), "SRS");
}

TEST_F(RunPackageTest, InsertionDeletionAndReorderingRunNothingElse) {
  EXPECT_EQ(run(add("a") + add("b") + print("1")), "RRR");
  EXPECT_EQ(run(print("0") + add("a") + add("b") + print("1")), "RSSS");
  EXPECT_EQ(run(add("b") + print("1") + add("a")), "SSS");
  EXPECT_EQ(run(add("b")), "S");
  EXPECT_EQ(engine_.made, 2);
}

TEST_F(RunPackageTest, UnnamedArtifactsKeepTheirNames) {
  write("data/x", "1");
  const std::string script =
      "  f = plan.upload_files(\"./data\")\n  plan.add_service(\"s\", ServiceConfig(image = \"a\", "
      "files = {\"/f\": f}))\n";
  EXPECT_EQ(run(script), "RR");
  EXPECT_EQ(run(script), "SS");
  write("data/x", "2");
  EXPECT_EQ(run(script), "RR");
}

TEST_F(RunPackageTest, UploadsAreToldApartByNamesContentsAndModes) {
  const std::string data = folder_ + "/data";
  const auto again = [&](const std::string& file, const std::string& text) {
    std::filesystem::remove_all(data);
    write("data/" + file, text);
    return run("  plan.upload_files(\"./data\", name = \"d\")\n");
  };
  EXPECT_EQ(again("a", "bc"), "R");
  EXPECT_EQ(again("a", "bc"), "S");
  EXPECT_EQ(again("ab", "c"), "R");
  std::filesystem::permissions(data + "/ab", std::filesystem::perms(0755));
  EXPECT_EQ(run(), "R");
  EXPECT_EQ(run(), "S");
}

TEST_F(RunPackageTest, AResultThatStaysTheSameKeepsItsUsers) {
  const auto script = [](const std::string& env) {
    return add("s", env) +
           "  r = plan.exec(\"s\", ExecRecipe(command = [\"x\"]))\n  plan.add_service(\"t\", "
           "ServiceConfig(image = \"a\", env_vars = {\"R\": r[\"output\"]}))\n";
  };
  EXPECT_EQ(run(script("a")), "RRR");
  EXPECT_EQ(run(script("b")), "RRS");
}

TEST_F(RunPackageTest, AddedUsedAndRemovedIsUpToDateAsAWhole) {
  const std::string script =
      add("s") + exec("s", "x") + "  plan.remove_service(\"s\")\n" + print("end");
  EXPECT_EQ(run(script), "RRRR");
  EXPECT_TRUE(engine_.containers.empty());
  EXPECT_EQ(run(script), "SSSS");
  EXPECT_EQ(run(add("s") + exec("s", "y") + "  plan.remove_service(\"s\")\n" + print("end")),
            "RRRS");
}

constexpr const char* remove_s = "  plan.remove_service(\"s\")\n";

TEST_F(RunPackageTest, AServiceIsAddedAgainAfterItWasRemoved) {
  const auto script = [](const std::string& image) {
    return add("s") + exec("s", "x") + remove_s + add("s", image) + exec("s", "y");
  };
  EXPECT_EQ(run(script("b")), "RRRRR");
  EXPECT_EQ(results_[3], cat("Service 's' added with service UUID '", uuid_of("s"), "'"));
  ASSERT_EQ(engine_.containers.size(), 1u);
  EXPECT_EQ(engine_.containers["s"].commands, std::vector<std::string>{"y"});
  EXPECT_EQ(run(script("b")), "SSSSS");
  // One at a time has the name: the last one is recreated with the one before it.
  EXPECT_EQ(run(add("s") + exec("s", "z") + remove_s + add("s", "b") + exec("s", "y")), "RRRRR");
  EXPECT_EQ(engine_.containers["s"].commands, std::vector<std::string>{"y"});
  EXPECT_EQ(run(script("b")), "RRRRR");
  EXPECT_EQ(run(script("c")), "SSSRR");
  EXPECT_EQ(engine_.containers["s"].commands, std::vector<std::string>{"y"});
  EXPECT_EQ(run(script("c") + remove_s), "SSSSSR");
  EXPECT_TRUE(engine_.containers.empty());
}

TEST_F(RunPackageTest, WhatGivesWayIsNotLeftWhenTheRunStops) {
  const std::string script = add("s") + exec("s", "fail") + remove_s + add("s", "b");
  EXPECT_EQ(run(script), "RFNN");
  EXPECT_TRUE(engine_.containers.contains("s~1"));
  EXPECT_EQ(run(script), "SFNN");
  EXPECT_EQ(engine_.containers.size(), 1u);
  // Who changes it by hand does not keep it alive.
  ASSERT_TRUE(put("s", Value::dict({{"image", "by-hand"}})));
  EXPECT_EQ(engine_.containers["s~1"].image, "by-hand");
  // The next version of the package wants one only.
  EXPECT_EQ(run(add("s")), "R");
  ASSERT_EQ(engine_.containers.size(), 1u);
  EXPECT_TRUE(engine_.containers.contains("s"));
  EXPECT_EQ(run(add("s")), "S");
}

TEST_F(RunPackageTest, AddedAgainUnderTheSeedsResolver) {
  request_.resolver = PackageRequest::Resolver::overlap;
  const std::string script = add("s") + exec("s", "x") + remove_s + add("s", "b") + exec("s", "y");
  EXPECT_EQ(run(script), "RRRRR");
  // A removal disables the resolver, so everything runs again.
  EXPECT_EQ(run(script), "RRRRR");
  ASSERT_EQ(engine_.containers.size(), 1u);
  EXPECT_EQ(engine_.containers["s"].commands, std::vector<std::string>{"y"});
}

TEST_F(RunPackageTest, AServiceOfBeforeIsUsedAndThenAddedAgain) {
  EXPECT_EQ(run(add("s")), "R");
  const std::string used =
      "  plan.print(plan.get_service(\"s\").ip_address)\n" + exec("s", "backup");
  const std::string before = engine_.containers["s"].id;
  // The command happens in the one that was there, and then it is replaced.
  EXPECT_EQ(run(used + add("s", "b") + exec("s", "y")), "RRRRR");
  EXPECT_EQ(results_[1], "ip of s");
  EXPECT_EQ(results_[2], "Command returned with exit code '0' and the following output: backup");
  EXPECT_NE(engine_.containers["s"].id, before);
  EXPECT_EQ(engine_.containers["s"].commands, std::vector<std::string>{"y"});
  EXPECT_EQ(run(used + add("s", "b") + exec("s", "y")), "SSSSS");
  EXPECT_EQ(run(used + add("s", "c") + exec("s", "y")), "SSSRR");
  request_.order = ScriptOrder::needs;
  EXPECT_EQ(run(used + exec("s", "more") + add("s", "d")), "SSSRR");
  EXPECT_TRUE(engine_.containers["s"].commands.empty());
}

TEST_F(RunPackageTest, AServiceOfBeforeIsNamedInItsOwnConfig) {
  EXPECT_EQ(run(add("s")), "R");
  const std::string script =
      "  old = plan.get_service(\"s\")\n"
      "  plan.add_service(\"s\", ServiceConfig(image = \"a\", env_vars = {\"A\": "
      "old.ip_address}))\n";
  EXPECT_EQ(run(script), "RR");
  EXPECT_EQ(run(script), "SS");
}

TEST_F(RunPackageTest, StoppedAndSetBeforeItIsAddedAgain) {
  EXPECT_EQ(run(add("s")), "R");
  EXPECT_EQ(run("  plan.stop_service(\"s\")\n" + add("s", "b")), "RR");
  EXPECT_EQ(engine_.containers["s"].status, "running");
  EXPECT_EQ(run("  plan.stop_service(\"s\")\n" + add("s", "b")), "SS");
  EXPECT_EQ(run(exec("s", "x") + "  plan.set_service(\"s\", ServiceConfig(image = \"c\"))\n"),
            "RR");
  EXPECT_EQ(run(exec("s", "x") + remove_s + add("s", "d")), "SRR");
  EXPECT_TRUE(engine_.containers["s"].commands.empty());
}

TEST_F(RunPackageTest, RemovedAndAddedIsMadeAnewInEveryRun) {
  EXPECT_EQ(run(add("s")), "R");
  for (int made = 2; made < 4; ++made) {
    EXPECT_EQ(run(remove_s + add("s")), "RR");
    EXPECT_EQ(results_[0], cat("Service 's' with service UUID '", uuid_of("s"), "' removed"));
    EXPECT_EQ(engine_.made, made);
  }
  EXPECT_EQ(run(add("s") + remove_s), "SR");
  EXPECT_EQ(run(remove_s + add("s")), "RR");
  EXPECT_TRUE(engine_.containers.contains("s"));
}

TEST_F(RunPackageTest, AServiceThatWasRemovedIsThereNoMore) {
  EXPECT_EQ(run(add("s") + remove_s), "RR");
  EXPECT_NE(error_of(exec("s", "x")).find("the service `s` was already removed"),
            std::string::npos);
  EXPECT_EQ(run("  plan.print(len(plan.get_services()))\n"), "RR");
  EXPECT_EQ(results_[1], "0");
  EXPECT_EQ(run(remove_s), "S");
  EXPECT_EQ(run(add("s")), "R");
}

TEST_F(RunPackageTest, ServicesAreListedAsInTheFirstRun) {
  const std::string list = "  plan.print([s.name for s in plan.get_services()])\n";
  const std::string script = add("s") + list + add("t");
  EXPECT_EQ(run(script), "RRRR");
  EXPECT_EQ(results_[2], "[\"s\"]");
  EXPECT_EQ(run(script), "SSSS");
  // What the script does not add itself is there.
  EXPECT_EQ(run(add("s") + list), "SRR");
  EXPECT_EQ(results_[2], "[\"s\", \"t\"]");
}

TEST_F(RunPackageTest, TheHeadingOfManyCountsTheNewOnes) {
  const auto script = [](const std::string& more) {
    return "  plan.add_services({\"a\": ServiceConfig(image = \"i\")" + more + "})\n";
  };
  EXPECT_EQ(run(script("")), "R");
  EXPECT_EQ(run(script(", \"b\": ServiceConfig(image = \"i\")")), "R");
  EXPECT_EQ(results_[0],
            cat("Successfully added the following '1' services:\n  Service 'a' added with UUID '",
                uuid_of("a"), "'\n  Service 'b' added with UUID '", uuid_of("b"), "'"));
}

TEST_F(RunPackageTest, AStoppedServiceStaysStopped) {
  const std::string script = add("s") + "  plan.stop_service(\"s\")\n";
  EXPECT_EQ(run(script), "RR");
  EXPECT_EQ(run(script), "SS");
  EXPECT_EQ(engine_.containers["s"].status, "exited");
  EXPECT_EQ(run(script + "  plan.start_service(\"s\")\n"), "SSR");
  EXPECT_EQ(results_[2], "Service 's' started");
}

TEST_F(RunPackageTest, DriftIsRepaired) {
  EXPECT_EQ(run(add("s") + exec("s", "x")), "RR");
  engine_.containers.erase("s");
  EXPECT_EQ(run(add("s") + exec("s", "x")), "RR");
  engine_.containers["s"].status = "exited";
  EXPECT_EQ(run(add("s") + exec("s", "x")), "RS");
}

TEST_F(RunPackageTest, WhatIsNotWantedIsKeptAndPrunedWhenAsked) {
  EXPECT_EQ(run(add("a") + add("b")), "RR");
  EXPECT_EQ(run(add("a")), "S");
  EXPECT_TRUE(engine_.containers.contains("b"));
  request_.leftover = Leftover::remove;
  EXPECT_EQ(run(add("a")), "S");
  EXPECT_FALSE(engine_.containers.contains("b"));
}

TEST_F(RunPackageTest, ADryRunChangesNothing) {
  write("script.star", "def run(plan):\n" + add("s") + print("1"));
  request_.package = folder_ + "/script.star";
  const Result<PackageReport> report = dry_run_package(place_, request_);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->statements.size(), 2u);
  EXPECT_TRUE(engine_.containers.empty());
  EXPECT_EQ(run(), "RR");
}

TEST_F(RunPackageTest, ParallelRunsGoByNeeds) {
  request_.order = ScriptOrder::needs;
  EXPECT_EQ(
      run(add("s") + exec("s", "1") + exec("s", "2") + add("t") + "  plan.print(s.ip_address)\n"),
      "RRRRR");
  EXPECT_EQ(engine_.containers["s"].commands, (std::vector<std::string>{"1", "2"}));
}

// Lines that scripts read.

TEST_F(RunPackageTest, ResultLinesAreThoseThatScriptsKnow) {
  EXPECT_EQ(run(add("s") + exec("s", "one") + exec("s", "a\\nb") + exec("s", "") +
                "  plan.verify(\"v\", \"==\", \"v\")\n  plan.get_service(\"s\")\n" +
                "  plan.remove_service(\"s\")\n  plan.run_sh(run = \"x\", image = \"i\")\n"),
            "RRRRRRRR");
  EXPECT_EQ(results_[0], cat("Service 's' added with service UUID '", uuid_of("s"), "'"));
  EXPECT_EQ(results_[1], "Command returned with exit code '0' and the following output: one");
  EXPECT_EQ(results_[2],
            "Command returned with exit code '0' and the following "
            "output:\n--------------------\na\nb\n--------------------");
  EXPECT_EQ(results_[3], "Command returned with exit code '0' with no output");
  EXPECT_EQ(results_[4], "Verification succeeded. Value is 'v'.");
  EXPECT_EQ(results_[5], "Fetched service 's'");
  EXPECT_EQ(results_[6], cat("Service 's' with service UUID '", uuid_of("s"), "' removed"));
  EXPECT_EQ(results_[7], "Command returned with exit code '0' and the following output: x");
}

TEST_F(RunPackageTest, TheReturnedValueHasItsReferencesFilled) {
  EXPECT_EQ(run(add("s") + "  r = plan.exec(\"s\", ExecRecipe(command = [\"x\"]))\n  return "
                           "struct(ip = s.ip_address, out = [r[\"output\"], r[\"code\"]])\n"),
            "RR");
  EXPECT_EQ(output_, R"({"ip":"ip of s","out":["x",0]})");
}

// Arguments and packages.

TEST_F(RunPackageTest, ArgumentsAreMatchedByName) {
  write("p/kurtosis.yml", "name: github.com/a/p\n");
  write("p/main.star",
        "lib = import_module(\"./lib/x.star\")\ndef run(plan, name, num = 1):\n  "
        "plan.print(lib.greet(name) + str(num))\n");
  write("p/lib/x.star", "def greet(name):\n  return read_file(\"/greeting.txt\") + name\n");
  write("p/greeting.txt", "hi ");
  request_.package = folder_ + "/p";
  request_.arguments = R"({"name": "bob", "num": 2})";
  EXPECT_EQ(run(), "R");
  EXPECT_EQ(results_[0], "hi bob2");
  request_.arguments = "name: bob\nnum: 2\n";
  EXPECT_EQ(run(), "S");
  request_.arguments = "{}";
  EXPECT_EQ(run(), "the argument `name` is missing: `run` needs it");
  request_.arguments = R"({"name": "x", "nmu": 1})";
  EXPECT_EQ(run(), "the argument `nmu` is unknown, did you mean `num`?");
  request_.arguments = "{\"name\": \"x\",, }";
  EXPECT_NE(run().find("invalid JSON"), std::string::npos);
}

TEST_F(RunPackageTest, OldPackagesGetTheirArgumentsAsOneDict) {
  write("p/kurtosis.yml", "name: github.com/a/p\n");
  write("p/main.star", "def run(plan, args):\n  plan.print(args[\"x\"])\n");
  request_.package = folder_ + "/p";
  request_.arguments = R"({"x": "y"})";
  EXPECT_EQ(run(), "R");
  request_.arguments = "{}";
  EXPECT_NE(run().find("\"x\""), std::string::npos);
}

TEST_F(RunPackageTest, PackagesThatAreNoneSayWhatIsMissing) {
  request_.package = folder_ + "/p";
  write("p/x", "");
  EXPECT_NE(run().find("it has no `kurtosis.yml`"), std::string::npos);
  write("p/kurtosis.yml", "name: [");
  EXPECT_NE(run().find("invalid YAML"), std::string::npos);
  write("p/kurtosis.yml", "name: somewhere\n");
  EXPECT_NE(run().find("`somewhere` is not a package"), std::string::npos);
  write("p/kurtosis.yml", "name: github.com/a/p\n");
  EXPECT_NE(run().find("no `main.star`"), std::string::npos);
  write("p/main.star", "x = 1\n");
  EXPECT_NE(run().find("no function `run`"), std::string::npos);
  write("p/main.star", "def run(x):\n  pass\n");
  EXPECT_NE(run().find("the first parameter of `run` must be called `plan`"), std::string::npos);
  write("p/main.star", "import_module(\"./a.star\")\ndef run(plan):\n  pass\n");
  write("p/a.star", "import_module(\"./b.star\")\n");
  write("p/b.star", "import_module(\"./a.star\")\n");
  EXPECT_NE(run().find("cycle"), std::string::npos);
  write("p/a.star", "import_module(\"github.com/a/p/b.star\")\n");
  EXPECT_NE(run().find("points into its own package"), std::string::npos);
}

TEST_F(RunPackageTest, ReplaceRulesNameLocalPackages) {
  write("p/kurtosis.yml", "name: github.com/a/p\nreplace:\n  github.com/c/d: ../d\n");
  write("p/main.star",
        "d = import_module(\"github.com/c/d/lib.star\")\ndef run(plan):\n  plan.print(d.X)\n");
  write("d/lib.star", "X = \"local\"\n");
  request_.package = folder_ + "/p";
  EXPECT_EQ(run(), "R");
  EXPECT_EQ(results_[0], "local");
}

TEST_F(RunPackageTest, ThePackagesNameIsItsLocation) {
  write("mirror/github.com/a/p/kurtosis.yml", "name: github.com/a/other\n");
  write("mirror/github.com/a/p/main.star", "def run(plan):\n  pass\n");
  request_.package = "github.com/a/p";
  request_.mirror = folder_ + "/mirror";
  EXPECT_NE(run().find("kurtosis.yml: the package at `github.com/a/p` calls itself "
                       "`github.com/a/other`; the name must be the same as the location"),
            std::string::npos);
  // Capital letters make no other repository.
  write("mirror/github.com/a/p/kurtosis.yml", "name: github.com/A/p\n");
  EXPECT_EQ(run(), "");
  request_.package = "github.com/a/q";
  EXPECT_NE(run().find("has no `github.com/a/q`"), std::string::npos);
  request_.package = "github.com/a/p/sub";
  EXPECT_NE(run().find("has no folder `sub`"), std::string::npos);
}

TEST_F(RunPackageTest, ATemplateThatCannotBeRenderedTellsItsPlace) {
  EXPECT_EQ(
      error_of("  plan.render_templates({\"x.conf\": struct(template = \"a\\n{{index .l 5}}\", "
               "data = {\"l\": []})}, name = \"f\")\n"),
      "script.star:2:24: template: x.conf:2:2: executing \"x.conf\" at <index .l 5>: error "
      "calling index: index out of range: 5");
}

// Errors before anything happens.

TEST_F(RunPackageTest, WrongNamesAreFoundBeforeAnythingHappens) {
  EXPECT_EQ(error_of(add("db") + exec("bd", "x")),
            "script.star:3:12: there is no service `bd`, did you mean `db`?");
  const std::string twice = error_of(add("s") + add("s"));
  EXPECT_TRUE(twice.starts_with("script.star:3:23: the service `s` is added twice, first at "))
      << twice;
  EXPECT_TRUE(twice.ends_with("script.star:2:23")) << twice;
  EXPECT_NE(error_of(add("S")).find("RFC 1035"), std::string::npos);
  EXPECT_NE(error_of("  plan.add_service(\"s\", ServiceConfig(image = \"a\", ports = {\"Http\": "
                     "PortSpec(number = 80)}))\n")
                .find("RFC 6335"),
            std::string::npos);
  EXPECT_EQ(
      error_of(
          add("s") +
          "  plan.request(\"s\", GetHttpRequestRecipe(port_id = \"htp\", endpoint = \"/\"))\n"),
      "script.star:3:15: the service `s` has no port `htp`; it has no ports");
  EXPECT_NE(
      error_of(
          "  plan.add_service(\"s\", ServiceConfig(image = \"a\", files = {\"/f\": \"nosuch\"}))\n")
          .find("there is no files artifact `nosuch`"),
      std::string::npos);
  EXPECT_NE(error_of(add("s") + "  plan.remove_service(\"s\")\n" + exec("s", "x"))
                .find("the service `s` was already removed"),
            std::string::npos);
  EXPECT_EQ(engine_.made, 0);
}

TEST_F(RunPackageTest, APrivilegedTaskIsRefusedUnlessItIsAllowed) {
  const std::string script = "  plan.run_sh(run = \"x\", image = \"i\", privileged = True)\n";
  EXPECT_NE(error_of(script).find("`--privileged`"), std::string::npos);
  request_.allows_privileged = true;
  EXPECT_EQ(run(script), "R");
}

TEST_F(RunPackageTest, StarlarkErrorsHaveTheirPlaceAndExcerpt) {
  write("script.star",
        "def run(plan):\n  helper(plan)\n\ndef helper(plan):\n  plan.add_service(name = \"s\")\n");
  request_.package = folder_ + "/script.star";
  PackageAudience nobody;
  const Result<PackageReport> report = run_package(place_, request_, nobody);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().blame, Blame::user);
  EXPECT_NE(report.error().message.find("missing argument for config"), std::string::npos);
  EXPECT_EQ(report.error().where.line, 5);
  EXPECT_NE(report.error().excerpt.find("plan.add_service"), std::string::npos);
  EXPECT_NE(error_of("  plan.no_such()\n").find("no_such"), std::string::npos);
  EXPECT_NE(error_of("  print(1)\n").find("plan.print"), std::string::npos);
}

// Artifacts with several authors.

std::string rendered(const std::string& text) {
  return cat("  plan.render_templates({\"a\": struct(template = \"", text,
             "\", data = {})}, name = \"f\")\n");
}
std::string reader(const std::string& name) {
  return cat("  plan.add_service(\"", name,
             "\", ServiceConfig(image = \"a\", files = {\"/f\": \"f\"}))\n");
}
std::string task(const std::string& command, const std::string& more = "") {
  return cat("  plan.run_sh(run = \"", command,
             "\", store = [StoreSpec(src = \"/o\", name = \"f\")]", more, ")\n");
}

TEST_F(RunPackageTest, ATaskUpdatesAnArtifactForThoseWhoComeLater) {
  const auto script = [](const std::string& text, const std::string& first,
                         const std::string& second) {
    return rendered(text) + reader("a") + task(first, ", files = {\"/f\": \"f\"}") + reader("b") +
           task(second) + reader("c");
  };
  EXPECT_EQ(run(script("1", "x", "y")), "RRRRRR");
  EXPECT_EQ(run(script("1", "x", "y")), "SSSSSS");
  EXPECT_EQ(run(script("1", "x", "z")), "SSSSRR");
  EXPECT_EQ(run(script("1", "w", "z")), "SSRRSS");
  // The first task reads what it updates and makes the same of it.
  EXPECT_EQ(run(script("2", "w", "z")), "RRRSSS");
}

TEST_F(RunPackageTest, EachSortOfTaskMayBeALaterAuthor) {
  const auto python = [](const std::string& text) {
    return replace_all(task(text), "plan.run_sh(", "plan.run_python(");
  };
  EXPECT_EQ(run(rendered("1") + reader("a") + python("x") + reader("b")), "RRRR");
  EXPECT_EQ(run(rendered("1") + reader("a") + python("x") + reader("b")), "SSSS");
  EXPECT_EQ(run(rendered("1") + reader("a") + python("y") + reader("b")), "SSRR");
  EXPECT_EQ(run(rendered("1") + reader("a") + python("y") + reader("b") + task("z") + reader("c")),
            "SSSSRR");
}

TEST_F(RunPackageTest, TheLastAuthorsContentIsTheArtifacts) {
  const auto digest = [&] {
    const auto all = files_artifacts(*home_.store().known("e"));
    return all.size() == 1 ? std::string(dict_of(all.at("f")->outputs).text_at("digest"))
                           : "several";
  };
  EXPECT_EQ(run(rendered("1")), "R");
  const std::string first = digest();
  EXPECT_EQ(run(rendered("1") + task("x") + reader("b")), "SRR");
  EXPECT_EQ(digest(), *home_.blobs().put("tar of x"));
  // Without its author it goes, and the one before it is the last.
  EXPECT_EQ(run(rendered("1") + reader("b")), "SR");
  EXPECT_EQ(digest(), first);
}

TEST_F(RunPackageTest, ByHandTheLastAuthorIsOverridden) {
  const std::string script = rendered("1") + task("x") + reader("b");
  EXPECT_EQ(run(script), "RRR");
  {
    const auto edit = begin_edit(place_, "e", true);
    const Value attributes =
        Value::dict({{"source", "upload"}, {"digest", *home_.blobs().put("by hand")}});
    ASSERT_TRUE(put_files_artifact(place_, **edit, "f", attributes, "upload_files(src=\"x\")"));
  }
  EXPECT_EQ(dict_of(files_artifacts(*home_.store().known("e")).at("f")->outputs).text_at("digest"),
            *home_.blobs().put("by hand"));
  // Who mounts it never saw that.
  EXPECT_EQ(run(script), "SRS");
  EXPECT_EQ(run(script), "SSS");
}

/// What was there before the script is what its instructions before the first author get.
TEST_F(RunPackageTest, AnArtifactOfBeforeIsUsedBeforeItIsUpdated) {
  EXPECT_EQ(run(rendered("1")), "R");
  request_.package = "";
  write("other/kurtosis.yml", "name: github.com/test/other\n");
  write("other/main.star", "def run(plan):\n" + reader("a") + task("x") + reader("b"));
  request_.package = folder_ + "/other";
  EXPECT_EQ(run(), "RRR");
  EXPECT_EQ(run(), "RSS");
  EXPECT_EQ(run(), "SSS");
}

TEST_F(RunPackageTest, EverythingButATaskMakesANewArtifact) {
  EXPECT_NE(error_of(task("x") + rendered("1")).find("the files artifact `f` is created twice"),
            std::string::npos);
  EXPECT_NE(error_of(rendered("1") + rendered("2")).find("is created twice"), std::string::npos);
  EXPECT_EQ(run(task("x") + task("y")), "RR");
}

}  // namespace
}  // namespace fettle
