#pragma once
/// What the owners of a fleet want. Only owners whom something concerns are asked again: what
/// changed, or a moment that one named. What comes of it is an intent of some owners, so that a
/// change costs as much as those have, and not as much as the fleet.

#include <map>
#include <optional>

#include "workloads/want.h"

namespace fettle {

class FleetWishes {
 public:
  explicit FleetWishes(workloads::Fleet& fleet) : fleet_(fleet) {}

  /// An owner that is asked in any case: it has just been met.
  void add(const Name& owner) { open_.insert(owner); }
  /// Asks whom it concerns until nobody wants anything else. Whether somebody does.
  bool ask(Time now);
  /// Who has wanted something else since this was asked last.
  std::set<Name> take_changed() { return std::exchange(changed_, {}); }

  /// What these owners want; of others it says nothing.
  std::shared_ptr<const Intent> intent(const std::set<Name>& owners) const;
  /// How many acts at once nodes can take: pulls as they allow them, and some of everything else.
  int acts_at_once() const;
  /// When somebody is to be asked again at the latest.
  std::optional<Time> ask_at() const;
  /// Jobs whose time to live is over; handed out once.
  std::vector<Name> take_expired();
  /// Whether all of it has come about, as far as records tell.
  bool is_brought_about(const Known& known) const;

 private:
  struct Wanted {
    Intent intent;
    Digest digest;  ///< of all that is wanted, in whatever order
  };
  bool take(const Name& owner, Intent intent);
  int other_acts() const;

  workloads::Fleet& fleet_;
  std::set<Name> open_;
  std::map<Name, Wanted> wanted_;
  std::map<Name, Time> asks_;
  std::set<Name> expired_;
  std::set<Name> changed_;
};

}  // namespace fettle
