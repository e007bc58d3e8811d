/// Packages from their source to what is done, with everything real but the engine: the scenarios
/// that users of Kurtosis know, under the default resolver and under the seeds'.

#include "verbs/run_package.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "drivers/host/host_driver.h"
#include "kinds/kinds.h"
#include "store/blobs.h"
#include "store/sqlite_store.h"
#include "value/json.h"

namespace fettle {
namespace {

class TestKinds : public Kinds {
 public:
  const Kind* find(const Name& name) const override {
    for (const Kind* kind :
         {&network_kind(), &image_kind(), &directory_kind(), &artifact_kind(), &service_kind(),
          &exec_kind(), &request_kind(), &wait_kind(), &verify_kind(), &print_kind(), &task_kind(),
          &start_kind(), &stop_kind(), &remove_kind()})
      if (kind->name() == name)
        return kind;
    return nullptr;
  }
};

/// An engine that remembers its containers and what was run in them. A command `fail` exits with 1.
class FakeEngine : public Driver {
 public:
  explicit FakeEngine(Blobs& blobs) : blobs_(blobs) {}
  struct Container {
    std::string id, status = "running";
    std::vector<std::string> commands;
  };
  std::map<std::string, Container> containers;
  int made = 0;

  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token) override {
    std::vector<Observation> seen(subjects.size());
    for (size_t i = 0; i < subjects.size(); ++i) {
      const Subject& subject = subjects[i];
      if (subject.key.kind == "service") {
        if (const auto found = containers.find(subject.key.name.str()); found != containers.end())
          seen[i].state = Value::dict({{"status", found->second.status},
                                       {"exit_code", 1},
                                       {"container", found->second.id}});
      } else if (subject.known != nullptr && subject.known->applied) {
        seen[i].state = subject.known->outputs;
      }
    }
    return seen;
  }
  Result<std::vector<Found>> list(const Name&, std::stop_token) override {
    return std::vector<Found>();
  }

  Result<Outcome> apply(const Act& act, const ProgressSink&, std::stop_token) override {
    const std::string name = act.key.name.str();
    const std::string_view kind = act.key.kind;
    if (kind == "network" || kind == "directory")
      return Done{Value::dict({{"name", name}, {"volume", name}}), {}, true};
    if (kind == "image")
      return Done{Value::dict({{"id", "id of " + name}}), {}, true};
    if (kind == "service") {
      if (act.verb == Verb::remove) {
        containers.erase(name);
        return Done{};
      }
      Container& container = containers[name];
      if (act.verb != Verb::start)
        container = {cat("container ", ++made), "running", {}};
      container.status = "running";
      return Done{Value::dict({{"uuid", cat("uuid of ", name)},
                               {"ip_address", cat("ip of ", name)},
                               {"hostname", name},
                               {"started", made},
                               {"ports", Value::dict({})}}),
                  container.id, true};
    }
    const std::string service(act.attributes.text_at("service"));
    const auto container = containers.find(service);
    if (kind == "task")
      return Done{Value::dict({{"code", 0},
                               {"output", to_text(act.attributes.at("command").items().back())},
                               {"files", Value::dict({{"0", *blobs_.put("tar")}})}}),
                  {},
                  true};
    if (container == containers.end())
      return world_error(cat("there is no container of `", service, "`"));
    if (kind == "start" || kind == "stop")
      container->second.status = kind == "start" ? "running" : "exited";
    else if (kind == "remove")
      containers.erase(container);
    else if (kind == "artifact")
      return Done{Value::dict({{"digest", *blobs_.put(cat("files of ", container->second.id))},
                               {"uuid", "u"}}),
                  {},
                  true};
    else
      return recipe(act, container->second);
    return Done{Value::dict({{"uuid", cat("uuid of ", service)}}), {}, true};
  }

