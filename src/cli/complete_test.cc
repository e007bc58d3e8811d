/// What is proposed where somebody types.

#include "cli/complete.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

std::vector<Command> some_commands() {
  const CommandOption environment{{"-e", "--enclave", "--environment"}, "NAME", ""};
  const CommandGroup group{"services", {environment}};
  std::vector<Command> commands{group.make("enclave ls", "", 0, 0, "", {}, nullptr),
                                group.make("enclave rm", "NAME…", 0, 99, "", {}, nullptr),
                                group.make("port print", "ENCLAVE SERVICE PORT", 2, 3, "", {},
                                           nullptr, {{{"--format"}, "PARTS", ""}}),
                                group.make("run", "PACKAGE [ARGUMENTS]", 1, 2, "", {}, nullptr),
                                group.make("versions show", "[VERSION]", 0, 1, "", {}, nullptr)};
  commands[0].outputs = {"yaml"};
  return commands;
}

std::string completed(std::vector<std::string> words) {
  const auto names = [](const NamesAsked& asked) -> std::vector<std::string> {
    switch (asked.sort) {
      case Names::environments:
        return {"shop", "show", "other"};
      case Names::services:
        return {cat("web-of-", asked.environment)};
      case Names::ports:
        return {cat("port-of-", asked.service, "-in-", asked.environment)};
      case Names::versions:
        return {"1", "2"};
      default:
        return {};
    }
  };
  return join(completions(some_commands(), words, names), " ");
}

TEST(Complete, CommandsAreProposedWordByWord) {
  EXPECT_EQ(completed({""}), "enclave port run versions");
  EXPECT_EQ(completed({"e"}), "enclave");
  EXPECT_EQ(completed({"enclave", ""}), "ls rm");
  EXPECT_EQ(completed({"nope", ""}), "");
}

TEST(Complete, ArgumentsAreNamesOfWhatThereIs) {
  EXPECT_EQ(completed({"enclave", "rm", "sh"}), "shop show");
  EXPECT_EQ(completed({"enclave", "rm", "shop", "o"}), "other");
  EXPECT_EQ(completed({"port", "print", "shop", ""}), "web-of-shop");
  EXPECT_EQ(completed({"port", "print", "shop", "web", ""}), "port-of-web-in-shop");
  EXPECT_EQ(completed({"port", "print", "shop", "web", "p", ""}), "");
  EXPECT_EQ(completed({"versions", "show", "-e", "m", ""}), "1 2");
}

TEST(Complete, TheEnvironmentMayStandInItsFlag) {
  EXPECT_EQ(completed({"port", "print", "-e", "shop", ""}), "web-of-shop");
  EXPECT_EQ(completed({"port", "print", "--enclave=shop", "web", ""}), "port-of-web-in-shop");
  EXPECT_EQ(completed({"port", "print", "-e", ""}), "other shop show");
  EXPECT_EQ(completed({"port", "print", "--enclave=sho"}), "--enclave=shop --enclave=show");
}

TEST(Complete, BashTakesAFlagAndItsValueApart) {
  EXPECT_EQ(completed({"port", "print", "--enclave", "=", "sho"}), "shop show");
  EXPECT_EQ(completed({"port", "print", "--enclave", "="}), "other shop show");
  EXPECT_EQ(completed({"port", "print", "--enclave", "=", "shop", "w"}), "web-of-shop");
}

TEST(Complete, FlagsAndTheirValues) {
  EXPECT_EQ(completed({"port", "print", "--fo"}), "--format");
  EXPECT_EQ(completed({"enclave", "ls", "-o", ""}), "json jsonl text yaml");
  EXPECT_EQ(completed({"enclave", "ls", "--output", "y"}), "yaml");
  // A file or anything: the shell's own.
  EXPECT_EQ(completed({"run", ""}), "");
}

}  // namespace
}  // namespace fettle
