#include "plan/make_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "core/open_payload.h"
#include "value/json.h"

namespace fettle {
namespace {

/// Three plain kinds: a `host` that can be looked at, an `act` in its history, a `look` that reads.
class TestKind : public Kind {
 public:
  TestKind(Name name, Sort sort, Role role, std::optional<Presence> leaves = {})
      : name_(std::move(name)), sort_(sort), role_(role), leaves_(leaves) {}
  Name name() const override { return name_; }
  Sort sort() const override { return sort_; }
  Role role(const Attributes&) const override { return role_; }
  std::optional<Presence> leaves_host() const override { return leaves_; }
  bool in_place_changes(const Attributes&, const Attributes&) const override {
    return name_ == "file";
  }
  bool leaves_remains() const override { return name_ == "job"; }
  std::vector<std::string> holds(const Attributes& attributes) const override {
    const Value& port = dict_of(attributes).at("port");
    return port.is_null() ? std::vector<std::string>() : std::vector{to_text(port)};
  }
  std::string shown(const Name& name) const override {
    return name.str().substr(name.view().starts_with('|') ? 1 : 0);
  }

 private:
  Name name_;
  Sort sort_;
  Role role_;
  std::optional<Presence> leaves_;
};

class TestKinds : public Kinds {
 public:
  const Kind* find(const Name& name) const override {
    static const std::vector<TestKind> kinds{{"host", Sort::observable, Role::none},
                                             {"file", Sort::observable, Role::none},
                                             {"act", Sort::action, Role::acts},
                                             {"look", Sort::action, Role::reads},
                                             {"job", Sort::action, Role::none},
                                             {"value", Sort::action, Role::none},
                                             {"ensure", Sort::ensuring, Role::none},
                                             {"wake", Sort::action, Role::acts, Presence::running},
                                             {"drop", Sort::action, Role::acts, Presence::absent}};
    for (const TestKind& kind : kinds)
      if (kind.name() == name)
        return &kind;
    return nullptr;
  }
};

/// A small world to plan in: what is wanted is written as text, and `done` makes it known.
class PlanTest : public testing::Test {
 protected:
  static Key key(std::string_view text) {
    const size_t slash = text.find('/');
    return {"e", text.substr(0, slash), text.substr(slash + 1)};
  }

  Resource& want(std::string_view name, Value attributes = Value::dict({})) {
    Resource resource;
    resource.key = key(name);
    resource.attributes = std::move(attributes);
    resource.driver = "test";
    std::vector<Resource>& set = intent_.resources["p"];
    set.reserve(50);
    set.push_back(std::move(resource));
    return set.back();
  }
  Resource& inside(std::string_view host, Resource& resource) {
    resource.needs.push_back({{key(host)}, false, When::succeeded, Unmet::fail, Bond::inside});
    return resource;
  }
  static Value hole(std::string_view of, std::string_view path) {
    const Key k = key(of);
    return Value::deferred({Part(Output{k.kind, k.name, path})});
  }

  void begin(Leftover leftover = Leftover::keep) {
    intent_ = {};
    intent_.environment = "e";
    intent_.sets["p"] = leftover;
    intent_.resources["p"];
  }

  /// One line for each step that is not kept: `run act/a: why`; then the number of kept ones.
  std::string plan(PlanOptions options = {}) {
    const Result<Plan> made = make_plan(intent_, known_, seen_, kinds_, options);
    if (!made)
      return to_string(made.error());
    std::string text;
    size_t kept = 0;
    for (const Step& step : made->steps) {
      EXPECT_FALSE(step.why.empty());
      if (step.verb == Verb::keep)
        ++kept;
      else
        text += cat(step.maybe ? "maybe " : "", to_string(step.verb), " ", to_string(step.key),
                    ": ", step.why, "\n");
    }
    return text + cat(kept, " kept");
  }

  /// The kept acts whose host lives another life, and why.
  std::string outlived() {
    const Result<Plan> made = make_plan(intent_, known_, seen_, kinds_, {});
    std::string text;
    for (const Step& step : made->steps)
      if (step.is_outlived)
        text += cat(to_string(step.key), ": ", step.why, "\n");
    return text;
  }

  /// Everything that was done was done in this life of its hosts.
  void live_in(uint64_t life) {
    for (auto& [key, known] : known_) {
      auto record = std::make_shared<Record>(*known);
      for (Version& version : record->acted_on)
        version.life = life;
      known = record;
    }
  }

