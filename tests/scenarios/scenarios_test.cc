/// Runs every `*.txt` of this folder with the program itself on one real Podman.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "tests/engine/test_engines.h"
#include "tests/scenarios/scenario.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr Duration command_limit = 100s;

/// One Podman for all scenarios, with the images of `make_images.sh`.
class Podman : public testing::Environment {
 public:
  void SetUp() override {
    const Path images = Path(FETTLE_SOURCE_DIR) / "build/images";
    const auto made = run_process(
        {.arguments = {FETTLE_SOURCE_DIR "/tests/engine/make_images.sh", images.string()}}, {});
    ASSERT_TRUE(made && made->code == 0) << (made ? made->errors : to_string(made.error()));
    const Result<EngineAddress> started = engine_.start();
    ASSERT_TRUE(started) << to_string(started.error());
    address = started->text;
    const Status imported = engine_.import(images, {"busybox", "web", "redis", "python"});
    ASSERT_TRUE(imported) << to_string(imported.error());
  }
  void TearDown() override {
    const Status stopped = engine_.stop(true);
    EXPECT_TRUE(stopped) << to_string(stopped.error());
  }
  static inline std::string address;

 private:
  TestEngine engine_{TestEngine::Sort::podman,
                     Path(FETTLE_BINARY_DIR) / "engines" / cat("scenarios-", getpid())};
};
[[maybe_unused]] testing::Environment* const podman = testing::AddGlobalTestEnvironment(new Podman);

/// Whether all scenarios that can run at a server do.
bool is_server_asked_for() { return std::getenv("FETTLE_SCENARIOS_SERVER") != nullptr; }

/// Scenarios that mean this machine, and how. Where only a step or two do, these say `--server local`.
const std::map<std::string, std::string>& scenarios_of_this_machine() {
  static const std::map<std::string, std::string> all{
      {"acts-on-agents", "it has a server of its own"},
      {"agents", "it has a server of its own"},
      {"apply", "its model has files, commands and a handler of a machine"},
      {"engine", "it is about the engines of this machine"},
      {"no-engine", "it hides the engines by variables, which a server has of its own"},
      {"no-state", "it is about the folder of the state, which a server has of its own"},
      {"orphans", "its model has files of a machine"},
      {"plan-models", "its model has files of a machine"},
      {"python-models", "its model has a handler in Python, which acts on a machine"},
      {"readme", "the first page shows states, which act on a machine"},
      {"schedules", "it has a server of its own"},
      {"server", "it has a server of its own"},
      {"shared", "its models have files of a machine"},
      {"start", "the tutorial has a model with a file of a machine"},
      {"states", "states act on a machine"},
      {"two-machines", "it has a server of its own"}};
  return all;
}

struct ScenarioRun {
  std::string name;
  bool is_at_server = false;
};
void PrintTo(const ScenarioRun& run, std::ostream* out) { *out << run.name; }

class ScenarioTest : public testing::TestWithParam<ScenarioRun> {
 protected:
  void SetUp() override {
    if (GetParam().is_at_server)
      if (const auto found = scenarios_of_this_machine().find(GetParam().name);
          found != scenarios_of_this_machine().end())
        GTEST_SKIP() << "`" << found->first << "` runs on this machine only: " << found->second;
    std::string pattern = testing::TempDir() + "fettle-scenario-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    if (GetParam().is_at_server)
      start_server();
  }
  void TearDown() override {
    if (folder_.empty())
      return;
    // What is left is cleaned without the server, whatever has become of it.
    if (!server_.empty())
      static_cast<void>(shell("kill $(cat .server)"));
    server_.clear();
    const Result<ProcessResult> cleaned = shell(
        "fettle clean -a && fettle enclave ls | awk 'NR > 1 {print $2}' | xargs -r fettle "
        "enclave rm && if [ -d own ]; then engine_tool stop podman $PWD/own --wipe; fi");
    ASSERT_TRUE(cleaned) << to_string(cleaned.error());
    EXPECT_EQ(cleaned->code, 0) << cleaned->output;
    fs::remove_all(folder_);
  }

  /// Every command of the scenario runs there: a server of the scenario's own state, with its
  /// settings of git.
  void start_server() {
    const Result<ProcessResult> started = shell(
        "GIT_CONFIG_GLOBAL=$PWD/gitconfig fettle serve --listen 127.0.0.1:0 --token-file .token > "
        ".address 2> .said & "
        "echo $! > .server; until [ -s .address ]; do sleep 0.02; done; cat .address");
    ASSERT_TRUE(started) << to_string(started.error());
    server_ = trim(started->output);
    token_ = trim(*read_file(folder_ + "/.token"));
  }

