/// Handlers of users, in Starlark and as programs, run for real.

#include "drivers/handler/handler_driver.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/kinds.h"
#include "tests/fixtures/host_acts.h"

namespace fettle {
namespace {

constexpr const char* starlark_source = R"star(
def read(resource):
    text = files.read(resource["path"])
    if text == None:
        return None
    return {"value": text, "size": len(text)}

def create(resource):
    print("creating " + resource["path"])
    files.write(resource["path"], resource["value"])

def update(resource, changes):
    if changes["value"]["current"] == changes["value"]["desired"]:
        fail("no change")
    files.write(resource["path"], resource["value"])

def delete(resource):
    files.remove(resource["path"])

def reload(resource):
    done = command.run(["sh", "-c", "printf $WHAT >> " + resource["path"] + ".events"], env = {"WHAT": "e"})
    if done.code != 0:
        fail("no")
)star";

constexpr const char* program_source = R"sh(#!/bin/sh
read request
path=$(printf %s "$request" | sed -E 's/.*"path":"([^"]*)".*/\1/')
value=$(printf %s "$request" | sed -E 's/.*"value":"([^"]*)".*/\1/')
call=$(printf %s "$request" | sed -E 's/.*"call":"([a-z]*)".*/\1/')
case $call in
  read) if [ -f "$path" ]; then printf '{"current":{"value":"%s"},"reloads":true}\n' "$(cat "$path")"
        else echo '{"absent":true}'; fi ;;
  create|update) echo '{"log":"writing"}'; printf %s "$value" > "$path"; echo '{}' ;;
  delete) rm "$path"; echo '{}' ;;
  reload) printf e >> "$path.events"; echo '{}' ;;
esac
)sh";

class HandlerTest : public testing::TestWithParam<bool> {
 protected:
  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }
  std::string read(const std::string& name) const { return read_file(at(name)).value_or("-"); }

  Value program(const std::string& text, std::string_view deadline = "20s") {
    const std::string path = at(cat("program", ++programs_));
    EXPECT_TRUE(write_file(path, text, 0755));
    return Value::dict({{"name", "box"}, {"program", path}, {"deadline", deadline}});
  }
  Value starlark(const std::string& text, std::string_view deadline = "20s") {
    return Value::dict({{"name", "box"}, {"code", *blobs_.put(text)}, {"deadline", deadline}});
  }
  Value wanted(const Value& handler, const std::string& value, std::vector<Entry> more = {}) {
    more.push_back({"type", "test::Box"});
    more.push_back({"fields", Value::dict({{"path", at("box")}, {"value", value}})});
    more.push_back({"handler", handler});
    return Value::dict(std::move(more));
  }
  Result<Done> apply(const Value& attributes, Verb verb = Verb::ensure,
                     std::vector<Key> events = {}) {
    return acts_.apply(handled_kind(), attributes, verb, std::move(events));
  }
  std::string failure(const Value& handler) {
    const auto result = apply(wanted(handler, "v"));
    return result ? "done" : to_string(result.error());
  }
  static bool has(const std::string& text, std::string_view part) {
    return text.find(part) != text.npos;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  HttpClient http_;
  MemoryBlobs blobs_;
  HandlerDriver driver_{http_, blobs_, folder_->path() / "home"};
  Acts acts_{driver_};
  int programs_ = 0;
};

