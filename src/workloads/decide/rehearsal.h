#pragma once
/// Shows pod by pod what a rollout would do. The rollout is played through in a world where every
/// act succeeds, every pull ends at once and every pod becomes ready. The rules are the real ones.
/// A hook that holds a pod goes on holding it.

#include <map>
#include <set>

#include "workloads/fleet.h"

namespace fettle::workloads {

/// The way in which a pod changes.
struct PodTurn {
  enum class Sort { create, restore, in_place, anew, remove, stays } sort = Sort::create;
  Name owner, space, pod, node;
  Name revision;     ///< the one that it gets
  std::string why;   ///< `image of container `main`: nginx:1 -> nginx:2`
  size_t batch = 0;  ///< from 1; 0 for a pod that stays
};
std::string_view to_string(PodTurn::Sort sort);  ///< `in place`

/// An image that is pulled ahead.
struct PullTurn {
  Name owner, job, image;
  std::vector<Name> nodes;    ///< in the order of the pulls
  std::vector<Name> present;  ///< nodes of the workload's pods that have it
  std::string at_once;        ///< `2`, `50%`
};

struct RehearsalResult {
  std::vector<PodTurn> turns;  ///< in their order
  std::vector<PullTurn> pulls;
  std::vector<std::string> warnings;
  size_t batches = 0;
  bool is_cut = false;  ///< it goes on for longer than anybody reads
};

/// A pod that is not in the world as the last act left it.
struct LostPod {
  bool is_gone = false;  ///< else a part of it is missing
  std::string why;       ///< `its container `main` is gone`
};
using LostPods = std::map<Key, LostPod>;

/// Plays through what `owners` want from `now` on. The fleet is changed afterwards.
RehearsalResult rehearse(Fleet& fleet, const std::set<Name>& owners, Time now, LostPods lost = {});

}  // namespace fettle::workloads
