/// Commands of this machine, run for real.

#include <thread>

#include <gtest/gtest.h>

#include "base/tail.h"
#include "base/text.h"
#include "base/words.h"
#include "core/open_payload.h"
#include "drivers/host/host_driver.h"
#include "kinds/kinds.h"
#include "tests/fixtures/host_acts.h"
#include "value/json.h"

namespace fettle {
namespace {

class CommandsTest : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }
  /// Appends a letter to the log.
  std::string writes(const std::string& letter) const {
    return cat("sh -c 'printf ", letter, " >> ", at("log"), "'");
  }
  std::string log() const { return read_file(at("log")).value_or(""); }
  Result<Done> run(std::vector<Entry> attributes, std::vector<Key> events = {}) {
    return acts_.apply(command_kind(), Value::dict(std::move(attributes)), Verb::update,
                       std::move(events));
  }
  static std::string said(const Result<Done>& result) {
    return result ? "done" : to_string(result.error());
  }
  static bool has(const std::string& text, std::string_view part) {
    return text.find(part) != text.npos;
  }

  const Key cause_{"e", "file", "f"};
  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  HttpClient http_;
  MemoryBlobs blobs_;
  HostDriver driver_{http_, blobs_, [] { return uint64_t{1}; }};
  Acts acts_{driver_};
};

TEST_F(CommandsTest, WordsAreSplitAsAShellDoesAndNothingElse) {
  EXPECT_EQ(*split_command(R"(echo  "a b" 'c "d"' e\ f $HOME ; "x\"y\n")"),
            (std::vector<std::string>{"echo", "a b", "c \"d\"", "e f", "$HOME", ";", "x\"y\\n"}));
  EXPECT_EQ(*split_command("a ''"), (std::vector<std::string>{"a", ""}));
  for (const char* broken : {"", "  ", "a 'b", "a \"b", "a \\", "''"})
    EXPECT_FALSE(split_command(broken)) << broken;
}

