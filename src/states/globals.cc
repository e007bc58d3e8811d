#include "states/globals.h"

#include <array>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/hash.h"

namespace fettle::states {
namespace {

using Role = GlobalArgument::Role;
using enum Requisite;

using Expectation = RequisiteRow::Expectation;

/// In the order of the enumeration.
constexpr std::array requisite_rows{
    RequisiteRow{require, "require", When::succeeded, Unmet::fail, Bond::order,
                 Expectation::no_failure, true, "requires"},
    RequisiteRow{watch, "watch", When::succeeded, Unmet::fail, Bond::refresh, Expectation::success,
                 false, "watches"},
    RequisiteRow{onchanges, "onchanges", When::changed, Unmet::skip, Bond::order,
                 Expectation::changes, false, "runs on changes of"},
    RequisiteRow{onfail, "onfail", When::failed, Unmet::skip, Bond::order, Expectation::failure,
                 false, "runs on failure of"},
    RequisiteRow{prereq, "prereq", When::succeeded, Unmet::fail, Bond::order,
                 Expectation::would_change, false, "comes after"},
    RequisiteRow{listen, "listen", When::stirred, Unmet::skip, Bond::order, Expectation::nothing,
                 false, "comes after"},
    RequisiteRow{arg_bind, "arg_bind", When::succeeded, Unmet::fail, Bond::order,
                 Expectation::no_failure, true, "takes arguments from"},
    RequisiteRow{order, "order", When::finished, Unmet::fail, Bond::order, Expectation::nothing,
                 false, "comes after"},
};
static_assert([] {
  for (size_t i = 0; i < requisite_rows.size(); ++i)
    if (static_cast<size_t>(requisite_rows[i].requisite) != i)
      return false;
  return true;
}());

constexpr std::array argument_rows{
    GlobalArgument{
        "name", Role::place, {}, false, "the name of what the state manages (default: its ID)"},
    GlobalArgument{"names", Role::place, {}, false, "one state for each name"},
    GlobalArgument{"order",
                   Role::place,
                   {},
                   false,
                   "`first`, `last`, or a number; negative numbers count from the end"},
    GlobalArgument{"require", Role::requisite, require, false, "runs when all of these succeeded"},
    GlobalArgument{"require_any", Role::requisite, require, true,
                   "runs when one of these succeeded"},
    GlobalArgument{"watch", Role::requisite, watch, false,
                   "as `require`, and `mod_watch` is called when one of them has changes"},
    GlobalArgument{"watch_any", Role::requisite, watch, true,
                   "as `watch`, when at least one of these succeeded"},
    GlobalArgument{"onchanges", Role::requisite, onchanges, false,
                   "runs when all of these have changes"},
    GlobalArgument{"onchanges_any", Role::requisite, onchanges, true,
                   "runs when one of these has changes"},
    GlobalArgument{"onfail", Role::requisite, onfail, false, "runs when all of these failed"},
    GlobalArgument{"onfail_all", Role::requisite, onfail, false, "the same as `onfail`"},
    GlobalArgument{"onfail_any", Role::requisite, onfail, true, "runs when one of these failed"},
    GlobalArgument{"prereq", Role::requisite, prereq, false,
                   "runs before these, and only when all of them would have changes"},
    GlobalArgument{"listen", Role::requisite, listen, true,
                   "`mod_watch` is called at the end when one of these has changes"},
    GlobalArgument{"arg_bind", Role::requisite, arg_bind, false,
                   "takes arguments from the new states of these"},
    GlobalArgument{"require_in", Role::inverse, require, false, "these require this one"},
    GlobalArgument{"watch_in", Role::inverse, watch, false, "these watch this one"},
    GlobalArgument{"onchanges_in", Role::inverse, onchanges, false,
                   "these run when this one has changes"},
    GlobalArgument{"onfail_in", Role::inverse, onfail, false, "these run when this one failed"},
    GlobalArgument{"prereq_in", Role::inverse, prereq, false, "these run before this one"},
    GlobalArgument{"listen_in", Role::inverse, listen, true, "these listen to this one"},
    GlobalArgument{
        "use", Role::use, {}, false, "takes those arguments of these that it does not set itself"},
    GlobalArgument{"use_in", Role::use_in, {}, false, "these use this one"},
    GlobalArgument{"sensitive", Role::setting, {}, false, "parameters whose values are hidden"},
    GlobalArgument{
        "ignore_changes", Role::setting, {}, false, "paths of parameters that are never changed"},
    GlobalArgument{"recreate_on_update",
                   Role::setting,
                   {},
                   false,
                   "recreated when it differs: {create_before_destroy: true or false}"},
    GlobalArgument{
        "recreate_if_deleted", Role::setting, {}, false, "recreated when it was deleted"},
    GlobalArgument{"acct_profile", Role::setting, {}, false, "the credentials that it uses"},
    GlobalArgument{
        "unset", Role::setting, {}, false, "parameters whose remembered values are dropped"},
    GlobalArgument{
        "reconcile", Role::setting, {}, false, "{wait, attempt, deadline} for this state"},
    GlobalArgument{"__reconcile_wait__", Role::setting, {}, false, "only the wait"},
    GlobalArgument{
        "unless", Role::setting, {}, false, "commands: skipped when all of them succeed"},
    GlobalArgument{
        "onlyif", Role::setting, {}, false, "commands: runs only when all of them succeed"},
    GlobalArgument{
        "check_cmd", Role::setting, {}, false, "commands that check whether it succeeded"},
    GlobalArgument{"retry", Role::setting, {}, false, "{attempts, until, interval, splay}"},
    GlobalArgument{"failhard", Role::setting, {}, false, "stop the run when it fails"},
    GlobalArgument{"state", Role::ignored},
    GlobalArgument{"fun", Role::ignored},
    GlobalArgument{"parallel", Role::ignored},
    GlobalArgument{"fire_event", Role::ignored},
    GlobalArgument{"reload_modules", Role::ignored},
    GlobalArgument{"reload_grains", Role::ignored},
    GlobalArgument{"reload_pillar", Role::ignored},
    GlobalArgument{"onfail_stop", Role::ignored},
    GlobalArgument{"saltenv", Role::ignored},
    GlobalArgument{"name_order", Role::ignored},
    GlobalArgument{"prerequired", Role::ignored},
    GlobalArgument{"ctx", Role::ignored},
    GlobalArgument{"rerun_data", Role::ignored},
    GlobalArgument{"__id__", Role::ignored},
    GlobalArgument{"__sls__", Role::ignored},
    GlobalArgument{"__env__", Role::ignored},
    GlobalArgument{"runas", Role::refused, {}, false, "a user to run as"},
};

struct TextHash {
  size_t operator()(std::string_view text) const { return hash64(text); }
};

}  // namespace

const RequisiteRow& row_of(Requisite requisite) {
  return requisite_rows[static_cast<size_t>(requisite)];
}

const GlobalArgument* find_global(std::string_view name) {
  static const auto table = [] {
    boost::unordered_flat_map<std::string_view, const GlobalArgument*, TextHash> made;
    for (const GlobalArgument& row : argument_rows)
      made.emplace(row.name, &row);
    return made;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

std::span<const GlobalArgument> global_arguments() { return argument_rows; }

}  // namespace fettle::states
