#pragma once
/// Every type of resource that this program knows.

#include "kinds/kind_of.h"

namespace fettle {

/// The table of `kinds.cc`.
const Kinds& all_kinds();
/// Its rows, in order.
std::vector<const TypedKind*> listed_kinds();
/// Whether things of this kind are on the machine on which the program runs: to act on one, it
/// matters which machine that is.
bool is_kind_of_machine(std::string_view name);
/// `docs/resources.md`: what the members of each type are, as Markdown.
std::string page_of_resources();

}  // namespace fettle
