#pragma once
/// NodeImages: what the nodes of a cluster are told to pull, and what they tell of it.
///
/// A node is told of an image by an *order*: a tag among those of the image, with references to the
/// ImagePullJobs that ask for it, and a version. The node's daemon writes into the status what has
/// become of that version. Each new order of the same tag has a higher one, so that nobody takes an
/// old result for a new one. The form is OpenKruise's, so that its daemon obeys our orders, and ours
/// those of its manager.
///
/// * An order of which the job is known is a record as an act of ours would have left it.
/// * An image counts as present where its order has succeeded, until that order is gone.
/// * Orders do not go by an act. Those whose job is gone, or asks for another image, are cleared; one
///   that has ended is cleared after its time to live, unless its job still counts on it.

#include <functional>
#include <span>

#include "cluster/objects.h"
#include "core/record.h"
#include "kinds/image.h"
#include "kubernetes/resource_type.h"
#include "workloads/fleet.h"

namespace fettle::cluster {

/// How a NodeImage calls an image: `nginx` and `1.28`, `ghcr.io/a/b` and `sha256:…`.
struct NameAndTag {
  std::string name, tag;
  bool operator==(const NameAndTag&) const = default;
};
NameAndTag name_and_tag(std::string_view reference);

/// Whether nobody pulls on a node: there is no machine behind it.
bool is_virtual(const Value& node);

/// Of all that a NodeImage follows of its node: as long as it stays, nothing is due because of the
/// node. Null: zero.
Digest node_digest(const Value& node);

/// The NodeImage of a node, without orders.
Value node_image_for(const Value& node);

struct WantedOrder {
  Image image;
  Value job;  ///< the ImagePullJob as it is stored
  /// Of the job's Secrets, for a daemon that reads no others; none: it reads them where they are.
  std::optional<std::vector<kubernetes::ObjectName>> copies{};
};

/// The ImagePullJobs that the orders of a NodeImage are for, whether they are there or not.
std::set<kubernetes::ObjectName> jobs_in(const Value& node_image);

/// Whether a NodeImage has an order of a job with this UID, as it is wanted.
bool has_order(const Value& node_image, const Image& image, std::string_view job_uid);
/// Whether a node is told of an image, for whichever job.
bool is_ordered(const Value& node_image, std::string_view reference);
/// A merge patch that gives orders.
Value orders_change(const Value& node_image, std::span<const WantedOrder> orders, Time now);

/// What the fleet knows of the job of an order.
struct JobOfOrder {
  Name owner;            ///< whose pulls these are
  Name reference;        ///< the image, as the job has it
  bool is_over = false;  ///< it waits for nothing any more
  bool goes_on = false;  ///< it never completes, and orders anew what is gone
};
/// None: there is no such job, or another one has its name.
using FindJob = std::function<std::optional<JobOfOrder>(const kubernetes::ObjectName& job,
                                                        std::string_view uid)>;

/// An order whose job goes on.
struct KnownOrder {
  Name owner;
  RecordPointer record;
  workloads::PullSeen seen;
};
struct KnownOrders {
  std::map<Key, KnownOrder> orders;
  std::set<Name> present;  ///< references
};
KnownOrders read_orders(const Value& node_image, const FindJob& find, const Name& environment);

/// What is due about the NodeImage of a node, beside orders: it is made when the node has been ready
/// for 30 seconds, has the node's labels and goes with the node; old orders go; one that a node does
/// not answer for ten minutes has failed, and so has one that it does not end in the time that all
/// attempts may take, and ten minutes.
struct Upkeep {
  enum class Write { none, create, remove, change, change_status };
  Write write = Write::none;
  Value body{};                ///< the object, or a merge patch
  std::optional<Time> next{};  ///< when something is due by time alone
};
/// `node`, `node_image`: null if there is none.
Upkeep upkeep_of(const Value& node, const Value& node_image, const FindJob& find, Time now);

}  // namespace fettle::cluster
