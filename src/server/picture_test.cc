/// Graphs and runs as the page shows them.

#include <gtest/gtest.h>

#include "tests/fixtures/package_fixture.h"
#include "verbs/environments/resource_graph.h"
#include "verbs/environments/run_history.h"
#include "verbs/fleet/rollout_history.h"

namespace fettle {
namespace {

/// Each node needs a few earlier ones.
std::vector<GraphEdge> many_edges(uint32_t count) {
  std::vector<GraphEdge> edges;
  for (uint32_t i = 1; i < count; ++i)
    for (uint32_t step : {1U, 7U, 100U})
      if (i % 10 != 0 && i >= step)
        edges.push_back({i, (i - step) / 2, Bond::order});
  return edges;
}

TEST(GraphPlaces, TenThousandNodesStandBehindWhatTheyNeedAndNowhereTwice) {
  const std::vector<GraphEdge> edges = many_edges(10'000);
  const std::vector<GraphPlace> places = places_of(10'000, edges);
  ASSERT_EQ(places.size(), 10'000u);
  std::set<std::pair<uint32_t, uint32_t>> taken;
  for (const GraphPlace& place : places)
    EXPECT_TRUE(taken.emplace(place.rank, place.row).second);
  for (const GraphEdge& edge : edges)
    EXPECT_GT(places[edge.from].rank, places[edge.to].rank);
  const std::vector<GraphPlace> again = places_of(10'000, edges);
  for (size_t i = 0; i < places.size(); ++i)
    EXPECT_EQ(std::pair(places[i].rank, places[i].row), std::pair(again[i].rank, again[i].row));
}

TEST(GraphPlaces, NeighboursStandAtOneHeight) {
  // Three chains, whose nodes are named crosswise.
  const std::vector<GraphPlace> places =
      places_of(6, {{3, 2, Bond::order}, {4, 1, Bond::order}, {5, 0, Bond::order}});
  EXPECT_EQ(places[3].row, places[2].row);
  EXPECT_EQ(places[4].row, places[1].row);
  EXPECT_EQ(places[5].row, places[0].row);
}

TEST(GraphPlaces, ACircleHasAnEnd) {
  const std::vector<GraphPlace> places = places_of(4, {{0, 1, Bond::order},
                                                       {1, 2, Bond::order},
                                                       {2, 0, Bond::order},
                                                       {3, 0, Bond::order},
                                                       {3, 3, Bond::order}});
  EXPECT_EQ(places[0].rank, 0u);
  EXPECT_EQ(places[2].rank, 1u);
  EXPECT_EQ(places[1].rank, 2u);
  EXPECT_EQ(places[3].rank, 1u);
  EXPECT_TRUE(places_of(0, {}).empty());
}

Known many_records(int count) {
  Known known;
  for (int i = 0; i < count; ++i) {
    Resource resource;
    resource.key = {"e", i % 2 == 0 ? "file" : "folder", Name(cat("n", i))};
    if (i > 0)
      resource.needs.push_back(
          {{{"e", (i / 2) % 2 == 0 ? "file" : "folder", Name(cat("n", i / 2))}}});
    auto record = std::make_shared<Record>();
    record->applied = resource;
    if (i == 77) {
      Attempt attempt;
      attempt.resource = resource;
      attempt.failed = true;
      record->attempt = attempt;
    }
    known[resource.key] = std::move(record);
  }
  return known;
}

TEST(ResourceGraphs, AFewResourcesAreDrawnThemselves) {
  const Result<ResourceGraph> graph = graph_of(many_records(500), "", false);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->nodes.size(), 500u);
  EXPECT_EQ(graph->edges.size(), 499u);
  for (const GraphNode& node : graph->nodes)
    EXPECT_EQ(node.state, node.id == "folder/n77" ? "failed" : "done") << node.id;
}

TEST(ResourceGraphs, ManyAreDrawnAsGroupsThatOpen) {
  const Known known = many_records(10'000);
  const Result<ResourceGraph> graph = graph_of(known, "", false);
  ASSERT_TRUE(graph);
  EXPECT_LE(graph->nodes.size(), most_graph_nodes);
  EXPECT_EQ(graph->resources, 10'000u);
  size_t members = 0, failed = 0;
  for (const GraphNode& node : graph->nodes) {
    EXPECT_FALSE(node.key);
    members += node.members;
    failed += node.state == "failed" ? 1 : 0;
    const Result<ResourceGraph> opened = graph_of(known, node.id, false);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->nodes.size() + opened->left_out, node.members) << node.id;
    EXPECT_LE(opened->nodes.size(), most_graph_nodes);
  }
  EXPECT_EQ(members, 10'000u);
  EXPECT_EQ(failed, 1u);
  const Result<ResourceGraph> none = graph_of(known, "file@99", false);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().blame, Blame::user);
}

class RunHistoryTest : public RunPackageTest {};

TEST_F(RunHistoryTest, EventsAreFoundFromTheLastOneOnInPages) {
  ASSERT_EQ(run(add("web")), "R");
  ASSERT_EQ(run(add("web") + add("db")), "SR");
  const std::vector<Event> all = *place_.store->events("e", 0, 1'000);
  EventSearch search{.environment = "e", .most = 3};
  std::vector<uint64_t> found;
  for (int pages = 0; pages < 100; ++pages) {
    const Result<EventPage> page = search_events(place_, search);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->newest, all.back().sequence);
    for (auto event = page->events.rbegin(); event != page->events.rend(); ++event)
      found.push_back(event->sequence);
    if (page->next == 0)
      break;
    search.before = page->next;
  }
  ASSERT_EQ(found.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(found[i], all[all.size() - 1 - i].sequence);
  const Result<EventPage> about = search_events(place_, {.environment = "e", .text = "SERVICE/DB"});
  ASSERT_TRUE(about);
  ASSERT_FALSE(about->events.empty());
  for (const Event& event : about->events)
    EXPECT_EQ(event.key.name, "db");
  EXPECT_TRUE(search_events(place_, {.environment = "none"})->events.empty());
}

TEST_F(RunHistoryTest, RunsHaveTheirActs) {
  ASSERT_EQ(run(add("web")), "R");
  ASSERT_EQ(run(add("web") + exec("web", "fail")), "SF");
  const std::vector<RunPast> runs = runs_of(*place_.store->events("e", 0, 1'000));
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_TRUE(runs[0].ended);
  EXPECT_EQ(runs[0].outcome, "everything is as wanted");
  const auto failed = std::ranges::find(runs[1].acts, "failed", &RunAct::outcome);
  ASSERT_NE(failed, runs[1].acts.end());
  EXPECT_EQ(failed->key.kind, "exec");
  EXPECT_NE(failed->text.find("unexpected exit code 1"), std::string::npos);
  EXPECT_LE(failed->began, failed->ended);
  EXPECT_LE(runs[0].ended, runs[1].began);
}

/// Events of a fleet, each a number of seconds after the one before.
class RolloutEvents {
 public:
  RolloutEvents& add(double seconds, EventType type, const char* key = "", Verb verb = Verb::run,
                     const char* text = "") {
    now_ += std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
    Event event;
    event.sequence = all.size() + 1;
    event.time = now_;
    event.type = type;
    event.verb = verb;
    event.text = text;
    const std::string_view view = key;
    if (const size_t slash = view.find('/'); slash != view.npos)
      event.key = {"e", Name(view.substr(0, slash)), Name(view.substr(slash + 1))};
    all.push_back(std::move(event));
    return *this;
  }
  std::vector<Event> all;

 private:
  Time now_{1'000s};
};

TEST(Rollouts, HaveARowForEachPodAndPull) {
  RolloutEvents events;
  events.add(0, EventType::run_started)
      .add(1, EventType::started, "revision/default/web-1")
      .add(0, EventType::started, "image/n1|web:2", Verb::run, "new")
      .add(0, EventType::started, "pod/n1|default/a", Verb::update, "`image` changed")
      .add(0, EventType::planned, "pod/n1|default/c", Verb::create)
      .add(2, EventType::done, "image/n1|web:2")
      .add(1, EventType::failed, "pod/n1|default/a", Verb::update, "it broke")
      .add(0, EventType::started, "pod/n2|default/b", Verb::create)
      .add(0, EventType::run_finished)
      .add(1, EventType::run_started)
      .add(0, EventType::started, "pod/n1|default/a", Verb::remove)
      .add(1, EventType::done, "pod/n1|default/a", Verb::remove)
      .add(1, EventType::started, "pod/n2|default/b", Verb::create);
  const RolloutPast past = rollout_of(events.all);
  ASSERT_EQ(past.pods.size(), 2u);
  ASSERT_EQ(past.pulls.size(), 1u);
  EXPECT_EQ(past.next, 0u);
  EXPECT_EQ(past.to - past.from, 6s);
  EXPECT_TRUE(past.is_under_way);
  EXPECT_EQ(past.pulls[0].acts[0].outcome, "done");
  const RolloutRow &a = past.pods[0], &b = past.pods[1];
  EXPECT_TRUE(a.was_there);
  ASSERT_EQ(a.acts.size(), 2u);
  EXPECT_EQ(a.acts[0].why, "`image` changed");
  EXPECT_EQ(a.acts[0].error, "it broke");
  EXPECT_EQ(*a.acts[0].ended - a.acts[0].began, 3s);
  EXPECT_EQ(a.gone, past.from + 5s);
  // The first attempt to make it was ended by nobody.
  EXPECT_FALSE(b.was_there);
  ASSERT_EQ(b.acts.size(), 2u);
  EXPECT_EQ(b.acts[0].outcome, "interrupted");
  EXPECT_FALSE(b.acts[1].ended);
  EXPECT_FALSE(b.gone);
}

TEST(Rollouts, BeginAfterAPause) {
  RolloutEvents events;
  events.add(0, EventType::started, "pod/|default/a", Verb::create)
      .add(1, EventType::done, "pod/|default/a", Verb::create)
      .add(200, EventType::started, "exec/x")
      .add(200, EventType::run_started)
      .add(0, EventType::started, "pod/|default/a", Verb::update)
      .add(299, EventType::done, "pod/|default/a", Verb::update);
  const RolloutPast past = rollout_of(events.all);
  EXPECT_EQ(past.next, 5u);
  EXPECT_EQ(past.to - past.from, 299s);
  ASSERT_EQ(past.pods.size(), 1u);
  EXPECT_TRUE(past.pods[0].was_there);
  EXPECT_FALSE(past.is_under_way);
  events.all.resize(past.next - 1);
  const RolloutPast first = rollout_of(events.all);
  EXPECT_EQ(first.next, 0u);
  EXPECT_EQ(first.to - first.from, 1s);
  EXPECT_TRUE(rollout_of({}).pods.empty());
}

}  // namespace
}  // namespace fettle
