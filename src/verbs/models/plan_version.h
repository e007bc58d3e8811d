#pragma once
/// What a release of a version would do: the plan of `apply_version`, without acting.

#include "model/apply/intent.h"
#include "verbs/models/apply_version.h"
#include "verbs/models/export_model.h"
#include "workplace/preview.h"

namespace fettle {

/// A version, or a model that is compiled for it and not stored, as an intent.
struct PlannedModel {
  model::ModelIntent made;
  Known known;
};

/// The plan of an intent of a model, with what looks for itself asked to look.
Result<Preview> preview_model(const Workplace& place, const Name& environment,
                              const PlannedModel& planned);

/// What a stored version would do.
Result<Preview> preview_version(const Workplace& place, const ApplyRequest& request);

/// What the model of a project would do once it is exported in full. Stores no version.
Result<Preview> preview_project(const Workplace& place, const ExportRequest& project,
                                const ApplyRequest& request, const model::CompileOptions& options);

/// The version of a request as an intent.
Result<PlannedModel> planned_version(const Workplace& place, const ApplyRequest& request,
                                     const WholeVersion& version);

}  // namespace fettle
