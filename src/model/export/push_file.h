#pragma once
/// A push as JSON: the arguments of Inmanta's `put_version` and `put_partial`.
///
///   {"resources": [{"id": "fs::File[host,path=/etc/motd],v=0", "requires": [], …}],
///    "resource_sets": {"fs::File[host,path=/etc/motd]": "set-a"},
///    "removed_resource_sets": ["set-b"], "resource_state": {"…": "undefined"},
///    "unknowns": [{"resource": "…", "parameter": "…", "source": "fact"}]}
///
/// With a `version` above 0 it is a full export, else a partial one; `partial` says so outright,
/// and a full export without a version takes the next number. `base` is the version that it was
/// compiled against.

#include "versions/commit.h"

namespace fettle {

/// Errors (`Blame::user`): a type is wrong, or an id is not valid or has the wrong version.
Result<Push> read_push(const Value& document);

}  // namespace fettle
