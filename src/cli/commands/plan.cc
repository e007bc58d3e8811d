#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/package_options.h"
#include "cli/print.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::array groups{Verb::create, Verb::update, Verb::replace, Verb::start,  Verb::stop,
                            Verb::run,    Verb::ensure, Verb::remove,  Verb::forget, Verb::blocked};

/// The attributes that were applied and are wanted, as they may be told.
struct Fields {
  Fields(const Workplace& place, const Step& step)
      : applied(step.known == nullptr || !step.known->applied
                    ? Value()
                    : shown(place, step.known->applied->attributes)),
        wanted(step.wanted == nullptr ? Value() : shown(place, step.wanted->attributes)) {}
  Value before(const std::string& field) const { return at(applied, field); }
  Value after(const std::string& field) const { return at(wanted, field); }
  static Value at(const Value& attributes, const std::string& field) {
    const Value* const found = follow(attributes, field);
    return found == nullptr ? Value() : *found;
  }
  Value applied, wanted;
};

bool is_changed(const Step& step, const std::string& field) {
  static const Value nothing;
  const bool known = step.known != nullptr && step.known->applied;
  return Fields::at(known ? step.known->applied->attributes : nothing, field) !=
         Fields::at(step.wanted == nullptr ? nothing : step.wanted->attributes, field);
}

std::string short_json(const Value& value) {
  std::string json = hidden(write_json(value));
  if (json.size() > 80) {
    json.resize(77);
    json += "…";
  }
  return json;
}

Value step_value(const Workplace& place, const Step& step) {
  const Fields values(place, step);
  std::vector<Value> fields;
  for (const std::string& field : step.fields)
    fields.push_back(Value::dict(
        {{"field", field}, {"before", values.before(field)}, {"after", values.after(field)}}));
  return Value::dict({{"verb", to_string(step.verb)},
                      {"key", to_string(step.key)},
                      {"maybe", step.maybe},
                      {"why", step.why},
                      {"origin", step.wanted == nullptr ? Value() : Value(step.wanted->origin)},
                      {"fields", Value::list(std::move(fields))}});
}

void print_plan(const Face& face, const Workplace& place, const Preview& preview) {
  size_t kept = 0;
  for (const Step& step : preview.plan.steps)
    kept += step.verb == Verb::keep ? 1 : 0;
  for (const Verb verb : groups) {
    bool headed = false;
    for (const Step& step : preview.plan.steps) {
      if (step.verb != verb)
        continue;
      if (!std::exchange(headed, true))
        print(in(Colour::bold, to_string(verb), face.colour));
      print(cat("  ", to_string(step.key), step.maybe ? " (maybe)" : "",
                in(Colour::grey, cat(": ", step.why), face.colour)));
      // Of drift, the attributes are the same: the reason says what it is.
      if (step.fields.empty())
        continue;
      const Fields values(place, step);
      for (const std::string& field : step.fields)
        if (is_changed(step, field))
          print(cat("    ", field, ": ", short_json(values.before(field)), " -> ",
                    short_json(values.after(field))));
    }
  }
  print(cat("keep ", kept,
            preview.plan.leftovers == 0 ? ""
                                        : cat("; ", preview.plan.leftovers,
                                              " no longer wanted, kept (`--prune` removes them)")));
}

Result<int> run(Face& face) {
  const PackageRequest request = TRY(package_request(face));
  Workplace* place = TRY(face.workplace());
  const Preview preview = TRY(preview_package(*place, request));
  if (preview.at_work && !face.quiet)
    print_error(cat(to_string(*preview.at_work), " works on `", preview.environment,
                    "`; its unfinished steps are shown as blocked"));
  if (face.json) {
    std::vector<Value> steps;
    for (const Step& step : preview.plan.steps)
      steps.push_back(step_value(*place, step));
    print_json(
        Value::dict({{"environment", preview.environment},
                     {"steps", Value::list(std::move(steps))},
                     {"at_work", preview.at_work ? Value(to_string(*preview.at_work)) : Value()},
                     {"leftovers", preview.plan.leftovers},
                     {"converged", preview.plan.converged()}}));
  } else {
    print_plan(face, *place, preview);
  }
  return face.parsed.flag("detailed-exitcode") && !preview.plan.converged() ? 4 : 0;
}

}  // namespace

Command plan_command() {
  return CommandGroup{"engine", package_options()}.make(
      "plan", "PACKAGE [ARGUMENTS]", 1, 2,
      "Shows what a run would do, and why. Pulls and touches nothing.\n"
      "Of files of states it is `fettle state --test`, with its options.",
      {"fettle plan examples/shop",
       "fettle plan examples/shop --args-file args.yml --detailed-exitcode",
       "fettle plan examples/homelab/site.sls"},
      run, {{{"--detailed-exitcode"}, "", "exit code 4 when something is to be done"}});
}

}  // namespace fettle