TEST_P(HandlerTest, ReadsCreatesUpdatesAndDeletes) {
  const Value handler = GetParam() ? program(program_source) : starlark(starlark_source);
  const auto made = apply(wanted(handler, "one"));
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_TRUE(made->changed);
  EXPECT_EQ(read("box"), "one");
  EXPECT_EQ(acts_.said.size(), 1u);
  EXPECT_FALSE(apply(wanted(handler, "one"))->changed);
  const auto other = apply(wanted(handler, "two"));
  EXPECT_TRUE(other->changed);
  EXPECT_EQ(dict_of(other->outputs).at("changes").at("value").text_at("current"), "one");
  EXPECT_EQ(read("box"), "two");
  ASSERT_TRUE(write_file(at("box"), "drifted"));
  const auto reported = apply(wanted(handler, "two", {{"report_only", true}}));
  EXPECT_FALSE(reported->changed);
  EXPECT_FALSE(dict_of(reported->outputs).bool_at("compliant"));
  EXPECT_EQ(read("box"), "drifted");
  EXPECT_TRUE(apply(wanted(handler, "two"), Verb::ensure, {{"e", "file", "f"}})->changed);
  EXPECT_EQ(read("box"), "two");
  EXPECT_EQ(read("box.events"), "e");
  EXPECT_TRUE(apply(wanted(handler, "two", {{"purged", true}}))->changed);
  EXPECT_EQ(read("box"), "-");
  EXPECT_FALSE(apply(wanted(handler, "two", {{"purged", true}}))->changed);
  EXPECT_TRUE(apply(wanted(handler, "two"))->changed);
  EXPECT_TRUE(apply(wanted(handler, "two"), Verb::remove)->changed);
  EXPECT_EQ(read("box"), "-");
}

/// The one below says that it stays; each process writes its number.
constexpr const char* staying_source = R"py(#!/usr/bin/env python3
import json, os, sys

for line in sys.stdin:
    request = json.loads(line)
    box = request["resource"]
    with open(box["path"] + ".pids", "a") as file:
        file.write("%d\n" % os.getpid())
    answer = {"serves": "many"}
    if request["call"] == "read":
        if os.path.exists(box["path"]):
            answer["current"] = {"value": open(box["path"]).read()}
        else:
            answer["absent"] = True
    elif request["call"] == "delete":
        os.remove(box["path"])
    else:
        with open(box["path"], "w") as file:
            file.write(box["value"])
    print(json.dumps(answer), flush=True)
)py";

class StayingHandlerTest : public HandlerTest {};
INSTANTIATE_TEST_SUITE_P(Once, StayingHandlerTest, testing::Values(true));

