#include "verbs/models/plan_version.h"

#include "base/text.h"

namespace fettle {
namespace {

Result<PlannedModel> planned_of(const Workplace& place, const ApplyRequest& request,
                                std::span<const model::WantedResource> wanted,
                                const Value& detail) {
  model::ApplyOptions options;
  options.environment = request.environment;
  options.agents = request.agents;
  options.prune = request.prune;
  // Versions that an older fettle wrote have the code itself.
  const Value stored = TRY(with_handlers_stored(place, detail));
  options.handlers = stored.at("handlers");
  options.files = stored.at("files");
  PlannedModel planned;
  planned.known = TRY(place.store->known(request.environment));
  planned.made = TRY(model::intent_of_version(wanted, planned.known, options));
  return planned;
}

/// Says why something cannot be acted on, from the notes of the model.
void add_notes(const model::ModelIntent& made, Plan& plan) {
  std::map<Key, const std::string*> notes;
  for (const auto& [id, key] : made.keys)
    if (const auto note = made.notes.find(id); note != made.notes.end())
      notes.emplace(key, &note->second);
  for (Step& step : plan.steps)
    if (const auto note = notes.find(step.key);
        note != notes.end() && step.obstacle == Obstacle::unavailable)
      step.why = *note->second;
}

}  // namespace

Result<PlannedModel> planned_version(const Workplace& place, const ApplyRequest& request,
                                     const WholeVersion& version) {
  std::vector<model::WantedResource> wanted;
  for (const WholeItem& whole : version.items)
    wanted.push_back({&whole.item, whole.set});
  return planned_of(place, request, wanted, version.head.detail);
}

Result<Preview> preview_model(const Workplace& place, const Name& environment,
                              const PlannedModel& planned) {
  Preview preview;
  preview.environment = environment.str();
  preview.intent = planned.made.intent;
  PreviewedPlan looked = TRY(look_and_plan(place, *preview.intent, planned.known, {}));
  preview.changes = TRY(refine_by_looks(place, *preview.intent, planned.known, looked));
  preview.plan = std::move(looked.plan);
  preview.seen = std::move(looked.seen);
  preview.shared = std::move(looked.shared);
  add_notes(planned.made, preview.plan);
  return preview;
}

Result<Preview> preview_version(const Workplace& place, const ApplyRequest& request) {
  const WholeVersion version = TRY(read_version(place, request.environment, request.version));
  Preview preview =
      TRY(preview_model(place, request.environment, TRY(planned_version(place, request, version))));
  preview.version = version.head.number;
  preview.at_work = TRY(place.store->holder(request.environment));
  return preview;
}

Result<Preview> preview_project(const Workplace& place, const ExportRequest& project,
                                const ApplyRequest& given, const model::CompileOptions& options) {
  ApplyRequest request = given;
  request.environment = TRY(environment_of_export(project));
  model::CompileOptions at_home = options;
  at_home.home = place.home;
  at_home.facts = fact_reader(place, request.environment);
  ExportedModel made = TRY(export_project(project, at_home, true));
  Preview preview;
  preview.environment = request.environment.str();
  preview.errors = made.errors;
  if (!preview.errors.empty())
    return preview;
  const ModelPush pushed = TRY(push_of(project, made));
  std::vector<model::WantedResource> wanted;
  for (const Item& item : pushed.push.items) {
    const auto set = pushed.push.sets.find(item.id);
    wanted.push_back({&item, set == pushed.push.sets.end() ? Name() : set->second});
  }
  preview = TRY(preview_model(place, request.environment,
                              TRY(planned_of(place, request, wanted, pushed.push.detail))));
  preview.at_work = TRY(place.store->holder(request.environment));
  return preview;
}

}  // namespace fettle
