/// What a plan of a version says of what handlers look after: real handlers below a temporary
/// folder.

#include "verbs/models/plan_version.h"

#include <map>

#include "tests/fixtures/version_fixture.h"

namespace fettle {
namespace {

/// A handler of boxes, which notes each event that it is told of in `PATH.events`. A file
/// `PATH.ill` makes its read fail, `PATH.half` its update once it is done, `PATH.busy` leaves a
/// removal for later.
const Value box_handler = Value::dict({{"name", "box"}, {"source", R"(
def read(resource):
    if files.exists(resource["path"] + ".ill"):
        fail("cannot read")
    return {"value": files.read(resource["path"])} if files.exists(resource["path"]) else None
def create(resource): files.write(resource["path"], resource["value"])
def update(resource, changes):
    files.write(resource["path"], resource["value"])
    if files.exists(resource["path"] + ".half"):
        fail("it broke")
def delete(resource):
    if files.exists(resource["path"] + ".busy"):
        skip("somebody uses it")
    files.remove(resource["path"])
def reload(resource):
    was = files.read(resource["path"] + ".events") if files.exists(resource["path"] + ".events") else ""
    files.write(resource["path"] + ".events", was + "e")
)"}});

class PlanOfHandledTest : public VersionFixture {
 protected:
  std::string add_box(const std::string& name, const std::string& value,
                      std::vector<std::string> needs = {}, std::vector<Entry> more = {}) {
    const std::string id = cat("my::Box[a,path=", at(name), "]");
    more.push_back({"path", at(name)});
    more.push_back({"value", value});
    more.push_back({"send_event", true});
    more.push_back({"receive_events", true});
    add(id, std::move(more), std::move(needs));
    return id;
  }
  void push_boxes() { push(Value::dict({{"my::Box", box_handler}})); }

  /// What would be done, by the last part of each path: `ensure a, maybe ensure b`.
  std::string due() {
    const Result<Preview> preview = preview_version(place_, request_);
    EXPECT_TRUE(preview) << to_string(preview.error());
    std::string text;
    whys_.clear();
    for (const Step& step : preview->plan.steps) {
      const std::string key = to_string(step.key);
      const std::string name = key.substr(key.rfind('/') + 1);
      whys_[name.substr(0, name.find(']'))] = step.why.str();
      if (step.verb != Verb::keep)
        text += cat(text.empty() ? "" : ", ", step.maybe ? "maybe " : "", to_string(step.verb), " ",
                    name.substr(0, name.find(']')));
    }
    return text;
  }

  std::map<std::string, std::string> whys_;
};

TEST_F(PlanOfHandledTest, WhatIsAsDescribedMakesNothingDueThatNeedsIt) {
  const auto describe = [&] {
    const std::string box = add_box("b", "1");
    add_file("f", "x", {{"receive_events", true}}, {box});
    add_run(writes("r"), {{"receive_events", true}}, {box});
    push_boxes();
  };
  describe();
  apply();
  EXPECT_EQ(due(), "");
  EXPECT_EQ(whys_["b"], "it is as described");
}

TEST_F(PlanOfHandledTest, APlanShowsWhatAnEventWillDo) {
  const auto describe = [&](const std::string& value) {
    const std::string a = add_box("a", value);
    const std::string b = add_box("b", "1", {a});
    add_box("c", "1", {b});
    push_boxes();
  };
  describe("1");
  apply();
  describe("2");
  EXPECT_EQ(due(), "ensure a, maybe ensure b, maybe ensure c");
  ASSERT_TRUE(write_file(at("a.half"), ""));
  EXPECT_EQ(states(apply()), "failed skipped skipped ");
  ASSERT_TRUE(remove_tree(at("a.half")));
  // The value is there now, and that it changed is still to be told.
  EXPECT_EQ(due(), "ensure a, maybe ensure b, maybe ensure c");
  EXPECT_NE(whys_["a"].find("it failed before: "), std::string::npos) << whys_["a"];
  const ApplyReport report = apply();
  EXPECT_EQ(states(report), "deployed! deployed! deployed! ");
  EXPECT_EQ(read("b.events"), "ee");  // when it was made, too
  const DeployedResource& told = report.resources[1];
  EXPECT_NE(told.why.find("a]` changed"), std::string::npos) << told.why;
  EXPECT_EQ(due(), "");
}

TEST_F(PlanOfHandledTest, AFailedReadChangesNothing) {
  const auto describe = [&] {
    const std::string a = add_box("a", "1");
    add_run(writes("r"), {{"receive_events", true}, {"reload_only", true}}, {a});
    push_boxes();
  };
  describe();
  apply();
  const std::string log = read("log");
  ASSERT_TRUE(write_file(at("a.ill"), ""));
  EXPECT_EQ(due(), "ensure a, maybe update exec::Run[a,command=1");
  EXPECT_NE(whys_["a"].find("unknown: "), std::string::npos) << whys_["a"];
  EXPECT_EQ(states(apply()), "skipped failed ");
  ASSERT_TRUE(remove_tree(at("a.ill")));
  EXPECT_EQ(due(), "");
  EXPECT_EQ(states(apply()), "deployed deployed ");
  EXPECT_EQ(read("log"), log);
}

TEST_F(PlanOfHandledTest, ARemovalThatIsLeftForLaterIsToldEachTime) {
  const std::string id = add_box("a", "1", {}, {{"purge_on_delete", true}});
  push_boxes();
  apply();
  ASSERT_TRUE(write_file(at("a.busy"), ""));
  push();
  for (int time = 0; time < 2; ++time) {
    const ApplyReport report = apply();
    EXPECT_EQ(left(report), cat("skipped ", id, "; "));
    EXPECT_EQ(report.left.at(0).error, "somebody uses it");
    EXPECT_EQ(report.exit_code(), 3);
  }
  ASSERT_TRUE(remove_tree(at("a.busy")));
  EXPECT_EQ(left(apply()), cat("removed ", id, "; "));
}

}  // namespace
}  // namespace fettle
