#pragma once
/// One decision about one workload: the table that its rules read and change, and the intent that
/// follows. A resource that no rule changes is passed on as it was.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "kinds/pod.h"
#include "workloads/fleet.h"
#include "workloads/numbers.h"
#include "workloads/wanted.h"

namespace fettle::workloads {

/// A present or former template of the workload.
struct Revision {
  Name name{};
  Name hash{};
  int64_t number = 0;
  Value pod_template{};
  Name claims_hash{};
  int64_t collisions = 0;
  Value state{};
  Name version{};  ///< that users gave it
};

class Rollout {
 public:
  Rollout(const Fleet& fleet, const Workload& workload, Time now);

  const Fleet& fleet;
  const Workload& workload;
  const Name owner;
  const Time now;
  const OwnerHoldings& owned;

  // Revisions (`revisions.cc`), the oldest first.
  std::vector<Revision> revisions;
  size_t update_index = 0, current_index = 0;
  const Revision& update() const { return revisions[update_index]; }
  const Revision& current() const { return revisions[current_index]; }
  const Revision* revision(std::string_view name) const;
  /// The revision of a SidecarSet for new pods, if the set names one. Null: it is not kept any
  /// more.
  const Revision* injected_revision() const;
  void find_revisions();
  /// The update revision becomes the current one once every pod has it.
  void settle_revisions();
  /// What the workload remembers beside its pods. It is written at the end.
  Value memory(std::string_view field) const { return memory_.at(field); }
  void remember(std::string_view field, const Value& value);
  /// A revision that pods of others have is no history.
  void keep_revision(std::string_view name) { used_revisions_.emplace(name); }

  // Pods.
  std::vector<PodRow> rows;
  size_t size() const { return rows.size(); }
  /// None of one that is created here.
  const FleetPod* pod(size_t row) const { return pods_[row]; }
  const Attributes& attributes(size_t row) const;
  bool is_changed(size_t row) const { return changes_[row].has_value(); }
  /// Whether an act has made it as it is wanted.
  bool is_done(size_t row) const {
    return pods_[row] != nullptr && !is_changed(row) && pods_[row]->is_done;
  }
  void change(size_t row, Attributes attributes);
  void create(const Name& node, Pod pod);
  /// Removes rows that are not wanted any more. Rows behind them move up.
  void remove(std::vector<size_t> rows);
  /// What the pod takes from the ConfigMaps and Secrets that its template and its sidecars name.
  Value configs_for(const Value& pod_template, const Value& sidecars);
  /// Whether no pull of this key was emitted yet. From now on it counts as emitted.
  bool is_first_pull(const Name& key) { return pulls_.insert(key).second; }
  /// Whatever a node has under the reference of this pull is not what the rollout needs.
  void distrust_image(const Name& pull_key) { distrusted_.insert(pull_key); }
  bool distrusts_image(const Name& pull_key) const { return distrusted_.contains(pull_key); }
  /// Pods that have ended by themselves and are no rows, and that stay for now: the pause before
  /// another one comes in their place is not over. Only in a cluster.
  const std::vector<const FleetPod*>& ended() const { return ended_; }
  /// Lets those go in whose place none shall come.
  void keep_ended(const std::function<bool(const FleetPod&)>& is_needed);

  /// Gives a notice about pods that is shown as long as it holds.
  void tell(std::string_view reason, std::string_view about, std::string text,
            std::string_view type = "Normal");
  /// No node has room for a pod just now. That is reported, unless a pod that is about to go holds
  /// its place, and the workload is asked again when there is room.
  void lack_room(std::string_view pod, const std::string& why, bool is_soon);
  /// Emits a resource other than a pod.
  void emit(std::string_view kind, const Name& name, Attributes attributes, const Name& driver = {},
            const Name& pool = {}, std::optional<Leftover> leftover = std::nullopt);
  void ask_at(Time time);
  void pool(const Name& name, int depth) { pools_[name] = depth; }
  /// An equal value that this decision has made before, to save memory.
  Value shared(Value value);

  Wanted finish(bool expired = false);
  /// `NAMESPACE/NAME` of a thing in the workload's namespace.
  Name in_space(std::string_view name) const;
  Name driver_of(std::string_view node) const;
  /// Tells a workload of a cluster from those that had its name before and may have left pods;
  /// elsewhere empty.
  Name life() const;

 private:
  void add_row(const FleetPod* pod);
  void add_ended(const FleetPod& pod);
  Readiness readiness_of(size_t row, bool is_held) const;
  void read_row(size_t row);
  bool read_known(PodRow& row, const FleetPod& pod);
  bool read_changed(PodRow& row, const FleetPod* pod, const Attributes& attributes);
  uint32_t template_number(Digest pod_template);
  uint16_t revision_number(std::string_view name) const;
  void emit_revisions();
  void emit_unsaid();

  std::vector<const FleetPod*> pods_, ended_;
  std::deque<PodTag> tags_;             ///< of pods as they are changed here
  std::vector<Box<Resource>> changes_;  ///< none: the pod is as it was
  std::vector<Box<Resource>> others_;
  std::set<Name> said_;
  std::map<Name, int> pools_;
  Value memory_ = Value::dict({});
  std::optional<Time> ask_;
  std::map<Digest, Value> configs_, shared_;
  std::map<Digest, uint32_t> templates_;
  Digest last_template_;
  uint32_t last_template_number_ = 0;
  const Name* last_revision_ = nullptr;
  uint16_t last_revision_number_ = 0;
  std::set<Name> pulls_;
  std::set<Name> distrusted_;
  std::set<Name> used_revisions_;  ///< by pods that are no rows
  bool waits_for_room_ = false;
};

/// A dict with some entries changed; null removes one.
Value edited(const Value& dict, std::vector<Entry> changes);
/// The same for one of the pod's own dicts. A null in it says that the pod lacks what its template
/// has, and stays.
Value edited_within(const Value& dict, std::vector<Entry> changes);

}  // namespace fettle::workloads
