#pragma once
/// The workloads of a cluster that is played, what users want of them, and what has to hold at every
/// event of a pod.
///
/// A pod is available while it is ready and not deleted. Once all pods of a workload have been
/// available, no fewer may be than it allows; those that others deleted or broke do not count until
/// they have been replaced. While the number of pods changes, the smaller one counts.

#include "sim/cluster/nodes.h"

namespace fettle::sim {

class SimulatedWorkload {
 public:
  struct Wish {
    std::string kind{}, name{}, policy{};  ///< `InPlaceIfPossible`, `ReCreate`, …
    int64_t replicas = 3, unavailable = 1, surge = 0;
    bool is_parallel = true;  ///< only of a StatefulSet
    bool pulls_ahead = true;
    bool has_claims = false;       ///< only a StatefulSet
    int64_t more_unavailable = 0;  ///< by a SidecarSet, whose turns know nothing of this one's
  };

  SimulatedWorkload(World& world, Wish wish);

  void make();
  /// `tag` of the image; `environment`: of a container, which is not changed in place.
  void set_template(const std::string& tag, int64_t environment);
  void scale(int64_t replicas);
  /// None: all pods are updated.
  void set_partition(int64_t kept);
  void set_paused(bool is_paused);
  /// Others are about to take a pod out.
  void excuse(const std::string& uid);

  void take(std::string_view type, const Value& pod);
  bool is_rolled_out() const;
  /// What is not as it is wanted in the end; empty: all is.
  std::string unfinished() const;
  std::vector<Value> pods() const;

  const Wish& wish() const { return wish_; }
  const std::string& path() const { return path_; }
  const std::string& tag() const { return tag_; }
  int64_t environment() const { return environment_; }
  uint64_t rollouts() const { return rollouts_; }

 private:
  Value pod_template() const;
  Value strategy() const;
  std::string image() const { return wish_.name + ":" + tag_; }
  void change(Value spec);
  void check();
  bool is_done(const Value& pod) const;
  std::string half_written(const Value& pod, std::string_view revision) const;
  std::string wrong_status(const Value& workload) const;
  size_t available() const;

  World& world_;
  Wish wish_;
  const std::string path_;
  std::string tag_ = "1";
  int64_t environment_ = 0;
  std::map<std::string, Value> known_;   ///< pods by UID, as of the last event
  std::map<std::string, bool> excused_;  ///< UIDs, and whether they have been out since
  int64_t lost_ = 0;                     ///< excused ones that are gone
  int64_t fewest_ = 0, most_ = 0;        ///< pods that are wanted
  bool is_complete_ = false;             ///< once all have been available
  bool is_counted_ = false;              ///< this rollout is among `rollouts_`
  uint64_t rollouts_ = 0;
};

/// A SidecarSet for the pods of one workload, and what users want of it.
class SimulatedSidecars {
 public:
  SimulatedSidecars(World& world, std::string app) : world_(world), app_(std::move(app)) {}
  void make();
  void set_tag(const std::string& tag);
  /// What is not as it is wanted in the end, of pods that have the sidecar; empty: all is.
  std::string unfinished(const std::vector<Value>& pods) const;

 private:
  Value containers() const;

  World& world_;
  const std::string app_;
  std::string tag_ = "1";
};

}  // namespace fettle::sim
