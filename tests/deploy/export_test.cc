/// `fettle export` and its neighbours as a program: wrong calls, and the state after a kill.

#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

std::string model(const std::vector<std::string>& sets, const std::string& value = "x") {
  std::string text = "import std::testing\n";
  for (const std::string& set : sets)
    text +=
        cat("std::ResourceSet(name=\"", set, "\", resources=std::testing::NullResource(name=\"in-",
            set, "\", value=\"", value, "\"))\n");
  return text;
}

class ExportCommand : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file(at(name), text)) << name;
  }
  Invocation call(const std::vector<std::string>& words, const std::string& removed = "") const {
    Invocation invocation;
    invocation.arguments.emplace_back(FETTLE_BINARY_DIR "/fettle");
    invocation.arguments.insert(invocation.arguments.end(), words.begin(), words.end());
    invocation.environment = {{"FETTLE_HOME", at("home")}, {"INMANTA_REMOVED_SET_ID", removed}};
    invocation.time_limit = 60s;
    return invocation;
  }
  /// The exit code and all output.
  std::string fettle(const std::vector<std::string>& words, const std::string& removed = "") const {
    const auto done = run_process(call(words, removed), {});
    EXPECT_TRUE(done) << to_string(done.error());
    return done ? cat(done->code, "\n", done->output, done->errors) : std::string();
  }

  TemporaryDirectory folder_ = TemporaryDirectory::make().value();
};

/// A server that compiles for somebody names the sets to delete in a variable.
TEST_F(ExportCommand, S31DeletesTheSetsThatTheVariableNames) {
  write("all.cf", model({"a", "b", "c", "d"}));
  write("some.cf", model({"a"}));
  EXPECT_TRUE(fettle({"export", "-e", "e", "-f", at("all.cf")}).starts_with("0\nversion 1"));
  const std::string done = fettle(
      {"export", "-e", "e", "-f", at("some.cf"), "--partial", "--delete-resource-set", "d"}, "b c");
  EXPECT_TRUE(done.starts_with("0\nversion 2")) << done;

  const std::string difference = fettle({"versions", "diff", "1", "-e", "e"});
  for (const char* set : {"b", "c", "d"})
    EXPECT_NE(difference.find(cat("name=in-", set, "]")), std::string::npos) << difference;
  EXPECT_EQ(difference.find("name=in-a]"), std::string::npos) << difference;
}

