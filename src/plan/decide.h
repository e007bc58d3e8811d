#pragma once
/// The resolver by needs: it decides the fate of one resource, and why. `make_plan` asks it for
/// every resource before anything happens, and `Run` asks for each one when its needs are settled:
/// the same rules, once with assumed outcomes of the needs and once with known ones.
///
/// The obvious way is to compare the description with the world and to act where they differ. It is
/// not enough. An action (an `exec`, a wait) leaves nothing that could be looked at; events inside
/// a container cannot be seen from outside; and a service may run exactly as described, but with
/// the old contents of a file that it read when it started. Another obvious way is that of `make`:
/// when something was done again, everything that needs it is done again. That does too much,
/// because an output often comes out as it was; and too little, because nothing shows that an act
/// was removed from the middle of a history.
///
/// So a decision looks at four things: the wish (`Resource`), the last act (`Record`), what a
/// driver has seen (`Observation`), and how far the needs have come (`Standing`). The record lists
/// what a resource relied on when it last acted (`Record::acted_on`): a version of each need whose
/// outputs it embeds, that refreshes it, or that it happens inside of. The same list is made of the
/// present state (`versions`). An entry that differs is a reason to act; when none does, no need is
/// a reason, even if one was done again a moment ago. For example, a web server embeds the address
/// of a database. The database is replaced and gets the same address: the web server is kept. (A
/// need that waits for changes, `When::changed`, is another matter: its resource is due each time
/// one comes.)
///
/// A need of which only the order matters leaves no version, since a position is not a dependency,
/// except inside a host. There the acts in their order are the history that made the host what it
/// is. When an act of it is changed, removed or preceded by a new one, the host is recreated,
/// unless the options say otherwise (`check_history`, `PlanOptions::edit_in_place`).
///
/// The rules are numbered in `docs/architecture.md`, "What is redone". They are tried in that
/// order, and the first that holds gives the step (`decide_wanted`). `decide.cc` has the order and
/// the rules about the resource alone. `decide_needs.cc` decides whether its needs are met, and
/// `decide_past.cc` whether what was done is still what is described.
///
/// Invariants:
/// * A decision changes nothing. It reads the graph, the standings and the options; it asks no
///   driver and reads no clock.
/// * Every step has a reason (`Step::why`).
/// * A resource is decided when its needs are settled. In a preview they are settled by assumption;
///   what is due only if an assumption comes true is marked (`Step::maybe`).
/// * A leftover is removed only when a set that the intent speaks for wanted it, no other set wants
///   it, and nothing that is still there uses it.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "core/step.h"
#include "plan/graph.h"

namespace fettle {

struct PlanOptions {
  bool edit_in_place =
      false;  ///< a changed act inside a host runs again, and the host is not recreated
  /// In a preview: who acts on the environment meanwhile. An act that has started and not ended is
  /// then under way, and not interrupted. Empty: nobody.
  std::string at_work{};
  /// The run that decides. It does not repeat its acts, even if it was killed and goes on. 0: none.
  uint64_t run = 0;
  uint64_t edit = 0;  ///< the process that decides; looks are made once in each. 0: none
  /// The keys that a run had changed before it was killed and went on. Null: none.
  std::shared_ptr<const std::set<Key>> changed_before{};
  bool replay = false;  ///< acts from an earlier life of their host are repeated
  /// In a preview: the keys that their driver has looked at and found as described, and whether
  /// each acts when something that it listens to changes. Null: nothing has been looked at.
  std::shared_ptr<const std::map<Key, bool>> as_described{};
  /// Things that nobody here wants any more but that stay because somebody else wants them; the
  /// values say who, as words for a sentence. Null: none.
  std::shared_ptr<const std::map<Key, std::string>> shared{};
  /// The keys that failed in an earlier pass of this run and are not tried again in it. Null: none.
  std::shared_ptr<const std::set<Key>> given_up{};
  /// The keys of acts that changed something in this run and did not succeed. Null: none.
  std::shared_ptr<std::set<Key>> changed_in_vain{};
  /// The lives that hosts have started since they were looked at.
  std::shared_ptr<std::unordered_map<Key, uint64_t, KeyHash>> lives{};
};

/// Stands for a life that has started but whose number is unknown.
constexpr uint64_t unnumbered_life = ~uint64_t(0);

/// Whether an act that did not succeed may have left something. It has not if it was held back, or
/// ended at its first look.
inline bool may_have_changed(const Attempt& attempt) {
  return attempt.verb != Verb::blocked && attempt.verb != Verb::keep;
}

/// How far a resource has come, as seen by those that need it.
enum class Standing : uint8_t {
  open,       ///< not decided
  under_way,  ///< decided, being acted on
  kept,       ///< nothing had to be done
  changed,    ///< acted on, and it changed
  unchanged,  ///< acted on, and it is as before
  maybe,      ///< a preview: will be acted on, with an unknown outcome
  anew,       ///< a preview: will be recreated, and everything inside dies
  failed,
  skipped,  ///< its act left it for another run
  blocked,  ///< cannot be acted on
  unmet,    ///< what it waits for did not happen
};

constexpr bool is_settled(Standing standing) { return standing > Standing::under_way; }
constexpr bool is_good(Standing standing) {
  return standing >= Standing::kept && standing <= Standing::anew;
}

/// Only in a preview: it is acted on, and the outcome is not known yet.
constexpr bool is_doubtful(Standing standing) {
  return standing == Standing::maybe || standing == Standing::anew;
}

class Decider {
 public:
  /// All three arguments must outlive it.
  Decider(const Graph& graph, const std::vector<Standing>& standings, const PlanOptions& options)
      : graph_(graph), standings_(standings), options_(options) {}

