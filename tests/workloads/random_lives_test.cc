/// Random lives of workloads: edits, labels, deletions, drains, scaling, hooks, nodes that come and
/// go, pods that break, between any two looks and while acts go on. Whatever happens, no decision
/// takes an available pod if too few would be left; and when nothing happens any more, everything
/// is as wanted.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/prng.h"
#include "core/open_payload.h"
#include "kinds/pod.h"
#include "tests/fixtures/sanitized.h"
#include "tests/workloads/world.h"

namespace fettle::workloads {
namespace {

/// A sanitizer finds as much in a few lives as in many.
constexpr uint64_t lives = is_sanitized ? 60 : 150;

class RandomLife {
 public:
  explicit RandomLife(uint64_t seed) : random_(seed) {}

  void play() {
    begin();
    world_.finish(300);
    world_.before_stop = [this](const Name& key, bool for_sidecars) {
      for_sidecars ? check_sidecars(key) : check(key);
    };
    for (int step = number(1, 12); step > 0; --step) {
      for (int at_once = number(1, 3); at_once > 0; --at_once)
        happen();
      if (number(0, 2) == 0)
        world_.look();
      live(number(0, 6));
    }
    repair();
    // Hooks let go now and then, and in the end whenever they are asked.
    for (int i = 0; i < 60; ++i) {
      let_go(i < 20 ? 3 : 1);
      world_.finish(30);
    }
    check_end();
  }

  std::string story() const {
    std::string text = cat(owner(), hooks(), " at ", (world_.now - begun_) / 1s, "s\n", story_);
    for (const auto& [key, pod] : world_.real) {
      const FleetPod* const known = world_.fleet.pod(key);
      text += cat("  ", key, pod.is_ready ? " ready" : "", pod.is_ending ? " ending" : "");
      if (known != nullptr)
        text += cat(" known ", static_cast<int>(known->readiness), known->is_due ? " due" : "",
                    known->is_acting ? " acting" : "", known->is_leaving ? " leaving" : "", " ",
                    to_string(known->lifecycle), " ", known->revision);
      text += world_.acting.contains(key) ? " (act)\n" : "\n";
    }
    return text;
  }

 private:
  enum class Sort { clone_set, stateful_set, daemon_set };

  int number(int least, int most) {
    return least + static_cast<int>(random_.below(static_cast<uint64_t>(most - least + 1)));
  }
  bool one_of(int many) { return number(1, many) == 1; }
  Name owner() const { return cat(kind(), "/default/web"); }
  std::string_view kind() const {
    return sort_ == Sort::clone_set      ? "CloneSet"
           : sort_ == Sort::stateful_set ? "StatefulSet"
                                         : "DaemonSet";
  }

  void begin() {
    sort_ = static_cast<Sort>(number(0, 2));
    world_.is_slow = true;
    world_.add_nodes(number(1, 6));
    world_.ready_after = std::chrono::seconds(number(0, 3));
    world_.act_takes = std::chrono::seconds(number(0, 3));
    world_.end_takes = std::chrono::seconds(number(0, 4));
    world_.pull_takes = std::chrono::seconds(number(1, 5));
    replicas_ = number(1, 7);
    most_unavailable_ = number(1, 3);
    is_parallel_ = one_of(2);
    has_sidecars_ = one_of(4);
    policy_ = one_of(2) ? "InPlaceIfPossible" : "ReCreate";
    surge_ = sort_ != Sort::stateful_set && one_of(3) ? number(1, 2) : 0;
    if (surge_ > 0 && one_of(2))
      most_unavailable_ = 0;
    if (sort_ == Sort::daemon_set) {
      if (surge_ > 0)
        most_unavailable_ = 0;
      if (surge_ > 0)
        policy_ = "ReCreate";
    }
    if (sort_ == Sort::stateful_set && !is_parallel_)
      most_unavailable_ = 1;
    has_delete_hook_ = one_of(3);
    has_update_hook_ = one_of(4);
    scale_most_ = one_of(3) ? number(1, 2) : 0;
    put();
  }

