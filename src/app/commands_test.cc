/// The commands as a user types them: spellings, suggestions, and the manual that is made of them.

#include "app/commands.h"
#include "app/kinds.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/file.h"
#include "base/text.h"

namespace fettle {
namespace {

std::string parsed(const std::string& line, CommandLine& result) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' '))
    words.emplace_back(word);
  const Result<const Command*> command = parse_command(all_commands(), words, result);
  return command ? (*command)->words : command.error().message;
}
std::string error_of(const std::string& line) {
  CommandLine result;
  return parsed(line, result);
}

/// Whether a page of the manual is what the program makes of its tables.
bool is_up_to_date(const char* page, const std::string& known) {
  const std::string path = std::string(FETTLE_SOURCE_DIR "/docs/") + page;
  if (std::getenv("UPDATE_GOLDEN") != nullptr)
    std::ofstream(path) << known;
  const Result<std::string> written = read_file(path);
  return written && *written == known;
}

TEST(Commands, TheReferenceOfTheManualIsWhatTheProgramKnows) {
  EXPECT_TRUE(is_up_to_date("commands.md", reference_of(all_commands()) + "\n"))
      << "`./dev reference` regenerates it";
}

TEST(Commands, ThePageOnResourcesIsWhatTheirTablesSay) {
  EXPECT_TRUE(is_up_to_date("resources.md", page_of_resources()))
      << "`UPDATE_GOLDEN=1 build/release/app_test` regenerates it";
}

TEST(Commands, EachGroupStandsInOnePlace) {
  std::vector<std::string> groups;
  for (const Command& command : all_commands())
    if (groups.empty() || groups.back() != command.group)
      groups.push_back(command.group);
  EXPECT_EQ(join(groups, ", "),
            "packages, models, states, workloads, before and after a run, environments, services, "
            "files, machine, servers, words of Kurtosis' scripts, help");
}

TEST(Commands, ThoseThatChangeSomethingDoNotEndWithTheirReader) {
  size_t ending = 0;
  for (const Command& command : all_commands()) {
    ending += command.ends_with_reader ? 1 : 0;
    for (const char* word : {"rm", "add", "start", "stop", "run", "apply", "upload", "release",
                             "export", "update", "clean", "state", "push", "delete", "pause"})
      if (command.words == word || command.words.ends_with(cat(" ", word))) {
        EXPECT_FALSE(command.ends_with_reader) << command.words;
      }
  }
  EXPECT_EQ(ending, 70u) << "each word of the list is a command";
}

TEST(Commands, EveryOneHasASummaryExamplesAndHelp) {
  for (const Command& command : all_commands()) {
    EXPECT_FALSE(command.summary.empty()) << command.words;
    // Lists of commands show the first line.
    EXPECT_TRUE(command.summary.substr(0, command.summary.find('\n')).ends_with('.'))
        << command.words << ": " << command.summary;
    EXPECT_GE(command.examples.size(), 2u) << command.words;
    for (const std::string& example : command.examples)
      EXPECT_NE(example.find("fettle"), std::string::npos) << command.words << ": " << example;
    EXPECT_NE(help_of(command).find("usage: fettle " + command.words), std::string::npos);
    for (const CommandOption& option : command.options)
      EXPECT_FALSE(option.help.empty()) << command.words << " " << option.names.front();
  }
}

