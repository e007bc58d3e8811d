/// `fettle export` as a program.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

std::string model(const std::vector<std::string>& sets) {
  std::string text = "import std::testing\n";
  for (const std::string& set : sets)
    text += cat("std::ResourceSet(name=\"", set,
                "\", resources=std::testing::NullResource(name=\"in-", set, "\"))\n");
  return text;
}

/// A server that compiles for somebody says with a variable which sets are to go.
TEST(ExportCommand, S31DeletesTheSetsThatTheVariableNames) {
  const TemporaryDirectory folder = TemporaryDirectory::make().value();
  const auto at = [&](const std::string& name) { return (folder.path() / name).string(); };
  const auto fettle = [&](const std::vector<std::string>& words, const std::string& removed) {
    Invocation invocation;
    invocation.arguments.emplace_back(FETTLE_BINARY_DIR "/fettle");
    for (const std::string& word : words)
      invocation.arguments.push_back(word);
    invocation.environment = {{"FETTLE_HOME", at("home")}, {"INMANTA_REMOVED_SET_ID", removed}};
    invocation.time_limit = 60s;
    const auto done = run_process(invocation, {});
    EXPECT_TRUE(done) << to_string(done.error());
    return done ? cat(done->code, "\n", done->output, done->errors) : std::string();
  };
  ASSERT_TRUE(write_file(at("all.cf"), model({"a", "b", "c", "d"})));
  ASSERT_TRUE(write_file(at("some.cf"), model({"a"})));
  EXPECT_TRUE(fettle({"export", "-e", "e", "-f", at("all.cf")}, "").starts_with("0\nversion 1"));
  const std::string done = fettle(
      {"export", "-e", "e", "-f", at("some.cf"), "--partial", "--delete-resource-set", "d"}, "b c");
  EXPECT_TRUE(done.starts_with("0\nversion 2")) << done;

  const std::string difference = fettle({"versions", "diff", "1", "-e", "e"}, "");
  for (const char* set : {"b", "c", "d"})
    EXPECT_NE(difference.find(cat("name=in-", set, "]")), std::string::npos) << difference;
  EXPECT_EQ(difference.find("name=in-a]"), std::string::npos) << difference;
}

}  // namespace
}  // namespace fettle