  /// The step for a node whose needs are all settled. A node that is only known, and stays in
  /// place, is kept.
  Step decide(NodeId id) const;

  /// Whether every change that the node waits for has come, even if something else keeps it from
  /// acting.
  bool is_called_for(NodeId id) const;

  /// The present versions that the node relies on; its record's `acted_on` will hold them.
  std::vector<Version> versions(NodeId id) const;

  /// The needs that refresh the node and have changed since it last acted.
  std::vector<Key> events(NodeId id) const;

 private:
  Step decide_new(NodeId id) const;
  Step decide_wanted(NodeId id) const;
  Step decide_ensured(NodeId id) const;
  Step decide_asked(NodeId id) const;
  Step decide_reported(NodeId id) const;
  Step decide_leftover(NodeId id) const;
  Step left_to_others(NodeId id) const;
  std::optional<Step> check_needs(NodeId id) const;
  std::optional<Step> check_look(NodeId id) const;
  std::optional<Step> check_attempt(NodeId id) const;
  const Edge* cause(NodeId id) const;
  bool is_done_in_this_run(NodeId id) const;
  bool ended_before_the_kill(NodeId id) const;
  bool has_come(const Edge& edge) const;
  bool is_look(const Edge& edge) const;
  bool reads_what_is_there(NodeId id, const Edge& edge) const;
  bool waits_for_doubtful(NodeId id) const;
  std::optional<Step> check_host(NodeId id) const;
  std::optional<Step> check_interrupted(NodeId id) const;
  std::optional<Step> check_history(NodeId id) const;
  std::optional<Step> check_observation(NodeId id) const;
  std::optional<Step> check_attributes(NodeId id) const;
  std::optional<Step> check_versions(NodeId id) const;
  std::optional<Step> check_life(NodeId id) const;
  bool is_before_a_transition(NodeId id) const;
  bool is_only_started(const Edge& edge) const;
  bool embeds_changed(NodeId id) const;
  bool lives_in(NodeId id, const Edge& host) const;
  bool reader_is_due(NodeId id) const;
  Presence expected_presence(NodeId host) const;
  std::string named(const Key& key) const;
  Step step(NodeId id, Verb verb, Name why, const Key* because = nullptr) const;
  Step blocked(NodeId id, Obstacle obstacle, Name why, const Key* because = nullptr) const;
  Step again(NodeId id, std::string why, const Key* because = nullptr) const;
  Step again_in_place(NodeId id, std::string why, const Key* because = nullptr) const;

  const Graph& graph_;
  const std::vector<Standing>& standings_;
  const PlanOptions& options_;
};

}  // namespace fettle
