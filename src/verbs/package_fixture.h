#pragma once
/// Packages from their source to what is done, with everything real but the engine.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "drivers/host/host_driver.h"
#include "kinds/kinds.h"
#include "store/blobs.h"
#include "store/sqlite_store.h"
#include "value/json.h"
#include "verbs/run_package.h"

namespace fettle {

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
    std::string id, status = "running", image;
    std::vector<std::string> commands;
  };
  std::map<std::string, Container> containers;
  int made = 0;
  bool dies = false;  ///< after the next act on a service, before it answers

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
      Outcome done = act_on_service(act, name);
      if (std::exchange(dies, false))
        return world_error("the engine died");
      return done;
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
  Outcome act_on_service(const Act& act, const std::string& name) {
    if (act.verb == Verb::remove) {
      containers.erase(name);
      return Done{};
    }
    Container& container = containers[name];
    if (act.verb == Verb::stop) {
      container.status = "exited";
      return Done{act.known->outputs, container.id, true};
    }
    if (act.verb != Verb::start)
      container = {cat("container ", ++made), "running", to_text(act.attributes.at("image")), {}};
    container.status = "running";
    return Done{Value::dict({{"uuid", cat("uuid of ", name)},
                             {"ip_address", cat("ip of ", name)},
                             {"hostname", name},
                             {"started", made},
                             {"ports", Value::dict({})}}),
                container.id, true};
  }
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

inline std::string add(const std::string& name, const std::string& image = "a") {
  return cat("  ", name, " = plan.add_service(\"", name, "\", ServiceConfig(image = \"", image,
             "\"))\n");
}
inline std::string exec(const std::string& service, const std::string& command) {
  return cat("  plan.exec(\"", service, "\", ExecRecipe(command = [\"", command, "\"]))\n");
}
inline std::string print(const std::string& text) { return cat("  plan.print(\"", text, "\")\n"); }

}  // namespace fettle
