#pragma once
/// `fettle export`: a project compiled, its resources gathered, and pushed as a version.

#include "model/compile.h"
#include "model/export/exporter.h"
#include "verbs/models/versions.h"

namespace fettle {

struct ExportRequest {
  std::string main_file;    ///< empty: that of the project around the current folder
  std::string environment;  ///< empty: the project's name
  bool is_partial = false;
  std::vector<std::string> removed_sets;
  bool soft_delete = false;  ///< sets to be removed that are exported are not removed
  bool is_dry = false;
  std::optional<uint64_t> base;  ///< none: the newest version at the beginning
  bool may_change_code = false;
};

/// The environment that an export is for. Error (`Blame::user`): neither the request nor the
/// project names one.
Result<std::string> environment_of_export(const ExportRequest& request);

/// A model, compiled and read.
struct ExportedModel {
  model::Project project;
  std::vector<Error> errors;  ///< of the model; the rest is empty then
  model::Exported exported;
  std::string environment;
  /// The model and the functions of its resource types, when they were only read for JSON.
  std::shared_ptr<const void> source{};
};

/// Reads no store. `print` and `warn` as the compiler's.
Result<ExportedModel> export_project(const ExportRequest& request,
                                     const model::CompileOptions& options, bool for_version);

/// What a request and a model push.
struct ModelPush {
  Push push;
  Claims claims;
};
Result<ModelPush> push_of(const ExportRequest& request, ExportedModel& exported);

/// The detail of a version with the code of its handlers among the contents, by digest.
Result<Value> with_handlers_stored(const Workplace& place, const Value& detail);

struct ExportReport {
  std::string environment;
  std::vector<Error> errors;  ///< of the model; nothing was pushed then
  Pushed pushed;
};

Result<ExportReport> export_to_store(const Workplace& place, ExportRequest request,
                                     const model::CompileOptions& options);

/// What the guidelines of partial compiles say against a version.
struct Finding {
  Name set;
  std::string rule, text, where;
};
Result<std::vector<Finding>> check_version(const Workplace& place, const Name& environment,
                                           std::optional<uint64_t> number);

}  // namespace fettle
