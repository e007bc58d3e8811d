#pragma once
/// The engines of a workplace: that of this machine, and one for each node. Each is a driver of its
/// own, whose name carries where it is (`engine`, `engine@NODE`), so that a resource and its record
/// say in which world they live, and a world that does not answer disturbs no other.

#include <map>
#include <set>

#include "reconcile/carry_out.h"
#include "workplace/workplace.h"

namespace fettle {

/// The driver of this machine's engine.
inline constexpr std::string_view own_engine = "engine";
/// The driver of a node's engine; of no node, this machine's.
Name engine_of_node(std::string_view node);
/// The node of an engine's driver; empty of this machine's.
std::string_view node_of_engine(const Name& driver);
bool is_engine(const Name& driver);

/// The drivers of all engines, this machine's first.
Result<std::vector<Name>> engines_of(const Workplace& place);
/// All drivers that an intent or what is known names.
std::set<Name> drivers_of(const Intent& intent);
std::set<Name> drivers_of(const Known& known);

/// Why engines of nodes do not answer, by driver; all are asked at once. An engine of a node that
/// is not known any more does not answer either. Errors: a stop was asked for.
Result<std::map<Name, std::string>> silent_engines(const Workplace& place,
                                                   const std::set<Name>& drivers);
/// The same in two steps. Who makes drivers reads the store, so only the second one may happen on
/// another thread.
using Engines = std::map<Name, Driver*>;  ///< by driver; null: there is no such node any more
Engines engines_named(const Workplace& place, const std::set<Name>& drivers);
Result<std::map<Name, std::string>> silent_of(const Engines& engines, const std::stop_token& stop);

/// Stands for an engine of which it is known that it does not answer: nobody waits for it again.
Driver& away_driver();

/// Leaves out of a request what lives where nobody answers: what is wanted there is nobody's
/// to act on, and what is left there stays known. Tells so.
Status leave_silent_engines(const Workplace& place, RunRequest& run_request,
                            RunContext& run_context);

}  // namespace fettle
