#pragma once
/// The needs among the instructions of a package, to be drawn. Its intent must have been
/// interpreted with needs alone as its order (`DraftOptions::parallel`).

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/resource.h"
#include "packages/statement.h"

namespace fettle {

/// Pairs of places of statements, in order: the second needs the first. What follows from others is
/// left out.
std::vector<std::pair<size_t, size_t>> instruction_graph(const Intent& intent,
                                                         std::span<const Statement> statements);

std::string graphviz_graph(const Intent& intent, std::span<const Statement> statements);
std::string mermaid_graph(const Intent& intent, std::span<const Statement> statements);

}  // namespace fettle
