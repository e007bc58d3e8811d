/// What a run tells of things, of commands and of code of users that is wrong: results, references
/// to them, places, and what nobody may read.

#include <filesystem>

#include "core/open_payload.h"
#include "tests/fixtures/states_fixture.h"
#include "verbs/states/state_results.h"

namespace fettle {
namespace {

class StatesToldTest : public StatesTest {
 protected:
  std::string new_state(const StatesReport& report, const std::string& id, const char* key) {
    return write_json(entry(report, id).at("new_state").at(key));
  }
};

TEST_F(StatesToldTest, AReconcilerAsksWhatIsPendingAsTheRunDoes) {
  put("states/own.star", R"(
def present(ctx, name):
    return {"result": False, "comment": "no", "changes": {}}

def is_pending(ret, state):
    return state != "own"
)");
  put("reconcile/mine.star", R"(
def loop(hub, pending_plugin, name, apply_kwargs):
    said = {ret["__id__"]: hub.is_pending(ret) for ret in hub.results().values()}
    said["no tag"] = hub.is_pending({"result": True, "tag": "x"})
    fail(" ".join(["%s=%s" % (id, said[id]) for id in sorted(said)]))
)");
  put("reconcile/pending/strict.star",
      "def is_pending(ret, state):\n    return not ret['result']\n");
  request_.reconciler = "mine";
  for (const char* rule : {"default", "idem25", "strict"}) {
    request_.pending = rule;
    const StatesReport report =
        apply("own: {own.present: []}\nbad: {test.fail_without_changes: []}\nok: {test.nop: []}\n");
    EXPECT_NE(report.fault.find("bad=True no tag=False ok=False own=False"), std::string::npos)
        << rule << ": " << report.fault;
  }
}

TEST_F(StatesToldTest, WhatIsNoResultIsRefusedWhenAReconcilerAsks) {
  put("reconcile/mine.star", R"(
def loop(hub, pending_plugin, name, apply_kwargs):
    return {"re_runs_count": 0, "require_re_run": hub.is_pending(5)}
)");
  request_.reconciler = "mine";
  EXPECT_NE(apply("a: {test.nop: []}").fault.find("is_pending: for parameter ret: want a result"),
            std::string::npos);
}

TEST_F(StatesToldTest, APluginOfTheLoopThatIsWrongIsToldWithItsError) {
  put("reconcile/mine.star", "def loop(hub)\n    pass\n");
  put("reconcile/other.star", "def loop(hub, pending_plugin, name, apply_kwargs):\n    pass\n");
  put("reconcile/pending/broken.star", "def is_pending(ret):\n    return nothing\n");
  put("reconcile/wait/lin.star", "def get(run_count)\n");
  constexpr std::string_view text = "a: {test.nop: []}\n";
  request_.reconciler = "mine";
  EXPECT_NE(refusal(text).find("reconcile/mine.star:2:"), std::string::npos) << refusal(text);
  request_.reconciler = "otter";
  EXPECT_EQ(refusal(text),
            "there is no reconciler `otter`; known are fettle, basic, none, other, did you mean "
            "`other`?");
  request_.reconciler = "basic";
  request_.pending = "broken";
  EXPECT_NE(refusal(text).find("reconcile/pending/broken.star:2:"), std::string::npos)
      << refusal(text);
  EXPECT_EQ(refusal(text).find("undefined: nothing"), refusal(text).rfind("undefined: nothing"))
      << refusal(text);
  request_.pending = "default";
  const StatesReport report = apply("a: {test.nop: [{reconcile: {wait: {lin: {}}}}]}\n");
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_NE(to_string(report.errors[0]).find("reconcile/wait/lin.star:2:"), std::string::npos)
      << to_string(report.errors[0]);
}

TEST_F(StatesToldTest, EachNameThatIsUndefinedInAPluginIsToldOnce) {
  put("states/bad.star", "def present(ctx, name):\n    return quuxify + xylograph\n");
  const StatesReport report = apply("b: {test.nop: []}\n");
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(to_string(report.warnings[0]), cat(at("states/bad.star"), ":2:12: undefined: quuxify"));
  EXPECT_EQ(report.warnings[0].excerpt.find("undefined: quuxify"), std::string::npos);
  EXPECT_NE(report.warnings[0].excerpt.find(":2:22: undefined: xylograph"), std::string::npos)
      << report.warnings[0].excerpt;
}

TEST_F(StatesToldTest, AWaitOfUsersHoldsForASingleState) {
  put("reconcile/wait/lin.star", "def get(run_count, step):\n    return step * (run_count + 1)\n");
  put("states/slow.star", R"(
def present(ctx, name):
    if ctx.rerun_data == None:
        return {"result": False, "comment": "not yet", "changes": {}, "rerun_data": 1}
    return {"result": True, "comment": "", "changes": {}}
)");
  for (const std::string_view reconciler : {"basic", "fettle"})
    for (const std::string_view form :
         {"reconcile: {wait: {lin: {step: 100}}}", "__reconcile_wait__: {lin: {step: 100}}"}) {
      request_.reconciler = reconciler;
      request_.is_fresh = true;
      const StatesReport report = apply(cat("a: {slow.present: [{", form, "}]}"));
      EXPECT_EQ(word(report, "a"), "True") << form;
      EXPECT_GE(took_, 100s) << reconciler << form;
      EXPECT_LT(took_, 101s) << reconciler << form;
    }
}

TEST_F(StatesToldTest, AWaitOfUsersHoldsForWhatShips) {
  put("reconcile/wait/lin.star", "def get(run_count, step):\n    return step * (run_count + 1)\n");
  const std::string once = cat("a: {cmd.run: [{cmd: \"test -e ", at("seen"), " || { touch ",
                               at("seen"), "; exit 1; }\"}, {shell: true}, ");
  for (const std::string_view reconciler : {"basic", "fettle"})
    for (const std::string_view form :
         {"reconcile: {wait: {lin: {step: 100}}}", "__reconcile_wait__: {lin: {step: 100}}"}) {
      request_.reconciler = reconciler;
      request_.is_fresh = true;
      ASSERT_TRUE(remove_tree(at("seen")));
      const StatesReport report = apply(cat(once, "{", form, "}]}\n"));
      EXPECT_EQ(word(report, "a"), "True") << form << comment(report, "a");
      EXPECT_GE(took_, 100s) << reconciler << form;
      EXPECT_LT(took_, 101s) << reconciler << form;
    }
}

TEST_F(StatesToldTest, AWaitOfUsersHoldsForFilesLinksAndChecks) {
  put("reconcile/wait/lin.star", "def get(run_count, step):\n    return step * (run_count + 1)\n");
  put("plain", "no folder");
  const std::string wait = "{reconcile: {wait: {lin: {step: 100}}, deadline: 250}}";
  for (const std::string& state :
       {cat("file.managed: [{name: ", at("plain/f"), "}, {contents: x}, "),
        cat("file.directory: [{name: ", at("plain/d"), "}, "),
        cat("file.symlink: [{name: ", at("plain/l"), "}, {target: x}, "),
        cat("file.managed: [{name: ", at("f"), "}, {contents: x}, {check_cmd: \"false\"}, ")}) {
    request_.is_fresh = true;
    const StatesReport report = apply(cat("a: {", state, wait, "]}\n"));
    EXPECT_EQ(word(report, "a"), "False") << state;
    EXPECT_GE(took_, 250s) << state;  // after 100 and 200 seconds, and then its deadline
    EXPECT_LT(took_, 251s) << state;
  }
}

TEST_F(StatesToldTest, WhatHasNoSecondCallTakesAWaitInSilence) {
  put("reconcile/wait/lin.star", "def get(run_count, step):\n    return step\n");
  const StatesReport report = apply(
      cat("a: {file.absent: [{name: ", at("none"), "}, {reconcile: {wait: {lin: {step: 9}}}}]}\n"));
  EXPECT_EQ(word(report, "a"), "True");
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_LT(took_, 1s);
}

TEST_F(StatesToldTest, AWaitOfUsersThatFailsFailsItsStateOnly) {
  put("reconcile/wait/bad.star", "def get(run_count):\n    fail(\"no idea\")\n");
  const StatesReport report = apply(
      "a: {cmd.run: [{cmd: \"false\"}, {reconcile: {wait: {bad: {}}, deadline: 30}}]}\n"
      "b: {test.nop: []}\n");
  EXPECT_EQ(word(report, "a"), "False");
  EXPECT_NE(comment(report, "a").find("no idea"), std::string::npos) << comment(report, "a");
  EXPECT_EQ(word(report, "b"), "True");
}

TEST_F(StatesToldTest, AReferenceReadsWhatTheNewStateShows) {
  const std::string text =
      cat("f: {file.managed: [{name: ", at("f"), "}, {contents: hello}, {mode: '0640'}]}\n",
          "u: {test.succeed_with_arg_bind: [{parameters: {c: '${file:f:content}', m: "
          "'${file:f:mode}', p: '${file:f:path}', d: '${file:f:digest}'}}]}\n");
  for (const bool is_test : {true, false}) {
    request_.is_test = is_test;
    const StatesReport report = apply(text);
    const Value& made = entry(report, "u").at("new_state").at("testing");
    EXPECT_EQ(made.text_at("c"), "hello\n") << comment(report, "u");
    EXPECT_EQ(made.text_at("m"), "0640");
    EXPECT_EQ(made.text_at("p"), at("f"));
    EXPECT_EQ(made.text_at("d").size(), 64u);
  }
  // Another content reaches who reads it, in a later run from memory, too.
  const StatesReport later =
      apply("u: {test.succeed_with_arg_bind: [{parameters: {c: '${file:f:content}'}}]}\n");
  EXPECT_EQ(entry(later, "u").at("new_state").at("testing").text_at("c"), "hello\n")
      << comment(later, "u");
}

TEST_F(StatesToldTest, AKeyThatIsMissingIsToldInIdemsWords) {
  const std::string file = cat("f: {file.managed: [{name: ", at("f"), "}, {contents: x}]}\n");
  const std::string user =
      "u: {test.succeed_with_arg_bind: [{parameters: {c: '${file:f:group}'}}]}\n";
  constexpr std::string_view told =
      R"(Key \"group\" is not found as part of the state \"new_state\".)";
  for (const std::string& text : {file + user, user}) {
    const std::string said = comment(apply(text), "u");
    EXPECT_NE(said.find(told), std::string::npos) << said;
  }
}

TEST_F(StatesToldTest, TheStreamsOfACommandAreKeptApart) {
  const StatesReport report = apply(R"(
d: {cmd.run: [{cmd: "echo out; echo err >&2"}, {shell: true}]}
j: {cmd.run: [{cmd: "echo '{\"a\": [1]}'; echo note >&2"}, {shell: true}, {render_pipe: json}]}
t: {cmd.run: [{cmd: echo 5}, {is_string_output: true}]}
u: {test.succeed_with_arg_bind: [{parameters: {e: "${cmd:d:stderr}", o: "${cmd:d:stdout}", c: "${cmd:d:retcode}", s: "${cmd:j:state:a[0]}"}}]}
)");
  EXPECT_EQ(write_json(entry(report, "d").at("new_state")),
            R"({"retcode":0,"state":null,"stderr":"err","stdout":"out"})");
  EXPECT_EQ(new_state(report, "j", "state"), R"({"a":[1]})");
  EXPECT_EQ(new_state(report, "t", "state"), R"("5")");
  EXPECT_EQ(write_json(entry(report, "u").at("new_state").at("testing")),
            R"({"c":0,"e":"err","o":"out","s":1})");
  EXPECT_NE(to_string(apply("a: {cmd.run: [{cmd: ls}, {render_pipe: toml}]}").errors.at(0))
                .find("`render_pipe` must be `json` or `yaml`, not toml"),
            std::string::npos);
}

TEST_F(StatesToldTest, WhatFormerVersionsKeptOfACommandIsReadAsBefore) {
  EXPECT_EQ(write_json(left_by_command(Value::dict({{"code", 0}, {"output", "x"}, {"ran", true}}))),
            R"({"retcode":0,"state":null,"stderr":null,"stdout":"x"})");
}

TEST_F(StatesToldTest, ATestTellsOfDriftWhatARunWillDo) {
  const std::string text =
      cat("f: {file.managed: [{name: ", at("f"), "}, {contents: hello}, {mode: '0640'}]}\n");
  EXPECT_EQ(word(apply(text), "f"), "True");
  const auto told = [&](bool is_test) {
    request_.is_test = is_test;
    const StatesReport report = apply(text);
    EXPECT_EQ(word(report, "f"), is_test ? "None" : "True");
    return changes(report, "f");
  };
  put("f", "by hand");
  std::filesystem::permissions(at("f"), std::filesystem::perms::owner_read);
  const std::string edited = told(true);
  EXPECT_NE(edited.find(R"("content":"by hand")"), std::string::npos) << edited;
  EXPECT_NE(edited.find(R"("mode":"0640")"), std::string::npos) << edited;
  EXPECT_EQ(edited.find("null"), std::string::npos) << edited;
  EXPECT_EQ(told(false), edited);
  ASSERT_TRUE(remove_tree(at("f")));
  const std::string removed = told(true);
  EXPECT_NE(removed.find(R"("content":"hello\n")"), std::string::npos) << removed;
  EXPECT_EQ(removed.find("null"), std::string::npos) << removed;
  EXPECT_EQ(told(false), removed);
}

TEST_F(StatesToldTest, WhatACommandPrintsMayBeSensitive) {
  const StatesReport report = apply(cat(R"(
a: {cmd.run: [{cmd: "echo hunter2; echo note >&2"}, {shell: true}, {sensitive: [stdout]}]}
b: {cmd.run: [{cmd: "echo hunter2; exit 3"}, {shell: true}, {sensitive: [stdout]}, {retry: {attempts: 1}}]}
f: {file.managed: [{contents: hunter2}, {sensitive: [content]}, {name: )",
                                        at("f"), "}]}\n"));
  EXPECT_TRUE(report.warnings.empty()) << to_string(report.warnings[0]);
  const Value& made = entry(report, "a").at("new_state");
  EXPECT_TRUE(made.at("stdout").is_secret());
  EXPECT_EQ(made.text_at("stderr"), "note");
  EXPECT_TRUE(entry(report, "a").at("changes").at("new").at("stdout").is_secret());
  EXPECT_EQ(comment(report, "b").find("last lines"), std::string::npos) << comment(report, "b");
  EXPECT_TRUE(entry(report, "f").at("new_state").at("content").is_secret());
  const Known known = *home_.store().known("e");
  const Value& kept = dict_of(known.at({"e", "command", "cmd_|-a_|-a"})->outputs);
  EXPECT_TRUE(kept.at("stdout").is_secret() && kept.at("output").is_secret());
  EXPECT_TRUE(dict_of(known.at({"e", "file", "file_|-f_|-f"})->applied->attributes)
                  .at("content")
                  .is_secret());
  EXPECT_EQ(read_file(at("f")).value_or(""), "hunter2\n");
}

TEST_F(StatesToldTest, WhatIsKeptKnowsWhereItStandsNow) {
  const std::string text = cat("f: {file.managed: [{name: ", at("f"), "}, {contents: x}]}\n",
                               "t: {test.present: [{new_state: {x: 1}}]}\n");
  const auto line_of = [&](const Key& key) {
    const Known known = *home_.store().known("e");
    const std::string place = known.at(key)->applied->origin.str();
    const size_t line = place.find(".sls:") + 5;
    return place.substr(line, place.find(':', line) - line);
  };
  const Key file{"e", "file", "file_|-f_|-f"}, call{"e", "state", "test_|-t_|-t"};
  for (int i = 0; i < 2; ++i)
    static_cast<void>(apply(text));
  EXPECT_EQ(line_of(file) + line_of(call), "12");
  const Time written = home_.store().known("e")->at(call)->finished;
  EXPECT_EQ(changes(apply(text), "t"), "{}");
  EXPECT_EQ(home_.store().known("e")->at(call)->finished, written);  // not written again
  static_cast<void>(apply("# one\n# two\n" + text));
  EXPECT_EQ(line_of(file) + line_of(call), "34");
}

TEST_F(StatesToldTest, WhatIsMadeIsToldAsMade) {
  const std::string gone = cat("f: {file.absent: [{name: ", at("f"), "}]}\n");
  const std::string there = cat("f: {file.managed: [{name: ", at("f"), "}, {contents: x}]}\n");
  static_cast<void>(apply(gone));
  request_.is_test = true;
  EXPECT_EQ(comment(apply(there), "f"), R"("it would be created")");
  request_.is_test = false;
  EXPECT_EQ(comment(apply(there), "f"), R"("created")");
}

TEST_F(StatesToldTest, ACommentThatSaysNothingStaysEmptyInBasic) {
  put("states/still.star", R"(
def present(ctx, name):
    return {"result": False, "comment": "", "changes": {}}
)");
  request_.reconciler = "basic";
  EXPECT_EQ(comment(apply("a: {still.present: []}"), "a"), R"("")");
}

}  // namespace
}  // namespace fettle
