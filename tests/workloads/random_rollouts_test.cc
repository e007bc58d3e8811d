/// Random rollouts: workloads, nodes, pull times and changes of mind come from a seed, and
/// invariants are checked at every moment. Controllers die in the middle of acts, nodes go away and
/// come back with other images. First with faults, then without: the wishes come true.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/prng.h"
#include "tests/workloads/world.h"

namespace fettle::workloads {
namespace {

class RandomRollout {
 public:
  explicit RandomRollout(uint64_t seed) : random_(seed) {}

  void play() {
    world_.add_nodes(number(1, 5));
    world_.ready_after = std::chrono::seconds(number(0, 3));
    world_.pull_takes = std::chrono::seconds(number(1, 15));
    replicas_ = number(1, 9);
    most_away_ = number(1, 4);
    has_sidecars_ = number(0, 2) == 0;
    is_hot_ = has_sidecars_ && number(0, 1) == 0;
    waits_ = number(0, 1) == 0;
    put();
    world_.finish(200);
    world_.after_each = [this] { check(); };
    const bool has_faults = number(0, 1) == 0, dies = number(0, 1) == 0;
    for (int step = number(1, 4); step > 0; --step) {
      if (has_faults)
        disturb();
      if (dies) {
        world_.crash_after = number(1, 40);
        world_.act_has_happened = number(0, 1) == 0;
      }
      change();
      world_.pass(number(0, 20));
    }
    repair();
    world_.finish(600);
    check_end();
  }

 private:
  int number(int least, int most) {
    return least + static_cast<int>(random_.below(static_cast<uint64_t>(most - least + 1)));
  }
  std::string image() const { return cat("web:", version_); }
  static constexpr std::string_view hot =
      R"(,"upgradeStrategy":{"upgradeType":"HotUpgrade","hotUpgradeEmptyImage":"empty:1"})";

  void put() {
    const std::string rolling = cat(R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":)",
                                    most_away_, partition_ > 0 ? R"(,"partition":)" : "",
                                    partition_ > 0 ? std::to_string(partition_) : "",
                                    is_paused_ ? R"(,"paused":true})" : "}");
    if (has_sidecars_) {
      Object set =
          manifest("SidecarSet", "logs",
                   cat(R"({"selector":{"matchLabels":{"app":"web"}},"containers":[{"name":)",
                       R"("log","image":"log:)", sidecar_version_, '"', is_hot_ ? hot : "", "}]}"));
      set.space = "";
      world_.put(std::move(set));
    }
    world_.put(manifest(
        "CloneSet", "web", clone_set_spec(replicas_, image(), rolling),
        waits_
            ? R"({"fettle/image-predownload-mode":"wait","fettle/image-predownload-order":"early"})"
            : R"({"apps.kruise.io/image-predownload-parallelism":"2"})"));
  }

  void change() {
    switch (number(0, 5)) {
      case 0:
        version_ = number(1, 4);
        break;
      case 1:
        partition_ = number(0, replicas_);
        break;
      case 2:
        is_paused_ = !is_paused_;
        break;
      case 3:
        sidecar_version_ = number(1, 3);
        break;
      default:
        version_ = number(1, 9);
    }
    put();
  }

  void disturb() {
    switch (number(0, 2)) {
      case 0:
        has_disturbed_ = true;
        world_.never_ready.insert(cat("web:", number(2, 9)));
        break;
      case 1:
        world_.refused_pulls.insert(cat("web:", number(2, 9)));
        break;
      default:
        const auto node = std::next(world_.fleet.nodes().begin(),
                                    number(0, static_cast<int>(world_.fleet.nodes().size()) - 1));
        const Name name = node->first;
        const bool goes = node->second.is_ready;
        if (!goes && number(0, 1) == 0)
          forget(name);
        world_.lose_node(name, goes);
    }
  }

  void forget(const Name& node) {
    for (const std::string& gone : world_.forget_images(node))
      present_.erase(gone);
  }

  void repair() {
    world_.never_ready.clear();
    world_.refused_pulls.clear();
    world_.crash_after = 0;
    for (const auto& [name, known] : std::map(world_.fleet.nodes()))
      world_.lose_node(name, false);
    partition_ = 0;
    is_paused_ = false;
    waits_ = false;  // a node without attempts left would hold its pods
    put();
    world_.see_all();
  }

  void check() {
    // Two at a time: a pod's own update, and that of its sidecars.
    const int allowed = most_away_ + (has_sidecars_ ? 1 : 0);
    if (!has_disturbed_) {
      EXPECT_GE(world_.ready(), replicas_ - allowed);
    }
    EXPECT_LE(static_cast<int>(world_.real.size()), replicas_);
    // Of a hot sidecar's two containers, one works at any moment.
    for (const auto& [key, pod] : world_.real) {
      if (is_hot_) {
        EXPECT_TRUE(pod.containers.at("log-1").image != "empty:1" ||
                    pod.containers.at("log-2").image != "empty:1")
            << key.view();
      }
    }
    // No image is pulled where it exists.
    for (; pulls_seen_ < world_.pulled.size(); ++pulls_seen_)
      EXPECT_FALSE(present_.contains(world_.pulled[pulls_seen_])) << world_.pulled[pulls_seen_];
    for (const auto& [name, node] : world_.fleet.nodes())
      for (const auto& [image, digest] : node.images)
        present_.insert(cat(name, "|", image));
  }

  void check_end() {
    EXPECT_EQ(world_.count_image(image()), replicas_);
    EXPECT_EQ(world_.ready(), replicas_);
    if (is_hot_) {
      EXPECT_EQ(world_.count_image(cat("log:", sidecar_version_)), replicas_);
      EXPECT_EQ(world_.count_image("empty:1"), replicas_);
    }
    EXPECT_EQ(world_.of_kind("pull_job"), std::vector<std::string>{}) << "jobs go at the end";
    EXPECT_TRUE(world_.pulling.empty());
    EXPECT_EQ(static_cast<int>(world_.made.size()), replicas_) << "all was in place";
  }

  Prng random_;
  World world_;
  std::set<std::string> present_;  ///< images by node, as of the last check
  size_t pulls_seen_ = 0;
  int replicas_ = 1, most_away_ = 1, partition_ = 0, version_ = 1, sidecar_version_ = 1;
  bool is_paused_ = false, has_sidecars_ = false, is_hot_ = false, waits_ = false,
       has_disturbed_ = false;
};

// `FETTLE_ROLLOUTS=50000` plays more, `FETTLE_ROLLOUT=SEED` a single one.
TEST(RandomRollouts, KeepTheirPromises) {
  const char *one = std::getenv("FETTLE_ROLLOUT"), *many = std::getenv("FETTLE_ROLLOUTS");
  const uint64_t first = one == nullptr ? 1 : std::strtoull(one, nullptr, 10);
  const uint64_t count = one != nullptr    ? 1
                         : many != nullptr ? std::strtoull(many, nullptr, 10)
                                           : 400;
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(cat("FETTLE_ROLLOUT=", seed));
    RandomRollout(seed).play();
  }
}

}  // namespace
}  // namespace fettle::workloads
