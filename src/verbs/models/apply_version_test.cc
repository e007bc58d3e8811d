/// Versions made true on this machine: real files and commands below a temporary folder, a real
/// store. Resources are written as the JSON that a push takes.

#include "verbs/models/apply_version.h"

#include <unistd.h>

#include "base/text.h"
#include "tests/fixtures/version_fixture.h"
#include "verbs/environments/environments.h"
#include "verbs/environments/explain.h"
#include "verbs/models/export_model.h"
#include "verbs/models/plan_version.h"
#include "workplace/orphans.h"
#include "workplace/settings.h"

namespace fettle {
namespace {

/// Asks to stop when something is begun, as somebody at the keyboard would.
class Stopper : public Audience {
 public:
  Stopper(std::string part, Interrupt& interrupt) : part_(std::move(part)), interrupt_(interrupt) {}
  void event(const Event& event) override {
    if (event.type == EventType::started && to_string(event.key).find(part_) != std::string::npos)
      interrupt_.ask();
  }

 private:
  std::string part_;
  Interrupt& interrupt_;
};

class ApplyVersionTest : public VersionFixture {};

TEST_F(ApplyVersionTest, FilesAreMadeOnceKeptAndRepaired) {
  const auto describe = [&](const std::string& content) {
    add_file("one", "1", {{"mode", 600}}, {}, "s");
    add_file("two", content);
    push();
  };
  describe("2");
  const ApplyReport first = apply();
  EXPECT_EQ(states(first), "deployed! deployed! ");
  EXPECT_EQ(first.exit_code(), 0);
  EXPECT_EQ(read("one") + read("two"), "12");
  EXPECT_EQ(states(apply()), "deployed deployed ");
  ASSERT_TRUE(write_file(at("one"), "drifted"));
  const ApplyReport repaired = apply();
  EXPECT_EQ(repaired.count(DeployState::deployed), 2u);
  EXPECT_TRUE(row(repaired, file_id(at("one"))).changed);
  EXPECT_EQ(row(repaired, file_id(at("one"))).why, "drift: `content`, `mode` are not as described");
  EXPECT_EQ(read("one"), "1");
  describe("other");
  const ApplyReport edited = apply();
  EXPECT_FALSE(row(edited, file_id(at("one"))).changed);
  EXPECT_TRUE(row(edited, file_id(at("two"))).changed);
  EXPECT_EQ(edited.version, 2u);
  // An older version can be made true again.
  request_.version = *release_version(place_, "e", 1);
  EXPECT_EQ(apply().version, 1u);
  EXPECT_EQ(read("two"), "2");
}

TEST_F(ApplyVersionTest, S24APartialExportDoesWhatItChangedAndNoMore) {
  const auto add_set = [&](const std::string& set, const std::vector<std::string>& contents) {
    for (size_t i = 0; i < contents.size(); ++i)
      add_file(cat(set, i), contents[i], {}, {}, set);
  };
  const auto done = [&](bool is_partial) {
    push(Value::dict({}), is_partial);
    const ApplyReport report = apply();
    EXPECT_EQ(report.count(DeployState::deployed), 12u);
    return std::count_if(report.resources.begin(), report.resources.end(),
                         [](const DeployedResource& one) { return one.changed; });
  };
  add("fs::File[a,path=/elsewhere]", {{"path", "/elsewhere"}}, {}, "a");
  push(Value::dict({}), false, "other");
  for (const char* set : {"a", "b", "c"})
    add_set(set, {"1", "1", "1", "1"});
  EXPECT_EQ(done(false), 12);
  add_set("a", {"2", "1", "1", "1"});
  EXPECT_EQ(done(true), 1);
  add_set("b", {"1", "2", "1", "1"});
  EXPECT_EQ(done(true), 1);
  add_set("a", {"2", "1", "3", "3"});
  EXPECT_EQ(done(true), 2);
  add_set("b", {"4", "2", "1", "1"});
  add_set("c", {"4", "1", "1", "4"});
  EXPECT_EQ(done(true), 3);
  add_set("c", {"4", "1", "1", "4"});
  EXPECT_EQ(done(true), 0);
  for (const char* set : {"a", "b"})
    add_set(set, {"5", "5", "5", "5"});
  add_set("c", {"5", "1", "1", "5"});
  EXPECT_EQ(done(true), 10);
  EXPECT_EQ(read("a3") + read("b0") + read("c1"), "551");
  const auto other = read_version(place_, "other", std::nullopt);
  ASSERT_TRUE(other) << to_string(other.error());
  ASSERT_EQ(other->items.size(), 1u) << "another environment was touched";
  EXPECT_EQ(other->items[0].item.id, "fs::File[a,path=/elsewhere]");
}

TEST_F(ApplyVersionTest, WhatChangedReloadsWhatListens) {
  const auto describe = [&](const std::string& content) {
    const std::string file = add_file("f", content);
    add_run(writes("r"), {{"reload_only", true}}, {file});
    add_run(writes("d"), {{"reload_only", true}, {"receive_events", false}}, {file});
    push();
  };
  describe("1");
  EXPECT_EQ(states(apply()).find("failed"), std::string::npos);
  EXPECT_EQ(read("log"), "r");
  apply();
  EXPECT_EQ(read("log"), "r");
  describe("2");
  apply();
  EXPECT_EQ(read("log"), "rr");
  // A version in which nothing of it changed is no event.
  describe("2");
  apply();
  EXPECT_EQ(read("log"), "rr");
  ASSERT_TRUE(write_file(at("f"), "drifted"));
  apply();
  EXPECT_EQ(read("log"), "rrr");
}

TEST_F(ApplyVersionTest, AnEventThatWasDueWhenTheRunEndedIsStillDue) {
  const std::string file = add_file("f", "1");
  const std::string run = add_run(writes("r"), {{"reload_only", true}}, {file});
  push();
  Stopper stopper("path=", interrupt_);
  const ApplyReport stopped = apply(&stopper);
  EXPECT_TRUE(stopped.is_stopped);
  EXPECT_EQ(stopped.exit_code(), 130);
  EXPECT_EQ(row(stopped, run).state, DeployState::available);
  EXPECT_EQ(read("f") + read("log"), "1-");
  Interrupt next;
  place_.interrupt = &next;
  EXPECT_EQ(apply().exit_code(), 0);
  EXPECT_EQ(read("log"), "r");
}

TEST_F(ApplyVersionTest, AnEventOutlivesAFailedReload) {
  const auto describe = [&](const std::string& reload) {
    const std::string file = add_file("f", "1");
    add("exec::Run[a,command=x]",
        {{"command", writes("c")}, {"reload", reload}, {"returns", Value::list({0})}}, {file});
    push();
  };
  describe("false");
  EXPECT_EQ(apply().count(DeployState::failed), 1u);
  EXPECT_EQ(apply().count(DeployState::failed), 1u);
  describe(writes("R"));
  EXPECT_EQ(apply().count(DeployState::failed), 0u);
  EXPECT_EQ(read("log").back(), 'R');
}

TEST_F(ApplyVersionTest, EveryStateHasItsReason) {
  request_.agents["b"] = "ssh://far";
  const std::string bad = add_run("sh -c 'echo oh; exit 3'", {});
  const std::string after_bad = add_file("after_bad", "x", {}, {bad});
  const std::string skips = add_run("false", {{"skip_on_fail", true}});
  const std::string undefined = add_file("undefined", "x");
  resources_.back() = Value::dict({{"id", cat(undefined, ",v=0")},
                                   {"path", at("undefined")},
                                   {"content", Value::unknown()},
                                   {"requires", Value::list({})}});
  const std::string after_undefined = add_file("after_undefined", "x", {}, {undefined});
  const std::string far_after = add_file("far_after", "x", {}, {after_undefined});
  add("fs::File[b,path=/x]", {{"path", "/x"}});
  add("my::Thing[a,name=x]", {{"name", "x"}});
  const std::string reported = add_file("reported", "x", {{"report_only", true}});
  ASSERT_TRUE(write_file(at("as_wanted"), "x"));
  const std::string as_wanted = add_file("as_wanted", "x", {{"report_only", true}});
  const std::string good = add_file("good", "x");
  add_file("unmanaged", "x", {{"managed", false}});
  push();
  const ApplyReport report = apply();
  const auto state = [&](const std::string& id) {
    return std::string(to_string(row(report, id).state));
  };
  EXPECT_EQ(state(bad), "failed");
  EXPECT_NE(row(report, bad).why.find("exited with code 3; its last lines:\noh"),
            std::string::npos);
  EXPECT_EQ(state(after_bad), "skipped");
  EXPECT_EQ(state(skips), "skipped");
  EXPECT_EQ(state(undefined), "undefined");
  EXPECT_EQ(state(after_undefined), "skipped_for_undefined");
  EXPECT_EQ(state(far_after), "skipped_for_undefined");
  EXPECT_EQ(state("fs::File[b,path=/x]"), "unavailable");
  EXPECT_NE(row(report, "fs::File[b,path=/x]").why.find("ssh://far"), std::string::npos);
  EXPECT_EQ(state("my::Thing[a,name=x]"), "unavailable");
  EXPECT_EQ(row(report, "my::Thing[a,name=x]").why, "there is no handler for `my::Thing`");
  EXPECT_EQ(state(reported), "non_compliant");
  EXPECT_EQ(read("reported"), "-");
  EXPECT_EQ(state(as_wanted), "deployed");
  EXPECT_EQ(state(good), "deployed");
  EXPECT_EQ(read("unmanaged"), "-");
  EXPECT_EQ(report.exit_code(), 1);
}

TEST_F(ApplyVersionTest, WhatIsLeftOutIsNoSuccess) {
  add("my::Thing[a,name=x]", {{"name", "x"}});
  push();
  EXPECT_EQ(apply().exit_code(), 3) << "it is unavailable";
  add_run("false", {{"skip_on_fail", true}});
  push();
  EXPECT_EQ(apply().exit_code(), 3);
}

TEST_F(ApplyVersionTest, WhatLeftTheModelIsAnOrphanOrRemoved) {
  const std::string stays = add_file("stays", "x", {}, {}, "s");
  add_file("forgotten", "x", {}, {}, "s");
  add_file("goes", "x", {{"purge_on_delete", true}}, {}, "t");
  push();
  apply();
  add_file("stays", "x", {}, {}, "s");
  push();
  const ApplyReport report = apply();
  EXPECT_EQ(left(report),
            cat("orphaned ", file_id(at("forgotten")), "; removed ", file_id(at("goes")), "; "));
  EXPECT_EQ(read("forgotten") + read("goes") + read("stays"), "x-x");
  EXPECT_EQ(left(apply()), "") << "it is told once";
  // Purged takes away what is there, and stays quiet afterwards.
  add_file("stays", "x", {{"purged", true}});
  add_file("kept", "x");
  push();
  EXPECT_TRUE(row(apply(), stays).changed);
  EXPECT_EQ(read("stays"), "-");
  EXPECT_FALSE(row(apply(), stays).changed);
  add_file("other", "x");
  push();
  request_.prune = true;
  EXPECT_EQ(left(apply()), cat("removed ", file_id(at("forgotten")), "; removed ",
                               file_id(at("kept")), "; removed ", stays, "; "));
  EXPECT_EQ(read("kept"), "-");
  EXPECT_EQ(read("other"), "x");
}

TEST_F(ApplyVersionTest, WhatExistedBeforeIsToldAndNeverRemoved) {
  for (const char* name : {"same", "other", "ours"}) {
    if (std::string_view(name) != "ours") {
      ASSERT_TRUE(write_file(at(name), "x"));
    }
    add_file(name, std::string_view(name) == "other" ? "y" : "x", {{"mode", 644}});
  }
  push();
  const ApplyReport first = apply();
  EXPECT_EQ(row(first, file_id(at("other"))).why, "new; it exists already, with another `content`");
  EXPECT_EQ(row(first, file_id(at("ours"))).why, "new");
  EXPECT_EQ(read("other"), "y");
  add_file("last", "x");
  push();
  request_.prune = true;
  EXPECT_EQ(left(apply()), cat("forgotten ", file_id(at("other")), "; removed ",
                               file_id(at("ours")), "; forgotten ", file_id(at("same")), "; "));
  EXPECT_EQ(read("same") + read("other") + read("ours"), "xy-");
}

/// Two environments with one machine.
class SharedTest : public ApplyVersionTest {
 protected:
  /// Both want `f`, one of them in a folder; `e` made it. Then `e` wants only `last`.
  void share() {
    for (const char* environment : {"e", "g"}) {
      request_.environment = environment;
      const bool is_first = request_.environment == "e";
      if (is_first)
        add(folder_id(), {{"path", at("d")}});
      add_file("d/f", "x", {}, std::vector<std::string>(is_first ? 1 : 0, folder_id()));
      push(Value::dict({}), false, environment);
      EXPECT_EQ(apply().exit_code(), 0);
    }
    request_.environment = "e";
    add_file("last", "x");
    push();
  }
  std::string folder_id() const { return cat("fs::Directory[a,path=", at("d"), "]"); }
  Key key_of(const std::string& kind, const std::string& id) const {
    return {"e", Name(kind), Name(id)};
  }
  static std::string whys(const ApplyReport& report) {
    std::string text;
    for (const LeftResource& one : report.left)
      text += cat(to_string(one.fate), " ", one.key.kind, ": ", one.why, "; ");
    return text;
  }
};

TEST_F(SharedTest, PruneLeavesWhatAnotherEnvironmentWantsAndNamesIt) {
  share();
  request_.prune = true;
  const Result<Preview> preview = preview_version(place_, request_);
  ASSERT_TRUE(preview) << to_string(preview.error());
  ASSERT_EQ(preview->shared.size(), 2u);
  EXPECT_EQ(to_string(preview->shared.at(key_of("file", file_id(at("d/f")))), "e"),
            "environment `g` wants it");
  EXPECT_EQ(to_string(preview->shared.at(key_of("folder", folder_id())), "e"),
            "environment `g` wants something in it");
  for (const Step& step : preview->plan.steps)
    EXPECT_NE(step.verb, Verb::remove) << to_string(step.key);
  for (int i = 0; i < 2; ++i) {
    const ApplyReport report = apply();
    EXPECT_EQ(report.exit_code(), 0);
    EXPECT_EQ(whys(report),
              "orphaned file: environment `g` wants it; "
              "orphaned folder: environment `g` wants something in it; ");
    EXPECT_EQ(report.orphans, 2u);
    EXPECT_EQ(report.shared, 2u);
    EXPECT_EQ(read("d/f"), "x");
  }
}

TEST_F(SharedTest, WhatNobodyElseWantsAnyMoreGoesWithTheNextPrune) {
  share();
  request_.prune = true;
  EXPECT_EQ(apply().shared, 2u);
  request_.environment = "g";
  add_file("rest", "x");
  push(Value::dict({}), false, "g");
  EXPECT_EQ(left(apply()), cat("forgotten ", file_id(at("d/f")), "; ")) << "`e` made it";
  EXPECT_EQ(read("d/f"), "x");
  request_.environment = "e";
  EXPECT_EQ(left(apply()), cat("removed ", file_id(at("d/f")), "; removed ", folder_id(), "; "));
  EXPECT_EQ(read("d/f"), "-");
  EXPECT_FALSE(file_exists(at("d")));
}

TEST_F(SharedTest, WithoutPruneNobodyIsPromisedThatItWouldRemove) {
  share();
  const Result<Preview> preview = preview_version(place_, request_);
  ASSERT_TRUE(preview) << to_string(preview.error());
  EXPECT_EQ(preview->plan.leftovers.size(), 2u);
  EXPECT_EQ(preview->shared.size(), 2u);
  const ApplyReport report = apply();
  EXPECT_EQ(report.orphans, 2u);
  EXPECT_EQ(report.shared, 2u);
}

TEST_F(SharedTest, OneEnvironmentMayWantItUnderAnotherName) {
  request_.agents["b"] = "local:";
  add_file("f", "x");
  push();
  apply();
  const std::string renamed = cat("fs::File[b,path=", at("f"), "]");
  add(renamed, {{"path", at("f")}, {"content", "x"}});
  push();
  request_.prune = true;
  EXPECT_EQ(whys(apply()), cat("orphaned file: `file/", renamed, "` wants it; "));
  EXPECT_EQ(read("f"), "x");
}

TEST_F(SharedTest, WhatIsMeantForAnotherMachineIsAnotherThing) {
  add_file("f", "x");
  push();
  apply();
  add(cat("fs::File[far,path=", at("f"), "]"), {{"path", at("f")}, {"content", "x"}});
  push();
  request_.prune = true;
  EXPECT_EQ(left(apply()), cat("removed ", file_id(at("f")), "; "));
  EXPECT_EQ(read("f"), "-");
}

TEST_F(SharedTest, OrphansAreRemovedExceptThoseThatAnotherWants) {
  share();
  apply();
  const auto environment = find_environment(place_, "e");
  const auto all = find_orphans(place_, *environment, {});
  ASSERT_TRUE(all) << to_string(all.error());
  EXPECT_TRUE(all->going.empty());
  EXPECT_EQ(all->shared.size(), 2u);
  const std::string file = cat("file/", file_id(at("d/f")));
  const auto named = find_orphans(place_, *environment, {file});
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().message, cat("`", file, "` stays: environment `g` wants it"));
}

TEST_F(SharedTest, AnEnvironmentThatGoesLeavesWhatAnotherWants) {
  share();
  const Result<RemovalResult> removed = remove_environment(place_, "e", {true, true});
  ASSERT_TRUE(removed) << to_string(removed.error());
  EXPECT_TRUE(removed->summary.good());
  EXPECT_EQ(read("d/f") + read("last"), "x-");
  EXPECT_EQ(removed->shared.size(), 2u);
  EXPECT_EQ(removed->staying.size(), 2u);
}

TEST_F(ApplyVersionTest, WhatWasRemovedFromOutsideIsOursOnceItIsMadeAgain) {
  ASSERT_TRUE(write_file(at("f"), "theirs"));
  add_file("f", "x");
  push();
  apply();
  ASSERT_EQ(::unlink(at("f").c_str()), 0);
  apply();
  ASSERT_EQ(read("f"), "x");
  add_file("last", "x");
  push();
  request_.prune = true;
  apply();
  EXPECT_EQ(read("f"), "-");
}

TEST_F(ApplyVersionTest, AMoveBetweenSetsChangesTheRecordAndNotTheWorld) {
  add_file("f", "x", {}, {}, "s");
  push();
  apply();
  add_file("f", "x", {}, {}, "t");
  push();
  const ApplyReport moved = apply();
  EXPECT_EQ(states(moved), "deployed ");
  EXPECT_EQ(left(moved), "");
  add_file("g", "x");
  push();
  EXPECT_EQ(left(apply()), cat("orphaned ", file_id(at("f")), "; "));
}

TEST_F(ApplyVersionTest, AgentsOfTheModelSayWhereTheyAre) {
  request_.agents.clear();
  add_file("f", "x");
  push();
  EXPECT_EQ(states(apply()), "unavailable ");
  add_file("f", "x");
  add("std::AgentConfig[internal,agentname=a]", {{"agentname", "a"}, {"uri", "local:"}});
  push();
  EXPECT_EQ(states(apply()), "deployed! deployed! ");
}

TEST_F(ApplyVersionTest, WhatAHandlerSaysHoldsNoSecret) {
  const Value handler = Value::dict({{"name", "box"}, {"source", R"(
def read(resource):
    fail("cannot log in as " + resource["user"] + " with " + resource["db_password"])
def create(resource): pass
def update(resource, changes): pass
def delete(resource): pass
)"}});
  const std::string id = "my::Box[a,name=x]";
  add(id, {{"user", "bob"}, {"db_password", "hunter2"}});
  add_run("sh -c 'echo $TOKEN is wrong; exit 1'",
          {{"environment", Value::dict({{"TOKEN", "hunter3"}})}});
  push(Value::dict({{"my::Box", handler}}));
  const ApplyReport report = apply();
  std::string said = row(report, id).why;
  EXPECT_NE(said.find("cannot log in as bob with ********"), std::string::npos) << said;
  for (const DeployedResource& resource : report.resources)
    said += resource.why;
  const std::vector<Event> events = *home_.store().events("e", 0, 1'000);
  for (const Event& event : events)
    said += event.text;
  EXPECT_NE(said.find("******** is wrong"), std::string::npos) << said;
  EXPECT_EQ(said.find("hunter"), std::string::npos) << said;
}

TEST_F(ApplyVersionTest, AHandlerOfUsersIsKeptWithTheVersion) {
  const Value handler = Value::dict({{"name", "box"}, {"source", R"(
def read(resource):
    return {"value": files.read(resource["path"])} if files.exists(resource["path"]) else None
def create(resource): files.write(resource["path"], resource["value"])
def update(resource, changes): files.write(resource["path"], resource["value"])
def delete(resource): files.remove(resource["path"])
def reload(resource): files.write(resource["path"] + ".reloaded", resource["value"])
)"}});
  const Value handlers = Value::dict({{"my::Box", handler}});
  const std::string id = "my::Box[a,name=x]";
  const auto describe = [&](const std::string& value, std::vector<Entry> more = {}) {
    const std::string file = add_file("f", value);
    more.push_back({"path", at("box")});
    more.push_back({"value", value});
    add(id, std::move(more), {file});
    push(handlers);
  };
  describe("1");
  EXPECT_TRUE(row(apply(), id).changed);
  EXPECT_EQ(read("box") + read("box.reloaded"), "11");
  EXPECT_FALSE(row(apply(), id).changed);
  ASSERT_TRUE(write_file(at("box"), "drifted"));
  EXPECT_TRUE(row(apply(), id).changed);
  EXPECT_EQ(read("box"), "1");
  ASSERT_TRUE(write_file(at("box"), "drifted"));
  describe("1", {{"report_only", true}});
  EXPECT_EQ(row(apply(), id).state, DeployState::non_compliant);
  EXPECT_EQ(read("box"), "drifted");
  describe("1", {{"purge_on_delete", true}});
  EXPECT_EQ(row(apply(), id).state, DeployState::deployed);
  // The code of then removes it, though the version that is made true knows it no more.
  add_file("f", "1");
  push();
  EXPECT_EQ(left(apply()), cat("removed ", id, "; "));
  EXPECT_EQ(read("box"), "-");
}

TEST_F(ApplyVersionTest, WhatAHandlerLeavesForLaterStaysWithItsEnvironment) {
  const Value handler = Value::dict({{"name", "box"}, {"source", R"(
def read(resource): return {"value": files.read(resource["path"])} if files.exists(resource["path"]) else None
def create(resource): files.write(resource["path"], resource["value"])
def update(resource, changes): files.write(resource["path"], resource["value"])
def delete(resource):
    if files.exists(resource["path"] + ".busy"):
        skip("somebody uses it")
    files.remove(resource["path"])
)"}});
  const std::string id = "my::Box[a,name=x]";
  add(id, {{"path", at("box")}, {"value", "1"}, {"purge_on_delete", true}});
  push(Value::dict({{"my::Box", handler}}));
  const ApplyReport made = apply();
  EXPECT_EQ(states(made), "deployed! ") << row(made, id).why;
  ASSERT_TRUE(write_file(at("box.busy"), ""));
  // No engine is needed: nothing of it is on one.
  const Result<RemovalResult> left = remove_environment(place_, "e", {});
  ASSERT_TRUE(left) << to_string(left.error());
  ASSERT_EQ(left->summary.skips.size(), 1u);
  EXPECT_EQ(left->summary.skips[0].why, "somebody uses it");
  EXPECT_EQ(exit_code(left->summary), 3);
  EXPECT_EQ(read("box"), "1");
  EXPECT_EQ(home_.store().known("e")->size(), 1u);
  ASSERT_TRUE(remove_tree(at("box.busy")));
  EXPECT_TRUE(remove_environment(place_, "e", {})->summary.good());
  EXPECT_EQ(read("box"), "-");
  EXPECT_FALSE(*home_.store().environment("e"));
}

TEST_F(ApplyVersionTest, WhyOfAHandlerTellsTheLastChange) {
  const Value handler = Value::dict({{"name", "box"}, {"source", R"(
def read(resource): return {"value": files.read(resource["path"])} if files.exists(resource["path"]) else None
def create(resource): files.write(resource["path"], resource["value"])
def update(resource, changes): files.write(resource["path"], resource["value"])
def delete(resource): files.remove(resource["path"])
)"}});
  add("my::Box[a,name=x]", {{"path", at("box")}, {"value", "1"}});
  push(Value::dict({{"my::Box", handler}}));
  const Key key{"e", "handled", "my::Box[a,name=x]"};
  const auto told = [&] { return to_string(why(place_, "e", key)->front()); };
  apply();
  const std::string first = told();
  const size_t events = home_.store().events_of(key, 100)->size();
  apply();
  EXPECT_EQ(home_.store().events_of(key, 100)->size(), events);
  EXPECT_EQ(told(), first);
  ASSERT_TRUE(write_file(at("box"), "2"));
  apply();
  EXPECT_EQ(home_.store().events_of(key, 100)->size(), events + 2);
}

TEST_F(ApplyVersionTest, DriftOfWhatAHandlerLooksAfterIsFoundByItsLook) {
  const Value handler = Value::dict({{"name", "box"}, {"source", R"(
def read(resource): return {"value": files.read(resource["path"])} if files.exists(resource["path"]) else None
def create(resource): files.write(resource["path"], resource["value"])
def update(resource, changes): files.write(resource["path"], resource["value"])
def delete(resource): files.remove(resource["path"])
)"}});
  add("my::Box[a,name=x]", {{"path", at("box")}, {"value", "1"}});
  add("my::Box[a,name=y]", {{"path", at("other")}, {"value", "1"}});
  push(Value::dict({{"my::Box", handler}}));
  apply();
  EXPECT_TRUE(drift(place_, "e")->empty());
  const size_t events = home_.store().events("e", 0, 100)->size();
  ASSERT_TRUE(write_file(at("box"), "2"));
  ASSERT_TRUE(remove_tree(at("other")));
  const std::vector<Drift> found = *drift(place_, "e");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(to_string(found[0].key), "handled/my::Box[a,name=x]");
  EXPECT_EQ(found[0].why, "`value` changed outside fettle");
  EXPECT_EQ(found[1].why, "it is not as described");
  // Who looks changes nothing.
  EXPECT_EQ(read("box") + read("other"), "2-");
  EXPECT_EQ(home_.store().events("e", 0, 100)->size(), events);
}

TEST_F(ApplyVersionTest, DriftOfACommandIsWhatItsConditionsSay) {
  add_run(cat("sh -c 'touch ", at("made"), "'"), {{"creates", at("made")}});
  push();
  apply();
  EXPECT_TRUE(drift(place_, "e")->empty());
  ASSERT_TRUE(remove_tree(at("made")));
  const std::vector<Drift> found = *drift(place_, "e");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].why, cat("`", at("made"), "` does not exist"));
}

TEST_F(ApplyVersionTest, TheCodeOfHandlersIsKeptAsLongAsAVersionHasIt) {
  const Value handler = Value::dict({{"name", "box"}, {"source", "def read(resource): return {}"}});
  add("my::Box[a,name=x]", {});
  const Value detail = Value::dict({{"handlers", Value::dict({{"my::Box", handler}})}});
  const Value stored = *with_handlers_stored(place_, detail);
  const std::string code(stored.at("handlers").at("my::Box").text_at("code"));
  push(stored.at("handlers"));
  home_.open();
  place_.store = &home_.store();
  EXPECT_EQ(*home_.blobs().clear(), 0u);
  EXPECT_EQ(*read_blob(home_.blobs(), code, 1000), "def read(resource): return {}");
  ASSERT_TRUE(home_.edit("e")->remove_environment());
  EXPECT_EQ(*home_.blobs().clear(), 1u);
}

TEST_F(ApplyVersionTest, AWrongFieldChangesNothing) {
  add_file("f", "x");
  add("fs::File[a,path=relative]", {{"path", "relative"}});
  push();
  const auto refused = apply_version(place_, request_, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().blame, Blame::user);
  EXPECT_EQ(read("f"), "-");
}

TEST_F(ApplyVersionTest, AVersionThatOthersRemoveMeanwhileIsNotDeployed) {
  add_file("f", "x");
  push();
  request_.version = *release_version(place_, "e", std::nullopt);
  ASSERT_TRUE(home_.edit("e")->remove_environment());
  const auto refused = apply_version(place_, request_, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().blame, Blame::world);
  EXPECT_EQ(refused.error().message,
            "version 1 of `e` has been removed since; nothing was deployed");
  EXPECT_EQ(read("f"), "-");
}

TEST_F(ApplyVersionTest, AVersionIsReleasedOnceItsPlanHolds) {
  ASSERT_TRUE(set_setting(place_, "e", "auto_deploy", "false"));
  add_file("f", "x");
  push();
  request_.version = 1;
  request_.releases = true;
  request_.plan.emplace().digest = "another";
  const auto refused = apply_version(place_, request_, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().blame, Blame::user);
  EXPECT_FALSE((*place_.store->versions().head("e", 1))->released);
  request_.plan.reset();
  EXPECT_EQ(apply().version, 1u);
  EXPECT_TRUE((*place_.store->versions().head("e", 1))->released);
  request_.version = 9;
  EXPECT_EQ(apply_version(place_, request_, nullptr).error().message, "`e` has no version 9");
}

TEST_F(ApplyVersionTest, ReleasingNeedsAVersion) {
  EXPECT_EQ(release_version(place_, "e", std::nullopt).error().message,
            "nothing was exported to `e` yet");
  add_file("f", "x");
  push();
  EXPECT_EQ(release_version(place_, "e", 9).error().message, "`e` has no version 9");
  EXPECT_EQ(*release_version(place_, "e", std::nullopt), 1u);
  EXPECT_EQ(*release_version(place_, "e", 1), 1u);
}

}  // namespace
}  // namespace fettle
