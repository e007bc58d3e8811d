#pragma once
/// Versions that were made true. `jsonl` tells the same in lines: resources, what left the model,
/// and the summary, as a version may have more resources than somebody wants in one document.

#include "documents/parts.h"
#include "verbs/models/apply_version.h"

namespace fettle {

/// `id`, `set`, `state`, `changed`, `why`, `changes`, `printed`, `origin`.
Value value_of(const DeployedResource& resource);
/// `key`, `fate`, `error`, `why`.
Value value_of(const LeftResource& left);
/// `version`, `states` (how many resources have each), `success`, `interrupted`, `orphans`,
/// `seconds`.
Value summary_of(const ApplyReport& report);
/// The summary with `resources` and `left`.
Value document_of(const ApplyReport& report);

}  // namespace fettle