TEST_P(StayingHandlerTest, AProgramThatStaysIsStartedOnceMore) {
  const Value handler = program(staying_source);
  for (const char* value : {"one", "one", "two"}) {
    const auto done = apply(wanted(handler, value));
    ASSERT_TRUE(done) << to_string(done.error());
    EXPECT_EQ(read("box"), value);
  }
  const std::string pids = read("box.pids");
  const std::vector<std::string_view> calls = split(trim(pids), '\n');
  EXPECT_EQ(calls.size(), 5u);  // read and create, read, read and update
  EXPECT_EQ(std::set<std::string_view>(calls.begin(), calls.end()).size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Both, HandlerTest, testing::Bool(), [](const auto& is_program) {
  return is_program.param ? "program" : "starlark";
});

class BrokenHandlerTest : public HandlerTest {};
INSTANTIATE_TEST_SUITE_P(Once, BrokenHandlerTest, testing::Values(false));

std::string reading(const std::string& body) {
  return cat("def read(resource):\n    ", body,
             "\ndef create(resource): pass\ndef update(resource, changes): pass\n"
             "def delete(resource): pass\n");
}

TEST_P(BrokenHandlerTest, StarlarkThatFails) {
  EXPECT_EQ(failure(starlark(reading("fail(\"no box today\")"))),
            "handler `box`: `read`: box.star:2:9: fail: no box today");
  EXPECT_TRUE(acts_.has_only_looked);
  EXPECT_TRUE(has(failure(starlark(reading("return 5"))),
                  "handler `box`: `read` returned int, wanted a dict or None"));
  EXPECT_TRUE(has(failure(starlark(reading("return {1: 2}"))), "what `read` returned"));
  EXPECT_TRUE(has(failure(starlark("def read(resource): pass\n")), "has no function `create`"));
  EXPECT_TRUE(has(failure(starlark("def read(:\n")), "box.star:1:"));
  const std::string looped =
      failure(starlark(reading("print(\"looking\")\n    for i in range(1 << 40): pass"), "300ms"));
  EXPECT_TRUE(has(looped, "its last lines:\nlooking")) << looped;
  const std::string hung = failure(starlark(reading("command.run([\"sleep\", \"60\"])"), "300ms"));
  EXPECT_TRUE(has(hung, "did not end within")) << hung;
  const std::string failed =
      failure(starlark(reading("command.run(\"sh -c 'echo worse >&2; exit 3'\")")));
  EXPECT_TRUE(has(failed, "`sh` exited with code 3:\nworse")) << failed;
  EXPECT_TRUE(
      has(failure(starlark(reading("files.read(\"etc/passwd\")"))), "the path must be absolute"));
  EXPECT_TRUE(has(failure(starlark(reading("http.request(\"http://127.0.0.1:1/\")"))), "http"));
  EXPECT_TRUE(
      has(failure(starlark(reading("return {\"v\": \"x\" * (1 << 40)}"))), "handler `box`"));
  EXPECT_FALSE(apply(wanted(starlark(reading("skip(\"not now\")")), "v")));
  EXPECT_EQ(acts_.skipped, "not now");
}

TEST_P(BrokenHandlerTest, AProgramThatFails) {
  const auto answers = [&](const std::string& body) {
    return failure(program(cat("#!/bin/sh\n", body, "\n"), "500ms"));
  };
  EXPECT_EQ(answers("echo oh dear >&2; exit 7"),
            "handler `box`: `read`: it exited with code 7; its last lines:\noh dear");
  EXPECT_TRUE(has(answers("echo working >&2; kill -SEGV $$"),
                  "it was killed by signal 11; its last lines:\nworking"));
  const std::string hung = answers("echo waiting >&2; sleep 60");
  EXPECT_TRUE(has(hung, "did not end within 500ms")) << hung;
  EXPECT_TRUE(has(hung, "its last lines:\nwaiting")) << hung;
  EXPECT_TRUE(
      has(answers("echo hello"), "is not a line with a JSON object; its last lines:\nhello"));
  EXPECT_TRUE(has(answers("printf '\\377\\n'"), "is not a line with a JSON object"));
  EXPECT_TRUE(has(answers("echo '[1]'"), "is not a line with a JSON object"));
  EXPECT_TRUE(has(answers("true"), "has no answer"));
  EXPECT_TRUE(has(answers("echo '{}'; echo '{}'"), "has more than one answer"));
  EXPECT_TRUE(has(answers("echo '{\"current\":5}'"), "the answer needs `current`, a dict"));
  EXPECT_EQ(answers("echo '{\"error\":\"no box\"}'"), "handler `box`: `read`: no box");
  EXPECT_TRUE(
      has(failure(Value::dict({{"name", "box"}, {"program", at("nowhere")}})), "is not found"));
  EXPECT_FALSE(apply(wanted(program("#!/bin/sh\necho '{\"skip\":\"later\"}'\n"), "v")));
  EXPECT_EQ(acts_.skipped, "later");
}

TEST_P(BrokenHandlerTest, AStopEndsIt) {
  for (const Value& handler :
       {starlark(reading("command.run([\"sleep\", \"60\"])")),
        starlark(reading("for i in range(1 << 40): pass")), program("#!/bin/sh\nsleep 60\n")}) {
    std::stop_source stop;
    const std::jthread stopper([&] {
      std::this_thread::sleep_for(200ms);
      stop.request_stop();
    });
    const auto ended =
        acts_.apply(handled_kind(), wanted(handler, "v"), Verb::ensure, {}, stop.get_token());
    ASSERT_FALSE(ended);
    EXPECT_TRUE(is_cancelled(ended.error())) << to_string(ended.error());
  }
}

}  // namespace
}  // namespace fettle
