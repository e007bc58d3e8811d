#pragma once
/// Makes and removes single files artifacts from outside a package.

#include <map>

#include "workplace/edit.h"

namespace fettle {

/// Makes or changes a files artifact as the owner `cli`; an artifact that others want keeps its
/// owner. `attributes` are those of its kind. `instruction` is the line of a package that would do
/// the same (`upload_files(…)`).
Result<EditResult> put_files_artifact(const Workplace& place, Edit& edit, const std::string& name,
                                      const Value& attributes, const std::string& instruction);

/// Removes an artifact, with what each of its authors made. Errors (`Blame::user`): a service
/// mounts it.
Result<Summary> remove_files_artifact(const Workplace& place, Edit& edit, const Key& key);

/// The files artifacts that nobody removed, by name, as their last authors made them.
std::map<std::string, RecordPointer> files_artifacts(const Known& known);

/// The attributes of a service, in which each files artifact is the one that its last author made.
Value with_last_authors(const Value& service, const Known& known);

}  // namespace fettle
