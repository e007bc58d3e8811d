#include "states/wait_graph.h"

#include <gtest/gtest.h>

namespace fettle::states {
namespace {

TEST(WaitGraph, WavesFollowTheLongestWay) {
  WaitGraph graph(4);
  graph.add(0, 1);
  graph.add(1, 2);
  graph.add(0, 2);
  EXPECT_EQ(graph.waves(), (std::vector<uint32_t>{0, 1, 2, 0}));
  EXPECT_FALSE(graph.has_stuck());
}

TEST(WaitGraph, ANodeBetweenMayBelongToTheSameWave) {
  WaitGraph graph(3);
  const uint32_t ready = graph.add_node();
  graph.add(0, ready);
  graph.add(ready, 1, true);
  graph.add(ready, 2, true);
  EXPECT_EQ(graph.waves(), (std::vector<uint32_t>{0, 1, 1, 1}));
}

TEST(WaitGraph, CirclesStayStuckAndSoDoesWhatWaitsForThem) {
  WaitGraph graph(4);
  graph.add(0, 1);
  graph.add(1, 0);
  graph.add(1, 2);
  graph.waves();
  EXPECT_TRUE(graph.has_stuck());
  EXPECT_TRUE(graph.is_stuck(0) && graph.is_stuck(1) && graph.is_stuck(2));
  EXPECT_FALSE(graph.is_stuck(3));
}

}  // namespace
}  // namespace fettle::states
