/// The program itself deploys a released version on real files and a real container, is killed in
/// the middle again and again, and converges. No event is lost.

#include <csignal>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "drivers/engine/containers.h"
#include "tests/engine/test_engines.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr int files = 150;
constexpr int rounds = 10;
const std::string environment = "deploy-test";

class DeployTest : public testing::Test {
 protected:
  void SetUp() override {
    const Path images = Path(FETTLE_SOURCE_DIR) / "build/images";
    const auto made = run_process(
        {.arguments = {FETTLE_SOURCE_DIR "/tests/engine/make_images.sh", images.string()}}, {});
    ASSERT_TRUE(made && made->code == 0) << (made ? made->errors : to_string(made.error()));
    const auto started = podman_.start();
    ASSERT_TRUE(started) << to_string(started.error());
    address_ = *started;
    const Status imported = podman_.import(images, {"busybox"});
    ASSERT_TRUE(imported) << to_string(imported.error());
  }
  void TearDown() override {
    fettle({"enclave", "rm", environment});
    const Status stopped = podman_.stop(true);
    EXPECT_TRUE(stopped) << to_string(stopped.error());
  }

  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }
  std::string read(const std::string& name) const { return read_file(at(name)).value_or("-"); }

  Invocation call(std::vector<std::string> words) const {
    words.insert(words.begin(), FETTLE_BINARY_DIR "/fettle");
    Invocation invocation;
    invocation.arguments = std::move(words);
    invocation.environment = {{"FETTLE_HOME", at("home")}, {"DOCKER_HOST", address_.text}};
    return invocation;
  }
  ProcessResult fettle(std::vector<std::string> words) const {
    Invocation invocation = call(std::move(words));
    invocation.time_limit = 100s;
    const auto done = run_process(invocation, {});
    return done ? *done
                : ProcessResult{.code = -1, .output = {}, .errors = to_string(done.error())};
  }

  static Value resource(const std::string& id, std::vector<Entry> fields,
                        const std::vector<std::string>& needs = {}) {
    fields.push_back({"id", cat(id, ",v=0")});
    fields.push_back({"requires", Value::list(std::vector<Value>(needs.begin(), needs.end()))});
    fields.push_back({"send_event", true});
    return Value::dict(std::move(fields));
  }
  std::string file_id(const std::string& name) const {
    return cat("fs::File[here,path=", at(name), "]");
  }

  /// A folder of files, a configuration, a command that must see each new one, and a container.
  void push(int round) {
    const std::string folder = cat("fs::Directory[here,path=", at("world"), "]");
    std::vector<Value> resources{resource(folder, {{"path", at("world")}})};
    std::vector<std::string> all;
    for (int i = 0; i < files; ++i) {
      all.push_back(file_id(cat("world/", i)));
      resources.push_back(resource(
          all.back(), {{"path", at(cat("world/", i))}, {"content", content(i, round)}}, {folder}));
    }
    const std::string config = file_id("world/config");
    resources.push_back(resource(config,
                                 {{"path", at("world/config")}, {"content", cat("round ", round)}},
                                 {folder, all[files / 2]}));
    resources.push_back(resource(
        "exec::Run[here,command=reload]",
        {{"command", cat("cp ", at("world/config"), " ", at("reloaded"))}, {"reload_only", true}},
        {config}));
    resources.push_back(resource("container::Container[here,name=box]",
                                 {{"name", "box"},
                                  {"image", "localhost/fettle/busybox:1"},
                                  {"command", Value::list({"sleep", "1000"})},
                                  {"env", Value::dict({{"ROUND", round}})}},
                                 {all[0]}));
    const Value document =
        Value::dict({{"partial", false}, {"resources", Value::list(std::move(resources))}});
    ASSERT_TRUE(write_file(at("push.json"), write_json(document)));
    const ProcessResult pushed = fettle({"versions", "push", at("push.json"), "-e", environment});
    ASSERT_EQ(pushed.code, 0) << pushed.errors;
  }
  /// A third of the files changes from round to round.
  static std::string content(int i, int round) {
    return std::string(20'000, static_cast<char>('a' + i % 26)) + cat((round + i) / 3);
  }

  std::vector<std::string> release() const {
    return {"versions", "release",     "-e",       environment, "--apply",
            "--agent",  "here=local:", "--output", "json"};
  }

  /// Starts to deploy the version and is killed after a while; returns whether it was cut short.
  bool killed_after(Duration while_) {
    const auto pid = start_detached(call(release()), at("killed.log"));
    EXPECT_TRUE(pid) << to_string(pid.error());
    std::this_thread::sleep_for(while_);
    const bool ran = waitpid(*pid, nullptr, WNOHANG) == 0;
    if (ran) {
      kill(*pid, SIGKILL);
      waitpid(*pid, nullptr, 0);
    }
    return ran;
  }

  /// A configuration, the command that it reloads, and a gate between both that opens when a file
  /// exists.
  void push_gate(int round) {
    const std::string config = file_id("config");
    const std::string command = cat("sh -c 'touch ", at(cat("begun", round)), "; while [ ! -e ",
                                    at("open"), " ]; do sleep 0.05; done'");
    const std::string gate = "exec::Run[here,command=gate]";
    std::vector<Value> resources{
        resource(config, {{"path", at("config")}, {"content", cat("round ", round)}}),
        resource(gate, {{"command", command}}, {config}),
        resource(
            "exec::Run[here,command=reload]",
            {{"command", cat("cp ", at("config"), " ", at("reloaded"))}, {"reload_only", true}},
            {config, gate}),
        resource("container::Container[here,name=box]",
                 {{"name", "box"},
                  {"image", "localhost/fettle/busybox:1"},
                  {"command", Value::list({"sleep", "1000"})}},
                 {config, gate})};
    const Value document =
        Value::dict({{"partial", false}, {"resources", Value::list(std::move(resources))}});
    ASSERT_TRUE(write_file(at("push.json"), write_json(document)));
    const ProcessResult pushed = fettle({"versions", "push", at("push.json"), "-e", environment});
    ASSERT_EQ(pushed.code, 0) << pushed.errors;
  }
  std::string id_of_container() {
    HttpClient http;
    Engine engine(http, address_);
    const auto containers = list_containers(engine, {}, {});
    EXPECT_TRUE(containers) << to_string(containers.error());
    EXPECT_EQ(containers->size(), 1u);
    return containers->empty() ? "" : containers->at(0).id;
  }

  TestEngine podman_{TestEngine::Sort::podman,
                     Path(FETTLE_BINARY_DIR) / "engines" / cat("deploy-", getpid())};
  EngineAddress address_;
  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
};