TEST_F(ExportCommand, AWrongCallIsTheUsersAndChangesNothing) {
  write("m.cf", model({"a", "b", "networks"}));
  write("bytes.cf", "x = \"\xff\xfe\"\n");
  write("wrong.cf", "x = y\n");
  ASSERT_TRUE(fettle({"export", "-e", "e", "-f", at("m.cf")}).starts_with("0\nversion 1"));
  const std::string before = fettle({"versions", "show", "-e", "e", "--output", "json"});
  const std::string huge = "99999999999999999999999";
  const auto partial = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"export", "-e", "e", "-f", at("m.cf"), "--partial"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto full = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"export", "-e", "e", "-f", at("m.cf")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  struct Row {
    std::vector<std::string> words;
    const char* said;
  };
  const std::vector<Row> rows{
      {full({"--nonsense"}), "unknown flag `--nonsense`"},
      {full({"more"}), "unexpected argument `more`"},
      {full({"--delete-resource-set", "a"}), "needs `--partial`"},
      {full({"--soft-delete"}), "needs `--partial`"},
      {full({"--agent", "a=local:"}), "`--agent` needs `--apply`"},
      {full({"--prune"}), "`--prune` needs `--apply`"},
      {full({"--parallelism", "2"}), "`--parallelism` needs `--apply`"},
      {full({"--apply", "--agent", "nonsense"}), "`--agent` must be NAME=URI"},
      {full({"--apply", "--parallelism", "0"}), "`--parallelism` must be a number from 1"},
      {full({"--apply", "--dry-run"}), "`--apply` and `--dry-run` contradict each other"},
      {partial({"--if-due"}), "excludes --partial"},
      {partial({"--base", "x"}), "`--base` must be a number"},
      {partial({"--base", "0"}), "`--base` must be the number of a version"},
      {partial({"--base", "7"}), "there is no version 7"},
      {partial({"--base", huge}), "--base"},
      {partial({"--delete-resource-set", "a"}), "removed resource sets"},
      {{"export", "-e", "e", "-f", at("nothing.cf")}, "cannot open"},
      {{"export", "-e", "e", "-f", at("wrong.cf")}, "variable y not found"},
      {{"export", "-e", "e", "-f", at("bytes.cf")}, "bytes.cf:1:6: Syntax error"},
      {{"export", "-e", "e", "-f", at("home")}, "is a directory"},
      {{"export", "-f", at("m.cf"), "-j", at("no/such/folder.json")}, "there is no folder"},
      {{"export", "-e", "../x", "-f", at("m.cf")}, "environment name `../x` is invalid"},
      {{"setting", "set", "auto_deploy", "true", "-e", "a b"}, "name `a b` is invalid"},
      {{"versions", "ls", "nothing"}, "there is no environment `nothing`"},
      {{"versions", "ls"}, "looking for the environment, which `-e NAME` names"},
      {{"versions", "show", "9", "-e", "e"}, "there is no version 9"},
      {{"versions", "show", "x", "-e", "e"}, "`x` is not a version number"},
      {{"versions", "show", huge, "-e", "e"}, "is not a version number"},
      {{"versions", "diff", "-e", "e"}, "needs more arguments"},
      {{"versions", "diff", "1", "9", "-e", "e"}, "there is no version 9"},
      {{"versions", "check", "9", "-e", "e"}, "there is no version 9"},
      {{"versions", "release", "9", "-e", "e"}, "`e` has no version 9"},
      {{"versions", "release", "-e", "e", "--prune"}, "`--prune` needs `--apply`"},
      {{"versions", "push", "-e", "e"}, "needs more arguments"},
      {{"versions", "push", at("nothing.json"), "-e", "e"}, "cannot open"},
      {{"versions", "push", at("home"), "-e", "e"}, "is a directory"},
      {{"set", "show", "c", "-e", "e"}, "version 1 has no set `c`"},
      {{"set", "ls", "9", "-e", "e"}, "there is no version 9"},
      {{"setting", "get", "auto_deplo", "-e", "e"}, "did you mean `auto_deploy`"},
      {{"setting", "set", "auto_deploy", "maybe", "-e", "e"}, "must be true or false"},
      {{"setting", "set", "available_versions_to_keep", huge, "-e", "e"},
       "must be a number above 0"},
      {{"setting", "set", "auto_full_compile", "61 * * * *", "-e", "e"}, "minute"}};
  for (const Row& row : rows) {
    const std::string said = fettle(row.words);
    EXPECT_TRUE(said.starts_with("2\n")) << join(row.words, " ") << "\n" << said;
    EXPECT_NE(said.find(row.said), said.npos) << join(row.words, " ") << "\n" << said;
    EXPECT_EQ(fettle({"versions", "show", "-e", "e", "--output", "json"}), before)
        << join(row.words, " ");
  }
}

