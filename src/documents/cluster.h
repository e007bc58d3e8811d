#pragma once
/// What is installed in a cluster.

#include "documents/parts.h"
#include "verbs/cluster/install.h"

namespace fettle {

/// `kind`, `namespace` (null: of none), `name`, `status`, `why`.
Value value_of(const InstallationLine& line);
/// `objects`, `warnings`, `problems`.
Value document_of(const InstallationReport& report);

}  // namespace fettle