TEST_F(DeployTest, ItConvergesHoweverOftenItIsKilled) {
  int cut = 0;
  for (int round = 0; round < rounds; ++round) {
    push(round);
    // From the start to the end of a second or two, in uneven steps.
    for (const int share : {1, 3, 6})
      cut += killed_after(Duration(std::chrono::milliseconds(20 + round * 17 * share))) ? 1 : 0;
    const ProcessResult done = fettle(release());
    ASSERT_EQ(done.code, 0) << done.output << done.errors;
    const auto report = read_json(done.output);
    ASSERT_TRUE(report) << done.output;
    EXPECT_EQ(report->at("states").integer_at("deployed"), files + 4);
    for (int i = 0; i < files; ++i)
      ASSERT_EQ(read(cat("world/", i)), content(i, round)) << i;
    EXPECT_EQ(read("reloaded"), cat("round ", round)) << "an event was lost";
    for (const auto& entry : std::filesystem::directory_iterator(at("world")))
      EXPECT_NE(entry.path().extension(), ".fettle") << "something was left behind";
    const ProcessResult again = fettle(release());
    EXPECT_EQ(again.code, 0) << again.errors;
    EXPECT_EQ(again.output.find("\"changed\": true"), again.output.npos) << again.output;
  }
  EXPECT_GE(cut, rounds) << "the program ended before it could be killed";
  HttpClient http;
  Engine engine(http, address_);
  const auto containers = list_containers(engine, {}, {});
  ASSERT_TRUE(containers) << to_string(containers.error());
  ASSERT_EQ(containers->size(), 1u);
  EXPECT_TRUE(containers->at(0).runs());
  const ProcessResult asked = fettle({"service", "exec", environment, "box", "echo round $ROUND"});
  EXPECT_NE(asked.output.find(cat("round ", rounds - 1)), asked.output.npos)
      << asked.output << asked.errors;
}

/// Killed exactly between the sender of an event and its receiver.
TEST_F(DeployTest, EventsThatWereDueAtTheKillAreNotLost) {
  ASSERT_TRUE(write_file(at("open"), ""));
  push_gate(1);
  const ProcessResult first = fettle(release());
  ASSERT_EQ(first.code, 0) << first.output << first.errors;
  ASSERT_EQ(read("reloaded"), "round 1");
  const std::string container = id_of_container();

  ASSERT_TRUE(std::filesystem::remove(at("open")));
  push_gate(2);
  const auto pid = start_detached(call(release()), at("killed.log"));
  ASSERT_TRUE(pid) << to_string(pid.error());
  for (int tries = 0; tries < 2000 && read("begun2") == "-"; ++tries)
    std::this_thread::sleep_for(50ms);
  ASSERT_EQ(read("begun2"), "") << read("killed.log");
  kill(*pid, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(*pid, &status, 0), *pid);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended before it could be killed";
  EXPECT_EQ(read("config"), "round 2");
  EXPECT_EQ(read("reloaded"), "round 1");
  EXPECT_EQ(id_of_container(), container);

  ASSERT_TRUE(write_file(at("open"), ""));
  const ProcessResult done = fettle(release());
  ASSERT_EQ(done.code, 0) << done.output << done.errors;
  EXPECT_EQ(read("reloaded"), "round 2") << "the event for the command was lost";
  EXPECT_NE(id_of_container(), container) << "the event for the container was lost";
  const ProcessResult again = fettle(release());
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_EQ(again.output.find("\"changed\": true"), again.output.npos) << again.output;
}

}  // namespace
}  // namespace fettle
