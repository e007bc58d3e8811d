#pragma once
/// What of a fleet is due: from what its owners (CloneSets, DaemonSets, jobs, …) want to an intent
/// about what is not yet as they want it.
///
/// A fleet has ten thousand pods, of which a few change at any moment. The obvious way, to ask each
/// owner after each change and to give a run everything that they want, is right, and costs the
/// whole fleet each time. To hand on changes alone is cheap and fragile: when one is lost, a pod
/// stays as it is for ever. So a change only says whom to ask, and an owner always answers with all
/// that it wants; what has come about is left out afterwards, by comparing wishes with records.
///
/// *Who is asked.* An owner is asked when it has just been met (`add`), when something about it has
/// changed in the fleet (`Fleet::take_changed`), and at a moment that it named itself, such as the
/// end of a grace period. Its answer may concern others, so `ask` goes on until nobody is left to
/// ask.
///
/// *What is due.* `due` leaves out what its record says to be as wanted: applied, without an
/// attempt since, and not changed by hand. It leaves out the record, too, and that is essential: a
/// record of an owner that its intent does not want is a leftover to a run, and would be removed.
/// For example, a CloneSet wants the pods a, b and c; c gets another image, and d is wanted no
/// more:
///
///     intent   c and the claim that it mounts
///     known    c, the claim, d
///     a and b are in neither, so nothing happens to them; d is removed
///
/// Invariants:
/// * What is in the intent is also in `Due::known`, if it has a record. What is in `known` alone
///   has to go.
/// * What is taken brings what it needs of the same owner, and when a claim has to go, whoever
///   mounts it.
/// * What a run that goes on knows stays in its intent (`DueScope::in_run`); what was seen to
///   differ from its record is due (`drifted`).
/// * `ask` costs what the owners that it asks cost, `due` what the owners that it is given have;
///   the rest of the fleet does not count.

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
