/// The table of what each command needs of whoever has a server run it.

#include "app/command_rights.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/commands.h"
#include "base/text.h"
#include "cli/server_choice.h"

namespace fettle {
namespace {

CommandNeeds needs(const std::string& line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' '))
    words.emplace_back(word);
  CommandLine parsed;
  const auto command = parse_command(all_commands(), words, parsed);
  EXPECT_TRUE(command) << line << ": " << to_string(command.error());
  return command ? needs_of(**command, parsed) : CommandNeeds{};
}
std::string right(const std::string& line) { return std::string(to_string(needs(line).right)); }
/// The environments, `all` for what shows those that may be seen, `server`, or `?`.
std::string about(const std::string& line) {
  const CommandNeeds needed = needs(line);
  switch (needed.reach) {
    case Reach::named:
      return join(needed.environments, " ");
    case Reach::shown:
      return "all";
    case Reach::server:
      return "server";
    case Reach::unknown:
      break;
  }
  return "?";
}

TEST(CommandRights, EveryCommandOfAServerHasOneRow) {
  std::vector<std::string> classified, known;
  for (const CommandRight& row : command_rights())
    classified.emplace_back(row.words);
  for (const Command& command : all_commands())
    if (command.place == CommandPlace::server)
      known.push_back(command.words);
  std::ranges::sort(classified);
  std::ranges::sort(known);
  EXPECT_EQ(classified, known) << "a command without a row, or a row without a command";
}

TEST(CommandRights, OneThatNobodyClassifiedNeedsEverything) {
  Command command;
  command.words = "new one";
  const CommandNeeds needed = needs_of(command, {});
  EXPECT_EQ(needed.right, Right::admin);
  EXPECT_EQ(needed.reach, Reach::server);
  EXPECT_EQ(watch_of(command, {}), Right::admin);
}

TEST(CommandRights, WhatChangesSomethingNeedsTheRightToAct) {
  for (const CommandRight& row : command_rights())
    for (const char* const word :
         {"add", "rm", "stop", "start", "restart", "update", "exec", "shell", "cp", "upload",
          "delete", "apply", "push", "release", "label", "scale", "pause", "undo", "set"})
      if (row.words == word || row.words.ends_with(cat(" ", word))) {
        EXPECT_GE(row.right, Right::act) << row.words;
      }
}

TEST(CommandRights, ASchedulesNeedsAreThoseOfItsCommand) {
  const std::string add = "schedule add n --cron @daily -- ";
  EXPECT_EQ(right(add + "run pkg -e shop"), "act");
  EXPECT_EQ(about(add + "run pkg -e shop"), "shop");
  EXPECT_EQ(right(add + "drift shop"), "plan") << "whoever only reads keeps nothing at a server";
  EXPECT_EQ(about(add + "drift shop"), "shop");
  EXPECT_EQ(right("schedule add n --every 1m --git https://h/r -- drift shop"), "act");
  EXPECT_EQ(right(add + "clean"), "admin");
  EXPECT_EQ(right(add + "no such command"), "act");
  EXPECT_EQ(right("schedule add n --every 1m --notify https://h/r -- drift shop"), "act");
  EXPECT_EQ(right("schedule add n --hook -- drift shop"), "plan");
  EXPECT_EQ(right("schedule ls"), "read");
  EXPECT_EQ(right("schedule rm n"), "plan");
}

