#pragma once
/// What all owners of a fleet want together, as one intent. Only owners whom something concerns are
/// asked again: what changed, or a moment that one named.

#include <map>
#include <optional>

#include "workloads/want.h"

namespace fettle {

class FleetWishes {
 public:
  explicit FleetWishes(workloads::Fleet& fleet) : fleet_(fleet) {}

  /// An owner that is asked in any case: it has just been met.
  void add(const Name& owner) { open_.insert(owner); }
  /// Asks whom it concerns until nobody wants anything else. Whether the intent is another one.
  bool ask(Time now);

  const std::shared_ptr<const Intent>& intent() const { return intent_; }
  /// When somebody is to be asked again at the latest.
  std::optional<Time> ask_at() const;
  /// Jobs whose time to live is over; handed out once.
  std::vector<Name> take_expired();
  /// Whether all of it has come about, as far as records tell.
  bool is_brought_about(const Known& known) const;

 private:
  bool merge();

  workloads::Fleet& fleet_;
  std::set<Name> open_;
  std::map<Name, Intent> intents_;
  std::map<Name, Time> asks_;
  std::set<Name> expired_;
  std::map<Key, Digest> wishes_;
  std::shared_ptr<const Intent> intent_;
};

}  // namespace fettle
