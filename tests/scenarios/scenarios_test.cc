/// Runs every `*.txt` of this folder with the program itself on one real Podman.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

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

class ScenarioTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "fettle-scenario-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    if (std::getenv("FETTLE_SCENARIOS_SERVER") != nullptr)
      start_server();
  }
  void TearDown() override {
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

  /// Every command of the scenario runs there: a server of the scenario's own state.
  void start_server() {
    const Result<ProcessResult> started = shell(
        "fettle serve --listen 127.0.0.1:0 --token-file .token > .address 2> .said & "
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
                        {"E", GetParam()},
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
  const std::string path = cat(FETTLE_SOURCE_DIR "/tests/scenarios/", GetParam(), ".txt");
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
std::vector<std::string> scenarios() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(FETTLE_SOURCE_DIR "/tests/scenarios"))
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Podman, ScenarioTest, testing::ValuesIn(scenarios()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

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
