#include "documents/environments.h"

#include "base/text.h"
#include "documents/files.h"
#include "documents/parts.h"
#include "documents/resources.h"
#include "documents/services.h"

namespace fettle {
namespace {

Value number_or_null(uint64_t number) { return number == 0 ? Value() : Value(number); }

}  // namespace

Value document_of(const Environment& environment) {
  return Value::dict({{"name", environment.name},
                      {"uuid", environment.uuid},
                      {"created", to_string(environment.created)}});
}

Value value_of(const Environment& environment, std::string_view status) {
  if (environment.uuid.empty())
    return status_document(environment.name, status);
  return Value::dict({{"name", environment.name},
                      {"uuid", environment.uuid},
                      {"status", status},
                      {"created", to_string(environment.created)}});
}

Value document_of(const EnvironmentView& view, const Inventory& inventory) {
  return Value::dict({{"name", view.environment.name},
                      {"uuid", view.environment.uuid},
                      {"status", view.status},
                      {"created", to_string(view.environment.created)},
                      {"versions", inventory.versions},
                      {"version", number_or_null(inventory.newest)},
                      {"released", number_or_null(inventory.released)},
                      {"on", text_or_null(inventory.machine)},
                      {"resources", inventory.resources},
                      {"orphans", list_of(inventory.orphans)},
                      {"services", list_of(view.services)},
                      {"files", list_of(view.artifacts)}});
}

Value value_of(const Name& environment, std::string_view status, const RemovalResult& removed) {
  std::vector<Entry> entries{{"name", environment}, {"status", status}};
  if (!removed.taken.empty()) {
    std::vector<Entry> counts;
    for (const auto& [kind, count] : removed.taken)
      counts.push_back({kind, count});
    entries.push_back({"taken", Value::dict(std::move(counts))});
  }
  if (!removed.staying.empty()) {
    std::vector<Value> keys;
    for (const KeptThing& one : removed.staying)
      keys.push_back(value_of(one.key));
    entries.push_back({"staying", Value::list(std::move(keys))});
  }
  return Value::dict(std::move(entries));
}

Value value_of(const DumpReport& report) {
  return Value::dict({{"environment", report.environment},
                      {"folder", report.folder},
                      {"services", report.services},
                      {"files", report.artifacts},
                      {"missing", list_of(report.missing)}});
}

Value dump_document(const std::string& folder, const std::vector<DumpReport>& reports,
                    const std::vector<std::string>& missing) {
  return Value::dict(
      {{"folder", folder}, {"environments", list_of(reports)}, {"missing", list_of(missing)}});
}

Value unlocked_document(const Name& environment, const std::optional<Holder>& holder) {
  return Value::dict(
      {{"environment", environment}, {"taken_from", holder ? Value(to_string(*holder)) : Value()}});
}

Value document_of(const CleanResult& cleaned) {
  std::vector<Value> kept, failed;
  for (const auto& [name, what] : cleaned.kept)
    kept.push_back(Value::dict({{"name", name}, {"why", cat("it has ", what)}}));
  for (const auto& [name, summary] : cleaned.left)
    failed.emplace_back(name);
  return Value::dict({{"environments", list_of(cleaned.environments)},
                      {"kept", Value::list(std::move(kept))},
                      {"failed", Value::list(std::move(failed))},
                      {"contents", cleaned.contents},
                      {"events", cleaned.events},
                      {"images", list_of(cleaned.images.removed)}});
}

}  // namespace fettle
