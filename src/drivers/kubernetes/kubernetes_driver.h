#pragma once
/// The driver for pods, their claims and revisions, and for images on nodes and the jobs that ask
/// for them, in a Kubernetes cluster.
///
/// Nothing is asked before an act: a cache has every object as it was last told or answered. So an
/// act may be about a pod that has changed since it was decided. Then it is left for another run,
/// and never forced; what others change without touching a wish, as a kubelet does all the time,
/// stops nothing. An act does not wait either until something that has its name is gone, since a
/// run goes on for as long as one of its acts does: it is tried again when the name is free.
///
/// An act is one write or more (`cluster/pod_writes.h`). If a later one is refused, such as an
/// image that a policy forbids, those before are taken back, so that the pod goes on serving as it
/// was.

#include "cluster/owners.h"
#include "core/driver.h"
#include "drivers/kubernetes/event_writer.h"
#include "drivers/kubernetes/node_orders.h"
#include "kubernetes/object_cache.h"
#include "workloads/fleet.h"

namespace fettle {

class KubernetesDriver : public Driver {
 public:
  /// All must outlive it. `copies`: null: no Secrets are copied.
  KubernetesDriver(kubernetes::Client& client, kubernetes::ObjectCache& objects,
                   const cluster::Owners& owners, workloads::Gates gates,
                   std::function<Time()> clock, cluster::SecretCopies* copies = nullptr)
      : client_(client),
        objects_(objects),
        owners_(owners),
        gates_(gates),
        clock_(std::move(clock)),
        orders_(client, objects, copies),
        events_(client) {}

  /// Whether pods exist. That a container has ended is the matter of its kubelet.
  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token stop) override;
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override;
  /// Objects are read without any record, so none is lost.
  Result<std::vector<Found>> list(const Name&, std::stop_token) override {
    return std::vector<Found>();
  }

 private:
  Result<Outcome> tell(const Act& act);
  Result<Outcome> keep_revision(const Act& act, const std::stop_token& stop);
  Result<Outcome> keep_job(const Act& act, const std::stop_token& stop);
  Result<Outcome> keep_claim(const Act& act, const std::stop_token& stop);
  Result<Outcome> remove_claim(const Act& act, const std::stop_token& stop);

  kubernetes::Client& client_;
  kubernetes::ObjectCache& objects_;
  const cluster::Owners& owners_;
  const workloads::Gates gates_;
  const std::function<Time()> clock_;
  NodeOrders orders_;
  EventWriter events_;
};

}  // namespace fettle
