#include "verbs/packages/secrets.h"

#include "packages/arguments.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view secrets_note = "secrets";
constexpr size_t most_kept = 1'000;  ///< of all runs; the newest stay

std::vector<std::string> kept_secrets(const Value& note) {
  std::vector<std::string> secrets;
  const Value list = reveal(note.at("texts"));
  if (list.is_list())
    for (const Value& text : list.items())
      if (text.is_text())
        secrets.push_back(text.text().str());
  return secrets;
}

}  // namespace

void hide_arguments(const Workplace& place, const std::string& arguments) {
  const Result<std::string> json = arguments_as_json(arguments, {});
  if (!json)
    return;
  if (const Result<Value> value = read_json(*json, {}, Duplicates::last_wins))
    place.mask->add_named(*value);
}

Status recall_secrets(const Workplace& place, const Name& environment) {
  if (const std::optional<Value> note = TRY(place.store->note(environment, secrets_note)))
    for (const std::string& secret : kept_secrets(*note))
      place.mask->add(secret);
  return {};
}

Status keep_secrets(const Workplace& place, Edit& edit) {
  std::vector<std::string> secrets = place.mask->secrets();
  if (secrets.size() > most_kept)
    secrets.erase(secrets.begin(), secrets.end() - most_kept);
  const std::optional<Value> note = TRY(place.store->note(edit.environment(), secrets_note));
  if (secrets == (note ? kept_secrets(*note) : std::vector<std::string>()))
    return {};
  const Value texts = Value::list(std::vector<Value>(secrets.begin(), secrets.end()));
  return edit.put_note(secrets_note, Value::dict({{"texts", Value::secret(texts)}}));
}

const Statement& MaskedAudience::shown(const Statement& statement) {
  const auto [place, is_new] = shown_.try_emplace(&statement, statement);
  if (is_new) {
    place->second.text = Name(mask_.text(mask_named_text(statement.text)));
    place->second.detail = mask_.value(mask_variables(statement.detail));
  }
  return place->second;
}

StatementReport MaskedAudience::masked_statement(StatementReport report) {
  if (report.statement->name != "print" || report.status == StatementStatus::failed)
    report.result = mask_.text(report.result);
  report.why = mask_.text(report.why);
  for (FieldChange& change : report.changes) {
    change.before = mask_.value(change.before);
    change.after = mask_.value(change.after);
  }
  report.statement = &shown(*report.statement);
  return report;
}

void MaskedAudience::began(const Statement& statement, size_t number, size_t total) {
  to_.began(shown(statement), number, total);
}

void MaskedAudience::ended(const StatementReport& report) { to_.ended(masked_statement(report)); }

PackageReport MaskedAudience::masked_report(PackageReport report) {
  auto script = std::make_shared<std::vector<Statement>>();
  for (const Statement& statement : *report.script)
    script->push_back(shown(statement));
  for (StatementReport& statement : report.statements) {
    const auto number = static_cast<size_t>(statement.statement - report.script->data());
    statement = masked_statement(std::move(statement));
    statement.statement = &(*script)[number];
  }
  report.script = std::move(script);
  for (std::vector<std::string>* warnings : {&report.warnings, &report.unasked})
    for (std::string& warning : *warnings)
      warning = mask_.text(warning);
  for (Error& finding : report.findings)
    finding = mask_.error(std::move(finding));
  for (Failure& failure : report.summary.failures)
    failure.error = mask_.error(std::move(failure.error));
  for (Skip& skip : report.summary.skips)
    skip.why = mask_.text(skip.why);
  return report;
}

Preview MaskedAudience::masked_preview(Preview preview) const {
  for (std::string& warning : preview.warnings)
    warning = mask_.text(warning);
  for (Step& step : preview.plan.steps)
    step.why = Name(mask_.text(step.why));
  return preview;
}

}  // namespace fettle