TEST(CommandRights, WordsChangeWhatIsNeeded) {
  EXPECT_EQ(right("run pkg"), "act");
  EXPECT_EQ(right("run pkg --dry-run"), "plan");
  EXPECT_EQ(right("run pkg --dry-run=false"), "act");
  EXPECT_EQ(right("run pkg --dependencies"), "plan");
  EXPECT_EQ(right("run pkg --dependencies --pull"), "act");
  EXPECT_EQ(right("run pkg --output-graph"), "plan");
  EXPECT_EQ(right("run pkg --output-graph=false"), "act");
  EXPECT_EQ(right("run pkg --plan due"), "act");
  EXPECT_EQ(right("plan pkg"), "plan");
  EXPECT_EQ(right("plan pkg --out due"), "plan");
  EXPECT_EQ(right("import compose.yml"), "act");
  EXPECT_EQ(right("import -c compose.yml"), "plan");
  EXPECT_EQ(right("import -c=false compose.yml"), "act");
  EXPECT_EQ(right("export"), "act");
  EXPECT_EQ(right("export --dry-run"), "plan");
  EXPECT_EQ(right("export -j out.json"), "plan");
  EXPECT_EQ(right("export -j out.json --apply"), "act");
  EXPECT_EQ(right("versions push v.json --dry-run"), "plan");
  EXPECT_EQ(right("diff -f web.yaml"), "plan");
  EXPECT_EQ(right("enclave ls"), "read");
  EXPECT_EQ(right("enclave ls --show-secrets"), "act");
  EXPECT_EQ(right("enclave ls --engine tcp://10.0.0.1:1"), "admin");
  EXPECT_EQ(right("run pkg --engine tcp://10.0.0.1:1"), "admin");
  EXPECT_EQ(needs("get pods --engine tcp://10.0.0.1:1").manner, " with `--engine`");
  EXPECT_EQ(right("state site.sls"), "act");
  EXPECT_EQ(right("state site.sls --test"), "act");
  EXPECT_EQ(right("state site.sls --on b"), "admin");
  EXPECT_EQ(right("state site.sls -e web -L 'web*'"), "admin");
  EXPECT_EQ(right("exec test.ping -e web -L 'web*'"), "admin");
  EXPECT_TRUE(needs("state site.sls -e web -L 'web*'").environments.empty());
  EXPECT_EQ(right("plan --on b"), "admin");
  EXPECT_EQ(right("export --apply --agent a=local: --agent b=agent://b"), "admin");
  EXPECT_EQ(right("export --apply --agent a=local:"), "act");
  EXPECT_EQ(right("versions release --apply --on b"), "admin");
  EXPECT_EQ(needs("state site.sls --on b").manner, " with `--on`");
  for (const char* const line :
       {"exec test.ping", "describe x", "refresh x", "restore f", "batch f"}) {
    EXPECT_EQ(right(line), "act") << line;
    EXPECT_EQ(right(cat(line, " --on b")), "admin") << line;
    EXPECT_EQ(about(cat(line, " -e web")), "web") << line;
  }
  EXPECT_EQ(right("token create ci"), "admin");
  EXPECT_EQ(right("clean"), "admin");
  EXPECT_EQ(right("api /api/environments"), "read");
  EXPECT_EQ(right("api /api/environments --show-secrets"), "act");
  EXPECT_EQ(right("force-unlock shop --yes"), "admin");
  EXPECT_EQ(right("node add n --engine tcp://10.0.0.1:1"), "admin");
}

TEST(CommandRights, WordsSayWhichEnvironmentIsMeant) {
  EXPECT_EQ(about("run pkg"), "?") << "its package says it, which has not been sent yet";
  EXPECT_EQ(about("run pkg -e shop"), "shop");
  EXPECT_EQ(about("service ls shop"), "shop");
  EXPECT_EQ(about("service exec -e shop web ls"), "shop");
  EXPECT_EQ(about("enclave rm a b"), "a b");
  EXPECT_EQ(about("force-unlock shop"), "shop");
  EXPECT_EQ(about("enclave rm"), "?");
  EXPECT_EQ(about("enclave add shop"), "shop");
  EXPECT_EQ(about("enclave add -n shop"), "shop");
  EXPECT_EQ(about("enclave add"), "?") << "its name is drawn";
  EXPECT_EQ(about("enclave ls"), "all");
  EXPECT_EQ(about("events"), "all");
  EXPECT_EQ(about("events shop"), "shop");
  EXPECT_EQ(about("why service/web"), "all");
  EXPECT_EQ(about("why service/web -e shop"), "shop");
  EXPECT_EQ(about("get pods"), "fleet");
  EXPECT_EQ(about("get pods -e web"), "web");
  EXPECT_EQ(about("versions ls networks"), "networks");
  EXPECT_EQ(about("setting get x"), "?");
  EXPECT_EQ(about("dump"), "server");
  EXPECT_EQ(about("token ls"), "server");
  EXPECT_EQ(about("api --openapi"), "all");
  EXPECT_EQ(about("api /api/environments"), "all");
  EXPECT_EQ(about("api /api/environments/shop"), "shop");
  EXPECT_EQ(about("api /api/environments/sh%6Fp/graph?environment=mine"), "shop");
  EXPECT_EQ(about("api /api/events?environment=shop"), "shop");
  EXPECT_EQ(about("api /api/events?environment="), "all");
  EXPECT_EQ(about("api /api/plans?environment=shop"), "server") << "files of the server";
  EXPECT_EQ(about("api /api/plans/steps?file=due&environment=shop"), "server");
  EXPECT_EQ(about("api /api/../environments/shop"), "all") << "is refused";
}

TEST(CommandRights, WhoLooksOnNeedsAsMuchAsWhatIsShown) {
  const auto watch = [](std::vector<std::string> words) {
    CommandLine parsed;
    const auto command = parse_command(all_commands(), std::move(words), parsed);
    return std::string(to_string(watch_of(**command, parsed)));
  };
  EXPECT_EQ(watch({"run", "pkg"}), "read");
  EXPECT_EQ(watch({"run", "pkg", "--show-secrets"}), "act");
  EXPECT_EQ(watch({"service", "exec", "shop", "web", "env"}), "act");
}

}  // namespace
}  // namespace fettle