TEST(Commands, RunTakesTheFlagsOfKurtosis) {
  CommandLine result;
  ASSERT_EQ(
      parsed("run pkg {} --enclave e --args-file a.yml --dry-run -v brief --full-uuids "
             "--show-enclave-inspect=false --parallelism 8 --parallel --image-download always "
             "--main-file m.star --main-function-name go -p --no-connect "
             "--non-blocking-tasks --experimental NO_INSTRUCTIONS_CACHING "
             "--resource-check=false --privileged --dependencies",
             result),
      "run");
  EXPECT_EQ(result.arguments, (std::vector<std::string>{"pkg", "{}"}));
  EXPECT_EQ(result.text("enclave"), "e");
  EXPECT_EQ(result.text("args-file"), "a.yml");
  EXPECT_EQ(result.text("verbosity"), "brief");
  EXPECT_FALSE(result.flag("show-enclave-inspect", true));
  EXPECT_EQ(result.number("parallelism", 4).value(), 8);
  EXPECT_EQ(result.text("main-function-name"), "go");
  EXPECT_TRUE(result.flag("production"));
  EXPECT_TRUE(result.flag("dry-run"));
  EXPECT_FALSE(result.flag("resource-check", true));
  for (const char* spelling : {"-e x", "--enclave x", "--environment x", "--enclave=x"}) {
    CommandLine one;
    ASSERT_EQ(parsed(cat("run pkg ", spelling), one), "run");
    EXPECT_EQ(one.text("enclave"), "x") << spelling;
  }
}

TEST(Commands, ComposeFilesAreNamedByTheFlagsOfComposeAndOfKurtosis) {
  CommandLine compose;
  ASSERT_EQ(parsed("run -f a.yml -f b.yml --profile x --env-file e -e shop", compose), "run");
  EXPECT_EQ(compose.all("file"), (std::vector<std::string>{"a.yml", "b.yml"}));
  EXPECT_EQ(compose.text("enclave"), "shop");
  CommandLine imported;
  ASSERT_EQ(parsed("import a.yml -n shop -e e -c -o -", imported), "import");
  EXPECT_EQ(imported.text("enclave"), "shop");
  EXPECT_EQ(imported.all("env-file"), std::vector<std::string>{"e"});
  EXPECT_EQ(imported.text("output"), "-");
  EXPECT_TRUE(imported.flag("convert"));
}

TEST(Commands, TheDaemonOfANodeTakesTheFlagsOfTheOriginal) {
  CommandLine result;
  ASSERT_EQ(parsed("node-daemon --addr=:10221 --logtostderr=true -v=5 --enable-pprof=false "
                   "--pprof-addr=:10222 --plugin-config-file=/a --plugin-bin-dir=/b "
                   "--max-workers-for-pull-image=-1 --rest-config-qps=5 --rest-config-burst=10 "
                   "--socket-file=crio.sock --feature-gates=KruiseDaemon=true",
                   result),
            "node-daemon");
  EXPECT_EQ(result.text("socket-file"), "crio.sock");
  EXPECT_EQ(result.number("max-workers-for-pull-image", 0).value(), -1);
}

TEST(Commands, StatesTakeTheFlagsOfIdemInAllTheirSpellings) {
  for (const char* spelling : {"--reconciler=basic", "--reconciler basic", "-R=basic", "-R basic",
                               "-r=basic", "-r basic"}) {
    CommandLine one;
    ASSERT_EQ(parsed(cat("state a.sls ", spelling), one), "state") << spelling;
    EXPECT_EQ(one.text("reconciler"), "basic") << spelling;
    EXPECT_EQ(one.arguments, std::vector<std::string>{"a.sls"}) << spelling;
  }
  for (const char* spelling : {"--pending=default", "-P=default", "-p=default", "-p default"}) {
    CommandLine one;
    ASSERT_EQ(parsed(cat("state a.sls ", spelling), one), "state") << spelling;
    EXPECT_EQ(one.text("pending"), "default") << spelling;
  }
  for (const char* spelling : {"--test", "-t", "--test=True"}) {
    CommandLine one;
    ASSERT_EQ(parsed(cat("state a.sls ", spelling), one), "state") << spelling;
    EXPECT_TRUE(one.flag("test")) << spelling;
  }
  CommandLine result;
  ASSERT_EQ(
      parsed("state a.sls b --sls-sources s t --param-sources p --params x.sls y.sls -T d --invert "
             "--target id --runtime serial --batch-size 5 --max-pending-reruns 3 --render jinja "
             "--output json --group sort --esm-plugin null --esm-profile p --upgrade-esm "
             "--get-resource-only-with-resource-id --run-name n --cache-dir c --root-dir r "
             "--acct-file f --acct-key k --acct-profile p --extras e --overrides o "
             "--no-progress-bar --progress-plugin tqdm --disable-jinja-sandbox "
             "--jinja-sandbox-safe-hub-refs a b --serialize-plugin json --error-callback-ref x "
             "--backend auto -c conf --log-level error --log-file l --log-plugin basic "
             "--log-datefmt f --log-fmt-console f --log-fmt-logfile f --log-handler-options a b",
             result),
      "state");
  EXPECT_EQ(result.all("params"), (std::vector<std::string>{"x.sls", "y.sls"}));
  EXPECT_EQ(result.arguments, (std::vector<std::string>{"a.sls", "b"}));
  CommandLine described;
  ASSERT_EQ(parsed("describe cloud.* --filter [?name=='web'] --hard-fail", described), "describe");
}