TEST_F(CommandsTest, OnlyTheLastLinesAreKept) {
  Tail tail;
  for (int i = 0; i < 100'000; ++i)
    tail.add(cat("line ", i, "\n"));
  EXPECT_EQ(tail.lines(2), "line 99998\nline 99999");
  Tail broken;
  broken.add("a\xff z");
  EXPECT_EQ(broken.lines(), "a? z");
}

TEST_F(CommandsTest, ItRunsWithItsFolderAndEnvironment) {
  const auto done = run({{"command", cat("sh -c 'pwd; echo $A > ", at("out"), "; exit 3'")},
                         {"cwd", "/tmp"},
                         {"environment", Value::dict({{"A", "b c"}})},
                         {"returns", Value::list({0, 3})}});
  ASSERT_TRUE(done) << said(done);
  EXPECT_EQ(dict_of(done->outputs).integer_at("code"), 3);
  EXPECT_EQ(dict_of(done->outputs).text_at("output"), "/tmp");
  EXPECT_EQ(*read_file(at("out")), "b c\n");
}

TEST_F(CommandsTest, StreamsAreToldApartOnlyWhereThatIsAskedFor) {
  const std::string both = "sh -c 'echo 5; echo oh >&2'";
  EXPECT_EQ(write_json(dict_of(run({{"command", both}})->outputs)),
            R"({"code":0,"output":"5\noh","ran":true})");
  const Value told = Value::dict({{"state", "yaml"}, {"hidden", Value::list({"stderr"})}});
  const Value outputs = dict_of(run({{"command", both}, {"told", told}})->outputs);
  EXPECT_EQ(outputs.text_at("stdout"), "5");
  EXPECT_EQ(outputs.at("state"), Value(5));
  EXPECT_TRUE(outputs.at("stderr").is_secret() && outputs.at("output").is_secret());
  const Result<Done> failed =
      run({{"command", "sh -c 'echo secret; exit 3'"},
           {"told", Value::dict({{"state", ""}, {"hidden", Value::list({"stdout"})}})}});
  EXPECT_FALSE(has(said(failed), "last lines")) << said(failed);
}

TEST_F(CommandsTest, OutputThatIsNotOfItsFormIsAnError) {
  const auto said_of = [&](const char* command, const char* form, bool hides) {
    return said(run(
        {{"command", command},
         {"told", Value::dict({{"state", form},
                               {"hidden", hides ? Value::list({"stdout"}) : Value::list({})}})}}));
  };
  EXPECT_TRUE(has(said_of("echo {", "json", false), "as `render_pipe: json` says: line 1:2:"))
      << said_of("echo {", "json", false);
  EXPECT_TRUE(has(said_of("echo '[1'", "yaml", false), "as `render_pipe: yaml` says: line 1"));
  EXPECT_FALSE(has(said_of("echo '{secret'", "json", true), "secret"));
  EXPECT_EQ(dict_of(run({{"command", "true"}, {"told", Value::dict({{"state", "json"}})}})->outputs)
                .at("state"),
            Value());
}

TEST_F(CommandsTest, AFolderIsNoProgram) {
  EXPECT_EQ(said(run({{"command", folder_->path().string()}})),
            cat("the program `", folder_->path().string(), "` is not found"));
}

TEST_F(CommandsTest, AWrongCodeIsAnErrorWithTheLastLines) {
  const auto failed = run({{"command", "sh -c 'echo so far; echo no luck >&2; exit 4'"}});
  EXPECT_TRUE(has(said(failed), "exited with code 4; its last lines:\nso far\nno luck"))
      << said(failed);
  EXPECT_TRUE(has(said(run({{"command", "no-such-program-here x"}})),
                  "the program `no-such-program-here` is not found"));
  const auto late = run({{"command", "sh -c 'echo slow; sleep 30'"}, {"timeout", 0.3}});
  EXPECT_TRUE(has(said(late), "did not end within 300ms")) << said(late);
  EXPECT_TRUE(has(said(late), "its last lines:\nslow")) << said(late);
  EXPECT_FALSE(run({{"command", "false"}, {"skip_on_fail", true}}));
  EXPECT_EQ(acts_.skipped, "`false` exited with code 1");
}

TEST_F(CommandsTest, ConditionsDecideAndAreSeenAsDrift) {
  const std::vector<Entry> wanted{{"command", cat("touch ", at("made"))}, {"creates", at("made")}};
  EXPECT_TRUE(run(wanted)->changed);
  EXPECT_EQ(acts_.drift(command_kind()).verb, Verb::keep);
  EXPECT_FALSE(run(wanted)->changed);
  std::filesystem::remove(at("made"));
  EXPECT_EQ(acts_.drift(command_kind()).why, cat("`", at("made"), "` does not exist"));
  EXPECT_TRUE(run(wanted)->changed);

  EXPECT_FALSE(run({{"command", writes("a")}, {"unless", "true"}})->changed);
  EXPECT_TRUE(run({{"command", writes("b")}, {"unless", "false"}})->changed);
  EXPECT_TRUE(run({{"command", writes("c")}, {"unless", "no-such-program-here"}})->changed);
  EXPECT_FALSE(run({{"command", writes("d")}, {"onlyif", "false"}})->changed);
  EXPECT_TRUE(run({{"command", writes("e")}, {"onlyif", "true"}})->changed);
  EXPECT_FALSE(run({{"command", writes("f")}, {"onlyif", "true"}, {"unless", "true"}})->changed);
  EXPECT_EQ(log(), "bce");
}

TEST_F(CommandsTest, AnEventReloads) {
  const std::vector<Entry> only{{"command", writes("c")}, {"reload_only", true}};
  EXPECT_FALSE(run(only)->changed);
  EXPECT_TRUE(run(only, {cause_})->changed);
  EXPECT_EQ(log(), "c");
  acts_.known = nullptr;
  const std::vector<Entry> both{{"command", writes("C")}, {"reload", writes("r")}};
  EXPECT_TRUE(run(both, {cause_})->changed);
  EXPECT_EQ(log(), "cCr");
  EXPECT_TRUE(run(both, {cause_})->changed);
  EXPECT_EQ(log(), "cCrr") << "an event alone runs `reload` alone";
  acts_.known = nullptr;
  EXPECT_TRUE(run({{"command", writes("x")}}, {cause_})->changed);
  EXPECT_EQ(log(), "cCrrx") << "what ran just now need not run again for the event";
  EXPECT_TRUE(run({{"command", writes("x")}}, {cause_})->changed);
  EXPECT_EQ(log(), "cCrrxx");
}

TEST_F(CommandsTest, AStopEndsIt) {
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(200ms);
    stop.request_stop();
  });
  const auto ended =
      acts_.apply(command_kind(), Value::dict({{"command", "sleep 60"}, {"skip_on_fail", true}}),
                  Verb::create, {}, stop.get_token());
  ASSERT_FALSE(ended);
  EXPECT_TRUE(is_cancelled(ended.error())) << said(ended);
}

TEST_F(CommandsTest, WhatCannotBeMeantIsRefused) {
  const auto refusal = [&](std::vector<Entry> more) {
    more.push_back({"command", "true"});
    const auto normal = command_kind().normalise(Value::dict(std::move(more)));
    return normal ? "" : normal.error().message;
  };
  EXPECT_EQ(refusal({{"returns", Value::list({"a"})}}),
            "`returns` must be a list of exit codes, not `a`");
  EXPECT_EQ(refusal({{"timeout", 0}}), "`timeout` must be a number of seconds, not `0`");
  EXPECT_EQ(refusal({{"timeout", -1.5}}), "`timeout` must be a number of seconds, not `-1.5`");
  EXPECT_EQ(refusal({{"timeout", Value::big_integer(std::string(30, '9'))}}).substr(0, 9),
            "`timeout`");
}

}  // namespace
}  // namespace fettle
