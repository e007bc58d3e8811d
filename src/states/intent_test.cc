#include "states/intent.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/kinds.h"
#include "states/compile.h"
#include "value/json.h"

namespace fettle::states {
namespace {

struct MappedIntent {
  CompiledStates compiled;
  StatesIntent made;
  const std::vector<Resource>& resources() const { return made.intent->resources.at(states_set); }
  const Resource& at(std::string_view key) const {
    for (const Resource& resource : resources())
      if (to_string(resource.key) == key)
        return resource;
    ADD_FAILURE() << "no resource " << key;
    return resources().front();
  }
};

MappedIntent mapped(const std::string& text, IntentOptions options = {},
                    const CompileOptions& compile_options = {}) {
  const auto files = files_of({{"main.sls", text}, {"motd.txt", "hello\n"}});
  const std::vector<std::string> words{"main.sls"};
  MappedIntent made{compile(words, *files, compile_options), {}};
  for (const Error& error : made.compiled.errors)
    ADD_FAILURE() << to_string(error);
  options.environment = "e";
  made.made = intent_of(made.compiled, options);
  return made;
}

std::string intent_shown(const Value& value) {
  std::vector<Value> kept;
  kept.reserve(100);
  return write_json(fill_holes(value, [&](const Output& hole) {
    kept.emplace_back(cat("<", hole.kind, "/", hole.name, ":", hole.path, ">"));
    return &kept.back();
  }));
}

/// `when unmet bond any: keys` of each need.
std::string needs_of(const Resource& resource) {
  std::string text;
  for (const fettle::Need& need : resource.needs) {
    text += cat(to_string(need.when), need.unmet == Unmet::skip ? " skip" : "", " ",
                to_string(need.bond), need.any ? " any" : "", ":");
    for (const Key& key : need.keys)
      text += cat(" ", to_string(key));
    text += "; ";
  }
  return text;
}

TEST(Intent, ACallIsAResourceKnownByItsTagWithoutTheFunction) {
  const MappedIntent made = mapped(R"(
a:
  test.nop:
    - name: n
    - x: 1
    - y: ${test:b:l[1]:k}
    - z: pre-${test:b:v}
    - sensitive: [x]
    - failhard: true
b: test.nop
)");
  const Resource& a = made.at("state/test_|-a_|-a");
  EXPECT_EQ(
      intent_shown(dict_of(a.attributes)),
      R"({"arguments":{"x":"********","y":"<state/test_|-b_|-b:/new_state/l/1/k>",)"
      R"("z":"pre-<state/test_|-b_|-b:/new_state/v>"},"failure":"","function":"nop",)"
      R"("id":"a","name":"n","settings":{"failhard":true,"sensitive":["x"]},"state":"test"})");
  EXPECT_EQ(a.driver, "state");
  EXPECT_EQ(a.origin, "main.sls:3:3");
  // A hole alone would be met by what a failure left.
  EXPECT_EQ(needs_of(a), "succeeded order: state/test_|-b_|-b; ");
  EXPECT_EQ(*state_kind().normalise(dict_of(a.attributes)), a.attributes);
  EXPECT_EQ(made.made.intent->sets.at(states_set), Leftover::keep);
  EXPECT_EQ(mapped("a: test.nop", {.prune = true}).made.intent->sets.at(states_set),
            Leftover::remove);
}

TEST(Intent, AbsentFindsWhatPresentLeft) {
  EXPECT_EQ(mapped("a:\n  test.present: []\n").made.keys,
            mapped("a:\n  test.absent: []\n").made.keys);
  const MappedIntent file = mapped("a:\n  file.directory: [{name: /d}]\n");
  Known known;
  known[file.made.keys[0]] = std::make_shared<Record>();
  EXPECT_EQ(mapped("a:\n  file.absent: [{name: /d}]\n", {.known = &known}).made.keys,
            file.made.keys);
}

TEST(Intent, RequisitesAreNeeds) {
  const MappedIntent made = mapped(R"(
a: test.nop
b: test.nop
c:
  test.nop:
    - require: [{test: a}, {test: b}]
    - require_any: [{test: a}, {test: b}]
    - watch: [{test: a}]
    - onchanges: [{test: a}]
    - onfail_any: [{test: a}, {test: b}]
d:
  test.nop: [{prereq: [{test: e}]}]
e: test.nop
f:
  test.nop: [{listen: [{test: a}]}]
g: test.unique_op
)");
  EXPECT_EQ(needs_of(made.at("state/test_|-c_|-c")),
            "succeeded order: state/test_|-a_|-a state/test_|-b_|-b; "
            "succeeded order any: state/test_|-a_|-a state/test_|-b_|-b; "
            "succeeded refresh: state/test_|-a_|-a; "
            "changed skip order: state/test_|-a_|-a; "
            "failed skip order any: state/test_|-a_|-a state/test_|-b_|-b; ");
  EXPECT_EQ(needs_of(made.at("state/test_|-d_|-d")),
            "changed skip order: state/test_|-e_|-e_|-look; ");
  EXPECT_EQ(needs_of(made.at("state/test_|-e_|-e")), "finished order: state/test_|-d_|-d; ");
  EXPECT_EQ(needs_of(made.at("state/test_|-f_|-f")), "");
  EXPECT_EQ(needs_of(made.at("state/test_|-f_listen_|-f_listen")),
            "stirred skip order any: state/test_|-a_|-a; finished order: mark/states_|-end; ");
  EXPECT_EQ(made.at("mark/states_|-end").needs[0].keys.size(), 7u);
  EXPECT_EQ(made.at("state/test_|-g_|-g").pool, "test.unique_op");
  EXPECT_EQ(made.made.intent->pools.at("test.unique_op"), 1);
}

TEST(Intent, FilesFoldersAndLinksAreThoseOfTheHost) {
  const MappedIntent made = mapped(R"(
file:
  file.managed: [{name: /etc/motd}, {contents: hello}, {mode: 0644}, {user: root}]
bare:
  file.managed: [{name: /a}, {contents: x}, {contents_newline: false}]
source:
  file.managed: [{name: /b}, {source: motd.txt}]
bound:
  file.managed: [{name: "/c/${test:t:x}"}, {contents: "v ${test:t:y}"}, {sensitive: [contents]}]
folder:
  file.directory: [{name: /d}, {mode: "755"}]
link:
  file.symlink: [{name: /l}, {target: /d}]
gone:
  file.absent: [{name: /g}]
t: test.nop
)");
  const auto field = [&](std::string_view key, std::string_view name) {
    return intent_shown(dict_of(made.at(key).attributes).at(name));
  };
  EXPECT_EQ(field("file/file_|-file_|-file", "content"), R"("hello\n")");
  EXPECT_EQ(field("file/file_|-file_|-file", "mode"), R"("0644")");
  EXPECT_EQ(field("file/file_|-file_|-file", "owner"), R"("root")");
  EXPECT_EQ(field("file/file_|-bare_|-bare", "content"), R"("x")");
  EXPECT_EQ(field("file/file_|-source_|-source", "content"), R"("hello\n")");
  const Resource& bound = made.at("file/file_|-bound_|-bound");
  EXPECT_EQ(intent_shown(dict_of(bound.attributes).at("path")),
            R"("/c/<state/test_|-t_|-t:/new_state/x>")");
  ASSERT_TRUE(dict_of(bound.attributes).at("content").is_secret());
  EXPECT_EQ(intent_shown(dict_of(bound.attributes).at("content").inside()),
            R"("v <state/test_|-t_|-t:/new_state/y>\n")");
  EXPECT_EQ(field("folder/file_|-folder_|-folder", "mode"), R"("0755")");
  EXPECT_EQ(field("link/file_|-link_|-link", "leads_to"), R"("/d")");
  EXPECT_EQ(field("file/file_|-gone_|-gone", "purged"), "true");
  EXPECT_EQ(made.at("folder/file_|-folder_|-folder").driver, "host");
}

TEST(Intent, CommandsAreWordsWhateverTheyHold) {
  const MappedIntent made = mapped(R"(
text:
  cmd.run: [{cmd: "echo 'a b'"}]
named:
  cmd.run: [{name: "true"}, {creates: /x}]
shell:
  cmd.run: [{cmd: "echo $HOME | wc 'x'"}, {shell: true}, {env: {A: 1}}, {umask: "077"}]
bound:
  cmd.run: [{cmd: "echo ${test:t:x} | wc"}, {shell: true}]
words:
  cmd.run: [{cmd: [echo, "it's", "${test:t:x}", 5]}]
guarded:
  cmd.run: [{cmd: x}, {unless: ["test -e /a", "b 'c'"]}, {onlyif: "test ${test:t:x}"}]
waits:
  cmd.wait: [{cmd: x}, {watch: [{test: t}]}]
t: test.nop
)");
  const auto field = [&](std::string_view id, std::string_view name) {
    return intent_shown(dict_of(made.at(cat("command/cmd_|-", id, "_|-", id)).attributes).at(name));
  };
  EXPECT_EQ(field("text", "command"), R"("echo 'a b'")");
  EXPECT_EQ(intent_shown(dict_of(made.at("command/cmd_|-named_|-named").attributes).at("command")),
            R"("true")");
  EXPECT_EQ(field("shell", "command"),
            R"("/bin/sh -c 'umask '\\''077'\\''; echo $HOME | wc '\\''x'\\'''")");
  EXPECT_EQ(field("shell", "environment"), R"({"A":"1"})");
  EXPECT_EQ(field("bound", "command"), R"("/bin/sh -c 'eval \"$FETTLE_1\"'")");
  EXPECT_EQ(field("bound", "environment"),
            R"({"FETTLE_1":"echo <state/test_|-t_|-t:/new_state/x> | wc"})");
  EXPECT_EQ(
      field("words", "command"),
      R"("/bin/sh -c 'exec '\\''echo'\\'' '\\''it'\\''\\'\\'''\\''s'\\'' \"$FETTLE_1\" '\\''5'\\'''")");
  EXPECT_EQ(field("guarded", "unless"), R"("/bin/sh -c '{ test -e /a\n} && { b '\\''c'\\''\n}'")");
  EXPECT_EQ(field("guarded", "onlyif"), R"("/bin/sh -c '{ eval \"$FETTLE_1\"\n}'")");
  EXPECT_EQ(field("guarded", "environment"),
            R"({"FETTLE_1":"test <state/test_|-t_|-t:/new_state/x>"})");
  EXPECT_EQ(made.at("command/cmd_|-text_|-text").redo, Redo::always);
  EXPECT_EQ(made.at("command/cmd_|-named_|-named").redo, Redo::as_needed);
  EXPECT_EQ(made.at("command/cmd_|-guarded_|-guarded").redo, Redo::as_needed);
  EXPECT_EQ(made.at("command/cmd_|-waits_|-waits").redo, Redo::as_needed);
  EXPECT_EQ(field("waits", "reload_only"), "true");
  EXPECT_EQ(needs_of(made.at("command/cmd_|-waits_|-waits")),
            "succeeded refresh: state/test_|-t_|-t; "
            "succeeded order: state/cmd_|-waits_|-waits_|-guard; ");
}

TEST(Intent, ContainersHaveTheirOwnNames) {
  const MappedIntent made = mapped(R"(
web:
  container.running: [{image: "nginx:1"}, {ports: {http: 80, dns: 53/udp}}, {env: {A: 1}}]
old:
  container.absent: []
)");
  const Resource& web = made.at("service/web");
  EXPECT_EQ(web.driver, "engine");
  EXPECT_EQ(intent_shown(dict_of(web.attributes).at("image_id")), R"("<image/nginx:1:id>")");
  EXPECT_EQ(dict_of(web.attributes).at("ports").at("dns").text_at("transport"), "UDP");
  EXPECT_EQ(dict_of(web.attributes).at("env").text_at("A"), "1");
  EXPECT_EQ(needs_of(web), "succeeded order: network/default; ");
  EXPECT_TRUE(dict_of(made.at("service/old").attributes).bool_at("purged"));
  made.at("image/nginx:1");
}

TEST(Intent, AnImageThatAStateSaysIsCalledByWhoUsesIt) {
  const MappedIntent made = mapped(R"(
img:
  cmd.run: [{cmd: cat img}]
web:
  container.running: [{image: "${cmd:img:stdout}"}]
)");
  const Resource& web = made.at("service/web");
  EXPECT_EQ(intent_shown(dict_of(web.attributes).at("image_id")), R"("<image/of web:id>")");
  EXPECT_EQ(intent_shown(dict_of(made.at("image/of web").attributes).at("reference")),
            intent_shown(dict_of(web.attributes).at("image")));
  EXPECT_EQ(needs_of(web),
            "succeeded order: network/default; succeeded order: command/cmd_|-img_|-img; ");
  made.at("network/default");
}

TEST(Intent, WhatIsWrongIsToldWithItsPlace) {
  const MappedIntent made = mapped(R"(
a:
  file.managed: [{name: relative}, {contents: x}]
b:
  file.managed: [{name: /b}, {contents: [a]}]
c:
  container.running: [{image: x}, {ports: {a: none}}]
d:
  file.directory: [{name: /d}, {recreate_on_update: {create_before_destroy: false}}]
e:
  cmd.run: [{cmd: {a: b}}]
e2:
  cmd.run: [{cmd: "x ${cmd:e:y}"}, {umask: "077"}]
f:
  container.absent: [{name: web}]
g:
  container.absent: [{name: web}]
h:
  container.running: [{image: "x"}, {ports: {p: "${cmd:e:state}"}}]
)");
  std::string text;
  for (const Error& error : made.made.errors)
    text += cat(to_string(error), "\n");
  EXPECT_EQ(
      text,
      "main.sls:17:3: container.absent of ID g: ID f describes `service/web`, too\n"
      "main.sls:3:3: file.managed of ID a: `path` must be an absolute path, not `relative`\n"
      "main.sls:5:3: file.managed of ID b: `content` must be a string\n"
      "main.sls:7:3: container.running of ID c: port `a`: a port is a number such as 80 or a "
      "string such as `53/udp`, not `none`\n"
      "main.sls:9:3: file.directory of ID d: a folder cannot be recreated: it may hold what others "
      "made\n"
      "main.sls:11:3: cmd.run of ID e: `cmd` must be a string or a list of words, not "
      "{\"a\":\"b\"}\n"
      "main.sls:13:3: cmd.run of ID e2: `umask` and a reference in `cmd` need `shell: true`\n"
      "main.sls:19:3: container.running of ID h: port `p`: a port must be known before the run; it "
      "cannot refer to another step\n");
}

TEST(Intent, AGuardOfAFileIsALookAndTriesArePatience) {
  const MappedIntent made = mapped(R"(
a:
  file.managed: [{name: /a}, {contents: x}, {unless: "true"}]
b:
  cmd.run: [{cmd: x}, {retry: {attempts: 4, interval: 20, splay: 5}}]
)");
  const Resource& guard = made.at("state/file_|-a_|-a_|-guard");
  EXPECT_EQ(guard.mandate, Mandate::look);
  EXPECT_EQ(needs_of(made.at("file/file_|-a_|-a")), "changed order: state/file_|-a_|-a_|-guard; ");
  const Resource& tried = made.at("command/cmd_|-b_|-b");
  EXPECT_TRUE(tried.patience.most == 4 && tried.patience.with_errors);
  EXPECT_TRUE(tried.pace.wait == Wait::random && tried.pace.shortest == 20s &&
              tried.pace.longest == 25s);
}

TEST(Intent, WhatIsCheckedHasSucceededWhenItsCheckHas) {
  const MappedIntent made = mapped(R"(
a:
  file.managed: [{name: /a}, {contents: x}, {check_cmd: grep x /a}]
b:
  test.nop:
    - require: [{file: a}]
    - watch: [{file: a}]
c:
  test.nop: [{onchanges: [{file: a}]}, {onfail_any: [{file: a}]}]
)");
  const Resource& check = made.at("state/file_|-a_|-a_|-check");
  EXPECT_EQ(needs_of(check), "succeeded order: file/file_|-a_|-a; ");
  EXPECT_EQ(dict_of(check.attributes).at("settings").at("check_cmd").items()[0],
            Value("grep x /a"));
  EXPECT_EQ(needs_of(made.at("state/test_|-b_|-b")),
            "succeeded order: state/file_|-a_|-a_|-check; "
            "succeeded refresh: file/file_|-a_|-a; "
            "succeeded order: state/file_|-a_|-a_|-check; ");
  EXPECT_EQ(needs_of(made.at("state/test_|-c_|-c")),
            "changed skip order: file/file_|-a_|-a; "
            "succeeded skip order: state/file_|-a_|-a_|-check; "
            "failed skip order any: state/file_|-a_|-a_|-check; ");
}

TEST(Intent, WhoReplacesBeforeItRemovesHasARemover) {
  const MappedIntent made = mapped(R"(
a:
  test.present: [{recreate_on_update: {create_before_destroy: true}}]
b:
  test.nop: [{require: [{test: a}]}]
c:
  test.nop: [{onchanges: [{test: a}]}]
d:
  test.present: [{recreate_on_update: {create_before_destroy: false}}]
)");
  const Resource& remover = made.at("state/test_|-a_delete_old_|-a_delete_old");
  EXPECT_EQ(dict_of(remover.attributes).text_at("function"), "absent");
  EXPECT_EQ(needs_of(remover),
            "succeeded order: state/test_|-a_|-a state/test_|-b_|-b; "
            "finished order: state/test_|-c_|-c; ");
  EXPECT_TRUE(dict_of(remover.attributes).at("settings").at("replaced").is_deferred());
  EXPECT_EQ(dict_of(made.at("state/test_|-a_|-a").attributes).at("settings").text_at("remover"),
            "test_|-a_delete_old_|-a_delete_old");
  EXPECT_EQ(made.resources().size(), 5u);
}

TEST(Intent, CommandsThatCannotBeTakenApartAreErrors) {
  const MappedIntent made = mapped(R"(
a:
  cmd.run: [{cmd: "ls 'a"}]
b:
  cmd.run: [{cmd: ""}]
c:
  cmd.run: [{cmd: []}]
d:
  cmd.run: [{cmd: "ls 'a"}, {shell: true}]
)");
  std::vector<std::string> errors;
  for (const Error& error : made.made.errors)
    errors.push_back(to_string(error));
  ASSERT_EQ(errors.size(), 3u) << join(errors, "\n");
  EXPECT_NE(errors[0].find(":3:3: cmd.run of ID a: `cmd`: the command `ls 'a` ends inside"),
            std::string::npos)
      << errors[0];
  EXPECT_NE(errors[1].find("cmd.run of ID b: `cmd`: the command is empty"), std::string::npos)
      << errors[1];
  EXPECT_NE(errors[2].find("cmd.run of ID c: `cmd` must have at least one word"), std::string::npos)
      << errors[2];
}

TEST(Intent, TheWaitOfAContainerMayBeSeconds) {
  const MappedIntent made = mapped(
      "a:\n  container.running: [{name: a}, {image: \"x:1\"}, {ports: {web: 80}}, {wait: 5}]\n");
  EXPECT_EQ(dict_of(made.at("service/a").attributes).at("ports").at("web").text_at("wait"), "5s");
}

TEST(Intent, WaitsAndDeadlinesArePaces) {
  const MappedIntent made = mapped(R"(
a:
  test.nop: [{reconcile: {wait: {static: {wait_in_seconds: 10}}, deadline: 5m}}]
b:
  test.nop: [{reconcile: {wait: {exponential: {wait_in_seconds: 2, multiplier: 10, cap: 60}}}}]
c:
  test.nop: [{__reconcile_wait__: {random: {min_value: 1, max_value: 10}}}]
)");
  const Pace &a = made.at("state/test_|-a_|-a").pace, &b = made.at("state/test_|-b_|-b").pace,
             &c = made.at("state/test_|-c_|-c").pace;
  EXPECT_TRUE(a.wait == Wait::fixed && a.shortest == 10s && a.longest == 10s);
  EXPECT_TRUE(b.wait == Wait::exponential && b.shortest == 2s && b.longest == 60s);
  EXPECT_TRUE(c.wait == Wait::random && c.shortest == 1s && c.longest == 10s);
  EXPECT_EQ(made.at("state/test_|-a_|-a").deadlines.settle, 5min);
}

TEST(Intent, WhatIsDelayedIsLeftOutAndWhatFailsIsACallThatFails) {
  const MappedIntent made = mapped(
      "x: test.nop\nw:\n  test.nop: [{require: [{test: y}]}]\n"
      "#!require:x\ny: test.nop\n");
  EXPECT_EQ(made.resources().size(), 1u);
  EXPECT_TRUE(made.made.keys[1].kind.empty() || made.made.keys[0].kind.empty());
  const MappedIntent lenient = mapped("a:\n  cmd.run: [{shell: 5}]\n", {}, {.is_lenient = true});
  EXPECT_NE(dict_of(lenient.at("state/cmd_|-a_|-a").attributes).text_at("failure").find("boolean"),
            std::string_view::npos);
}

TEST(Intent, VariablesAndPortsThatAreNoDictionaryAreRefused) {
  for (const char* wrong : {"container.running: [{image: i}, {labels: 5}]",
                            "container.running: [{image: i}, {ports: xx}]",
                            "container.running: [{image: i}, {public_ports: [80]}]"}) {
    const MappedIntent made = mapped(cat("a:\n  ", wrong, "\n"));
    ASSERT_EQ(made.made.errors.size(), 1u) << wrong;
    EXPECT_NE(made.made.errors[0].message.find("must be a dictionary"), std::string::npos)
        << made.made.errors[0].message;
  }
  const MappedIntent list = mapped("a:\n  cmd.run: [{cmd: 'true'}, {env: [{A: 1}, {B: x}]}]\n");
  ASSERT_TRUE(list.made.errors.empty()) << list.made.errors[0].message;
  EXPECT_EQ(write_json(dict_of(list.at("command/cmd_|-a_|-a").attributes).at("environment")),
            R"({"A":"1","B":"x"})");
}

TEST(Intent, AnImageThatNoEngineTakesIsRefusedBeforeAnythingRuns) {
  const MappedIntent made = mapped("a:\n  container.running: [{image: 'a b'}]\n");
  ASSERT_EQ(made.made.errors.size(), 1u);
  EXPECT_NE(made.made.errors[0].message.find("image `a b` is invalid"), std::string::npos)
      << made.made.errors[0].message;
}

TEST(Intent, LenientFailsOnlyTheStateWhoseValueAKindRefuses) {
  MappedIntent made = mapped("a: {file.managed: [{name: /x}, {contents: [a]}]}\nb: test.nop\n", {},
                             {.is_lenient = true});
  ASSERT_EQ(made.made.errors.size(), 1u);
  const StatesIntent lenient = lenient_intent_of(made.compiled, {.environment = "e"});
  EXPECT_TRUE(lenient.errors.empty());
  std::string told;
  for (const Resource& resource : lenient.intent->resources.at(states_set))
    told +=
        cat(to_string(resource.key), "=", dict_of(resource.attributes).text_at("failure"), "\n");
  EXPECT_NE(told.find("state/file_|-a_|-a="), std::string::npos) << told;
  EXPECT_NE(told.find("must be a string"), std::string::npos) << told;
  EXPECT_NE(told.find("state/test_|-b_|-b=\n"), std::string::npos) << told;
}

}  // namespace
}  // namespace fettle::states
