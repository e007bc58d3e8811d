#pragma once
/// The plan for a release of a version: what `apply_version` would do.

#include "model/apply/intent.h"
#include "verbs/models/apply_version.h"
#include "verbs/models/export_model.h"
#include "workplace/preview.h"

namespace fettle {

/// The intent of a version, or of a model that was compiled for it and not stored.
struct PlannedModel {
  model::ModelIntent made;
  Known known;
};

/// The plan for the intent of a model. Resources that look for themselves are asked to look.
Result<Preview> preview_model(const Workplace& place, const Name& environment,
                              const PlannedModel& planned);

/// The plan for a stored version.
Result<Preview> preview_version(const Workplace& place, const ApplyRequest& request);

/// The plan for the model of a project as if it were exported in full. Stores no version.
Result<Preview> preview_project(const Workplace& place, const ExportRequest& project,
                                const ApplyRequest& request, const model::CompileOptions& options);

/// The intent of the version that is asked for.
Result<PlannedModel> planned_version(const Workplace& place, const ApplyRequest& request,
                                     const WholeVersion& version);

}  // namespace fettle
