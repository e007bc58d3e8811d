#pragma once
/// The common part of the commands about workloads: the fleet, namespace and objects that are
/// meant, and the messages when they have been carried out.

#include <set>

#include "cli/cluster_request.h"
#include "controller/cluster_fleet.h"
#include "controller/workloads.h"

namespace fettle {

Name fleet_of(const Face& face);
std::string space_of(const Face& face);

/// The cluster that `--kubeconfig` names; null: none is named. From then on `space_of` is the
/// namespace of its context, unless another one is asked for.
Result<std::unique_ptr<ClusterFleet>> cluster_fleet_asked(Face& face);
/// The fleet that a command asks about: that of a cluster, or the one that `-e` names.
Result<std::unique_ptr<FleetAccess>> fleet_asked(Face& face);

/// All objects of all files that `-f` names, if any. Every error is printed before the first one is
/// returned.
Result<std::vector<workloads::Object>> objects_asked(const Face& face);

/// `cloneset`, `CloneSets`, `clone` as kubectl's users write kinds. Error: there is no such kind.
Result<std::string> kind_named(std::string_view word);
/// The kinds in full, in one spelling each.
std::vector<std::string> kind_words();
/// SidecarSets and Namespaces belong to no namespace.
bool has_namespace(std::string_view kind);
/// An owner for people: `CloneSet/default/web`, `SidecarSet/logs`.
std::string owner_text(const Name& owner);
/// A node by its name; the only one, without a name, is `<this>`.
std::string node_text(std::string_view node);
/// `KIND/NAME`, or `KIND` and `NAME` as two words from an argument on, as an owner; `used`: how
/// many words that were.
Result<Name> owner_asked(const Face& face, size_t at, size_t& used);

/// Says what became of objects, and nothing else: the exit code.
int tell_stored(Face& face, const std::vector<StoredObject>& stored);

/// Brings the fleet about unless nobody wants to wait, and tells how that ended: the exit code.
Result<int> finish_workloads(Face& face, Workplace& place, const std::vector<StoredObject>& stored);
/// The same for an edit of single objects: it waits only for the pods of these, and only they
/// count.
Result<int> finish_edit(Face& face, Workplace& place, const std::vector<StoredObject>& stored);

/// Brings a fleet about and tells how that ended: the exit code. `told` gets what came of it; null:
/// nobody asks. `only`: as in `BringOptions`.
Result<int> bring_about(Face& face, Workplace& place, const Name& fleet,
                        BringResult* told = nullptr, std::set<Name> only = {});

/// `--enclave` and `--namespace`.
const std::vector<CommandOption>& workload_options();
/// Those, and the ones by which a command asks about a cluster instead.
std::vector<CommandOption> look_options();
/// `--wait` and `--timeout`.
const std::vector<CommandOption>& wait_options();
CommandOption file_option();
CommandOption gates_option();

std::vector<Command> rollout_commands();
std::vector<Command> pod_commands();
Command controller_command();
Command node_daemon_command();
std::vector<Command> install_commands();
Command workload_get_command();
Command workload_plan_command();
Command workload_describe_command();

}  // namespace fettle