TEST(Commands, OthersTakeTheirShortFormsToo) {
  for (const char* line : {"enclave add -n shop -p",
                           "enclave ls --full-uuids",
                           "enclave inspect shop --full-uuids",
                           "enclave rm -f shop other",
                           "enclave stop shop",
                           "enclave start shop",
                           "enclave restart shop",
                           "service ls shop",
                           "service inspect shop web",
                           "service exec shop web -u root ls",
                           "service logs shop web -f -n 5 --match x -v",
                           "service logs shop -x -a",
                           "service add shop web nginx --ports http=80 --env A=b",
                           "service update shop web --image nginx:2",
                           "service stop shop web",
                           "service start shop web",
                           "service rm shop web",
                           "files ls shop",
                           "files inspect shop config a.conf",
                           "files download shop config --no-extract",
                           "port print shop web http --format ip,number",
                           "clean -a",
                           "plan pkg --detailed-exitcode",
                           "why web",
                           "show -e shop",
                           "drift -e shop",
                           "events -e shop",
                           "doctor"}) {
    CommandLine result;
    const std::string words = parsed(line, result);
    EXPECT_TRUE(std::string(line).starts_with(words)) << line << ": " << words;
  }
}

TEST(Commands, AClusterIsInstalledByItsOwnFlags) {
  CommandLine result;
  ASSERT_EQ(parsed("install kubernetes --kubeconfig k --context c --namespace n --image i --check",
                   result),
            "install kubernetes");
  EXPECT_EQ(result.text("kubeconfig"), "k");
  EXPECT_EQ(result.text("namespace"), "n");
  EXPECT_TRUE(result.flag("check"));
  CommandLine more;
  ASSERT_EQ(parsed("install kubernetes --pull-secrets a,b --pull-secrets c", more),
            "install kubernetes");
  EXPECT_EQ(more.all("pull-secrets"), (std::vector<std::string>{"a,b", "c"}));
  CommandLine printed;
  ASSERT_EQ(parsed("install kubernetes -o yaml", printed), "install kubernetes");
  EXPECT_EQ(printed.text("output"), "yaml");
  EXPECT_NE(error_of("uninstall kubernetes --image i").find("unknown flag `--image`"),
            std::string::npos);
}

