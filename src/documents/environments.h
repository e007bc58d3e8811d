#pragma once
/// Environments as a whole: made, listed, looked at, stopped and started, taken away.

#include "documents/parts.h"
#include "verbs/environments/inventory.h"

namespace fettle {

/// An environment that was made: `name`, `uuid`, `created`.
Value document_of(const Environment& environment);
/// The same with its `status`, as in `enclave ls`. An environment that only the engine knows has a
/// name and a status.
Value value_of(const Environment& environment, std::string_view status);
/// `enclave inspect`: the same with `services`, `files`, `orphans`, `resources`, and of a model
/// `versions`, `version`, `released`.
Value document_of(const EnvironmentView& view, const Inventory& inventory);
/// What a verb has done with an environment: `name`, `status`; `taken` and `staying` if there are
/// any.
Value value_of(const Name& environment, std::string_view status, const RemovalResult& removed);
/// `clean`.
Value document_of(const CleanResult& cleaned);

}  // namespace fettle