  std::string hooks() const {
    std::string text;
    if (has_delete_hook_)
      text += R"("preDelete":{"labelsHandler":{"guard":"yes"}})";
    if (has_update_hook_)
      text += cat(text.empty() ? "" : ",", R"("inPlaceUpdate":{"labelsHandler":{"drain":"yes"}})");
    return text.empty() ? "" : cat(R"(,"lifecycle":{)", text, "}");
  }

  std::string rolling() const {
    std::string text = cat(R"({"maxUnavailable":)", most_unavailable_);
    if (sort_ == Sort::daemon_set)
      text += cat(R"(,"rollingUpdateType":")",
                  policy_ == "ReCreate" ? "Standard" : "InPlaceIfPossible", '"');
    else
      text += cat(R"(,"podUpdatePolicy":")", policy_, '"');
    if (surge_ > 0)
      text += cat(R"(,"maxSurge":)", surge_);
    if (partition_ > 0)
      text += cat(R"(,"partition":)", partition_);
    if (is_paused_)
      text += R"(,"paused":true)";
    return text + "}";
  }

  void put() {
    ++world_.disturbances;  // another number may be asked for
    // Anything but an image cannot change in place.
    const std::string pod_template =
        cat(R"({"metadata":{"labels":{"app":"web","guard":"yes","drain":"yes","note":"n)", note_,
            R"("}},"spec":{"terminationGracePeriodSeconds":)", shape_,
            R"(,"containers":[{"name":"main","image":"web:)", version_, R"("}]}})");
    std::string more = cat(hooks(), R"(,"minReadySeconds":)", min_ready_);
    if (sort_ == Sort::stateful_set)
      more += cat(R"(,"podManagementPolicy":")", is_parallel_ ? "Parallel" : "OrderedReady", '"');
    if (scale_most_ > 0 &&
        (sort_ == Sort::clone_set || (sort_ == Sort::stateful_set && is_parallel_)))
      more += cat(R"(,"scaleStrategy":{"maxUnavailable":)", scale_most_, "}");
    if (has_sidecars_) {
      Object set = manifest("SidecarSet", "logs",
                            cat(R"({"selector":{"matchLabels":{"app":"web"}},"containers":[)",
                                R"({"name":"log","image":"log:)", sidecar_version_, R"("}]})"));
      set.space = "";
      world_.put(std::move(set));
    }
    say("replicas ", replicas_, " web:", version_, " shape ", shape_, " note ", note_,
        " log:", sidecar_version_, " ", rolling());
    const std::string replicas =
        sort_ == Sort::daemon_set ? "" : cat(R"("replicas":)", replicas_, ",");
    world_.put(
        manifest(kind(), "web",
                 cat("{", replicas, R"("selector":{"matchLabels":{"app":"web"}},"template":)",
                     pod_template, R"(,"updateStrategy":{"type":"RollingUpdate",)",
                     R"("rollingUpdate":)", rolling(), "}", more, "}")));
  }

  std::optional<std::string> some_pod() {
    const auto pods = world_.pods();
    if (pods.empty())
      return std::nullopt;
    return pods[static_cast<size_t>(number(0, static_cast<int>(pods.size()) - 1))];
  }

  /// Labels stay the same except for the changed ones.
  void label(const std::string& pod, std::string_view key, std::string_view text) {
    auto& labels = labels_[{
        pod, dict_of(world_.pod(pod).resource->attributes).at("state").integer_at("made")}];
    labels[std::string(key)] = text;
    say("label ", pod, " ", key, "=", text);
    std::string all;
    for (const auto& [name, value] : labels)
      all += cat(all.empty() ? "" : ",", '"', name, R"(":)",
                 value.empty() ? "null" : cat('"', value, '"'));
    world_.mark(pod, cat(R"({"labels":{)", all, "}}"));
  }

  /// The events so far, for debugging.
  template <typename... Parts>
  void say(const Parts&... parts) {
    story_ += cat("  ", (world_.now - begun_) / 1s, "s ", parts..., "\n");
  }

  void happen() {
    const int what = number(0, 13);
    if (what > 6 || what == 3)
      return happen_to_pods(what);
    switch (what) {
      case 0:
      case 1:
        version_ = number(1, 6);
        break;
      case 2:
        shape_ = number(1, 3);
        break;
      case 4:
        partition_ = one_of(2) ? 0 : number(0, 3);
        break;
      case 5:
        is_paused_ = !is_paused_;
        break;
      default:
        if (has_sidecars_)
          sidecar_version_ = number(1, 4);
        note_ = number(1, 5);
    }
    put();
  }

  void happen_to_pods(int what) {
    switch (what) {
      case 3:
        if (sort_ != Sort::daemon_set)
          replicas_ = number(1, 7);
        return put();
      case 7:
        for (int i = number(1, 3); i > 0; --i)
          if (const auto pod = some_pod())
            label(*pod, "apps.kruise.io/specified-delete", "true");
        return;
      case 8:
        for (int i = number(1, 4); i > 0; --i)
          if (const auto pod = some_pod())
            label(*pod, "note", cat("n", number(1, 9)));
        return;
      case 9:
        if (const auto pod = some_pod()) {
          deleted_.insert(world_.pod(*pod).resource->key.name);
          say("delete pod ", *pod);
          ++world_.disturbances;
          world_.delete_pod(*pod);
        }
        return;
      case 10:
        return change_node();
      case 11:
        if (const auto pod = some_pod())
          if (const Name key = world_.pod(*pod).resource->key.name;
              world_.real.contains(key) && !world_.acting.contains(key)) {
            say("break ", *pod);
            world_.break_pod(key);
            world_.look();
          }
        return;
      case 12:
        say("crash");
        world_.crash();
        return;
      default:
        return let_go(2);
    }
  }

  void change_node() {
    const auto& nodes = world_.fleet.nodes();
    const auto node = std::next(nodes.begin(), number(0, static_cast<int>(nodes.size()) - 1));
    Node changed = node->second;
    ++world_.disturbances;
    switch (number(0, 3)) {
      case 0:
        changed.is_cordoned = changed.is_draining = !changed.is_draining;
        break;
      case 1:
        changed.is_cordoned = !changed.is_cordoned;
        changed.is_draining &= changed.is_cordoned;
        break;
      case 2:
        say(changed.is_ready ? "lose " : "find ", changed.name);
        world_.lose_node(changed.name, changed.is_ready);
        return;
      default:
        if (nodes.size() < 8)
          world_.add_nodes(1);
        return;
    }
    say(changed.name, changed.is_draining   ? " drains"
                      : changed.is_cordoned ? " is cordoned"
                                            : " is free");
    world_.fleet.put_node(std::move(changed));
  }

  /// Hooks let one in so many pods go, and take it on again.
  void let_go(int many) {
    for (const std::string& pod : world_.pods()) {
      const Lifecycle state = world_.pod(pod).lifecycle;
      if (state == Lifecycle::preparing_delete && one_of(many))
        label(pod, "guard", "");
      if (state == Lifecycle::preparing_update && one_of(many))
        label(pod, "drain", "");
      if (state == Lifecycle::updated && one_of(many))
        label(pod, "drain", "yes");
    }
  }

  void live(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      world_.pass(1);
      if (one_of(2))
        world_.look();
    }
  }

  void repair() {
    for (const auto& [name, known] : std::map(world_.fleet.nodes())) {
      Node node = known;
      node.is_cordoned = node.is_draining = false;
      world_.fleet.put_node(std::move(node));
      world_.lose_node(name, false);
    }
    partition_ = 0;
    is_paused_ = false;
    put();
    world_.look();
  }

  int64_t wanted() const {
    if (sort_ != Sort::daemon_set)
      return replicas_;
    // A node that is away has no pod to lose.
    return std::ranges::count_if(world_.fleet.nodes(), [](const auto& node) {
      return !node.second.is_draining && node.second.is_ready;
    });
  }

  /// The number of available pods, or nodes with a pod, except one.
  int64_t available_without(const Name& key) const {
    std::set<std::string> places;
    for (const auto& [other, pod] : world_.real)
      if (other != key && pod.is_ready && is_there(other) && !is_hooked(other))
        places.insert(sort_ == Sort::daemon_set ? std::string(node_address(other).node)
                                                : other.str());
    return static_cast<int64_t>(places.size());
  }
  /// A pod that a hook holds already counts as unavailable.
  bool is_hooked(const Name& key) const {
    const FleetPod* const pod = world_.fleet.pod(key);
    return pod != nullptr && pod->lifecycle != Lifecycle::normal &&
           pod->lifecycle != Lifecycle::none;
  }
  bool is_there(const Name& key) const {
    const Node* node = world_.fleet.node(node_address(key.view()).node);
    return node != nullptr && node->is_ready && (sort_ != Sort::daemon_set || !node->is_draining);
  }

  void check(const Name& key) {
    if (!is_there(key) || is_hooked(key))
      return;
    const FleetPod* const pod = world_.fleet.pod(key);
    if (deleted_.contains(key) || (pod != nullptr && pod->is_deleted))
      return;  // it was removed on purpose
    if (available_without(key) == available_without(Name()))
      return;  // another one is on its node
    if (sort_ == Sort::stateful_set && ordinal_of(key) >= replicas_)
      return;  // its number is not wanted
    // A SidecarSet has its own limit, and does not count missing pods.
    EXPECT_GE(available_without(key), wanted() - most_unavailable_ - (has_sidecars_ ? 1 : 0))
        << key.view() << " is stopped\n"
        << story();
  }

  static int ordinal_of(const Name& key) {
    return std::stoi(std::string(key.view().substr(key.view().rfind('-') + 1)));
  }

  bool is_leaving(const Name& key) const {
    const FleetPod* const pod = world_.fleet.pod(key);
    return pod == nullptr || pod->is_leaving;
  }

  /// The sidecars' own limit is one of the existing pods; their workload may have taken others
  /// since, within its own limit.
  void check_sidecars(const Name& key) {
    // A hook that lets go is not a decision, and OpenKruise counts the pods that it held as
    // available.
    if (has_update_hook_ || has_delete_hook_)
      return;
    const auto others = std::ranges::count_if(world_.real, [&](const auto& each) {
      const auto& [other, pod] = each;
      return other != key && !pod.is_ready && pod.ready_since != Time() && !is_leaving(other) &&
             is_there(other);
    });
    EXPECT_LT(others, std::max(most_unavailable_, 1)) << key.view() << " is stopped\n" << story();
  }

  void check_end() {
    EXPECT_TRUE(world_.acting.empty());
    EXPECT_EQ(static_cast<int64_t>(world_.real.size()), wanted()) << story();
    EXPECT_EQ(world_.count_image(cat("web:", version_)), wanted());
    EXPECT_EQ(world_.ready(), wanted()) << story();
    for (const auto& [key, pod] : world_.real)
      EXPECT_EQ(pod_spec(pod.attributes).integer_at("terminationGracePeriodSeconds"), shape_);
  }

  Prng random_;
  World world_;
  const Time begun_ = world_.now;
  std::string story_;
  Sort sort_ = Sort::clone_set;
  std::string policy_;
  int replicas_ = 1, most_unavailable_ = 1, partition_ = 0, version_ = 1, sidecar_version_ = 1,
      note_ = 1, shape_ = 1, surge_ = 0, scale_most_ = 0, min_ready_ = 0;
  bool is_paused_ = false, is_parallel_ = false, has_sidecars_ = false, has_delete_hook_ = false,
       has_update_hook_ = false;
  std::set<Name> deleted_;
  std::map<std::pair<std::string, int64_t>, std::map<std::string, std::string>> labels_;
};

// `FETTLE_LIVES=50000` plays more, `FETTLE_LIFE=SEED` a single one; both, as many from that seed
// on.
// `./dev bench differ rollouts` plays them on all processors.
TEST(RandomLives, NeverTakeMoreThanTheyMay) {
  const char *one = std::getenv("FETTLE_LIFE"), *many = std::getenv("FETTLE_LIVES");
  const uint64_t first = one == nullptr ? 1 : std::strtoull(one, nullptr, 10);
  const uint64_t count = many != nullptr  ? std::strtoull(many, nullptr, 10)
                         : one != nullptr ? 1
                                          : lives;
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(cat("FETTLE_LIFE=", seed));
    RandomLife life(seed);
    life.play();
    if (testing::Test::HasFailure() && one != nullptr && many == nullptr)
      std::fputs(life.story().c_str(), stderr);
  }
}

}  // namespace
}  // namespace fettle::workloads
