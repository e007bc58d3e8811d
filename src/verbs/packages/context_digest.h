#pragma once
/// The digests of the contexts of builds. What was packed before is known by the places, sizes and
/// times of its files, so an unchanged folder is not read again.

#include "packages/build_context.h"
#include "workplace/workplace.h"

namespace fettle {

Result<PackedContext> context_digest(const Workplace& place, const BuildContext& context);
/// The same, and the tar is among the contents afterwards.
Result<PackedContext> put_context(const Workplace& place, const BuildContext& context);

}  // namespace fettle
