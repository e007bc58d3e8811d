/// A full disk and a broken one: each write of a run fails once, in the program and in the git that
/// it starts. The run ends with an error that names the cause, or is not affected; the next run
/// succeeds, and its results are whole.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

struct Fault {
  int error = 0;
  bool forever = false;
  std::vector<std::string> said;  ///< one of these is in the error
};

class WriteFaultsTest : public testing::TestWithParam<Fault> {
 protected:
  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }

  static ProcessResult run(Invocation invocation) {
    invocation.time_limit = 60s;
    const auto done = run_process(invocation, {});
    return done ? *done : ProcessResult{-1, 0, {}, to_string(done.error())};
  }
  void git(std::vector<std::string> words) const {
    words.insert(words.begin(), "git");
    Invocation invocation;
    invocation.arguments = std::move(words);
    invocation.directory = at("served/test/one.git");
    invocation.environment = {{"GIT_CONFIG_GLOBAL", at("gitconfig")}};
    const ProcessResult done = run(invocation);
    ASSERT_EQ(done.code, 0) << done.errors;
  }
  void put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(make_directories(Path(at(name)).parent_path()));
    ASSERT_TRUE(write_file(at(name), text));
  }

  /// A package in a repository, with an upload, templates and a message: everything that needs no
  /// engine.
  void SetUp() override {
    put("gitconfig", cat("[user]\nname = nobody\nemail = nobody@example.com\n[init]\ndefaultBranch "
                         "= main\n[protocol \"file\"]\nallow = always\n[url \"file://",
                         at("served"), "/\"]\ninsteadOf = https://github.com/\n"));
    put("served/test/one.git/kurtosis.yml", "name: github.com/test/one\n");
    put("served/test/one.git/page/index.html", std::string(30'000, 'x'));
    put("served/test/one.git/main.star", R"(
def run(plan):
    plan.upload_files(src = "./page", name = "page")
    plan.render_templates(name = "text", config = {"a.txt": struct(template = "{{.x}}", data = {"x": "y" * 20000})})
    plan.print("told")
)");
    git({"init", "-q", "."});
    git({"add", "-A"});
    git({"commit", "-qm", "first"});
  }

  /// Runs the package. `fails_at`: the write that fails; 0: none does, and they are counted.
  ProcessResult fettle(std::vector<std::string> words, long fails_at, const Fault& fault) const {
    put("count", std::string(sizeof(long), '\0'));
    words.insert(words.begin(), FETTLE_BINARY_DIR "/fettle");
    Invocation invocation;
    invocation.arguments = std::move(words);
    invocation.environment = {{"FETTLE_HOME", at("home")},
                              {"GIT_CONFIG_GLOBAL", at("gitconfig")},
                              {"LD_PRELOAD", FETTLE_BINARY_DIR "/libfailing_writes.so"},
                              {"FAILING_FOLDER", at("home")},
                              {"FAILING_COUNT", at("count")},
                              {"FAILING_ERROR", std::to_string(fault.error)},
                              {"FAILING_AT", std::to_string(fails_at)}};
    if (fault.forever)
      invocation.environment.emplace_back("FAILING_FOREVER", "1");
    return run(invocation);
  }
  long counted() const {
    const std::string bytes = *read_file(at("count"));
    long count = 0;
    std::copy_n(bytes.data(), sizeof count, reinterpret_cast<char*>(&count));
    return count;
  }

  /// Everything is skipped the next time, and the uploaded files exist.
  void expect_whole(const std::vector<std::string>& words, const Fault& fault, long i) {
    const ProcessResult kept = fettle(words, 0, fault);
    ASSERT_EQ(kept.code, 0) << "after write " << i;
    for (const std::string_view status : {"\"ran\"", "\"failed\""})
      EXPECT_EQ(kept.output.find(status), kept.output.npos) << "after write " << i;
    ASSERT_TRUE(remove_tree(at("out")));
    const ProcessResult taken = fettle({"files", "download", "e", "page", at("out")}, 0, fault);
    ASSERT_EQ(taken.code, 0) << "after write " << i << ": " << taken.errors;
    EXPECT_EQ(read_file(at("out/index.html")).value_or("").size(), 30'000u);
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make("fettle-faults-");
};

TEST_P(WriteFaultsTest, EveryWriteOfARunMayFailOnce) {
  const Fault& fault = GetParam();
  const std::vector<std::string> words{"run", "github.com/test/one", "-e", "e", "--output", "json"};
  const ProcessResult good = fettle(words, 0, fault);
  ASSERT_EQ(good.code, 0) << good.errors;
  const long writes = counted();
  ASSERT_GT(writes, 50);
  int refused = 0;
  for (long i = 1; i <= writes; ++i) {
    ASSERT_TRUE(remove_tree(at("home")));
    const ProcessResult broken = fettle(words, i, fault);
    const std::string said = lower_case(broken.output + broken.errors);
    ASSERT_GE(broken.code, 0) << "write " << i << ": " << said;
    if (broken.code != 0) {
      ++refused;
      EXPECT_NE(broken.code, 2) << "write " << i << ": nobody's input is wrong: " << said;
      // Git reports in its own words what it could not write.
      EXPECT_TRUE(
          said.find("cannot fetch") != said.npos ||
          std::ranges::any_of(fault.said,
                              [&](const std::string& one) { return said.find(one) != said.npos; }))
          << "write " << i << ": " << said;
    }
    const ProcessResult again = fettle(words, 0, fault);
    ASSERT_EQ(again.code, 0) << "after write " << i << ": " << again.output << again.errors;
    if (i % 5 == 0)
      expect_whole(words, fault, i);
  }
  EXPECT_GT(refused, writes / 4);
}

INSTANTIATE_TEST_SUITE_P(Disk, WriteFaultsTest,
                         testing::Values(Fault{ENOSPC,
                                               true,
                                               {"no space left", "the disk is full",
                                                "disk i/o error", "unable to open database file"}},
                                         Fault{EIO,
                                               false,
                                               {"input/output error", "disk i/o error",
                                                "unable to open database file"}}),
                         [](const testing::TestParamInfo<Fault>& instance) {
                           return std::string(instance.param.error == EIO ? "Broken" : "Full");
                         });

}  // namespace
}  // namespace fettle
