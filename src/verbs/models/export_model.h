#pragma once
/// `fettle export`: compiles a project, gathers its resources, and pushes them as a version.

#include "model/compile.h"
#include "model/export/exporter.h"
#include "verbs/models/versions.h"

namespace fettle {

struct ExportRequest {
  std::string main_file;    ///< empty: that of the project around the current folder
  std::string environment;  ///< empty: the project's name
  bool is_partial = false;
  std::vector<std::string> removed_sets;
  bool soft_delete = false;  ///< sets to be removed that are also exported are kept
  bool is_dry = false;
  std::optional<uint64_t> base;  ///< none: the newest version at the beginning
  bool may_change_code = false;
  bool allows_undeclared = false;  ///< resources of which no type is declared are left out
};

/// The environment for an export. Error (`Blame::user`): neither the request nor the project names
/// one.
Result<std::string> environment_of_export(const ExportRequest& request);

/// A model that was compiled and read.
struct ExportedModel {
  model::Project project;
  std::vector<Error> errors;  ///< of the model; then the rest is empty
  model::ExportResult exported;
  std::string environment;
  /// Keeps the model and the functions of its resource types, if they were only read for JSON.
  std::shared_ptr<const void> source{};
};

/// What the handlers of an environment have found out, as a compile takes it: {id of a resource:
/// {name: text}}. Null: nothing. One that has expired still counts, as in Inmanta, until the next
/// deployment has asked again. Reads the store when it is asked first.
std::function<Result<Value>()> fact_reader(const Workplace& place, Name environment);

/// Reads no store. `print` and `warn` are those of the compiler.
Result<ExportedModel> export_project(const ExportRequest& request,
                                     const model::CompileOptions& options, bool for_version);

/// The push that a request and a model make. Error (`Blame::world`): the model has resources of which
/// no type is declared, so nothing would deploy them, and the request does not allow that.
struct ModelPush {
  Push push;
  Claims claims;
};
Result<ModelPush> push_of(const ExportRequest& request, ExportedModel& exported);

/// The detail of a version, after the code of its handlers and what serializers gave were stored
/// among the contents, by digest.
Result<Value> with_handlers_stored(const Workplace& place, const Value& detail);

struct ExportReport {
  std::string environment;
  std::vector<Error> errors;  ///< of the model; then nothing was pushed
  PushResult pushed;
};

Result<ExportReport> export_to_store(const Workplace& place, ExportRequest request,
                                     const model::CompileOptions& options);

/// An objection against a version by the guidelines of partial compiles.
struct Finding {
  Name set;
  std::string rule, text, where;
};
Result<std::vector<Finding>> check_version(const Workplace& place, const Name& environment,
                                           std::optional<uint64_t> number);

}  // namespace fettle
