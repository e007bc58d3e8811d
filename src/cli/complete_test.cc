/// What is proposed where somebody types.

#include "cli/complete.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

std::vector<Command> some_commands() {
  const CommandOption environment{{"-e", "--enclave", "--environment"}, "NAME", ""};
  const CommandGroup group{"services", {environment}};
  std::vector<Command> commands{
      group.make("enclave ls", "", 0, 0, "", {}, nullptr),
      group.make("enclave rm", "NAME…", 0, 99, "", {}, nullptr),
      group.make(
          "port print", "ENCLAVE SERVICE PORT", 2, 3, "", {}, nullptr,
          {{{"--format"}, "PARTS", ""}, {{"-k"}, "KIND", "", false, false, {"ip", "number"}}}),
      group.make("run", "PACKAGE [ARGUMENTS]", 1, 2, "", {}, nullptr),
      group.make("versions show", "[VERSION]", 0, 1, "", {}, nullptr),
      group.make("get", "KIND[,…] [NAME]", 1, 2, "", {}, nullptr),
      group.make("scale", "KIND/NAME…", 1, 99, "", {}, nullptr),
      group.make("service cp", "ENCLAVE SOURCE TARGET", 2, 3, "", {}, nullptr),
      group.make("files inspect", "ENCLAVE ARTIFACT [FILE]", 1, 3, "", {}, nullptr),
      group.make("setting get", "NAME", 1, 1, "", {}, nullptr),
      group.make("why", "WHAT", 1, 1, "", {}, nullptr, {environment}),
      group.make("check", "[PACKAGE|FILE…]", 0, 9, "", {}, nullptr),
      group.make("cp", "FROM TO", 2, 2, "", {}, nullptr),
      group.make("plan", "", 0, 0, "", {}, nullptr,
                 {{{"--version"}, "N", ""}, {{"--delete-resource-set"}, "NAME", ""}}),
      group.make("help", "[COMMAND]", 0, 9, "", {}, nullptr),
      group.make("completion", "[bash|zsh]", 0, 1, "", {}, nullptr)};
  commands[0].outputs = {"yaml"};
  return commands;
}

std::string completed(std::vector<std::string> words) {
  const auto names = [](const NamesQuery& asked) -> std::vector<std::string> {
    switch (asked.sort) {
      case Names::environments:
        return {"shop", "show", "other"};
      case Names::services:
        return {cat("web-of-", asked.environment)};
      case Names::ports:
        return {cat("port-of-", asked.service, "-in-", asked.environment)};
      case Names::versions:
        return {"1", "2"};
      case Names::kinds:
        return {"cloneset", "pod"};
      case Names::workloads:
        return {"cloneset/web", "cloneset/api", "daemonset/agent"};
      case Names::resources:
        return {"file/fs::File[a]", "file/fs::File[b]"};
      case Names::files:
        return {cat("file-of-", asked.artifact, "-in-", asked.environment)};
      case Names::artifacts:
        return {"page"};
      case Names::pods:
        return {"web-1"};
      case Names::sets:
        return {"net-1"};
      case Names::settings:
        return {"auto_deploy"};
      default:
        return {};
    }
  };
  const Completions found = completions(some_commands(), words, names);
  return found.is_path_inside ? "no file" : join(found.words, " ");
}

