#include "documents/plans.h"

#include "value/json.h"

namespace fettle {
namespace {

Value step_value(const Workplace& place, const Preview& preview, const Step& step) {
  return Value::dict({{"verb", to_string(step.verb)},
                      {"key", value_of(step.key)},
                      {"maybe", step.maybe},
                      {"not_repeated", step.is_outlived},
                      {"why", step.why},
                      {"origin", step.wanted == nullptr ? Value() : Value(step.wanted->origin)},
                      {"fields", list_of(changes_of(place, preview, step))}});
}

Value object_value(const StoredObject& object) {
  std::vector<Value> fields;
  for (const workloads::TakenBack& field : object.taken_back)
    fields.push_back(
        Value::dict({{"field", field.path}, {"before", field.before}, {"after", field.after}}));
  return Value::dict({{"object", object.owner},
                      {"status", to_string(object.fate)},
                      {"takenBack", Value::list(std::move(fields))}});
}

Value turn_value(const workloads::PodTurn& turn) {
  return Value::dict({{"owner", turn.owner},
                      {"namespace", turn.space},
                      {"pod", turn.pod},
                      {"node", turn.node},
                      {"revision", turn.revision},
                      {"action", to_string(turn.sort)},
                      {"why", turn.why},
                      {"batch", turn.batch == 0 ? Value() : Value(turn.batch)}});
}

Value pull_value(const workloads::PullTurn& pull) {
  return Value::dict({{"owner", pull.owner},
                      {"job", pull.job},
                      {"image", pull.image},
                      {"parallelism", pull.at_once},
                      {"nodes", list_of(pull.nodes)},
                      {"present", list_of(pull.present)}});
}

std::vector<Entry> entries_of(const PlanFile& file) {
  return {{"file", file.path},
          {"environment", file.plan.environment},
          {"version", file.plan.version ? Value(*file.plan.version) : Value()},
          {"package", file.plan.package.empty() ? Value() : Value(file.plan.package)},
          {"written", to_string(file.written)}};
}

}  // namespace

Value value_of(const FieldChange& change) {
  return Value::dict({{"field", change.field}, {"before", change.before}, {"after", change.after}});
}

Value document_of(const Workplace& place, const Preview& preview) {
  std::vector<Value> steps, shared;
  for (const Step& step : preview.plan.steps)
    steps.push_back(step_value(place, preview, step));
  for (const auto& [key, sharer] : preview.shared)
    shared.push_back(Value::dict({{"key", value_of(key)},
                                  {"environment", sharer.key.environment},
                                  {"why", to_string(sharer, preview.environment)}}));
  return Value::dict(
      {{"environment", preview.environment},
       {"version", preview.version ? Value(*preview.version) : Value()},
       {"steps", Value::list(std::move(steps))},
       {"at_work", preview.at_work ? Value(to_string(*preview.at_work)) : Value()},
       {"leftovers", preview.plan.leftovers.size()},
       {"leftover_keys", list_of(preview.plan.leftovers)},
       {"shared", Value::list(std::move(shared))},
       {"warnings", list_of(preview.warnings)},
       {"converged", preview.plan.converged()},
       {"kept", preview.at_work ? Value() : plan_file_of(kept_plan_of(preview), {})}});
}

Value document_of(const WorkloadPlan& plan) {
  std::vector<Value> objects, pods, pulls;
  for (const StoredObject& each : plan.objects)
    objects.push_back(object_value(each));
  for (const workloads::PodTurn& turn : plan.rollout.turns)
    pods.push_back(turn_value(turn));
  for (const workloads::PullTurn& pull : plan.rollout.pulls)
    pulls.push_back(pull_value(pull));
  return Value::dict({{"objects", Value::list(std::move(objects))},
                      {"pods", Value::list(std::move(pods))},
                      {"pulls", Value::list(std::move(pulls))},
                      {"warnings", list_of(plan.rollout.warnings)},
                      {"batches", plan.rollout.batches},
                      {"complete", !plan.rollout.is_cut},
                      {"converged", plan.is_settled()}});
}

Value made_plan_document(const MadePlan& made, Value plan) {
  return Value::dict({{"command", made.command},
                      {"source", made.source},
                      {"carried_out_by", list_of(made.carried_out_by)},
                      {"reads_files", made.reads_files},
                      {"plan", std::move(plan)}});
}

Value document_of(const std::vector<PlanFile>& files) {
  std::vector<Value> values;
  for (const PlanFile& file : files) {
    std::vector<Entry> entries = entries_of(file);
    entries.push_back({"due", file.steps.size()});
    values.push_back(Value::dict(std::move(entries)));
  }
  return Value::list(std::move(values));
}

Value document_of(const PlanFile& file) {
  std::vector<Entry> entries = entries_of(file);
  entries.push_back({"steps", Value::list(file.steps)});
  return Value::dict(std::move(entries));
}

Value stand_document(std::string_view stand, std::string_view why) {
  return Value::dict({{"stand", stand}, {"why", why}});
}

}  // namespace fettle
