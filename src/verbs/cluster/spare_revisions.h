#pragma once
/// Revisions whose data become others.
///
/// A server never changes the data of a ControllerRevision, so it has to be deleted and made again
/// under its name: pods refer to it by that. The obvious way loses it if the process dies in between,
/// and then its pods are of no revision and are updated. So a spare with all that it is to be stands
/// beside it before it goes, and goes last. A spare has no owner and no labels of pods: no controller
/// takes it for a revision of its own, and no garbage collector removes it.

#include <stop_token>
#include <string>
#include <string_view>

#include "kubernetes/client.h"

namespace fettle {

/// Of fields of revisions that were made anew here.
constexpr std::string_view reviser = "fettle-hand-back";

/// `before` as the server has it, `wanted` of the same name. Why the server refuses it, with nothing
/// changed, as in a namespace that is being deleted; empty: it is done. Error: it breaks off, or
/// somebody has made another one of this name.
Result<std::string> replace_revision(kubernetes::Client& client, const Value& before,
                                     const Value& wanted, const std::stop_token& stop);

/// Makes what somebody has deleted and not made again, and removes the spares. Whoever may not list
/// revisions has made none.
Status restore_revisions(kubernetes::Client& client, const std::stop_token& stop);

}  // namespace fettle
