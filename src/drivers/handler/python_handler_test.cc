/// Handlers in Python, run for real.

#include "drivers/handler/python_handler.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/process.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "drivers/handler/handler_driver.h"
#include "kinds/kinds.h"
#include "tests/fixtures/host_acts.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr const char* box_source = R"py(
import os
from inmanta.agent.handler import *
from inmanta.resources import *


@resource("test::Box", agent="agent", id_attribute="path")
class Box(PurgeableResource):
    fields = ("path", "value")


@provider("test::Box", name="files")
class BoxHandler(CRUDHandler):
    def read_resource(self, ctx, resource):
        if not os.path.exists(resource.path):
            raise ResourcePurged()
        with open(resource.path) as file:
            resource.value = file.read()

    def _write(self, resource):
        with open(resource.path, "w") as file:
            file.write(resource.value)

    def create_resource(self, ctx, resource):
        self._write(resource)
        ctx.set_created()
        ctx.set_fact("pid", os.getpid())
        ctx.info("made %(path)s", path=resource.path)

    def update_resource(self, ctx, changes, resource):
        assert changes["value"]["desired"] == resource.value
        self._write(resource)
        ctx.set_updated()

    def delete_resource(self, ctx, resource):
        os.remove(resource.path)
        ctx.set_purged()

    def can_reload(self):
        return True

    def do_reload(self, ctx, resource):
        with open(resource.path + ".events", "a") as file:
            file.write("e")
)py";

class PythonHandlerTest : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }
  std::string read(const std::string& name) const { return read_file(at(name)).value_or("-"); }

  Value handler(std::string_view text, std::string_view deadline = "20s",
                std::vector<Entry> more = {}) {
    const Value code =
        Value::dict({{"modules", Value::dict({{"test/__init__.py", text}, {"test/sub.py", ""}})},
                     {"packages", Value::list({})}});
    more.push_back({"name", "test::Box"});
    more.push_back({"code", *blobs_.put(write_json(code))});
    more.push_back({"interpreter", find_program("python3").string()});
    more.push_back({"deadline", deadline});
    return Value::dict(std::move(more));
  }
  Value wanted(const Value& handler, std::string_view value, std::vector<Entry> fields = {},
               std::vector<Entry> more = {}) {
    for (const char* name : {"send_event", "report_only", "purged", "purge_on_delete"})
      fields.push_back({name, false});
    fields.push_back({"receive_events", true});
    for (const char* name : {"references", "mutators"})
      if (std::ranges::find(fields, name, &Entry::key) == fields.end())
        fields.push_back({name, Value::list({})});
    fields.push_back({"id", cat("test::Box[a,path=", at("box"), "]")});
    fields.push_back({"path", at("box")});
    fields.push_back({"value", value});
    std::ranges::reverse(fields);  // the first one of a name counts
    more.push_back({"type", "test::Box"});
    more.push_back({"fields", Value::dict(std::move(fields))});
    more.push_back({"handler", handler});
    return Value::dict(std::move(more));
  }
  Result<Done> apply(const Value& attributes, Verb verb = Verb::ensure,
                     std::vector<Key> events = {}) {
    return acts_.apply(handled_kind(), attributes, verb, std::move(events));
  }
  Result<Outcome> look(const Value& attributes, const Name& environment = "e") {
    Act act;
    act.verb = Verb::ensure;
    act.key = {environment, handled_kind().name(), "x"};
    act.attributes = *handled_kind().normalise(attributes);
    act.looks_only = true;
    return driver_.apply(act, [](const Progress&) {}, {});
  }
  /// What is said of a handler with another body of `read_resource`.
  std::string failure(const std::string& body, std::string_view deadline = "20s") {
    const auto result = apply(wanted(
        handler(
            cat(box_source, "\n    def read_resource(self, ctx, resource):\n        ", body, "\n"),
            deadline),
        "v"));
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
};

