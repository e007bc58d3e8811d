#pragma once
/// Single files artifacts, made and taken away from outside a package.

#include "verbs/workplace.h"

namespace fettle {

/// Makes a files artifact or changes one, as the owner `cli`. `attributes` are those of its kind;
/// `instruction` is the line of a package that would do the same (`upload_files(…)`). The lease
/// must be held.
Result<RecordPointer> put_files_artifact(const Workplace& place, const Name& environment,
                                         const std::string& name, const Value& attributes,
                                         const std::string& instruction);

/// Takes one away. Errors: a service mounts it. The lease must be held.
Status remove_files_artifact(const Workplace& place, const Name& environment, const Key& key);

}  // namespace fettle
