#pragma once
/// Functions that the files of the decision share (`decide*.cc`).

#include <string>
#include <vector>

#include "plan/graph.h"

namespace fettle {

/// Whether the act relies on the resource behind the edge, so that a change of it is a reason to
/// act again.
inline bool relies(const Edge& edge) { return edge.hole || edge.bond != Bond::order; }

/// The digest of the outputs of `need` that the holes of `resource` use, in their order.
Digest outputs_in_use(const Resource& resource, const Key& need, const Record* record);

/// Names of fields for a sentence: the first few, and how many more there are.
std::string fields_text(const std::vector<std::string>& fields);

/// The reason of a resource that looks for itself in every run, before it is known whether it acts.
inline constexpr std::string_view checked_why = "checked in every run";

/// Null: it did not rely on `key`.
const Version* find_version(const std::vector<Version>& versions, const Key& key);

/// Whether a stop was interrupted, so that a thing that is seen running may be about to end.
bool stop_was_interrupted(const Node& node);
std::string interrupted_stop_text(const Node& node);

}  // namespace fettle