TEST_F(PythonHandlerTest, KeepsWhatIsFoundOut) {
  const std::string asked = R"py(
    def pre(self, ctx, resource):
        ctx.set_fact("order", "pre", expires=False)

    def post(self, ctx, resource):
        ctx.set_fact("order", "post", expires=False)

    def facts(self, ctx, resource):
        if os.path.exists(resource.path + ".silent"):
            raise ValueError("nobody answers")
        return {"size": os.path.getsize(resource.path), "text": resource.value}
)py";
  const Value code = handler(cat(box_source, asked));
  const auto value_of = [](const Result<Done>& done, std::string_view name) {
    const Value fact = dict_of(done->outputs).at("facts").at(name);
    return cat(fact.text_at("value"), fact.bool_at("expires") ? "" : " for ever");
  };
  const auto made = apply(wanted(code, "one"));
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(value_of(made, "size"), "3");
  EXPECT_EQ(value_of(made, "text"), "one");
  EXPECT_EQ(value_of(made, "order"), "post for ever");
  EXPECT_GT(dict_of(made->outputs).at("facts").at("size").integer_at("at", 0), 1'700'000'000);
  EXPECT_EQ(std::ranges::count(made->printed, "fact size = 3"), 1);
  // What is the same is not told again.
  const auto same = apply(wanted(code, "one"));
  EXPECT_EQ(std::ranges::count(same->printed, "fact size = 3"), 0);
  EXPECT_EQ(value_of(same, "size"), "3");
  const auto other = apply(wanted(code, "three"));
  EXPECT_EQ(value_of(other, "size"), "5");
  // No answer is no failure, and what was known stays so.
  ASSERT_TRUE(write_file(at("box.silent"), ""));
  const auto silent = apply(wanted(code, "one"));
  ASSERT_TRUE(silent) << to_string(silent.error());
  EXPECT_EQ(value_of(silent, "size"), "5");
  EXPECT_EQ(std::ranges::count(silent->printed, "warning: no facts: ValueError: nobody answers"), 1)
      << join(silent->printed, "\n");
  // A look asks nothing.
  const auto look_at = look(wanted(code, "one"));
  ASSERT_TRUE(look_at && std::holds_alternative<Done>(*look_at));
  EXPECT_TRUE(dict_of(std::get<Done>(*look_at).outputs).at("facts").is_null());
}

TEST_F(PythonHandlerTest, ReadsCreatesUpdatesAndDeletes) {
  const Value code = handler(box_source);
  const auto made = apply(wanted(code, "one"));
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_TRUE(made->changed);
  EXPECT_EQ(read("box"), "one");
  ASSERT_EQ(made->printed.size(), 2u);
  EXPECT_EQ(made->printed[0], cat("made ", at("box")));
  EXPECT_TRUE(made->printed[1].starts_with("fact pid = ")) << made->printed[1];
  const auto kept = apply(wanted(code, "one"));
  EXPECT_FALSE(kept->changed);
  EXPECT_EQ(dict_of(kept->outputs).at("changes"), Value::dict({}));
  const auto other = apply(wanted(code, "two"));
  EXPECT_TRUE(other->changed);
  EXPECT_EQ(dict_of(other->outputs).at("changes").at("value").text_at("current"), "one");
  EXPECT_EQ(read("box"), "two");
  EXPECT_EQ(read("box.events"), "-");
  EXPECT_TRUE(apply(wanted(code, "two"), Verb::ensure, {{"e", "file", "f"}})->changed);
  EXPECT_EQ(read("box.events"), "e");
  EXPECT_TRUE(apply(wanted(code, "two", {{"purged", true}}))->changed);
  EXPECT_EQ(read("box"), "-");
  EXPECT_FALSE(apply(wanted(code, "two", {{"purged", true}}))->changed);
  EXPECT_TRUE(apply(wanted(code, "two"))->changed);
  EXPECT_TRUE(apply(wanted(code, "two"), Verb::remove)->changed);
  EXPECT_EQ(read("box"), "-");
}

