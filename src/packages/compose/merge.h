#pragma once
/// Merges what several files say about one thing, as compose does: mappings key by key. Lists are
/// joined, and of two entries about the same path, port or variable the later one wins; anything
/// else is replaced. `command`, `entrypoint` and the test of a `healthcheck` are always replaced.

#include "packages/compose/node.h"

namespace fettle::compose {

/// Puts a later file over an earlier one; both are in the long form. Error: a mapping over a list,
/// and the like.
Status merge_projects(Node& earlier, Node later);
Status merge_services(Node& earlier, Node later);
/// One entry of `services`, `volumes`, `networks`, `configs` or `secrets`.
Status merge_entries(std::string_view section, Node& earlier, Node later);

/// Removes what `!reset` marks, and all but the last of the entries about one thing.
void settle(Node& document);

}  // namespace fettle::compose
