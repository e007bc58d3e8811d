#pragma once
/// Environments as a whole: made, listed, looked at, stopped and started, taken away.

#include "documents/parts.h"
#include "verbs/environments/dump.h"
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
/// `enclave dump`: `environment`, `folder`, the numbers of `services` and `files`, and what is
/// `missing`, in words.
Value value_of(const DumpReport& report);
/// `dump`: the `folder`, the `environments` in it, and what is `missing` beside theirs.
Value dump_document(const std::string& folder, const std::vector<DumpReport>& reports,
                    const std::vector<std::string>& missing);
/// `force-unlock`: `environment`, `taken_from`.
Value unlocked_document(const Name& environment, const std::optional<Holder>& holder);
/// `clean`.
Value document_of(const CleanResult& cleaned);

}  // namespace fettle