TEST_F(ExportCommand, AWrongPushFileSaysWhereAndChangesNothing) {
  write("m.cf", model({"a"}));
  ASSERT_TRUE(fettle({"export", "-e", "e", "-f", at("m.cf")}).starts_with("0\nversion 1"));
  const std::vector<std::pair<std::string, const char*>> rows{
      {"", "push.json:1:1: invalid JSON"},
      {"{", "push.json:1:2: invalid JSON"},
      {"[]", "a push is a JSON object"},
      {"{\"resources\": 1}", "`resources` must be a list of objects"},
      {"{\"resources\": [{\"id\": \"x\"}]}", "Invalid id for resource x"},
      {"{\"resources\": [{\"id\": \"a::B[c,d=e],v=99999999999999999999\"}]}", "Invalid id"},
      {"{\"resources\": [], \"version\": 18446744073709551616}", "must be a number from 0 to 2^53"},
      {"{\"resources\": [], \"version\": -1}", "must be a number from 0 to 2^53"},
      {"{\"resources\": [], \"partial\": \"yes\"}", "`partial` must be true or false"},
      {"{\"resources\": [], \"resource_sets\": []}", "`resource_sets` must map ids"},
      {"{\"resources\": [], \"resource_state\": 3}", "`resource_state` must map ids to states"},
      {"{\"resources\": [], \"module_version_info\": 3}", "`module_version_info` must map"},
      {"{\"resources\": [], \"removed_resource_sets\": [1]}", "must be a list of names"},
      {"{\"resources\": [], \"unknowns\": 3}", "`unknowns` must be a list of objects"},
      {"{\"resources\": [], \"resource\": []}", "did you mean `resource"},
      {"{\"resources\": [\"\xff\"]}", "invalid encoding"},
      {std::string(200'000, '['), "nested deeper than"}};
  for (const auto& [text, said] : rows) {
    write("push.json", text);
    const std::string seen = fettle({"versions", "push", at("push.json"), "-e", "e"});
    EXPECT_TRUE(seen.starts_with("2\n")) << text.substr(0, 100) << "\n" << seen;
    EXPECT_NE(seen.find(said), seen.npos) << text.substr(0, 100) << "\n" << seen;
  }
  const std::string versions = fettle({"versions", "ls", "e", "--output", "json"});
  EXPECT_EQ(versions.find("\"version\": 2"), versions.npos) << versions;
}

/// A killed export is stored wholly or not at all, and the next one continues.
TEST_F(ExportCommand, AKillInTheMiddleLeavesAWholeVersion) {
  std::vector<std::string> sets;
  for (int i = 0; i < 400; ++i)
    sets.push_back(cat("set", i));
  write("m.cf", model(sets, "0"));
  ASSERT_TRUE(fettle({"export", "-e", "e", "-f", at("m.cf")}).starts_with("0\nversion 1"));
  int killed = 0;
  for (int round = 1; round <= 40; ++round) {
    write("m.cf", model(sets, cat(round)));
    const auto pid =
        start_detached(call({"export", "-e", "e", "-f", at("m.cf")}), at("killed.log"));
    ASSERT_TRUE(pid) << to_string(pid.error());
    std::this_thread::sleep_for(std::chrono::milliseconds(round * 2));
    kill(*pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(*pid, &status, 0), *pid);
    killed += WIFSIGNALED(status) ? 1 : 0;
    const std::string shown = fettle({"versions", "show", "-e", "e"});
    ASSERT_TRUE(shown.starts_with("0\n")) << shown;
    size_t resources = 0;
    for (size_t one = shown.find("name=in-"); one != shown.npos;
         one = shown.find("name=in-", one + 1))
      ++resources;
    ASSERT_EQ(resources, sets.size()) << "after round " << round;
  }
  EXPECT_GT(killed, 0);
  write("m.cf", model(sets, "last"));
  ASSERT_TRUE(fettle({"export", "-e", "e", "-f", at("m.cf")}).starts_with("0\nversion "));
  ASSERT_TRUE(fettle({"export", "-e", "other", "-f", at("m.cf")}).starts_with("0\nversion 1"));
  const auto resources = [&](const char* environment) {
    const std::string shown = fettle({"versions", "show", "-e", environment, "--output", "json"});
    const size_t begin = shown.find("\"resources\"");
    return shown.substr(begin, shown.find("\n  ]", begin) - begin);
  };
  EXPECT_EQ(resources("e"), resources("other"));
  EXPECT_NE(resources("e").find("\"value\": \"last\""), std::string::npos);
}

}  // namespace
}  // namespace fettle
