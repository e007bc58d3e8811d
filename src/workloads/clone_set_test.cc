/// CloneSets from beginning to end, in a world that plays pods.

#include <gtest/gtest.h>

#include "tests/workloads/world.h"

namespace fettle::workloads {
namespace {

TEST(CloneSet, PodsComeAndAreReady) {
  World world;
  world.add_nodes(3);
  world.put(manifest("CloneSet", "web", clone_set_spec(5, "web:1")));
  world.settle();
  EXPECT_EQ(world.real.size(), 5u);
  EXPECT_EQ(world.ready(), 5);
}

TEST(CloneSet, AnImageChangesInPlace) {
  World world;
  world.add_nodes(3);
  world.put(manifest("CloneSet", "web",
                     clone_set_spec(5, "web:1", R"({"podUpdatePolicy":"InPlaceIfPossible"})")));
  world.settle();
  const auto before = world.pods();
  world.put(manifest("CloneSet", "web",
                     clone_set_spec(5, "web:2", R"({"podUpdatePolicy":"InPlaceIfPossible"})")));
  world.finish();
  EXPECT_EQ(world.pods(), before);
  EXPECT_EQ(world.count_image("web:2"), 5);
}

}  // namespace
}  // namespace fettle::workloads
