#pragma once
/// Single files artifacts, made and taken away from outside a package.

#include <map>

#include "workplace/edit.h"

namespace fettle {

/// Makes a files artifact or changes one, as the owner `cli`; of one that others want the owner
/// stays. `attributes` are those of its kind; `instruction` is the line of a package that would do
/// the same (`upload_files(…)`).
Result<Edited> put_files_artifact(const Workplace& place, Edit& edit, const std::string& name,
                                  const Value& attributes, const std::string& instruction);

/// Takes one away, with what each of its authors made. Errors (`Blame::user`): a service mounts it.
Result<Summary> remove_files_artifact(const Workplace& place, Edit& edit, const Key& key);

/// The files artifacts that nobody removed, by name, as their last authors made them.
std::map<std::string, RecordPointer> files_artifacts(const Known& known);

/// The attributes of a service with each artifact among its files as its last author made it.
Value with_last_authors(const Value& service, const Known& known);

}  // namespace fettle
