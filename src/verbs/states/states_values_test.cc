/// What values mean: secrets are values until they are shown, references reach into lists, a path has one
/// owner, and what is said is what was done.

#include <mutex>
#include <thread>

#include <unistd.h>

#include "tests/fixtures/states_fixture.h"
#include "verbs/environments/explain.h"

namespace fettle {
namespace {

class StatesValuesTest : public StatesTest {
 protected:
  std::string content(const std::string& name) const {
    return read_file(at(name)).value_or("none");
  }
  std::string errors_of(const StatesReport& report) const {
    std::string text;
    for (const Error& error : report.errors)
      text += to_string(error) + "\n";
    return text;
  }
  size_t events_of(const char* kind, const char* name) {
    return home_.store().events_of({"e", kind, name}, 100)->size();
  }
};

TEST_F(StatesValuesTest, ASecretIsAValueInTemplates) {
  const StatesReport report = apply(
      cat(R"(
src: {test.present: [{new_state: {password: hunter2, list: [{k: hunter2}]}}, {sensitive: [password, k]}]}
#!require:src
whole:
  file.managed: [{name: )",
          at("whole"), R"(}, {contents: "{{ hub.idem.arg_bind.resolve('${test:src:password}') }}"}]
within:
  file.managed: [{name: )",
          at("within"),
          R"(}, {contents: "pw={{ hub.idem.arg_bind.resolve('a ${test:src:list[*]:k}') }}"}]
say: {cmd.run: [{cmd: "echo {{ hub.idem.arg_bind.resolve('${test:src:password}') }}; exit 3"}, {shell: true}, {retry: {attempts: 1}}]}
#!END
)"));
  EXPECT_EQ(errors_of(report), "");
  EXPECT_EQ(content("whole"), "hunter2\n");
  EXPECT_EQ(content("within"), "pw=a ['hunter2']\n");
  EXPECT_EQ(word(report, "say"), "False");
  // Whoever prints and logs asks the mask of the workplace.
  for (const StateResult& one : report.results)
    EXPECT_EQ(write_json(place_.mask->value(one.entry)).find("hunter2"), std::string::npos)
        << write_json(one.entry);
}

TEST_F(StatesValuesTest, ASecretIsNoPartOfWhatIsToldOfIt) {
  put_state(R"(
def present(ctx, name, word):
    return {"result": False, "comment": "no " + word, "old_state": None, "new_state": {"word": word, word: 1}, "changes": None}
)");
  put("states/keys.star", R"(
def present(ctx, name, word):
    return {"result": True, "comment": "", "old_state": None, "new_state": {word: 1}, "changes": None}
)");
  request_.reconciler = "none";
  const StatesReport report = apply(R"(
u: {http.query: [{url: "http://127.0.0.1:9/hunter2"}, {sensitive: [url]}]}
p: {s.present: [{word: hunter2}, {sensitive: [word]}]}
k: {keys.present: [{word: hunter2}, {sensitive: [word]}]}
)");
  EXPECT_EQ(write_json(entry(report, "k").at("new_state")), R"({"********":1})");
  EXPECT_EQ(word(report, "u"), "False");
  EXPECT_NE(comment(report, "u").find("********"), std::string::npos) << comment(report, "u");
  EXPECT_EQ(write_json(entry(report, "p").at("new_state")), R"({"********":1,"word":"********"})");
  for (const StateResult& one : report.results)
    EXPECT_EQ(write_json(one.entry).find("hunter2"), std::string::npos) << write_json(one.entry);
  RunFunctions functions(place_, {.environment = "e"});
  ASSERT_TRUE(functions.open());
  const Result<Value> memory = functions.exec_function({.path = "esm.show"});
  ASSERT_TRUE(memory) << to_string(memory.error());
  EXPECT_EQ(write_json(memory->at("ret").at("keys_|-k_|-k_|-")), R"({"********":1})");
  EXPECT_EQ(write_json(*memory).find("hunter2"), std::string::npos) << write_json(*memory);
}

TEST_F(StatesValuesTest, ASecretOfTheWrongShapeIsNotQuoted) {
  const StatesReport report = apply(
      "u: {http.query: [{url: hunter2}, {sensitive: [url]}]}\n"
      "n: {data.write: [{parameters: hunter2}, {sensitive: [parameters]}]}\n");
  const std::string errors = errors_of(report);
  EXPECT_NE(errors.find("`url` must be a URL"), std::string::npos) << errors;
  EXPECT_NE(errors.find("`parameters` must be a dictionary"), std::string::npos) << errors;
  for (const Error& error : report.errors)
    EXPECT_EQ(error.message.find("hunter2"), std::string::npos) << error.message;
}

TEST_F(StatesValuesTest, AUrlMayBeASecretOfAnother) {
  request_.reconciler = "none";
  const StatesReport report = apply(R"(
a: {test.present: [{new_state: {url: "http://127.0.0.1:9/hunter2"}}, {sensitive: [url]}]}
u: {http.query: [{url: "${test:a:url}"}]}
)");
  EXPECT_NE(comment(report, "u").find("connect"), std::string::npos) << comment(report, "u");
  EXPECT_EQ(comment(report, "u").find("hunter2"), std::string::npos) << comment(report, "u");
}

TEST_F(StatesValuesTest, AReferenceReachesIntoEachItemOfAList) {
  const StatesReport report = apply(R"(
x: {test.present: [{new_state: {l: [{k: 1}, {k: 2}], n: [[{z: 1}, 5], [{z: 2}]]}}]}
y: {test.present: [{new_state: {star: "${test:x:l[*]:k}", bare: "${test:x:l:k}", one: "${test:x:l[1]:k}",
    each: "${test:x:n[*][0]:z}", text: "a ${test:x:l[*]:k}", all: "${test:x:l[*]}"}}]}
bad: {test.present: [{new_state: {q: "${test:x:l[*]:no}"}}]}
)");
  EXPECT_EQ(
      write_json(entry(report, "y").at("new_state")),
      R"({"all":[{"k":1},{"k":2}],"bare":[1,2],"each":[1,2],"one":2,"star":[1,2],"text":"a [1, 2]"})")
      << comment(report, "y");
  EXPECT_EQ(word(report, "bad"), "False");
  EXPECT_NE(comment(report, "bad").find(R"(Key \"no\" is not found)"), std::string::npos)
      << comment(report, "bad");
}

TEST_F(StatesValuesTest, WhatListensHearsOfChangesThatFailed) {
  put_state(R"(
def failing(ctx, name):
    return {"result": False, "comment": "no", "changes": {"a": 1}}

def quiet(ctx, name):
    return {"result": False, "comment": "no", "changes": {}}

def present(ctx, name):
    return {"result": True, "comment": "", "changes": {}}

def mod_watch(ctx, name):
    return {"result": True, "comment": "heard", "changes": {}}
)");
  for (const bool is_test : {false, true}) {
    request_.reconciler = "none";
    request_.is_test = is_test;
    const StatesReport report = apply(
        "x: {s.failing: []}\nq: {s.quiet: []}\n"
        "l: {s.present: [{listen: [{s: x}]}]}\n"
        "m: {s.present: [{listen: [{s: q}]}]}\n"
        "n: {s.present: [{listen: [{s: q}]}, {require: [{s: x}]}]}\n"
        "o: {s.present: [{listen: [{s: x}]}, {require: [{s: q}]}]}\n");
    EXPECT_EQ(comment(report, "l_listen"), R"("heard")") << is_test;
    EXPECT_EQ(word(report, "m_listen"), "missing") << is_test;
    EXPECT_EQ(word(report, "n_listen"), "missing") << is_test;
    EXPECT_EQ(word(report, "o_listen"), "False") << is_test;
  }
}

TEST_F(StatesValuesTest, OnePathHasOneOwner) {
  for (const auto& [first, second] :
       {std::pair(cat("file.managed: [{name: ", at("x"), "}, {contents: a}]"),
                  cat("file.managed: [{name: ", at(""), "/./y/..//x}, {contents: b}]")),
        std::pair(cat("file.directory: [{name: ", at("x"), "/}]"),
                  cat("file.symlink: [{name: ", at("x"), "}, {target: /}]")),
        std::pair(cat("data.write: [{file_name: ", at("x"), "}, {parameters: {a: 1}}]"),
                  cat("file.absent: [{name: ", at("x"), "}]"))}) {
    const StatesReport report = apply(cat("a: {", first, "}\nb: {", second, "}\n"));
    EXPECT_NE(errors_of(report).find(cat("ID a manages `", at("x"), "`, too")), std::string::npos)
        << errors_of(report);
    EXPECT_FALSE(file_exists(at("x")));
    EXPECT_EQ(report.exit_code(), 2);
  }
  const StatesReport two = apply(cat("d: {file.directory: [{name: ", at("d"),
                                     "}]}\nf: {file.managed: [{name: ", at("d/f"),
                                     "}, {contents: a}, {require: [{file: d}]}]}\n"));
  EXPECT_EQ(errors_of(two), "");
  EXPECT_EQ(content("d/f"), "a\n");
}

TEST_F(StatesValuesTest, OnePathHasOneOwnerWhereReferencesLead) {
  request_.reconciler = "none";
  const StatesReport report =
      apply(cat("p: {test.present: [{new_state: {path: ", at("x"), "}}]}\n",
                "a: {file.managed: [{name: ", at("x"), "}, {contents: a}]}\n",
                "b: {file.managed: [{name: \"${test:p:path}\"}, {contents: b}]}\n"
                "c: {data.write: [{file_name: \"${test:p:path}\"}, {parameters: {a: 1}}]}\n"));
  EXPECT_EQ(errors_of(report), "");
  EXPECT_EQ(content("x"), "a\n");
  for (const char* id : {"b", "c"}) {
    EXPECT_EQ(word(report, id), "False");
    EXPECT_NE(comment(report, id).find("ID a manages `"), std::string::npos) << comment(report, id);
  }
  const StatesReport both =
      apply(cat("p: {test.present: [{new_state: {path: ", at("y"), "}}]}\n",
                "b: {file.managed: [{name: \"${test:p:path}\"}, {contents: b}]}\n"
                "c: {file.managed: [{name: \"${test:p:path}/\"}, {contents: c}]}\n"));
  EXPECT_NE(word(both, "b"), word(both, "c"));
}

TEST_F(StatesValuesTest, NamesMayRefer) {
  const StatesReport report = apply(cat("p: {test.present: [{new_state: {path: ", at("x"), "}}]}\n",
                                        "f: {file.managed: [{names: [\"${test:p:path}\", ", at("y"),
                                        "]}, {contents: a}]}\n"));
  EXPECT_EQ(errors_of(report), "");
  EXPECT_EQ(content("x") + content("y"), "a\na\n");
}

TEST_F(StatesValuesTest, JsonOfDataIsThatOfPython) {
  static_cast<void>(
      apply(cat("d: {data.write: [{file_name: ", at("d"),
                "}, {parameters: {b: [1, 2.5, true, null], e: {}, l: [], t: \"ä\\n\"}}]}\n")));
  EXPECT_EQ(content("d"), R"({
    "b": [
        1,
        2.5,
        true,
        null
    ],
    "e": {},
    "l": [],
    "t": "\u00e4\n"
})");
}

TEST_F(StatesValuesTest, ASourceIsCopiedByteForByte) {
  const std::string bytes("\x00\xff\xfe\x80 a\n\xc3", 8);
  put("blob.bin", bytes);
  const std::string text = cat("f: {file.managed: [{name: ", at("f"), "}, {source: blob.bin}]}\n");
  const StatesReport report = apply(text);
  EXPECT_EQ(errors_of(report), "");
  EXPECT_EQ(content("f"), bytes);
  EXPECT_EQ(changes(apply(text), "f"), "{}");
  put("blob.bin", bytes + "\xff");
  static_cast<void>(apply(text));
  EXPECT_EQ(content("f"), bytes + "\xff");
}

/// A text that is longer than what is kept of one stands in no record.
TEST_F(StatesValuesTest, ALongSourceIsCopiedByteForByte) {
  std::string text(3 << 20, 'x');
  put("long", text);
  const std::string states = cat("f: {file.managed: [{name: ", at("f"), "}, {source: long}]}\n");
  EXPECT_EQ(errors_of(apply(states)), "");
  EXPECT_EQ(content("f"), text);
  EXPECT_EQ(changes(apply(states), "f"), "{}");
  put("f", "somebody else's");
  EXPECT_EQ(errors_of(apply(states)), "");
  EXPECT_EQ(content("f"), text);
  text.back() = 'y';
  put("long", text);
  EXPECT_EQ(errors_of(apply(states)), "");
  EXPECT_EQ(content("f"), text);
}

TEST_F(StatesValuesTest, ATestOfFilesIsTrue) {
  put("full/f", "x");
  ASSERT_EQ(symlink(at("full/f").c_str(), at("link").c_str()), 0);
  const std::string text = cat("gone: {file.absent: [{name: ", at("gone"), "}]}\n",
                               "dir: {file.absent: [{name: ", at("full"), "}]}\n",
                               "inside: {file.managed: [{name: ", at("dir"), "}, {contents: a}]}\n",
                               "link: {file.managed: [{name: ", at("link"), "}, {contents: a}]}\n");
  ASSERT_TRUE(make_directories(at("dir")));
  request_.reconciler = "none";
  request_.is_test = true;
  const StatesReport tested = apply(text);
  request_.is_test = false;
  const StatesReport done = apply(text);
  EXPECT_EQ(word(tested, "gone") + word(done, "gone"), "TrueTrue");
  EXPECT_EQ(word(tested, "dir") + word(done, "dir"), "FalseFalse");
  EXPECT_EQ(comment(tested, "dir"), comment(done, "dir"));
  EXPECT_EQ(word(tested, "inside") + word(done, "inside"), "FalseFalse");
  EXPECT_EQ(comment(tested, "inside"), comment(done, "inside"));
  EXPECT_EQ(word(tested, "link") + word(done, "link"), "NoneTrue");
  EXPECT_NE(comment(tested, "link").find("link"), std::string::npos) << comment(tested, "link");
  EXPECT_NE(comment(done, "link").find("replaced a link"), std::string::npos)
      << comment(done, "link");
}

TEST_F(StatesValuesTest, ATestTellsWhatIsNotNeeded) {
  put("there", "x");
  const std::string text =
      cat("u: {cmd.run: [{cmd: \"true\"}, {unless: \"true\"}]}\n",
          "o: {cmd.run: [{cmd: \"true\"}, {onlyif: \"false\"}]}\n",
          "c: {cmd.run: [{cmd: \"true\"}, {creates: ", at("there"), "}]}\n",
          "f: {file.managed: [{name: ", at("f"), "}, {contents: a}, {onlyif: \"false\"}]}\n",
          "t: {test.succeed_with_changes: [{unless: \"true\"}]}\n", "q: {test.nop: []}\n",
          "r: {cmd.run: [{cmd: \"true\"}, {onchanges: [{test: q}]}]}\n",
          "s: {test.nop: [{onfail: [{test: q}]}]}\n",
          "v: {cmd.run: [{cmd: \"true\"}, {onchanges: [{file: f}]}]}\n");
  request_.is_test = true;
  const StatesReport tested = apply(text);
  request_.is_test = false;
  const StatesReport done = apply(text);
  for (const char* id : {"u", "o", "c", "f", "t", "r", "s", "v"}) {
    EXPECT_EQ(word(tested, id), word(done, id)) << id << comment(tested, id) << comment(done, id);
    EXPECT_EQ(tested.find(entry(tested, id).text_at("tag"))->is_unmet,
              done.find(entry(done, id).text_at("tag"))->is_unmet)
        << id;
    EXPECT_EQ(changes(tested, id), changes(done, id)) << id;
    const bool has_conditions = std::string_view("uocft").find(id) != std::string_view::npos;
    for (const StatesReport* report : {&tested, &done})
      EXPECT_EQ(report->find(entry(tested, id).text_at("tag"))->is_held, has_conditions)
          << id << (report == &tested ? " tested" : " done");
  }
  EXPECT_EQ(done.exit_code(), 0);
}

TEST_F(StatesValuesTest, WhatCodePrintsReachesPeopleAndTheLog) {
  put("states/talk.py", R"(
import os, sys
print("at import")

def present(hub, ctx, name, word):
    print("printed", word)
    print("begun", end="")
    print("to stderr", file=sys.stderr)
    hub.log.warning("logged")
    os.write(2, b"raw\n")
    return {"result": name == "good", "comment": "", "old_state": None, "new_state": {"a": 1}, "changes": None}
)");
  put_state(
      "def present(ctx, name):\n    print('of starlark')\n    return {'result': True, 'comment': "
      "'', 'changes': {'a': 1}}\n");
  std::mutex mutex;
  std::string said;
  place_.notice = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    said += line + "\n";
  };
  const auto has_said = [&](const char* line) {
    for (int i = 0; i < 1000; ++i) {  // what is written beside a call comes by a pipe of its own
      {
        const std::lock_guard lock(mutex);
        if (said.find(cat(line, "\n")) != said.npos)
          return true;
      }
      std::this_thread::sleep_for(10ms);
    }
    return false;
  };
  request_.reconciler = "none";
  const StatesReport report = apply(
      "good: {talk.present: [{word: hunter2}, {sensitive: [word]}]}\n"
      "bad: {talk.present: [{word: x}]}\nstar: {s.present: []}\n");
  EXPECT_EQ(word(report, "good") + word(report, "bad"), "TrueFalse") << comment(report, "good");
  for (const char* line : {"at import", "printed ********", "printed x", "begun", "to stderr",
                           "logged", "raw", "of starlark"})
    EXPECT_TRUE(has_said(line)) << line << " in\n" << said;
  EXPECT_EQ(said.find("hunter2"), said.npos);
  const auto printed = [&](const char* name) {
    std::string lines;
    const auto events = home_.store().events_of({"e", "state", name}, 100);
    for (const Event& event : *events)
      lines += write_json(event.detail.at("printed"));
    return lines;
  };
  EXPECT_NE(
      printed("talk_|-good_|-good").find(R"(["printed ********","to stderr","logged","begun"])"),
      std::string::npos)
      << printed("talk_|-good_|-good");
  EXPECT_NE(printed("talk_|-bad_|-bad").find("printed x"), std::string::npos);
  EXPECT_NE(printed("s_|-star_|-star").find("of starlark"), std::string::npos);
}

TEST_F(StatesValuesTest, AFailureWithAStateBeforeItIsNotRemembered) {
  put_state(R"(
def present(ctx, name, fails = False, size = None):
    return {"result": not fails, "comment": "", "old_state": {"size": 0}, "new_state": {"size": size}, "changes": {}}
)");
  request_.reconciler = "none";
  static_cast<void>(apply("a: {s.present: [{fails: true}, {size: 5}]}"));
  EXPECT_EQ(write_json(entry(apply("a: {s.present: []}"), "a").at("new_state")),
            R"({"size":null})");
}

TEST_F(StatesValuesTest, WhatIsHeardIsNotWhatIsRemembered) {
  request_.reconciler = "none";
  int number = 0;
  for (const char* parameters :
       {"ctx, name, size", "ctx, name"}) {  // the second one cannot be called
    put_state(cat(R"(
def present(ctx, name, size):
    return {"result": True, "comment": "", "old_state": ctx.old_state, "new_state": {"size": size}, "changes": {"a": 1}}

def mod_watch()",
                  parameters, R"():
    return {"result": True, "comment": "heard", "changes": {}}
)"));
    environment_ = cat("e", ++number);
    const StatesReport report =
        apply("a: {s.present: [{size: 1}]}\nb: {s.present: [{size: 2}, {watch: [{s: a}]}]}\n");
    EXPECT_EQ(word(report, "b"), number == 1 ? "True" : "False") << comment(report, "b");
    EXPECT_EQ(write_json(entry(apply("b: {s.present: [{size: 3}]}"), "b").at("old_state")),
              R"({"size":2})");
  }
}

TEST_F(StatesValuesTest, InATestWhatComesWithTheActStandsForItself) {
  put_state(R"(
def present(ctx, name):
    return {"result": True, "comment": "", "old_state": None, "new_state": {"size": 1} if ctx.test else {"size": 1, "id": 5}, "changes": {"a": 1}}
)");
  request_.reconciler = "none";
  const std::string text =
      "a: {s.present: []}\nb: {test.present: [{new_state: {x: \"${s:a:id}\"}}]}\n";
  request_.is_test = true;
  const StatesReport tested = apply(text);
  EXPECT_EQ(write_json(entry(tested, "b").at("new_state")),
            R"({"x":"id_value_known_after_applying"})")
      << comment(tested, "b");
  request_.is_test = false;
  EXPECT_EQ(write_json(entry(apply(text), "b").at("new_state")), R"({"x":5})");
}

TEST_F(StatesValuesTest, WhyTellsTheLastChange) {
  put_state(R"(
def present(ctx, name, size):
    old = ctx.old_state
    new = {"size": size}
    return {"result": True, "comment": "", "old_state": old, "new_state": new, "changes": {} if old == new else {"size": size}}
)");
  const auto told = [&] {
    const Key key = find_keys(place_, "e", "a")->front();
    return to_string(why(place_, "e", key)->front());
  };
  static_cast<void>(apply("a: {s.present: [{size: 1}]}"));
  const std::string first = told();
  const size_t events = events_of("state", "s_|-a_|-a");
  EXPECT_EQ(events, 2u);
  static_cast<void>(apply("a: {s.present: [{size: 1}]}"));
  static_cast<void>(apply("a: {s.present: [{size: 1}]}"));
  EXPECT_EQ(events_of("state", "s_|-a_|-a"), events);
  EXPECT_EQ(told(), first);
  static_cast<void>(apply("a: {s.present: [{size: 2}]}"));
  EXPECT_EQ(events_of("state", "s_|-a_|-a"), events + 2);
  EXPECT_TRUE(told().ends_with(": `arguments.size` changed")) << told();
}

TEST_F(StatesValuesTest, WhyTellsThatAStateWasNotAsDescribed) {
  put("states/s.py", cat(R"(
import os
PATH = ")",
                         at("there"), R"("

def present(hub, ctx, name):
    old = {"there": os.path.exists(PATH)}
    open(PATH, "w").close()
    return {"name": name, "result": True, "comment": "", "old_state": old, "new_state": {"there": True},
            "changes": {} if old["there"] else {"there": True}}
)"));
  const auto told = [&] {
    static_cast<void>(apply("a: {s.present: []}"));
    return to_string(why(place_, "e", find_keys(place_, "e", "a")->front())->front());
  };
  const std::string first = told();
  EXPECT_EQ(told(), first);
  ASSERT_TRUE(std::filesystem::remove(at("there")));
  EXPECT_TRUE(told().ends_with(": it was not as described")) << told();
}

}  // namespace
}  // namespace fettle