TEST(Commands, WhatIsTypedWrongGetsTheNearestRightOne) {
  EXPECT_EQ(error_of("rnu x"),
            "unknown command `fettle rnu`, did you mean `run`?\nsee `fettle help`");
  EXPECT_EQ(
      error_of("run x --dryrun"),
      "unknown flag `--dryrun` of `fettle run`, did you mean `--dry-run`?\nsee `fettle help run`");
  EXPECT_NE(error_of("run x --vebose").find(", did you mean `--verbosity`?"), std::string::npos);
  EXPECT_EQ(error_of("run x --nonsense"),
            "unknown flag `--nonsense` of `fettle run`\nsee `fettle help run`");
  EXPECT_EQ(error_of("exec -zt x"), "unknown flag `-zt` of `fettle exec`\nsee `fettle help exec`");
  EXPECT_EQ(error_of("exec -it web -- sh"),
            "unknown flag `-it` of `fettle exec`: `fettle pod exec -it POD -- COMMAND` runs a "
            "command in a pod");
  EXPECT_EQ(error_of("run"),
            "`fettle run` needs more arguments: `fettle run PACKAGE [ARGUMENTS] [-f FILE]`");
  EXPECT_EQ(error_of("run a b c"),
            "unexpected argument `c`: `fettle run PACKAGE [ARGUMENTS] [-f FILE]`");
  EXPECT_NE(error_of("enclave lss").find("did you mean `enclave ls`?"), std::string::npos);
  EXPECT_NE(error_of("enclave").find("needs one of add, ls"), std::string::npos);
}

TEST(Commands, WordsOfKurtosisThatAreNotHereSayWhatIs) {
  EXPECT_TRUE(error_of("gateway").starts_with("there is no command `fettle gateway`: "));
  EXPECT_TRUE(error_of("enclave connect shop")
                  .starts_with("there is no command `fettle enclave connect`: "));
}

TEST(Commands, WordsOfKurtosisScriptsAreThere) {
  for (const char* line :
       {"enclave dump shop",
        "enclave dump shop out",
        "dump",
        "dump out",
        "analytics disable",
        "config path",
        "config init dont-send-metrics",
        "cluster set docker",
        "cluster get",
        "cluster ls",
        "engine restart --version 1.0 --enclave-pool-size 2 --restart-api-containers",
        "engine logs out",
        "feedback --bug text",
        "lint",
        "lint -f .",
        "lint --format a.star",
        "github",
        "github login",
        "docs",
        "discord",
        "twitter"}) {
    CommandLine result;
    const std::string found = parsed(line, result);
    EXPECT_TRUE(std::string_view(line).starts_with(found)) << line << ": " << found;
  }
  CommandLine result;
  ASSERT_EQ(
      parsed("--cli-log-level debug --debug-mode enclave inspect shop --debug-mode=false", result),
      "enclave inspect");
  EXPECT_EQ(result.arguments, std::vector<std::string>{"shop"});
  CommandLine form;
  ASSERT_EQ(parsed("enclave ls --format kurtosis", form), "enclave ls");
  EXPECT_EQ(form.text("format"), "kurtosis");
}

TEST(Commands, WordsOfInmantaThatAreNotHereSayWhatDoesTheirWork) {
  const std::string said = error_of("server");
  EXPECT_TRUE(said.starts_with("there is no command `fettle server`: ")) << said;
  EXPECT_NE(said.find("`fettle export --apply` deploys"), said.npos) << said;
}

TEST(Commands, FlagsOfKubectlThatAreNotHereSayWhy) {
  EXPECT_EQ(
      error_of("apply -f web.yaml --server-side"),
      "unknown flag `--server-side` of `fettle apply`: there is no server; `apply` merges what "
      "it names into what is stored");
  EXPECT_EQ(
      error_of("apply -f web.yaml --force-conflicts"),
      "unknown flag `--force-conflicts` of `fettle apply`: fields have no owners; `apply` takes "
      "back the fields that a manifest names");
  EXPECT_EQ(error_of("apply -f web.yaml --force-conflicts=true"),
            error_of("apply -f web.yaml --force-conflicts"));
  EXPECT_EQ(error_of("apply -f web.yaml --server-side=true"),
            error_of("apply -f web.yaml --server-side"));
}

TEST(Commands, AGroupHasHelp) {
  const std::string help = help_of_group(all_commands(), "service");
  for (const char* const words : {"  service ls ", "  service logs ", "  service rm "})
    EXPECT_NE(help.find(words), help.npos) << help;
  EXPECT_EQ(help.find("enclave"), help.npos) << help;
  EXPECT_EQ(help_of_group(all_commands(), "run"), "");
  EXPECT_EQ(help_of_group(all_commands(), "serv"), "");
}

