#pragma once
/// A fleet as commands ask about it: one whose objects are stored here and whose pods are on
/// engines, or one that stands in a cluster.
///
/// A verb says what it wants to know, and how that is told. Where the answer comes from must not
/// shine through, or every verb would have two forms. What is decided about a fleet is decided by
/// the same code wherever it is; only what is stored, seen and remembered comes from elsewhere.
///
/// To add one: implement it, and let `fleet_asked` (`cli/commands/workload_common.h`) choose.

#include "controller/fleet_view.h"
#include "controller/workload_objects.h"

namespace fettle {

/// What would stand in a fleet if objects were applied.
struct Trial {
  std::vector<StoredObject> objects{};  ///< what would become of each
  std::unique_ptr<FleetView> view{};    ///< with the objects as they would be
  std::set<Name> owners{};              ///< of whom it is asked what they want then
  std::vector<std::string> warnings{};
};

/// An image on a node, or on its way there.
struct ImageView {
  std::string node, image;
  std::string status;  ///< `Present`, `Pulling`, `Failed`
  std::string owner;   ///< of a pull: the owner of the job
  std::string why;     ///< why it failed
  int64_t bytes = 0;   ///< of an image that is there
};

class FleetAccess {
 public:
  virtual ~FleetAccess() = default;

  virtual const Workplace& place() const = 0;
  virtual const Name& environment() const = 0;

  /// Objects as Kubernetes writes them, with their status. `kind` in full: `CloneSet`. `space`: at
  /// least those of this namespace; empty: all.
  virtual Result<std::vector<Value>> documents(const std::string& kind,
                                               const std::string& space) = 0;
  /// How far the rollout of an owner such as `CloneSet/NAMESPACE/NAME` is
  /// (`workloads/decide/status.h`). Errors (`Blame::user`): there is no such object, or it has no
  /// rollout.
  virtual Result<Value> rollout_status(const Name& owner) = 0;

  using IsMeant = std::function<bool(const workloads::Object& object)>;
  /// Objects with the status that they have by what was just seen.
  virtual Result<std::vector<workloads::Object>> with_status(const IsMeant& is_meant) = 0;
  /// What was last told about a workload and what was last done for it, line by line. `owner`: one
  /// that `with_status` has just answered.
  virtual Result<std::vector<std::string>> history(const Name& owner) = 0;

  /// The images that workloads name, or with `all` those that nodes have, by node and image.
  virtual Result<std::vector<ImageView>> images(bool all) = 0;

  /// The fleet with an owner: what is stored and known of it. No pod is looked at.
  virtual Result<std::unique_ptr<FleetView>> view_of(const Name& owner) = 0;

  /// Changes nothing. Without objects: what is stored. Errors (`Blame::user`): an object is wrong, or
  /// cannot be changed like that.
  virtual Result<Trial> try_out(std::vector<workloads::Object> objects) = 0;

  /// Changes what is stored of an owner. Errors (`Blame::user`): there is none, or it cannot be
  /// changed like that.
  virtual Result<std::vector<StoredObject>> change(const Name& owner,
                                                   const ObjectChange& change) = 0;
  /// Gives an owner the template of one of its revisions, which goes by this name.
  virtual Result<std::vector<StoredObject>> return_to(const Name& owner, const Name& revision,
                                                      const Value& pod_template) = 0;
};

}  // namespace fettle
