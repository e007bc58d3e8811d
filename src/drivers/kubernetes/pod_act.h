#pragma once
/// One act on a pod of a cluster: its writes, each with the version of the answer before. A pod of
/// others (`cluster/others.h`) is only updated, by a single write, and never made or removed.

#include "cluster/owners.h"
#include "cluster/pod_writes.h"
#include "core/driver.h"
#include "kinds/pod.h"
#include "kubernetes/object_cache.h"

namespace fettle {

/// What an act needs; all of it outlives the act.
struct PodActContext {
  kubernetes::Client& client;
  kubernetes::ObjectCache& objects;
  const cluster::Owners& owners;
  workloads::Gates gates;
  Time now;
};

class PodAct {
 public:
  PodAct(const PodActContext& context, const Act& act, const std::stop_token& stop);
  Result<Outcome> carry_out();

 private:
  Result<Outcome> act();
  Result<Outcome> create();
  Result<Outcome> replace();
  Result<Outcome> update();
  Result<Outcome> update_other();
  Result<Outcome> remove();

  Result<Outcome> open_gates(const Value& object);
  Result<Outcome> write_all(const std::vector<cluster::PodWrite>& writes, const Value& object);
  void take_back(const Value& object, const Attributes& before);
  kubernetes::ApiResult<Value> patch(const cluster::PodWrite& write, Value& object);
  kubernetes::ApiResult<Value> remove_object(Value& object);
  bool has_become_ready(const Value& now) const;
  /// As `object` says it is. None: somebody took it over, or it is not made completely.
  std::optional<Attributes> attributes_of(const Value& object) const;
  bool is_of_others() const { return workloads::is_of_others(wanted_.owner.get()); }
  bool is_wanted_one(const Value& object) const;
  bool is_known_one(const Value& object) const;
  bool is_ours(const Value& object) const;
  static Outcome done(const Value& object, bool changed);

  const PodActContext context_;
  const Act& act_;
  const std::stop_token& stop_;
  const Pod wanted_;
  const kubernetes::ObjectName name_;
  const std::shared_ptr<const cluster::Owner> owner_;  ///< null: it is there no more
  const Value object_;                                 ///< null: there is none
};

}  // namespace fettle
