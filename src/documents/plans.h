#pragma once
/// What would be done: plans of packages and models, and the rollouts of workloads. A plan that is
/// kept to be carried out later is no document: `plan_file_of` (`workplace/preview.h`) makes it.

#include "documents/parts.h"
#include "verbs/environments/plan_files.h"
#include "verbs/fleet/workload_plan.h"
#include "workplace/field_changes.h"
#include "workplace/preview.h"

namespace fettle {

/// `field`, `before`, `after`; null: there is none.
Value value_of(const FieldChange& change);
/// `plan` of a package or model.
Value document_of(const Workplace& place, const Preview& preview);
/// `diff` of manifests.
Value document_of(const WorkloadPlan& plan);
/// A plan that a command has made.
struct MadePlan {
  std::string command;                        ///< for people
  std::string_view source;                    ///< `package`, `model`, `manifests` or `states`
  std::vector<std::string> carried_out_by{};  ///< the words of a command
  bool reads_files = false;                   ///< of this machine
};
/// `command`, `source`, `carried_out_by`, `reads_files`, and `plan`, its document.
Value made_plan_document(const MadePlan& made, Value plan);
/// Plans that were kept in files: `file`, `environment`, `version`, `package` (null: none),
/// `written`, `due` (how many steps).
Value document_of(const std::vector<PlanFile>& files);
/// One of them, with `steps`: `verb`, `key`.
Value document_of(const PlanFile& file);
/// `stand` (`due`, `stale` or `unknown`) of a kept plan, and `why`.
Value stand_document(std::string_view stand, std::string_view why);

}  // namespace fettle