TEST_F(PythonHandlerTest, LooksAndReportsWithoutActing) {
  const Value code = handler(box_source);
  Result<Outcome> seen = look(wanted(code, "one"));
  ASSERT_TRUE(seen) << to_string(seen.error());
  const Done& absent = std::get<Done>(*seen);
  EXPECT_TRUE(absent.changed);
  EXPECT_FALSE(dict_of(absent.outputs).bool_at("compliant"));
  EXPECT_TRUE(dict_of(absent.outputs).bool_at("reloads"));
  EXPECT_EQ(read("box"), "-");
  ASSERT_TRUE(write_file(at("box"), "drifted"));
  const auto reported =
      apply(wanted(code, "one", {{"report_only", true}}, {{"report_only", true}}));
  ASSERT_TRUE(reported) << to_string(reported.error());
  EXPECT_FALSE(reported->changed);
  EXPECT_FALSE(dict_of(reported->outputs).bool_at("compliant"));
  EXPECT_EQ(dict_of(reported->outputs).at("changes").at("value").text_at("current"), "drifted");
  EXPECT_EQ(read("box"), "drifted");
}

TEST_F(PythonHandlerTest, AResourceHandlerFindsItsChangesItself) {
  const Value code = handler(cat(box_source, R"py(

@provider("test::Box")
class Handler(ResourceHandler):
    def check_resource(self, ctx, resource):
        current = resource.clone()
        current.value = self._io.read(resource.path) if self._io.file_exists(resource.path) else ""
        return current

    def do_changes(self, ctx, resource, changes):
        self._io.put(resource.path, changes["value"]["desired"] if changes else "kept")
        if changes:
            ctx.fields_updated("value")
)py"));
  ASSERT_TRUE(apply(wanted(code, "one"))->changed);
  EXPECT_EQ(read("box"), "one");
  EXPECT_FALSE(apply(wanted(code, "one"))->changed);
  EXPECT_EQ(read("box"), "kept") << "it is called without changes, too";
}

TEST_F(PythonHandlerTest, ReferencesAreResolvedAndContentsAreGiven) {
  const std::string sha1 = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d";
  const Value code = handler(cat(box_source, R"py(
from inmanta.references import Reference, reference


@reference("test::Shout")
class Shout(Reference[str]):
    def __init__(self, text):
        super().__init__()
        self.text = text

    def resolve(self, logger):
        return self.resolve_other(self.text, logger).upper()


class Content(BoxHandler):
    def read_resource(self, ctx, resource):
        ctx.info("content %(text)s", text=self.get_file("aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d").decode())
        assert self.get_file("none") is None
        super().read_resource(ctx, resource)


provider("test::Box")(Content)
)py"),
                             "20s", {{"files", Value::dict({{Name(sha1), *blobs_.put("hello")}})}});
  const Value references = *read_json(R"([{"type": "test::Shout", "id":
      "1db97cff-304a-3f5c-990a-f38282edb126", "args": [{"type": "literal", "name": "text",
      "value": "loud"}]}])");
  const Value mutators = *read_json(cat(R"([{"type": "core::Replace", "args": [
      {"type": "resource", "name": "resource", "id": "test::Box[a,path=)",
                                        at("box"), R"(]"},
      {"type": "reference", "name": "value", "id": "1db97cff-304a-3f5c-990a-f38282edb126"},
      {"type": "literal", "name": "destination", "value": "value"}]}])"));
  const auto made = apply(wanted(code, "", {{"references", references}, {"mutators", mutators}}));
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(read("box"), "LOUD");
  EXPECT_EQ(made->printed[0], "content hello");
}

