#pragma once
/// Copies of Secrets for OpenKruise's daemon.
///
/// A node needs a login to pull a private image, and the daemon of OpenKruise may read Secrets of one
/// namespace only. So whoever orders for it copies there what jobs name: one copy a source, however
/// many jobs and nodes there are, until no job names it any more. fettle's own daemon reads Secrets
/// where they are, and nothing is copied for it.
///
/// * A copy has the annotations of those that OpenKruise's manager makes, so that it goes on with
///   ours. Its name follows from the source, so that none has to be listed to find it, and tells it
///   from theirs.
/// * No Secret is listed or watched. A source is read anew with orders, and its copy follows it then.
/// * Whoever makes a copy and whoever removes one take turns, and look then whether a job needs it. A
///   removal that was decided before would take away what an order has named since.
/// * What cannot be copied is said by the job, and its order goes without.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/condition.h"
#include "base/time.h"
#include "kubernetes/resource_type.h"
#include "value/value.h"

namespace fettle::cluster {

/// Where OpenKruise's daemon reads.
inline constexpr std::string_view copy_space = "kruise-daemon-config";

/// The Secrets that a job names.
std::vector<kubernetes::ObjectName> secrets_of(const Value& job);
/// The copy of one.
kubernetes::ObjectName copy_of(const kubernetes::ObjectName& source);
/// Whether a Secret in that namespace is a copy of ours, by its name.
bool is_own_copy(std::string_view name);
/// A copy of a Secret as it is stored, for server-side apply. `jobs`: all that name it.
Value copied_secret(const Value& source, std::span<const Value> jobs);
/// How a NodeImage names a copy.
Value reference_to_copy(const kubernetes::ObjectName& copy);
/// The names of all copies that jobs need.
std::set<std::string> needed_copies(std::span<const Value> jobs);
/// The copies of ours that a NodeImage names.
std::set<std::string> copies_in(const Value& node_image);

/// What has become of copies. Safe from many threads at once.
class SecretCopies {
 public:
  /// Of how long ago a copy may be when it is ordered with.
  static constexpr Duration fresh = 10s;

  /// Whether OpenKruise's daemon pulls. If not, nothing is copied.
  explicit SecretCopies(bool are_wanted) : are_wanted_(are_wanted) {}
  bool are_wanted() const { return are_wanted_; }

  /// Works on a copy while nobody else does. False: a stop was asked for before.
  bool alone(const std::string& copy, const std::stop_token& stop,
             const std::function<void()>& work);
  /// `why` it cannot be copied; empty: it was.
  void note(const kubernetes::ObjectName& source, Instant now, std::string why);
  /// Whether it was tried just now, and why in vain. None: it is time to try.
  std::optional<std::string> recent(const kubernetes::ObjectName& source, Instant now) const;
  /// It is removed.
  void forget(std::string_view copy);
  /// Of those that could not be made, the others are named by no job any more.
  void forget_failed_but(const std::set<std::string>& needed);
  bool is_empty() const;
  /// The names of those that were made here, and are there, be their sources as they may.
  std::set<std::string> names() const;
  /// What is to be said about the Secrets of a job; empty: nothing.
  std::string complaint(const Value& job) const;

 private:
  struct State {
    Instant tried{};
    std::string why{};
    bool was_made = false;  ///< since it was last removed
  };
  const bool are_wanted_;
  mutable std::mutex mutex_;
  Condition ended_;
  std::set<std::string> under_way_;                 ///< copies on which somebody works
  std::map<kubernetes::ObjectName, State> states_;  ///< by source
};

}  // namespace fettle::cluster