  /// Everything wanted is done, in the plan's order.
  void carry_out(const std::function<Value(const Key&)>& outputs = [](const Key&) {
    return Value::dict({});
  }) {
    const Graph graph = *Graph::build(intent_, known_, seen_, kinds_);
    std::vector<Standing> standings(graph.size(), Standing::open);
    Graph live = *Graph::build(intent_, known_, seen_, kinds_);
    const PlanOptions options;
    const Decider decider(live, standings, options);
    for (const NodeId id : live.order()) {
      const Node& node = live.node(id);
      const Step step = decider.decide(id);
      standings[id] = step.verb == Verb::keep ? Standing::kept : Standing::changed;
      if (!acts(step.verb) || node.wanted == nullptr)
        continue;
      auto record = std::make_shared<Record>(node.known ? *node.known : Record{});
      record->applied = *node.wanted;
      record->outputs = outputs(*node.key);
      record->incarnation += 1;
      record->changes += 1;
      record->sequence = ++sequence_;
      record->acted_on = decider.versions(id);
      record->wanted_by["p"] = node.wanted->attributes.digest();
      record->attempt.reset();
      live.set_known(id, record);
      known_[*node.key] = record;
    }
  }

  Intent intent_;
  Known known_;
  Seen seen_;
  TestKinds kinds_;
  uint64_t sequence_ = 0;
};

TEST_F(PlanTest, WhatWasNeverDoneIsDueAndAfterwardsNothingIs) {
  begin();
  want("host/a");
  inside("host/a", want("act/1"));
  EXPECT_EQ(plan(), "create host/a: new\nrun act/1: new\n0 kept");
  carry_out();
  EXPECT_EQ(plan(), "2 kept");
}

TEST_F(PlanTest, AChangedHostIsReplacedAndItsHistoryRunsAgain) {
  begin();
  want("host/a", Value::dict({{"image", "1"}}));
  inside("host/a", want("act/1"));
  want("host/b");
  inside("host/b", want("act/2"));
  carry_out();
  intent_.resources["p"][0].attributes = Value::dict({{"image", "2"}});
  EXPECT_EQ(plan(), "replace host/a: `image` changed\nrun act/1: `host/a` is recreated\n2 kept");
}

TEST_F(PlanTest, AnActThatIsAppendedRunsInTheSameHost) {
  begin();
  want("host/a");
  inside("host/a", want("act/1"));
  carry_out();
  inside("host/a", want("act/2"));
  EXPECT_EQ(plan(), "run act/2: new\n2 kept");
}

TEST_F(PlanTest, AHistoryThatChangedMakesTheHostAnew) {
  const auto start = [&](std::vector<std::string> acts) {
    begin();
    want("host/a");
    for (const std::string& act : acts)
      inside("host/a", want(act));
  };
  start({"act/1", "act/2"});
  carry_out();
  start({"act/0", "act/1", "act/2"});
  EXPECT_EQ(plan(),
            "replace host/a: `act/1` is now preceded by something else\nrun act/0: new\n"
            "run act/1: `host/a` is recreated\nrun act/2: `host/a` is recreated\n0 kept");
  start({"act/1"});
  EXPECT_EQ(plan(),
            "replace host/a: `act/2`, which was done in it, is no longer wanted\n"
            "run act/1: `host/a` is recreated\nforget act/2: it goes with `host/a`\n0 kept");
  start({"act/1", "act/2"});
  intent_.resources["p"][2].attributes = Value::dict({{"x", 1}});
  EXPECT_EQ(plan(),
            "replace host/a: `act/2`, which was done in it, changed\n"
            "run act/1: `host/a` is recreated\nrun act/2: `host/a` is recreated\n0 kept");
  EXPECT_EQ(plan({.edit_in_place = true}), "run act/2: `x` changed\n2 kept");
}

TEST_F(PlanTest, WhatRanInAnEarlierLifeOfItsHostIsRepeatedOnRequestOnly) {
  begin();
  want("host/a");
  inside("host/a", want("act/1"));
  inside("host/a", want("look/2"));
  carry_out();
  const auto see = [&](uint64_t life) {
    seen_[key("host/a")] = Observation{Value::dict({})};
    seen_[key("host/a")].life = life;
  };
  see(8);
  EXPECT_EQ(plan({.replay = true}), "3 kept") << "nobody was told in which life it ran";
  live_in(7);
  see(7);
  EXPECT_EQ(plan({.replay = true}), "3 kept");
  see(0);
  EXPECT_EQ(plan({.replay = true}), "3 kept") << "nobody can tell which life this is";
  see(8);
  EXPECT_EQ(plan(), "3 kept");
  EXPECT_EQ(outlived(), "act/1: `host/a` was started again after it ran; not repeated\n");
  EXPECT_EQ(plan({.replay = true}), "run act/1: `host/a` was started again after it ran\n2 kept");
  // Later acts are as they were; a new one runs where the host lives now.
  inside("host/a", want("act/3"));
  EXPECT_EQ(plan(), "run act/3: new\n3 kept");
}

TEST_F(PlanTest, AnotherLifeThatIsPartOfTheHistoryEndsWhatRanBeforeIt) {
  begin();
  want("host/a");
  inside("host/a", want("act/1"));
  inside("host/a", want("wake/a"));
  inside("host/a", want("act/2"));
  carry_out();
  live_in(7);
  seen_[key("host/a")] = Observation{Value::dict({})};
  seen_[key("host/a")].life = 8;
  EXPECT_EQ(outlived(), "act/2: `host/a` was started again after it ran; not repeated\n");
  EXPECT_EQ(plan({.replay = true}), "run act/2: `host/a` was started again after it ran\n3 kept");
}

TEST_F(PlanTest, WhatOnlyReadsRunsAgainWhenTheHistoryBeforeItGrew) {
  begin();
  want("host/a");
  inside("host/a", want("look/before"));
  inside("host/a", want("act/1"));
  inside("host/a", want("look/after"));
  carry_out();
  EXPECT_EQ(plan(), "4 kept");
  begin();
  want("host/a");
  inside("host/a", want("look/before"));
  inside("host/a", want("act/1"));
  inside("host/a", want("look/new"));
  inside("host/a", want("act/2"));
  inside("host/a", want("look/after"));
  EXPECT_EQ(plan(),
            "run look/new: new\nrun act/2: new\n"
            "run look/after: what is done in `host/a` before it changed\n3 kept");
}

TEST_F(PlanTest, AValueThatMayChangeMakesItsUsersMaybeDue) {
  begin();
  want("value/a", Value::dict({{"x", 1}}));
  want("host/b", Value::dict({{"env", hole("value/a", "out")}}));
  want("host/c");
  carry_out([](const Key&) { return Value::dict({{"out", "1"}}); });
  intent_.resources["p"][0].attributes = Value::dict({{"x", 2}});
  EXPECT_EQ(plan(),
            "run value/a: `x` changed\n"
            "maybe replace host/b: `value/a` is due, and its output may change\n1 kept");
}

TEST_F(PlanTest, AnOutputThatChangedIsStillDueInTheNextRun) {
  begin();
  want("value/a");
  want("host/b", Value::dict({{"env", hole("value/a", "out")}}));
  carry_out([](const Key&) { return Value::dict({{"out", "1"}}); });
  auto changed = std::make_shared<Record>(*known_[key("value/a")]);
  changed->outputs = Value::dict({{"out", "2"}, {"other", 1}});
  known_[key("value/a")] = changed;
  EXPECT_EQ(plan(), "replace host/b: an output of `value/a` changed\n1 kept");
  changed = std::make_shared<Record>(*changed);
  changed->outputs = Value::dict({{"out", "1"}, {"other", 2}});
  known_[key("value/a")] = changed;
  EXPECT_EQ(plan(), "2 kept");  // only the output in use counts
}

TEST_F(PlanTest, AValueInsideAHistoryThatChangedMakesTheHostAnew) {
  begin();
  want("value/a");
  want("host/b");
  inside("host/b", want("act/1", Value::dict({{"command", hole("value/a", "out")}})));
  carry_out([](const Key&) { return Value::dict({{"out", "1"}}); });
  auto changed = std::make_shared<Record>(*known_[key("value/a")]);
  changed->outputs = Value::dict({{"out", "2"}});
  known_[key("value/a")] = changed;
  EXPECT_EQ(plan(),
            "replace host/b: a value in `act/1`, which was done in it, changed\n"
            "run act/1: `host/b` is recreated\n1 kept");
}

TEST_F(PlanTest, WhatUsesAHostAsItWasComesBeforeItAndIsNoHistoryOfIt) {
  begin();
  want("host/a");
  carry_out();
  begin();
  want("act/before")
      .needs.push_back({{key("host/a")}, false, When::succeeded, Unmet::fail, Bond::past});
  want("host/a", Value::dict({{"size", 2}}))
      .needs.push_back({{key("act/before")}, false, When::succeeded, Unmet::fail, Bond::order});
  EXPECT_EQ(plan(), "run act/before: new\nreplace host/a: `size` changed\n0 kept");
  carry_out();
  EXPECT_EQ(plan(), "2 kept");
  intent_.resources["p"][1].attributes = Value::dict({{"size", 3}});
  EXPECT_EQ(plan(), "replace host/a: `size` changed\n1 kept");
  begin(Leftover::remove);
  EXPECT_EQ(plan(),
            "remove host/a: no longer wanted\n"
            "forget act/before: no longer wanted\n0 kept");
}

TEST_F(PlanTest, WhatWasFoundByItsMarksIsMadeAnewOnlyWithAHistory) {
  auto found = std::make_shared<Record>();
  found->applied = Resource();
  found->applied.edit().key = key("host/a");
  found->applied.edit().attributes = Value::dict({});
  found->is_adopted = true;
  found->wanted_by["nobody"] = {};
  known_[key("host/a")] = found;
  begin();
  want("host/a", Value::dict({{"size", 2}}));
  EXPECT_EQ(plan(), "update host/a: found by its labels; it may already be as described\n0 kept");
  inside("host/a", want("act/1"));
  EXPECT_EQ(plan(),
            "replace host/a: `size` changed\n"
            "run act/1: new\n0 kept");
}

TEST_F(PlanTest, DriftIsRepaired) {
  begin();
  want("host/a");
  inside("host/a", want("act/1"));
  carry_out();
  seen_[key("host/a")] = Observation{};
  EXPECT_EQ(plan(), "create host/a: drift: it is gone\nrun act/1: `host/a` is recreated\n0 kept");
  seen_[key("host/a")] = Observation{Value::dict({})};
  EXPECT_EQ(plan(), "2 kept");
}

TEST_F(PlanTest, AHistoryThatEndsInARemovalIsUpToDateWhileTheHostIsAbsent) {
  begin();
  want("host/a");
  inside("host/a", want("act/1"));
  inside("host/a", want("drop/a"));
  carry_out();
  seen_[key("host/a")] = Observation{};
  EXPECT_EQ(plan(), "3 kept");
  intent_.resources["p"][1].attributes = Value::dict({{"x", 1}});
  EXPECT_EQ(plan(),
            "create host/a: `act/1`, which was done in it, changed\n"
            "run act/1: `host/a` is recreated\nrun drop/a: `host/a` is recreated\n0 kept");
}

TEST_F(PlanTest, AnActThatFailedIsNoHistoryAndAnInterruptedOneIs) {
  begin();
  want("host/a");
  inside("host/a", want("act/1"));
  carry_out();
  inside("host/a", want("act/2"));
  auto record = std::make_shared<Record>();
  record->attempt = Attempt{intent_.resources["p"][2], Verb::run, Time(), true, "exit code 1", 1};
  record->wanted_by["p"] = {};
  known_[key("act/2")] = record;
  EXPECT_EQ(plan(), "run act/2: it failed before: exit code 1\n2 kept");
  record = std::make_shared<Record>(*record);
  record->attempt.edit().failed = false;
  known_[key("act/2")] = record;
  EXPECT_EQ(
      plan(),
      "replace host/a: unknown whether `act/2` finished in it\nrun act/1: `host/a` is recreated\n"
      "run act/2: interrupted on 1970-01-01T00:00:00.000Z\n0 kept");
  PlanOptions beside;
  beside.at_work = "another run";
  EXPECT_EQ(plan(beside), "blocked act/2: another run is working on it\n2 kept");
}

TEST_F(PlanTest, AChangeInPlaceThatWasInterruptedGoesOnInPlace) {
  begin();
  want("file/a", Value::dict({{"x", 1}}));
  want("host/b", Value::dict({{"x", 1}}));
  carry_out();
  for (Resource& resource : intent_.resources["p"]) {
    resource.attributes = Value::dict({{"x", 2}});
    auto record = std::make_shared<Record>(*known_[resource.key]);
    record->attempt = Attempt{resource, Verb::update, Time(), false, "", 0};
    known_[resource.key] = record;
  }
  EXPECT_EQ(plan(),
            "update file/a: interrupted on 1970-01-01T00:00:00.000Z\n"
            "replace host/b: interrupted on 1970-01-01T00:00:00.000Z\n0 kept");
}

TEST_F(PlanTest, WhatAnInterruptedStopMayStillEndIsStartedAgain) {
  begin();
  want("host/a");
  carry_out();
  auto record = std::make_shared<Record>(*known_[key("host/a")]);
  record->attempt = Attempt{intent_.resources["p"][0], Verb::stop, Time(), false, "", 0};
  known_[key("host/a")] = record;
  seen_[key("host/a")] = Observation{Value::dict({})};
  EXPECT_EQ(plan(), "start host/a: its stop was interrupted on 1970-01-01T00:00:00.000Z\n0 kept");
  intent_.requests.push_back({key("host/a"), Verb::start});
  EXPECT_EQ(plan(), "start host/a: its stop was interrupted on 1970-01-01T00:00:00.000Z\n0 kept");
  intent_.requests[0].verb = Verb::stop;
  EXPECT_EQ(plan(), "stop host/a: by command: the stop before was interrupted\n0 kept");
  record = std::make_shared<Record>(*record);
  record->attempt.edit().failed = true;
  known_[key("host/a")] = record;
  intent_.requests.clear();
  EXPECT_EQ(plan(), "1 kept");
}

TEST_F(PlanTest, OnlyWhatAFailedActLeftIsNoDoingOfOthers) {
  begin();
  want("host/a");
  carry_out();
  seen_[key("host/a")] = Observation{};
  const std::string drift = plan();
  EXPECT_NE(drift.find("host/a: drift: "), std::string::npos) << drift;
  const auto plan_after = [&](Verb verb, bool failed) {
    auto record = std::make_shared<Record>(*known_[key("host/a")]);
    record->attempt = Attempt{intent_.resources["p"][0], verb, Time(), failed, "no port", 0};
    known_[key("host/a")] = record;
    return plan();
  };
  EXPECT_EQ(plan_after(Verb::stop, false), drift);
  EXPECT_EQ(plan_after(Verb::blocked, true), drift);
  const std::string failed = plan_after(Verb::replace, true);
  EXPECT_NE(failed.find("host/a: it failed before: no port"), std::string::npos) << failed;
}

TEST_F(PlanTest, WhatLooksForItselfSaysWhyItIsDue) {
  begin();
  want("ensure/a");
  carry_out();
  const auto plan_after = [&](Verb verb) {
    auto record = std::make_shared<Record>(*known_[key("ensure/a")]);
    record->attempt = Attempt{intent_.resources["p"][0], verb, Time(), true, "`x/y` failed", 0};
    known_[key("ensure/a")] = record;
    return plan();
  };
  EXPECT_EQ(plan(), "ensure ensure/a: checked in every run\n0 kept");
  EXPECT_EQ(plan_after(Verb::ensure), "ensure ensure/a: it failed before: `x/y` failed\n0 kept");
  EXPECT_EQ(plan_after(Verb::blocked), "ensure ensure/a: it was due before: `x/y` failed\n0 kept");
}

TEST_F(PlanTest, WhatNobodyWantsIsKeptForgottenOrRemovedAfterItsUsers) {
  begin();
  want("file/a");
  want("host/b", Value::dict({{"f", hole("file/a", "digest")}}));
  want("value/c");
  carry_out();
  begin(Leftover::keep);
  EXPECT_EQ(plan(), "0 kept");
  EXPECT_EQ(make_plan(intent_, known_, seen_, kinds_)->leftovers.size(),
            2u);  // an action leaves nothing
  begin(Leftover::remove);
  EXPECT_EQ(plan(),
            "remove host/b: no longer wanted\nremove file/a: no longer wanted\n"
            "forget value/c: no longer wanted\n0 kept");
  begin(Leftover::forget);
  EXPECT_EQ(plan(),
            "forget file/a: no longer wanted; left in place\n"
            "forget host/b: no longer wanted; left in place\n"
            "forget value/c: no longer wanted; left in place\n0 kept");
}

TEST_F(PlanTest, WhatAResourceSaysAboutItsEndOverrulesItsSets) {
  for (const auto& [own, due] :
       {std::pair(Leftover::remove, "remove file/a: no longer wanted\n0 kept"),
        std::pair(Leftover::forget, "forget file/a: no longer wanted; left in place\n0 kept"),
        std::pair(Leftover::keep, "0 kept")})
    for (const Leftover sets : {Leftover::keep, Leftover::forget, Leftover::remove}) {
      begin();
      known_.clear();
      want("file/a").leftover = own;
      carry_out();
      begin(sets);
      EXPECT_EQ(plan(), due) << to_string(own) << " in " << to_string(sets);
      auto shared = std::make_shared<Record>(*known_[key("file/a")]);
      shared->wanted_by["other"] = {0, 1};
      known_[key("file/a")] = shared;
      EXPECT_EQ(plan(), "0 kept") << "another set wants it";
    }
}

TEST_F(PlanTest, ReasonsNameThingsAsPeopleReadThem) {
  begin();
  want("file/|a", Value::dict({{"x", Value::unknown()}}));
  want("file/b").needs.push_back({{key("file/|a")}});
  want("file/c").needs.push_back({{key("file/|none")}});
  EXPECT_EQ(plan(),
            "blocked file/|a: undefined: an attribute is unknown\n"
            "blocked file/b: `file/a` is blocked\n"
            "blocked file/c: it needs `file/none`, which is neither described nor recorded\n"
            "0 kept");
}

TEST_F(PlanTest, WhatSomebodyElseWantsIsLeftAndSaysToWhom) {
  begin();
  want("file/a");
  want("file/b");
  carry_out();
  begin(Leftover::remove);
  PlanOptions options;
  options.shared = std::make_shared<const std::map<Key, std::string>>(
      std::map<Key, std::string>{{key("file/a"), "environment `f` wants it"}});
  EXPECT_EQ(plan(options), "remove file/b: no longer wanted\n1 kept");
  const Plan made = *make_plan(intent_, known_, seen_, kinds_, options);
  const auto left = std::ranges::find(made.steps, true, &Step::is_shared);
  ASSERT_NE(left, made.steps.end());
  EXPECT_EQ(left->key, key("file/a"));
  EXPECT_EQ(left->why, "no longer wanted; left in place: environment `f` wants it");
  // A set that does not remove it has nothing to leave.
  begin(Leftover::keep);
  EXPECT_EQ(std::ranges::count((*make_plan(intent_, known_, seen_, kinds_, options)).steps, true,
                               &Step::is_shared),
            0);
}

TEST_F(PlanTest, ABlockedStepSaysWhatKindOfObstacleItIs) {
  begin();
  want("file/report").mandate = Mandate::report;
  want("file/nobody").mandate = Mandate::none;
  want("file/unknown", Value::dict({{"x", Value::unknown()}}));
  want("file/after").needs.push_back({{key("file/unknown")}});
  want("nothing/x");
  seen_[key("file/report")] = Observation{};
  const Result<Plan> made = make_plan(intent_, known_, seen_, kinds_);
  ASSERT_TRUE(made);
  std::map<std::string, Obstacle> found;
  for (const Step& step : made->steps) {
    EXPECT_EQ(step.verb, Verb::blocked);
    found[to_string(step.key)] = step.obstacle;
  }
  EXPECT_EQ(found, (std::map<std::string, Obstacle>{{"file/report", Obstacle::report_only},
                                                    {"file/nobody", Obstacle::unavailable},
                                                    {"file/unknown", Obstacle::undefined},
                                                    {"file/after", Obstacle::need},
                                                    {"nothing/x", Obstacle::unavailable}}));
}

TEST_F(PlanTest, WhatAnotherSetWantsStays) {
  begin();
  want("file/a");
  carry_out();
  auto shared = std::make_shared<Record>(*known_[key("file/a")]);
  shared->wanted_by["other"] = {0, 1};
  known_[key("file/a")] = shared;
  begin(Leftover::remove);
  EXPECT_EQ(plan(), "0 kept");
  // A set that no longer does is no reason.
  shared = std::make_shared<Record>(*shared);
  shared->wanted_by["other"] = {};
  known_[key("file/a")] = shared;
  EXPECT_EQ(plan(), "remove file/a: no longer wanted\n0 kept");
}

TEST_F(PlanTest, WhoLetsGoOfAPortComesBeforeWhoTakesIt) {
  const auto describe = [&](std::vector<std::pair<const char*, int>> ports,
                            Leftover leftover = Leftover::keep) {
    begin(leftover);
    for (const auto& [name, port] : ports)
      want(name, Value::dict({{"port", port}}));
  };
  const auto order = [&] {
    std::vector<std::string> found;
    const Plan plan = *make_plan(intent_, known_, seen_, kinds_);
    for (const Step& step : plan.steps)
      if (step.verb != Verb::keep)
        found.push_back(cat(to_string(step.verb), " ", step.key.name));
    return join(found, ", ");
  };
  const auto releases = [&](const char* name) {
    const Graph graph = *Graph::build(intent_, known_, seen_, kinds_);
    std::vector<std::string> found;
    for (const NodeId id : graph.releases(graph.find(key(name))))
      found.push_back(graph.node(id).key->name.str());
    return join(found, ", ");
  };
  describe({{"host/a", 1}, {"host/b", 2}, {"host/c", 3}});
  carry_out();
  // A chain goes from its end, whatever the order in which it is written.
  describe({{"host/a", 2}, {"host/b", 3}, {"host/c", 4}});
  EXPECT_EQ(order(), "replace c, replace b, replace a");
  EXPECT_EQ(cat(releases("host/a"), releases("host/b"), releases("host/c")), "");
  // In a ring one takes it from another one that comes later.
  describe({{"host/a", 2}, {"host/b", 1}, {"host/c", 3}});
  EXPECT_EQ(order(), "replace b, replace a");
  EXPECT_EQ(releases("host/b"), "a");
  EXPECT_EQ(releases("host/a"), "");
  describe({{"host/a", 2}, {"host/b", 3}, {"host/c", 1}});
  EXPECT_EQ(order(), "replace c, replace b, replace a");
  EXPECT_EQ(releases("host/c"), "a");
  // Another name: a host that goes releases it first; one that stays as an orphan does not.
  describe({{"host/z", 1}, {"host/b", 2}, {"host/c", 3}}, Leftover::remove);
  EXPECT_EQ(order(), "create z, remove a") << "removals are listed last";
  const Graph graph = *Graph::build(intent_, known_, seen_, kinds_);
  EXPECT_EQ(graph.needs(graph.find(key("host/z"))).size(), 1u);
  describe({{"host/z", 1}, {"host/b", 2}, {"host/c", 3}});
  EXPECT_EQ(Graph::build(intent_, known_, seen_, kinds_)->needs(0).size(), 0u);
}

TEST_F(PlanTest, WhatCameOutOfAHostIsRemovedWhileTheHostStays) {
  begin();
  want("host/h");
  inside("host/h", want("file/from_h"));
  inside("host/h", want("act/a"));
  carry_out();
  begin(Leftover::keep);
  want("host/h");
  inside("host/h", want("act/a"));
  EXPECT_EQ(plan(), "2 kept");
  EXPECT_EQ((*make_plan(intent_, known_, seen_, kinds_)).leftovers,
            std::vector<Key>{key("file/from_h")});
  begin(Leftover::remove);
  want("host/h");
  inside("host/h", want("act/a"));
  EXPECT_EQ(plan(), "remove file/from_h: no longer wanted\n2 kept");
}

TEST_F(PlanTest, WhatWasAsWantedBeforeAnybodyWroteItIsNotRemoved) {
  begin();
  want("file/a");
  carry_out();
  auto found = std::make_shared<Record>(*known_[key("file/a")]);
  found->changes = 0;
  known_[key("file/a")] = found;
  begin(Leftover::remove);
  EXPECT_EQ(plan(),
            "forget file/a: no longer wanted; it existed before and is left in place\n0 kept");
}

TEST_F(PlanTest, WhatAnInterruptedActMayHaveLeftIsRemovedWhateverBecomesOfLeftovers) {
  begin();
  want("job/a");
  want("value/v");
  carry_out();
  for (const char* name : {"job/a", "value/v"}) {
    auto record = std::make_shared<Record>(*known_[key(name)]);
    record->attempt = Attempt{*record->applied, Verb::run, Time(), false, {}, 0};
    known_[key(name)] = record;
  }
  begin(Leftover::keep);
  EXPECT_EQ(plan(),
            "remove job/a: no longer wanted; interrupted on 1970-01-01T00:00:00.000Z, and it may "
            "have left something\n0 kept");
  auto failed = std::make_shared<Record>(*known_[key("job/a")]);
  failed->attempt.edit().failed = true;
  known_[key("job/a")] = failed;
  EXPECT_EQ(plan(), "0 kept");
}

TEST_F(PlanTest, AResolverGivesTheChangeAsTheReason) {
  begin();
  want("file/a").redo = Redo::resolved;
  carry_out();
  EXPECT_EQ(plan(), "replace file/a: the resolver runs it again\n0 kept");
  intent_.resources["p"][0].attributes = Value::dict({{"text", "2"}});
  EXPECT_EQ(plan(), "replace file/a: `text` changed\n0 kept");
}

TEST_F(PlanTest, WhatWasFoundIsNotRemovedThoughItWasChanged) {
  begin();
  want("file/a");
  carry_out();
  auto found = std::make_shared<Record>(*known_[key("file/a")]);
  found->was_found = true;
  known_[key("file/a")] = found;
  begin(Leftover::remove);
  EXPECT_EQ(plan(),
            "forget file/a: no longer wanted; it existed before and is left in place\n0 kept");
}

TEST_F(PlanTest, AChangeInPlaceIsAnUpdate) {
  begin();
  want("file/a", Value::dict({{"text", "1"}}));
  carry_out();
  intent_.resources["p"][0].attributes = Value::dict({{"text", "2"}});
  EXPECT_EQ(plan(), "update file/a: `text` changed\n0 kept");
}

TEST_F(PlanTest, WhatCannotBeDoneSaysWhy) {
  begin();
  want("file/a", Value::dict({{"x", Value::unknown()}}));
  want("file/b").needs.push_back({{key("file/a")}});
  want("nonsense/c");
  want("file/d").needs.push_back({{key("file/nowhere")}});
  EXPECT_EQ(
      plan(),
      "blocked file/a: undefined: an attribute is unknown\n"
      "blocked file/b: `file/a` is blocked\n"
      "blocked nonsense/c: unavailable: unknown resource type `nonsense`\n"
      "blocked file/d: it needs `file/nowhere`, which is neither described nor recorded\n0 kept");
}

TEST_F(PlanTest, CyclesAndDoublesAreErrors) {
  begin();
  want("file/a").needs.push_back({{key("file/b")}});
  want("file/b").needs.push_back({{key("file/a")}});
  EXPECT_EQ(plan(), "dependency cycle: file/a needs file/b needs file/a");
  begin();
  want("file/a").origin = "m:1";
  want("file/a").origin = "m:2";
  EXPECT_EQ(plan(), "`file/a` is described twice, at m:1 and at m:2");
}

TEST_F(PlanTest, WhatIsAskedToBeFreshOrLooksForItselfIsAlwaysDue) {
  begin();
  want("host/a").redo = Redo::always;
  want("ensure/b");
  carry_out();
  EXPECT_EQ(plan(),
            "replace host/a: runs in every run\nensure ensure/b: checked in "
            "every run\n0 kept");
}

TEST_F(PlanTest, AGraphLeavesOutWhatOthersWantAndNobodyHereNeeds) {
  const auto known_to = [&](const Name& set, std::string_view name, std::vector<Need> needs = {},
                            Value attributes = Value::dict({})) {
    auto record = std::make_shared<Record>();
    Resource resource;
    resource.key = key(name);
    resource.needs = std::move(needs);
    resource.attributes = std::move(attributes);
    record->wanted_by[set] = resource.attributes.digest();
    record->applied = std::move(resource);
    known_[key(name)] = record;
  };
  begin(Leftover::remove);
  want("file/mine").needs.push_back({{key("file/needed")}});
  want("file/embeds", hole("file/embedded", "out"));
  for (const char* other : {"file/alone", "file/needed", "file/embedded"})
    known_to("q", other);
  known_to("q", "file/uses", {{{key("file/alone")}}});
  known_to("q", "file/holds", {}, hole("file/alone", "out"));
  known_to("p", "file/gone");
  known_[key("file/blank")] = std::make_shared<Record>();
  const auto nodes = [&] {
    const Graph graph = *Graph::build(intent_, known_, seen_, kinds_);
    std::set<std::string> names;
    for (NodeId id = 0; id < graph.size(); ++id)
      names.insert(graph.node(id).key->name.str());
    return names;
  };
  const std::set<std::string> concerned{"mine", "embeds", "needed", "embedded",
                                        "uses", "holds",  "gone",   "blank"};
  EXPECT_EQ(nodes(), concerned) << "all but what stands alone";
  // A request by hand may name anything that is known.
  intent_.requests.push_back({key("file/alone"), Verb::stop});
  EXPECT_TRUE(nodes().contains("alone"));
}

}  // namespace
}  // namespace fettle