 private:
  Result<Outcome> recipe(const Act& act, Container& container) {
    const Value& recipe = act.attributes.at("recipe");
    const std::string command = recipe.text_at("type") == "exec"
                                    ? to_text(recipe.at("command").items().back())
                                    : std::string(recipe.text_at("endpoint"));
    if (command == "fail")
      return world_error("unexpected exit code 1");
    if (act.key.kind == "exec")
      container.commands.push_back(command);
    return Done{Value::dict({{"code", 0},
                             {"output", command},
                             {"body", command},
                             {"tries", 1},
                             {"duration", "1ms"}}),
                {},
                true};
  }
  Blobs& blobs_;
};

class RunPackageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "fettle-run-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    open();
    request_.environment = "e";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A new process on the same store.
  void open() {
    store_ = std::move(*open_sqlite_store(folder_ + "/fettle.db"));
    place_.home = folder_;
    place_.store = store_.get();
    place_.blobs = &blobs_;
    place_.kinds = &kinds_;
    place_.driver = [this](const Name& name) -> Driver* {
      return name == "host" ? static_cast<Driver*>(&host_) : &engine_;
    };
    place_.clock = now_from_clock;
    place_.random = [this] { return ++random_; };
    place_.interrupt = &interrupt_;
    place_.command = "a test";
  }

  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_ + "/" + file).parent_path());
    std::ofstream(folder_ + "/" + file) << text;
  }

  /// The letters of the statuses of a script's instructions: Ran, Skipped, Failed, Not reached.
  std::string run(const std::string& body) {
    write("script.star", "def run(plan):\n" + body);
    request_.package = folder_ + "/script.star";
    return run();
  }
  std::string run() {
    PackageAudience nobody;
    const Result<PackageReport> report = run_package(place_, request_, nobody);
    if (!report)
      return to_string(report.error());
    std::string letters;
    results_.clear();
    for (const StatementReport& statement : report->statements) {
      letters += "RSFN"[static_cast<size_t>(statement.status)];
      results_.push_back(statement.result);
    }
    output_ = write_json(report->output);
    return letters;
  }
  std::string error_of(const std::string& body) {
    const std::string message = run(body);
    const size_t at = message.find("script.star:");
    return at == message.npos ? message : message.substr(at);
  }

  std::string folder_;
  TestKinds kinds_;
  FolderBlobs blobs_{testing::TempDir() + "fettle-run-blobs"};
  HttpClient http_;
  uint64_t random_ = 0;
  HostDriver host_{http_, blobs_, [this] { return ++random_; }};
  FakeEngine engine_{blobs_};
  Interrupt interrupt_;
  std::unique_ptr<Store> store_;
  Workplace place_;
  PackageRequest request_;
  std::vector<std::string> results_;
  std::string output_;
};

std::string add(const std::string& name, const std::string& image = "a") {
  return cat("  ", name, " = plan.add_service(\"", name, "\", ServiceConfig(image = \"", image,
             "\"))\n");
}
std::string exec(const std::string& service, const std::string& command) {
  return cat("  plan.exec(\"", service, "\", ExecRecipe(command = [\"", command, "\"]))\n");
}
std::string print(const std::string& text) { return cat("  plan.print(\"", text, "\")\n"); }

/// What upstream tests, once for each resolver: both must agree where the manual's table says so.
class BothResolvers : public RunPackageTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    RunPackageTest::SetUp();
    request_.resolver = GetParam();
  }
};
INSTANTIATE_TEST_SUITE_P(Resolver, BothResolvers, testing::Values("default", "overlap"));

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

TEST_P(BothResolvers, WithoutCachingEverythingRuns) {
  EXPECT_EQ(run(add("s") + print("1")), "RR");
  request_.no_caching = true;
  EXPECT_EQ(run(add("s") + print("1")), "RR");
  EXPECT_EQ(engine_.made, 2);
  request_.no_caching = false;
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

// Where the default is finer than the list.

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
  request_.prune = true;
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
  request_.parallel = true;
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
  EXPECT_EQ(results_[0], "Service 's' added with service UUID 'uuid of s'");
  EXPECT_EQ(results_[1], "Command returned with exit code '0' and the following output: one");
  EXPECT_EQ(results_[2],
            "Command returned with exit code '0' and the following "
            "output:\n--------------------\na\nb\n--------------------");
  EXPECT_EQ(results_[3], "Command returned with exit code '0' with no output");
  EXPECT_EQ(results_[4], "Verification succeeded. Value is 'v'.");
  EXPECT_EQ(results_[5], "Fetched service 's'");
  EXPECT_EQ(results_[6], "Service 's' with service UUID 'uuid of s' removed");
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
  EXPECT_EQ(run(),
            "the argument `nmu` is unknown, did you mean `num`?; the package takes name, num");
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
  EXPECT_NE(run().find("`somewhere` is no package"), std::string::npos);
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

// Errors before anything happens.

TEST_F(RunPackageTest, WrongNamesAreFoundBeforeAnythingHappens) {
  EXPECT_EQ(error_of(add("db") + exec("bd", "x")),
            "script.star:3:12: there is no service `bd`, did you mean `db`?");
  EXPECT_EQ(error_of(add("s") + add("s")), "script.star:3:23: the service `s` is added twice");
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
                .find("the service `s` was removed before"),
            std::string::npos);
  EXPECT_EQ(engine_.made, 0);
}

TEST_F(RunPackageTest, APrivilegedTaskIsRefusedUnlessItIsAllowed) {
  const std::string script = "  plan.run_sh(run = \"x\", image = \"i\", privileged = True)\n";
  EXPECT_NE(error_of(script).find("`--privileged`"), std::string::npos);
  request_.privileged = true;
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

}  // namespace
}  // namespace fettle