  Result<ProcessResult> shell(const std::string& command) const {
    Invocation call;
    call.arguments = {"bash", "-c", cat("exec 2>&1; ", command)};
    call.directory = folder_;
    call.environment = {{"FETTLE_HOME", folder_ + "/.fettle"},
                        {"DOCKER_HOST", Podman::address},
                        {"E", GetParam().name},
                        {"IMAGES", FETTLE_SOURCE_DIR "/build/images"},
                        {"EXAMPLES", FETTLE_SOURCE_DIR "/examples"},
                        {"TYPED", FETTLE_SOURCE_DIR "/tests/scenarios/typed.py"},
                        {"PATH", cat(FETTLE_BINARY_DIR ":", std::getenv("PATH"))}};
    if (!server_.empty()) {
      call.environment.emplace_back("FETTLE_SERVER", server_);
      call.environment.emplace_back("FETTLE_TOKEN", token_);
    }
    call.time_limit = command_limit;
    return run_process(call, {});
  }

  std::string folder_, server_, token_;
};

TEST_P(ScenarioTest, PrintsWhatIsWritten) {
  const std::string path = cat(FETTLE_SOURCE_DIR "/tests/scenarios/", GetParam().name, ".txt");
  const Result<std::string> text = read_file(path);
  ASSERT_TRUE(text) << to_string(text.error());
  const Result<std::vector<ScenarioStep>> steps = parse_scenario(*text);
  ASSERT_TRUE(steps) << path << ": " << to_string(steps.error());
  for (const ScenarioStep& step : *steps) {
    if (!step.file.empty()) {
      const std::string file = cat(folder_, "/", step.file);
      ASSERT_TRUE(make_directories(fs::path(file).parent_path().string()));
      ASSERT_TRUE(write_file(file, step.text));
      continue;
    }
    const Result<ProcessResult> done = shell(step.command);
    ASSERT_TRUE(done) << path << ":" << step.line << ": " << to_string(done.error());
    ASSERT_TRUE(done->code == step.code && fits(step.text, done->output))
        << path << ":" << step.line << ": $ " << step.command << "\nexpected, with exit code "
        << step.code << ":\n"
        << step.text << "\nfound, with exit code " << done->code << ":\n"
        << done->output;
  }
}

/// The files without their extensions.
std::vector<ScenarioRun> scenarios() {
  std::vector<ScenarioRun> runs;
  for (const auto& entry : fs::directory_iterator(FETTLE_SOURCE_DIR "/tests/scenarios"))
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists")
      runs.push_back({entry.path().stem().string(), is_server_asked_for()});
  std::ranges::sort(runs, {}, &ScenarioRun::name);
  return runs;
}

/// Some that run at a server each time, too: what travels there and back, models, Ctrl-C, names in the
/// shell, input and output of commands in services, and all documents.
std::vector<ScenarioRun> some_at_server() {
  std::vector<ScenarioRun> runs;
  for (const char* const name :
       {"artifacts", "completion", "exec", "files", "git", "inside", "interrupted", "json",
        "packages", "values", "versions", "workloads"})
    runs.push_back({name, true});
  return runs;
}

const auto name_of_run = [](const auto& instance) {
  std::string name = instance.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
};
INSTANTIATE_TEST_SUITE_P(Podman, ScenarioTest, testing::ValuesIn(scenarios()), name_of_run);
INSTANTIATE_TEST_SUITE_P(Server, ScenarioTest, testing::ValuesIn(some_at_server()), name_of_run);

TEST(Scenario, ThoseOfThisMachineAreThere) {
  for (const auto& [name, why] : scenarios_of_this_machine())
    EXPECT_TRUE(file_exists(cat(FETTLE_SOURCE_DIR "/tests/scenarios/", name, ".txt"))) << name;
}

TEST(Scenario, ExpectedLinesStandForWhatTheySay) {
  EXPECT_TRUE(fits("a\n...\nb <any> c\n", "a\nx\ny\nb 1 2 c\n"));
  EXPECT_TRUE(fits("a\n...\n", "a\n"));
  EXPECT_FALSE(fits("a\n", "a\nb\n"));
  EXPECT_FALSE(fits("a.c\n", "abc\n"));
  EXPECT_FALSE(fits("b <any> c\n", "b 1\n2 c\n"));
  EXPECT_FALSE(parse_scenario("text without a section\n"));
  EXPECT_FALSE(parse_scenario("--- $x true\n"));
}

}  // namespace
}  // namespace fettle
