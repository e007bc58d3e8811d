#include "documents/plans.h"

#include "documents/parts.h"
#include "value/json.h"

namespace fettle {
namespace {

Value object_value(const StoredObject& object) {
  std::vector<Value> fields;
  for (const workloads::TakenBack& field : object.taken_back)
    fields.push_back(
        Value::dict({{"field", field.path}, {"before", field.before}, {"after", field.after}}));
  return Value::dict({{"object", object.owner},
                      {"status", to_string(object.fate)},
                      {"takenBack", Value::list(std::move(fields))}});
}

}  // namespace

Value changes_value(const std::vector<FieldChange>& changes) {
  std::vector<Value> values;
  for (const FieldChange& change : changes)
    values.push_back(
        Value::dict({{"field", change.field}, {"before", change.before}, {"after", change.after}}));
  return Value::list(std::move(values));
}

std::vector<FieldChange> changes_in(const Workplace& place, const Preview& preview,
                                    const Step& step) {
  const auto looked = preview.changes.find(step.key);
  return looked == preview.changes.end() ? changes_of(place, step)
                                         : changes_of(place, looked->second);
}

Value step_value(const Workplace& place, const Preview& preview, const Step& step) {
  return Value::dict({{"verb", to_string(step.verb)},
                      {"key", to_string(step.key)},
                      {"maybe", step.maybe},
                      {"not_repeated", step.is_outlived},
                      {"why", step.why},
                      {"origin", step.wanted == nullptr ? Value() : Value(step.wanted->origin)},
                      {"fields", changes_value(changes_in(place, preview, step))}});
}

Value plan_value(const WorkloadPlan& plan) {
  std::vector<Value> objects, pods, pulls;
  for (const StoredObject& each : plan.objects)
    objects.push_back(object_value(each));
  for (const workloads::PodTurn& turn : plan.rollout.turns)
    pods.push_back(Value::dict({{"owner", turn.owner},
                                {"namespace", turn.space},
                                {"pod", turn.pod},
                                {"node", turn.node},
                                {"revision", turn.revision},
                                {"action", to_string(turn.sort)},
                                {"why", turn.why},
                                {"batch", turn.batch == 0 ? Value() : Value(turn.batch)}}));
  for (const workloads::PullTurn& pull : plan.rollout.pulls)
    pulls.push_back(Value::dict({{"owner", pull.owner},
                                 {"job", pull.job},
                                 {"image", pull.image},
                                 {"parallelism", pull.at_once},
                                 {"nodes", names_value(pull.nodes)},
                                 {"present", names_value(pull.present)}}));
  std::vector<Value> warnings(plan.rollout.warnings.begin(), plan.rollout.warnings.end());
  return Value::dict({{"objects", Value::list(std::move(objects))},
                      {"pods", Value::list(std::move(pods))},
                      {"pulls", Value::list(std::move(pulls))},
                      {"warnings", Value::list(std::move(warnings))},
                      {"batches", plan.rollout.batches},
                      {"complete", !plan.rollout.is_cut},
                      {"converged", plan.is_settled()}});
}

}  // namespace fettle
