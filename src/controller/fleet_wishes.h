#pragma once
/// What the owners of a fleet want. Only owners whom something concerns are asked again: what
/// changed, or a moment that one named. What comes of it is an intent about what is not as it is
/// wanted, so that a change costs as much as what it changes, and not as much as the fleet.

#include <map>
#include <optional>

#include "controller/fleet_records.h"
#include "workloads/decide/want.h"

namespace fettle {

/// What is to be carried out, and what a run has to know of it.
struct Due {
  std::shared_ptr<const Intent> intent;
  Known known;
};

/// Which part of the wishes is due.
struct DueScope {
  bool is_all = false;                     ///< all of them, whatever records say
  const Known* in_run = nullptr;           ///< what a run that goes on knows stays in it
  const std::set<Key>* drifted = nullptr;  ///< what is not as its record says
};

class FleetWishes {
 public:
  explicit FleetWishes(workloads::Fleet& fleet) : fleet_(fleet) {}

  /// An owner that is asked in any case: it has just been met.
  void add(const Name& owner) { open_.insert(owner); }
  /// Asks whom it concerns until nobody wants anything else. Whether somebody does.
  bool ask(Time now);
  /// Who has wanted something else since this was asked last.
  std::set<Name> take_changed() { return std::exchange(changed_, {}); }

  /// What of the wishes of these owners has not come about, and what it stands on. Of the rest and
  /// of others it says nothing, and the run must not know of it.
  Due due(const std::set<Name>& owners, const FleetRecords& records, const DueScope& scope) const;
  /// How many acts at once nodes can take: pulls as they allow them, and some of everything else.
  int acts_at_once() const;
  /// When somebody is to be asked again at the latest.
  std::optional<Time> ask_at() const;
  /// Jobs whose time to live is over; handed out once.
  std::vector<Name> take_expired();
  /// Whether all of it has come about, as far as records tell.
  bool is_brought_about(const Known& known) const;

 private:
  struct Wish {
    std::vector<Boxed<Resource>> resources;  ///< pods last
    size_t pods = 0;
    std::map<Name, int> pools;
  };
  class Gathering;
  bool take(workloads::Wanted wanted);
  int other_acts() const;

  workloads::Fleet& fleet_;
  std::set<Name> open_;
  std::map<Name, Wish> wanted_;
  std::map<Name, Time> asks_;
  std::set<Name> expired_;
  std::set<Name> changed_;
};

}  // namespace fettle