TEST(Complete, CommandsAreProposedWordByWord) {
  EXPECT_EQ(completed({""}),
            "check completion cp enclave files get help plan port run scale service setting "
            "versions why");
  EXPECT_EQ(completed({"e"}), "enclave");
  EXPECT_EQ(completed({"help", "enc"}), "enclave");
  EXPECT_EQ(completed({"help", "enclave", ""}), "ls rm");
  EXPECT_EQ(completed({"completion", ""}), "bash zsh");
  EXPECT_EQ(completed({"completion", "zsh", ""}), "");
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

TEST(Complete, WorkloadsFilesAndSettingsAreNamesToo) {
  EXPECT_EQ(completed({"get", "p"}), "pod");
  EXPECT_EQ(completed({"get", "cloneset", ""}), "api web");
  EXPECT_EQ(completed({"scale", "cloneset/w"}), "cloneset/web");
  EXPECT_EQ(completed({"scale", "cloneset/web", "d"}), "daemonset/agent");
  EXPECT_EQ(completed({"files", "inspect", "shop", "page", ""}), "file-of-page-in-shop");
  EXPECT_EQ(completed({"setting", "get", ""}), "auto_deploy");
  EXPECT_EQ(completed({"service", "cp", "shop", "w"}), "web-of-shop:");
  EXPECT_EQ(completed({"service", "cp", "-e", "shop", "./file", ""}), "web-of-shop:");
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

TEST(Complete, ShortFlagsAndFlagsBeforeTheCommandHaveValuesToo) {
  EXPECT_EQ(completed({"port", "print", "-e", "=", "o"}), "other");
  EXPECT_EQ(completed({"port", "print", "-e=o"}), "-e=other");
  EXPECT_EQ(completed({"enclave", "ls", "-o", "=", "j"}), "json jsonl");
  EXPECT_EQ(completed({"enclave", "ls", "-o=y"}), "-o=yaml");
  EXPECT_EQ(completed({"-e", "o"}), "other");
  EXPECT_EQ(completed({"-o", "js"}), "json jsonl");
  EXPECT_EQ(completed({"--enclave=o"}), "--enclave=other");
  EXPECT_EQ(completed({"-eo"}), "-eother");
}

TEST(Complete, AQuoteMayBeOpen) {
  EXPECT_EQ(completed({"enclave", "rm", "\"sh"}), "shop show");
  EXPECT_EQ(completed({"port", "print", "'shop'", "'"}), "web-of-shop");
}

TEST(Complete, APathInAServiceIsNoFileOfThisMachine) {
  EXPECT_EQ(completed({"service", "cp", "shop", "web-of-shop", ":", "/w"}), "no file");
  EXPECT_EQ(completed({"service", "cp", "-e", "shop", "f", "web-of-shop:"}), "web-of-shop:");
  EXPECT_EQ(completed({"service", "cp", "shop", "other:/w"}), "");
  EXPECT_EQ(completed({"service", "cp", "shop", "./w"}), "");
}

TEST(Complete, BashSplitsAtColons) {
  EXPECT_EQ(completed({"why", "file/fs", "::", "Fi"}), "File[a] File[b]");
  EXPECT_EQ(completed({"why", "file/fs", ":"}), ":File[a] :File[b]");
  EXPECT_EQ(completed({"why", "file/fs::Fi"}), "file/fs::File[a] file/fs::File[b]");
}

TEST(Complete, AFlagBeforeTheCommandMayHaveItsValueInTheNextWord) {
  EXPECT_EQ(completed({"-e", "shop", "port", "print", ""}), "web-of-shop");
  EXPECT_EQ(completed({"port", "-e", "shop", "print", ""}), "web-of-shop");
}

TEST(Complete, FlagsAndTheirValues) {
  EXPECT_EQ(completed({"port", "print", "--fo"}), "--format");
  EXPECT_EQ(completed({"enclave", "ls", "-o", ""}), "json jsonl text yaml");
  EXPECT_EQ(completed({"enclave", "ls", "--output", "y"}), "yaml");
  EXPECT_EQ(completed({"enclave", "ls", "-oj"}), "-ojson -ojsonl");
  EXPECT_EQ(completed({"port", "print", "-k", ""}), "ip number");
  EXPECT_EQ(completed({"port", "print", "-kn"}), "-knumber");
  // A file or anything: the shell's own.
  EXPECT_EQ(completed({"run", ""}), "");
}

TEST(Complete, KindsOfWorkloadsAreReadAsByTheCommand) {
  EXPECT_EQ(completed({"get", "pods", ""}), "web-1");
  EXPECT_EQ(completed({"get", "clonesets", ""}), completed({"get", "cloneset", ""}));
  EXPECT_EQ(completed({"cp", ""}), "web-1:");
  EXPECT_EQ(completed({"cp", "a", "w"}), "web-1:");
}

TEST(Complete, AnEnvironmentIsAnEnclaveInCommands) {
  EXPECT_EQ(completed({"environment", ""}), "ls rm");
  EXPECT_EQ(completed({"env", "rm", "sh"}), "shop show");
}

TEST(Complete, ThePlacesOfAUsageLineAreNoWords) { EXPECT_EQ(completed({"check", ""}), ""); }

TEST(Complete, FlagsThatNameVersionsAndSets) {
  EXPECT_EQ(completed({"plan", "--version", ""}), "1 2");
  EXPECT_EQ(completed({"plan", "--delete-resource-set", "n"}), "net-1");
}

}  // namespace
}  // namespace fettle