TEST(Commands, AShortFlagMayHoldItsValue) {
  CommandLine result;
  ASSERT_EQ(parsed("service logs shop web -n5", result), "service logs");
  EXPECT_EQ(result.text("num"), "5");
  EXPECT_NE(error_of("service logs shop web -f5").find("unknown flag `-f5`"), std::string::npos);
}

TEST(Commands, FlagsMayStandBeforeTheCommand) {
  CommandLine result;
  EXPECT_EQ(parsed("-e shop -ojson enclave inspect", result), "enclave inspect");
  EXPECT_EQ(result.text("enclave"), "shop");
  EXPECT_EQ(result.text("output"), "json");
  EXPECT_NE(error_of("--nothing enclave inspect").find("--nothing"), std::string::npos);
}

TEST(Commands, ANegativeNumberIsAnArgument) {
  CommandLine result;
  EXPECT_EQ(parsed("setting set available_versions_to_keep -1", result), "setting set");
  EXPECT_EQ(result.arguments, (std::vector<std::string>{"available_versions_to_keep", "-1"}));
  EXPECT_NE(error_of("versions diff -1 -2 -x").find("unknown flag `-x`"), std::string::npos);
}

TEST(Commands, AnEmptyArgumentIsNotNone) {
  CommandLine result;
  const auto error = [&](const std::vector<std::string>& words) {
    result = {};
    const auto command = parse_command(all_commands(), words, result);
    return command ? std::string() : command.error().message;
  };
  EXPECT_EQ(error({"versions", "diff", "1", ""}),
            "argument 2 is empty: `fettle versions diff VERSION [VERSION]`");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"versions", "show", ""},
                                             {"set", "show", ""},
                                             {"enclave", "inspect", ""},
                                             {"enclave", "rm", "a", ""},
                                             {"run", ""},
                                             {"setting", "set", "", "1"},
                                             {"service", "exec", "-e", "a", "", "true"},
                                             {"service", "inspect", "-e", "a", ""}})
    EXPECT_NE(error(words).find(" is empty: `fettle "), std::string::npos) << words[0];
  // Where it is a value, it is one.
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"setting", "set", "name", ""},
                                             {"run", "main.star", ""},
                                             {"exec", "test.ping", ""},
                                             {"service", "exec", "a", "b", "echo", ""},
                                             {"service", "exec", "-e", "a", "b", "echo", ""},
                                             {"pod", "exec", "a", "--", "echo", ""},
                                             {"label", "sts/web", "k="}})
    EXPECT_EQ(error(words), "") << words[0];
}

TEST(Commands, FlagsOfExecStandBeforeTheCommand) {
  CommandLine result;
  ASSERT_EQ(parsed("service exec shop web -u root ls -l", result), "service exec");
  EXPECT_EQ(result.text("user"), "root");
  EXPECT_EQ(result.arguments, (std::vector<std::string>{"shop", "web", "ls", "-l"}));
  CommandLine named;
  ASSERT_EQ(parsed("service exec -e shop web ls -u", named), "service exec");
  EXPECT_EQ(named.arguments, (std::vector<std::string>{"web", "ls", "-u"}));
}

TEST(Commands, HelpStandsInColumns) {
  CommandLine result;
  const Result<const Command*> add =
      parse_command(all_commands(), {"service", "add", "-h"}, result);
  ASSERT_TRUE(add);
  const std::string help = help_of(**add);
  for (const std::string_view line : split(help, '\n')) {
    if (!line.starts_with("  --env "))
      continue;
    // Two bytes more than letters: the `…`.
    EXPECT_EQ(line.find("environment"), 38u + 2u) << line;
  }
}

}  // namespace
}  // namespace fettle
