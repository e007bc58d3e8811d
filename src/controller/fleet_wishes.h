#pragma once
/// What is due in a fleet: turns what its owners (CloneSets, DaemonSets, jobs, …) want into an
/// intent about everything that is not yet as they want it.
///
/// A fleet has ten thousand pods, of which a few change at any moment. The obvious way, to ask each
/// owner after each change and to give a run everything that they want, is right, but costs as much
/// as the whole fleet each time. To pass on only changes is cheap and fragile: if one is lost, a
/// pod stays wrong for ever. So a change only says whom to ask, and an owner always answers with
/// all that it wants. What is already true is left out afterwards, by comparing wishes with
/// records.
///
/// *Who is asked.* An owner is asked when it has just been met (`add`), when something about it has
/// changed in the fleet (`Fleet::take_changed`), and at a moment that it named itself, such as the
/// end of a grace period. Its answer may concern others, so `ask` goes on until nobody is left to
/// ask.
///
/// *What is due.* `due` leaves out a resource whose record says that it is as wanted: applied,
/// without an attempt since, and not changed by hand. It leaves out the record, too, and that is
/// essential: to a run, a record of an owner that is not wanted by the intent is a leftover, and
/// would be removed. For example, a CloneSet wants the pods a, b and c; c gets another image, and d
/// is wanted no more:
///
///     intent   c and the claim that it mounts
///     known    c, the claim, d
///     a and b are in neither, so nothing happens to them; d is removed
///
/// Invariants:
/// * A resource of the intent that has a record is also in `Due::known`. A record that is in
///   `known` alone has to go.
/// * With a resource, the resources of the same owner that it needs are taken. If a claim has to
///   go, so does every pod that mounts it.
/// * Whatever a run that goes on knows stays in its intent (`DueScope::in_run`). A thing that was
///   seen to differ from its record is due (`drifted`).
/// * What has failed and waits for its next try (`failed`) is in the intent without a mandate, so
///   that what needs it waits as well; what failed to go is in neither.
/// * `ask` costs what the owners that it asks cost, `due` what the owners that it is given have;
///   the rest of the fleet does not count.

#include <map>
#include <optional>

#include "controller/failed_acts.h"
#include "controller/fleet_records.h"
#include "workloads/decide/want.h"

namespace fettle {

/// The intent to be carried out, and the records that its run needs.
struct Due {
  std::shared_ptr<const Intent> intent;
  Known known;
};

/// Selects the part of the wishes that is due.
struct DueScope {
  bool is_all = false;                     ///< all of them, whatever the records say
  const Known* in_run = nullptr;           ///< what a run that goes on knows; that stays in it
  const std::set<Key>* drifted = nullptr;  ///< things that are not as their records say
  const FailedActs* failed = nullptr;      ///< those that are not to be tried yet are not acted on
  Instant now{};                           ///< for those
};

class FleetWishes {
 public:
  explicit FleetWishes(workloads::Fleet& fleet) : fleet_(fleet) {}

  /// Adds an owner that has just been met, and so has to be asked.
  void add(const Name& owner) { open_.insert(owner); }
  /// Others have changed something that an owner has. It is asked again, and what it wants counts
  /// as new, since a wish that stays the same is due again, too.
  void renew(const Name& owner) {
    open_.insert(owner);
    renewed_.insert(owner);
  }
  /// Asks all owners that something concerns until nobody wants anything new. Returns whether
  /// somebody did.
  bool ask(Time now);
  /// Takes out the owners that have wanted something new since the last call.
  std::set<Name> take_changed() { return std::exchange(changed_, {}); }

  /// What these owners want and is not there yet, with all that it stands on. The answer says
  /// nothing about anything else, and the run must not know of that.
  Due due(const std::set<Name>& owners, const FleetRecords& records, const DueScope& scope) const;
  /// How many acts the nodes can take at once: as many pulls as they allow, and some of everything
  /// else.
  int acts_at_once() const;
  /// When an owner has to be asked again at the latest.
  std::optional<Time> ask_at() const;
  /// Takes out the jobs whose time to live is over.
  std::vector<Name> take_expired();
  bool has_expired() const { return !expired_.empty(); }
  /// Forgets owners that are gone, want nothing and have no record. For when no run goes on: a run
  /// may know more than the records.
  void forget_gone(const FleetRecords& records);
  /// Of how many owners it is known what they want.
  size_t owners_kept() const { return wanted_.size(); }
  /// It is gone, and another one of its name may be there.
  void forget_expired(const Name& owner) { expired_.erase(owner); }
  /// Whether everything is as wanted, as far as records tell.
  bool is_brought_about(const Known& known) const;

 private:
  struct Wish {
    std::vector<Box<Resource>> resources;  ///< pods come last
    size_t pods = 0;
    std::map<Name, int> pools;
  };
  class DueCollection;
  bool take(workloads::Wanted wanted);
  int other_acts() const;

  workloads::Fleet& fleet_;
  std::set<Name> open_, renewed_;
  std::map<Name, Wish> wanted_;
  std::set<Name> gone_;  ///< those of `wanted_` that are no workloads any more
  std::map<Name, Time> asks_;
  std::set<Name> expired_;
  std::set<Name> changed_;
};

}  // namespace fettle
