/// What of the program's commands goes to a server, and with which files.

#include <gtest/gtest.h>

#include "app/commands.h"
#include "app/kinds.h"
#include "base/file.h"
#include "base/text.h"
#include "base/user_path.h"
#include "cli/named_files.h"
#include "cli/server_choice.h"
#include "remote/posted_command.h"
#include "server/openapi.h"

namespace fettle {
namespace {

const Command& command_of(std::string_view words) {
  for (const Command& command : all_commands())
    if (command.words == words)
      return command;
  ADD_FAILURE() << "there is no `" << words << "`";
  return all_commands().front();
}

TEST(CommandsTest, WhatIsAboutThisMachineIsRefusedAtAServer) {
  for (const char* const words : {"doctor", "web", "serve", "runs", "engine start", "version"})
    EXPECT_TRUE(refusal_at_server(command_of(words))) << words;
  for (const char* const words : {"run", "state", "plan", "export", "service shell", "files upload",
                                  "why", "exec", "describe", "refresh", "restore", "batch"})
    EXPECT_FALSE(refusal_at_server(command_of(words))) << words;
  for (const char* const words : {"state", "exec", "describe", "refresh", "restore", "batch"})
    EXPECT_NE(find_option(options_of(command_of(words)), "--on"), nullptr) << words;
  for (const char* const words : {"state", "exec"})
    EXPECT_NE(find_option(options_of(command_of(words)), "-L"), nullptr) << words;
}

TEST(CommandsTest, KindsSayWhetherAMachineIsMeant) {
  std::string of_machine;
  for (const TypedKind* const kind : listed_kinds())
    if (is_kind_of_machine(kind->name().view()))
      of_machine += cat(kind->name(), " ");
  EXPECT_EQ(of_machine, "file folder link command handled state ");
}

/// The page's server, which describes the interface, knows no server of commands.
TEST(CommandsTest, WhatIsPostedIsDescribedAsItIsRead) {
  const Value schema = openapi_document("1")
                           .at("paths")
                           .at("/api/commands")
                           .at("post")
                           .at("requestBody")
                           .at("content")
                           .at("application/json")
                           .at("schema");
  EXPECT_EQ(schema.at("properties").at("wait").integer_at("maximum"), longest_posted_wait / 1s);
  const Result<PostedCommand> least = posted_command_of(R"({"words": ["enclave", "ls"]})");
  ASSERT_TRUE(least);
  EXPECT_EQ(schema.at("properties").at("wait").integer_at("default"), least->wait / 1s);
  for (const Entry& member : schema.at("properties").entries()) {
    const Result<PostedCommand> read =
        posted_command_of(cat(R"({"words": ["x"], ")", member.key, R"(": [{}]})"));
    ASSERT_FALSE(read) << member.key.view();
    EXPECT_EQ(read.error().message.find("is unknown"), std::string::npos) << member.key.view();
  }
}

TEST(CommandsTest, WhatIsRememberedOfAPathIsTheUsersOwn) {
  EXPECT_EQ(user_path("/m/0/root/home/p"), "/m/0/root/home/p");
  root_of_copies() = "/m/0/root";
  EXPECT_EQ(user_path("/m/0/root/home/p"), "/home/p");
  EXPECT_EQ(user_path("/m/0/rooted"), "/m/0/rooted");
  root_of_copies().clear();
}

TEST(CommandsTest, NothingThatNeedsAnEnvironmentStaysHere) {
  std::string here;
  for (const Command& command : all_commands())
    if (command.place == CommandPlace::here && command.group != words_of_scripts)
      here += cat(command.words, ", ");
  EXPECT_EQ(
      here,
      "package init, starlark, compile, project init, project install, validate, doc, "
      "node-daemon, check, format, engine status, engine start, engine restart, engine stop, "
      "engine rm, engine "
      "logs, web, doctor, store check, store copy, store rotate-key, serve, context add, context "
      "use, context ls, context rm, help, completion, version, ");
}

class NamedFilesTest : public testing::Test {
 protected:
  NamedFilesTest() { std::filesystem::current_path(here_.path()); }
  ~NamedFilesTest() override { std::filesystem::current_path("/"); }
  static void write(const std::string& path, std::string_view text = "x") {
    EXPECT_TRUE(make_directories(Path("./" + path).parent_path()));
    EXPECT_TRUE(write_file(path, text));
  }
  static NamedFiles named(std::vector<std::string> words) {
    CommandLine parsed;
    const auto command = parse_command(all_commands(), std::move(words), parsed);
    EXPECT_TRUE(command) << to_string(command.error());
    return command ? named_files(**command, parsed) : NamedFiles{};
  }
  using Paths = std::vector<std::string>;
  TemporaryDirectory here_ = *TemporaryDirectory::make();
};

TEST_F(NamedFilesTest, APackageTravelsWithWhatStandsInForOthers) {
  write("pkg/main.star");
  write(
      "pkg/kurtosis.yml",
      "name: github.com/a/b\nreplace:\n  github.com/a/c: ../c\n  github.com/a/d: github.com/a/e\n");
  EXPECT_EQ(named({"run", "./pkg", "--args-file", "args.yml"}).reads,
            (Paths{"args.yml", "./pkg", (here_.path() / "pkg").string(), "./pkg/../c"}));
  EXPECT_TRUE(named({"run", "github.com/a/b"}).reads.empty());
  EXPECT_TRUE(named({"run", "-"}).takes_input);
}

TEST_F(NamedFilesTest, AScriptTravelsWithItsFolderOrWithWhatItNames) {
  write("s/main.star", "import_module(\"lib.star\")");
  write("s/lib.star", "read_file(\"data\")");
  write("s/data");
  write("s/other");
  write("s/.hidden/x");
  Paths all = named({"run", "s/main.star"}).reads;
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  EXPECT_EQ(all, (Paths{"s/data", "s/lib.star", "s/main.star", "s/other"}));
  for (int i = 0; i < 1'001; ++i)
    write(cat("s/many/", i), "");
  Paths reads = named({"run", "s/main.star"}).reads;
  std::ranges::sort(reads);
  EXPECT_EQ(reads, (Paths{"s/data", "s/lib.star", "s/main.star"}));
}

TEST_F(NamedFilesTest, ArgumentsSayWhatIsReadAndWritten) {
  EXPECT_EQ(named({"files", "upload", "e", "site"}).reads, Paths{"site"});
  EXPECT_EQ(named({"files", "upload", "-e", "e", "site"}).reads, Paths{"site"});
  EXPECT_TRUE(named({"files", "upload", "e", "-"}).takes_input);
  EXPECT_EQ(named({"files", "download", "e", "a", "/out"}).writes, Paths{"/out"});
  EXPECT_EQ(named({"files", "download", "e", "a"}).writes, Paths{"."});
  EXPECT_TRUE(named({"files", "download", "e", "a", "-"}).is_stream);
  EXPECT_EQ(named({"service", "cp", "e", "web:/etc", "./x"}).writes, Paths{"./x"});
  EXPECT_EQ(named({"service", "cp", "e", "./x", "web:/etc"}).reads, Paths{"./x"});
  EXPECT_TRUE(named({"service", "cp", "e", "./x", "web:/etc"}).writes.empty());
  EXPECT_EQ(named({"plan", "github.com/a/b", "--out", "due"}).writes, Paths{"due"});
  EXPECT_EQ(named({"run", "github.com/a/b", "--plan", "due"}).reads, Paths{"due"});
  EXPECT_EQ(named({"apply", "-f", "web.yaml"}).reads, Paths{"web.yaml"});
  EXPECT_TRUE(named({"apply", "-f", "-"}).takes_input);
  EXPECT_TRUE(named({"service", "exec", "-i", "e", "web", "cat"}).takes_input);
  EXPECT_FALSE(named({"service", "exec", "e", "web", "cat"}).takes_input);
  EXPECT_TRUE(named({"service", "shell", "e", "web"}).takes_input);
  EXPECT_TRUE(named({"enclave", "ls"}).reads.empty());
}

TEST_F(NamedFilesTest, AProjectTravelsForWhatCompilesIt) {
  write("p/project.yml", "name: p");
  write("p/sub/x");
  std::filesystem::current_path(here_.path() / "p/sub");
  const std::string project = (here_.path() / "p").string();
  EXPECT_EQ(named({"export"}).reads, (Paths{project, project + "/project.yml"}));
  EXPECT_EQ(named({"versions", "ls"}).reads, (Paths{project + "/project.yml"}));
}

TEST_F(NamedFilesTest, AbsolutePathsAreThoseOfTheCopy) {
  CommandLine parsed;
  ASSERT_TRUE(parse_command(all_commands(), {"run", "/p", "--args-file", "/a", "-e", "e"}, parsed));
  relocate(parsed, {"/p", "/a"}, "/m/0/root");
  EXPECT_EQ(parsed.argument(0), "/m/0/root/p");
  EXPECT_EQ(parsed.text("args-file"), "/m/0/root/a");
  EXPECT_EQ(parsed.text("enclave"), "e");
}

/// What a client of ours sends is below the copy of its files; another one sends what it likes.
TEST_F(NamedFilesTest, NothingOutsideOfTheCopyIsNamed) {
  const std::string root = (here_.path() / "root").string();
  write("root/home/me/pkg/main.star");
  write("root/home/me/args.yml");
  write("secret");
  std::filesystem::current_path(root + "/home/me");
  std::filesystem::create_symlink(here_.path() / "secret", "link");
  std::filesystem::create_symlink(here_.path() / "new", "dangling");
  std::filesystem::create_symlink("args.yml", "good");
  const auto refused = [&](std::vector<std::string> words) {
    const auto outside = file_outside(named(std::move(words)), root);
    return outside ? outside->message : "";
  };
  EXPECT_EQ(refused({"plan", "./pkg", "--args-file", "args.yml", "--out", "due"}), "");
  EXPECT_EQ(refused({"plan", root + "/home/me/pkg", "--args-file", "good"}), "");
  EXPECT_EQ(refused({"plan", "./pkg", "--out", "sub/../due"}), "");
  EXPECT_EQ(refused({"plan", "github.com/a/b"}), "");
  EXPECT_EQ(refused({"enclave", "ls"}), "");
  EXPECT_EQ(refused({"plan", "./pkg", "--args-file", "https://example.com/a/b.yml"}), "");
  for (const std::string& path :
       {std::string("/etc/passwd"), std::string("../../../secret"), std::string("link"),
        std::string("dangling"), std::string("/"), std::string("x://../../../../secret"),
        root + "/../secret", root + "x"}) {
    EXPECT_NE(refused({"plan", "./pkg", "--args-file", path}).find("came with the command"),
              std::string::npos)
        << path;
    EXPECT_NE(refused({"plan", "./pkg", "--out", path}), "") << path;
    EXPECT_NE(refused({"files", "download", "shop", "site", path}), "") << path;
  }
  // A package may name folders that stand in for others, too.
  write("pkg/kurtosis.yml", "name: github.com/a/b\nreplace:\n  github.com/a/c: ../../../../x\n");
  EXPECT_NE(refused({"plan", "./pkg"}), "");
}

TEST_F(NamedFilesTest, LinksThatLeadOutOfTheCopyAreTakenAway) {
  write("root/a/file");
  write("secret");
  std::vector<FileEntry> files;
  const auto link = [&](const std::string& path, const std::string& target) {
    std::filesystem::create_symlink(target, here_.path() / "root" / path.substr(1));
    files.push_back({path, FileEntry::Type::link, 0777, 0, {}, target});
  };
  link("/a/good", "file");
  link("/a/up", "../a/file");
  link("/a/later", "not-there");
  link("/a/absolute", (here_.path() / "secret").string());
  link("/a/relative", "../../secret");
  link("/a/dangling", "../../not-there");
  link("/a/nowhere", "/not-there");
  link("/a/folder", "../..");
  link("/a/through", "folder/secret");
  link("/a/chain", "absolute");
  remove_links_outside(files, (here_.path() / "root").string());
  std::string left;
  for (const FileEntry& entry : files)
    if (std::filesystem::is_symlink(here_.path() / "root" / entry.path.substr(1)))
      left += entry.path + " ";
  EXPECT_EQ(left, "/a/good /a/up /a/later ");
  EXPECT_TRUE(file_exists(here_.path() / "secret"));
}

}  // namespace
}  // namespace fettle
