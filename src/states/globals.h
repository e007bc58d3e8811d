#pragma once
/// Arguments that mean the same for every state and never reach its function: requisites, and what
/// is to be done around the call. To add one: a row in `globals.cc`; a setting also a field in
/// `settings.h`, a requisite an enumerator below, and a row that says what it asks of the core.
///
/// *Requisites.* The obvious reading of `onchanges: [x]` is "after x". But a requisite says up to
/// three things: what goes first, whether the state is due at all, and what else is done. If all
/// requisites became edges of one sort, a state would run although nothing changed, or would count
/// as failed because it was not needed. The core has a word for each of them (`core/resource.h`):
/// when a need is met (`When`), what becomes of the state when it is not (`Unmet`), and whether a
/// change makes it act again (`Bond`):
///
///     requisite   the need is met when the other one   if not      beside that
///     require     succeeded                            blocked
///     watch       succeeded                            blocked     refresh; `mod_watch` is called
///     onchanges   has changes                          not needed
///     onfail      failed, or was kept from running     not needed
///     prereq      would have changes, by a look        not needed  it runs before the other one
///     listen      has changes                          not needed  at the end, `mod_watch` alone
///     arg_bind    left what a hole takes               blocked     the hole is the need
///     order       has ended, however                   –           nobody writes it
///
/// The way of a requisite: `high.h` reads it. `arrange.h` turns `require_in` and the like round, so
/// that from there on each requisite stands with the state that waits. `needs.cc` finds the chunks
/// that it names. `order.cc` makes the order, and listeners. `intent.cc` makes needs by the table
/// above.
///
/// Invariants:
/// * The entries of one requisite of a state are one need: all of them have to hold, or one of them
///   (`require_any`).
/// * A requisite names states of this run. Only `require` and `arg_bind` may also name what a
///   former run left (`Memory`). A target that is not there is an error (with `--lenient`, it fails
///   its state alone), unless a block that waits may still bring it.
/// * A pattern never names the state that has the requisite.

#include <cstdint>
#include <span>
#include <string_view>

#include "core/resource.h"

namespace fettle::states {

/// A condition by which one state waits for others.
enum class Requisite : uint8_t {
  require,    ///< it succeeded, or would (`None`)
  watch,      ///< it succeeded; if it has changes, `mod_watch` is called after the function
  onchanges,  ///< it succeeded and has changes
  onfail,     ///< it failed, or did not run because something it needs failed
  prereq,     ///< it would have changes; it runs after this one
  listen,     ///< it has changes: `mod_watch` is called once, after everything else
  arg_bind,   ///< it left a state from which arguments are taken
  order,      ///< nothing: it only goes first, however it ends
};

/// What a requisite asks of the core, and what is said of it.
struct RequisiteRow {
  /// What Idem wants to have seen of a state that is named, when it says why another one did not
  /// run.
  enum class Expectation : uint8_t { nothing, no_failure, success, changes, failure, would_change };

  Requisite requisite;
  std::string_view name;
  When when;
  Unmet unmet;
  Bond bond;
  Expectation wanted;
  bool is_of_memory;        ///< it may name what a former run left
  std::string_view phrase;  ///< what a state with it does, in the words of a circle
};

const RequisiteRow& row_of(Requisite requisite);
inline std::string_view to_string(Requisite requisite) { return row_of(requisite).name; }

struct GlobalArgument {
  enum class Role : uint8_t {
    requisite,
    inverse,  ///< a requisite of the states that it names
    use,      ///< copies the arguments of another state
    use_in,
    setting,
    place,    ///< `name`, `names`, `order`
    ignored,  ///< without meaning here; Idem ignores it silently
    refused,  ///< it would matter, and fettle does not do it
  };
  std::string_view name;
  Role role;
  Requisite requisite = Requisite::require;
  bool any = false;            ///< one of the states that it names is enough
  std::string_view text = {};  ///< its meaning, for `doc`
};

/// Null: it is an argument of the function.
const GlobalArgument* find_global(std::string_view name);
std::span<const GlobalArgument> global_arguments();

}  // namespace fettle::states
