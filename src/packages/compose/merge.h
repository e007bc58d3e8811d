#pragma once
/// What several files say of the same thing, as compose merges it: mappings are merged key by key,
/// lists are put together and an entry that is about the same (a path, a port, a variable) gives way
/// to the later one, anything else is replaced. `command`, `entrypoint` and the test of a
/// `healthcheck` are always replaced.

#include "packages/compose/node.h"

namespace fettle::compose {

/// Puts a later file over an earlier one; both are in the long form. Error: a mapping over a list,
/// and the like.
Status merge_projects(Node& earlier, Node later);
Status merge_services(Node& earlier, Node later);
/// One entry of `services`, `volumes`, `networks`, `configs` or `secrets`.
Status merge_entries(std::string_view section, Node& earlier, Node later);

/// Takes out what `!reset` marks, and of entries about the same thing all but the last.
void settle(Node& document);

}  // namespace fettle::compose