TEST_F(PythonHandlerTest, WhatFailsIsToldWithItsTrace) {
  std::string said = failure("raise ValueError(\"no box today\")");
  EXPECT_TRUE(said.starts_with("handler `test::Box`: ValueError: no box today; in Python:\n"))
      << said;
  EXPECT_TRUE(has(said, "test/__init__.py\", line 4")) << said;
  EXPECT_TRUE(has(failure("self.get_client()"), "needs a server of Inmanta"));
  EXPECT_TRUE(has(failure("import os; os._exit(3)"), "it exited with code 3"));
  EXPECT_TRUE(has(failure("import time; time.sleep(60)", "400ms"), "400ms"));
  EXPECT_EQ(failure("raise SkipResource(\"not now\")"), "it was skipped");
  EXPECT_EQ(acts_.skipped, "not now");
  const auto broken = apply(wanted(handler("import nothing_of_that_name\n"), "v"));
  EXPECT_TRUE(has(to_string(broken.error()), "No module named 'nothing_of_that_name'"));
  const auto none = apply(wanted(handler("import inmanta.resources\n"), "v"));
  EXPECT_TRUE(has(to_string(none.error()), "no handler is registered for test::Box"))
      << to_string(none.error());
  Value gone = handler(box_source);
  std::vector<Entry> entries(gone.entries().begin(), gone.entries().end());
  entries.push_back({"interpreter", at("nowhere")});
  EXPECT_TRUE(has(to_string(apply(wanted(Value::dict(entries), "v")).error()),
                  "is not here: export the model again"));
  EXPECT_EQ(read("box"), "-");
}

TEST_F(PythonHandlerTest, OneProcessKeepsWhatIsCachedUntilItsCodeChanges) {
  const std::string cached = cat(box_source, R"py(
    calls = 0

    @cache
    def looked_up(self, name):
        BoxHandler.calls += 1
        return name + str(BoxHandler.calls)

    def pre(self, ctx, resource):
        resource.value = self.looked_up("n")
)py");
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(apply(wanted(handler(cached), "v")));
  EXPECT_EQ(read("box"), "n1");
  ASSERT_TRUE(apply(wanted(handler(cat(cached, "\nBoxHandler.calls = 5\n")), "v")));
  EXPECT_EQ(read("box"), "n6");
}

TEST_F(PythonHandlerTest, CoroutinesRunWithoutAServer) {
  EXPECT_EQ(failure(R"(
        async def text():
            return "from a coroutine"

        resource.value = self.run_sync(text)
        ctx.info(resource.value))"),
            "done");
  EXPECT_EQ(acts_.said[0], "from a coroutine");
}

TEST_F(PythonHandlerTest, AStopEndsIt) {
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(200ms);
    stop.request_stop();
  });
  const auto ended = acts_.apply(
      handled_kind(),
      wanted(handler(cat(box_source,
                         "\n    def pre(self, ctx, resource):\n        while True: pass\n")),
             "v"),
      Verb::ensure, {}, stop.get_token());
  ASSERT_FALSE(ended);
  EXPECT_TRUE(is_cancelled(ended.error())) << to_string(ended.error());
}

TEST_F(PythonHandlerTest, DamagedCodeIsWrittenAgain) {
  const Value attributes = wanted(handler(box_source), "v");
  ASSERT_TRUE(look(attributes));
  size_t damaged = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(at("home")))
    if (entry.path().string().ends_with("/test/__init__.py")) {
      ASSERT_TRUE(write_file(entry.path(), ""));
      ++damaged;
    }
  ASSERT_EQ(damaged, 1U);
  HandlerDriver later(http_, blobs_, at("home"));
  Acts acts(later);
  const Result<Done> made = acts.apply(handled_kind(), attributes, Verb::ensure, {});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(read("box"), "v");
}

TEST_F(PythonHandlerTest, EachEnvironmentHasAProcessOfItsOwn) {
  const Value attributes =
      wanted(handler(cat(box_source,
                         "\n    def read_resource(self, ctx, resource):\n"
                         "        raise SkipResource(self._agent.environment)\n")),
             "v");
  for (const char* environment : {"e", "other"}) {
    const Result<Outcome> outcome = look(attributes, environment);
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    ASSERT_TRUE(std::holds_alternative<Skipped>(*outcome));
    EXPECT_EQ(std::get<Skipped>(*outcome).why, environment);
  }
}

}  // namespace
}  // namespace fettle
