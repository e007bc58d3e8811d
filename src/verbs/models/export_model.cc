#include "verbs/models/export_model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

#include "base/base64.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "core/environment_name.h"
#include "kinds/handled.h"
#include "kinds/kinds.h"
#include "model/apply/handlers.h"
#include "model/export/commit_words.h"

namespace fettle {
namespace {

Result<model::Project> project_of(const ExportRequest& request) {
  return request.main_file.empty() ? model::project_around(".")
                                   : model::project_of(request.main_file);
}

/// The settings of `project.yml`, which become those of the environment.
std::vector<NewSetting> settings_of(const model::Project& project) {
  const Value& wanted = project.settings.at("environment_settings");
  std::vector<NewSetting> settings;
  for (const Entry& entry : wanted.is_dict() ? wanted.entries() : std::span<const Entry>())
    settings.emplace_back(entry.key.str(), to_text(entry.value));
  return settings;
}

/// The value that distinguishes one code of a handler from another, by the type that it looks
/// after.
Result<Value> code_of(const Value& handlers) {
  std::vector<Entry> made;
  for (const Entry& handler : handlers.entries()) {
    const Value* const source = handler.value.find("source");
    const std::string text = source != nullptr
                                 ? std::string(source->text().view())
                                 : TRY(read_file(Path(handler.value.text_at("program"))));
    made.push_back({handler.key, Value(to_string(fingerprint(text)))});
  }
  return Value::dict(std::move(made));
}

/// A version without them would count as a success although nothing of them is deployed.
Status check_undeclared(const ExportRequest& request, const model::ExportResult& exported) {
  if (request.allows_undeclared || exported.undeclared.empty())
    return {};
  size_t count = 0;
  std::vector<std::string> types;
  for (const auto& [type, instances] : exported.undeclared) {
    count += instances;
    types.push_back(type);
  }
  return world_error(cat(count, count == 1 ? " resource is" : " resources are",
                         " of a type that is not declared, so nothing would deploy ",
                         count == 1 ? "it" : "them", " (", join(types, ", "),
                         "); declare it with `@resource` in Python or in `resources/*.star`, or "
                         "leave such resources out with `--allow-undeclared`"));
}

}  // namespace

Result<std::string> environment_of_export(const ExportRequest& request) {
  if (!request.environment.empty()) {
    TRY(check_environment_name(request.environment));
    return request.environment;
  }
  std::string name = TRY(project_of(request)).name;
  if (name.empty())
    return user_error(
        "name the environment with `-e NAME`, or set the name of the project in project.yml");
  return name;
}

namespace {

Result<Value> facts_of(const Workplace& place, const Name& environment) {
  std::map<Name, Value> found;
  for (const auto& [key, record] : TRY(place.store->known(environment))) {
    if (key.kind != handled_kind().name())
      continue;
    std::vector<Entry> facts;
    const HandledOutputs outputs = read<HandledOutputs>(record->outputs);
    for (const Entry& fact : outputs.facts.entries())
      facts.push_back({fact.key, fact.value.at("value")});
    const Resource* const then = resource_of_then(*record);
    const Value id =
        then == nullptr ? Value() : read<HandledResource>(then->attributes).fields.value().at("id");
    if (!facts.empty() && id.is_text())
      found.emplace(Name(id.text()), Value::dict(std::move(facts)));
  }
  if (found.empty())
    return Value();
  std::vector<Entry> entries;
  for (auto& [id, facts] : found)
    entries.push_back({id, std::move(facts)});
  return Value::dict(std::move(entries));
}

}  // namespace

std::function<Result<Value>()> fact_reader(const Workplace& place, Name environment) {
  return [&place, environment = std::move(environment),
          known = std::optional<Value>()]() mutable -> Result<Value> {
    if (!known)
      known = TRY(facts_of(place, environment));
    return *known;
  };
}

Result<ExportedModel> export_project(const ExportRequest& request,
                                     const model::CompileOptions& options, bool for_version) {
  ExportedModel made;
  made.project = TRY(project_of(request));
  made.environment = request.environment.empty() ? made.project.name : request.environment;
  model::CompileOptions named = options;
  named.environment = made.environment;
  named.is_for_version = for_version;
  model::CompileResult compiled = model::compile(made.project, named);
  made.errors = compiled.errors;
  if (!made.errors.empty())
    return made;
  model::Declarations declarations = TRY(model::declarations_of(*compiled.model, &made.project));
  made.exported = TRY(model::export_model(*compiled.model, declarations, for_version));
  if (!for_version)  // else the commit looks at them
    if (const std::optional<Error> circle = find_cycle(made.exported.items))
      return *circle;
  if (options.warn)
    for (const std::string& warning : made.exported.warnings)
      options.warn(user_error(warning));
  if (!for_version)
    made.source =
        std::make_shared<const std::pair<std::shared_ptr<model::Model>, model::Declarations>>(
            std::move(compiled.model), std::move(declarations));
  return made;
}

Result<ModelPush> push_of(const ExportRequest& request, ExportedModel& made) {
  model::ExportResult& exported = made.exported;
  TRY(check_undeclared(request, exported));
  if (!request.is_partial && !request.removed_sets.empty())
    return user_error(model::export_words().removed_by_full_push());
  if (request.is_partial && !exported.hollow.empty())
    return user_error(cat("the set `", exported.hollow.front().first,
                          "` has members, but none of them is exported; only a set without members "
                          "is deleted automatically (",
                          exported.hollow.front().second, ")"));
  ModelPush result;
  Push& push = result.push;
  push.words = &model::export_words();
  push.is_partial = request.is_partial;
  push.base = request.base;
  push.may_change_code = request.may_change_code;
  push.items = std::move(exported.items);
  std::unordered_set<Name> pushed_sets;
  push.sets.reserve(exported.sets.size());
  for (const auto& [id, set] : exported.sets) {
    push.sets.emplace(id, set);
    pushed_sets.insert(set);
  }
  for (const std::string& set : request.removed_sets)
    if (!request.soft_delete || !pushed_sets.contains(Name(set)))
      push.removed.emplace_back(set);
  push.emptied = std::move(exported.emptied);
  push.unknowns = std::move(exported.unknowns);
  for (auto& [set, findings] : exported.findings)
    push.findings.emplace(set, std::move(findings));
  const Value handlers = TRY(model::find_handlers(exported.handlers));
  push.code = TRY(code_of(handlers));
  std::vector<Entry> detail{{"handlers", handlers}, {"project", made.project.folder.string()}};
  if (!exported.files.empty()) {
    std::vector<Entry> files;
    for (const auto& [name, content] : exported.files)
      files.push_back({Name(name), Value::dict({{"base64", content}})});
    detail.push_back({"files", Value::dict(std::move(files))});
  }
  push.detail = Value::dict(std::move(detail));
  for (model::SharedBy& share : exported.shares)
    result.claims.shares.push_back(
        {std::move(share.id), std::move(share.set), std::move(share.needs)});
  for (model::ClaimedBy& claim : exported.claims)
    result.claims.claims.push_back({std::move(claim.set), std::move(claim.claim)});
  return result;
}

Result<Value> with_handlers_stored(const Workplace& place, const Value& detail) {
  const Value& handlers = detail.at("handlers");
  std::vector<Entry> stored;
  for (const Entry& handler : handlers.is_dict() ? handlers.entries() : std::span<const Entry>()) {
    std::vector<Entry> entries;
    for (const Entry& entry : handler.value.entries())
      if (entry.key == "source")
        entries.push_back({"code", TRY(place.blobs->put(entry.value.text().view()))});
      else if (entry.key != "file")
        entries.push_back(entry);
    stored.push_back({handler.key, Value::dict(std::move(entries))});
  }
  std::vector<Entry> entries(detail.entries().begin(), detail.entries().end());
  entries.push_back({"handlers", Value::dict(std::move(stored))});
  if (const Value* files = detail.find("files")) {
    std::vector<Entry> digests;
    for (const Entry& file : files->entries())
      digests.push_back(
          {file.key,
           file.value.is_dict()
               ? Value(TRY(place.blobs->put(TRY(base64_decode(file.value.text_at("base64"))))))
               : file.value});
    entries.push_back({"files", Value::dict(std::move(digests))});
  }
  return Value::dict(std::move(entries));
}

namespace {

/// The named sets of a version, in their order.
Result<std::vector<std::string>> names_of_sets(const Snapshot& version) {
  std::vector<std::string> names;
  for (const auto& [piece, digest] : TRY(version.pieces()))
    if (!piece.set.empty() && (names.empty() || names.back() != piece.set.view()))
      names.push_back(piece.set.str());
  return names;
}

/// Reports the sets to be deleted. A set that is not there is deleted already, whatever the others
/// are called.
Status tell_removed_sets(const Workplace& place, const ExportRequest& request,
                         const model::CompileOptions& options) {
  if (request.removed_sets.empty() || !request.is_partial)
    return {};
  const std::unique_ptr<Snapshot> base =
      TRY(place.store->versions().open(Name(request.environment), request.base));
  if (base->number() == 0)
    return {};
  std::optional<std::vector<std::string>> names;
  for (const std::string& set : request.removed_sets) {
    if (TRY(base->digest({Name(set), {}})))
      continue;
    if (!names)
      names = TRY(names_of_sets(*base));
    if (options.warn)
      options.warn(user_error(cat("version ", base->number(), " has no set `", printable(set),
                                  "` to delete", suggestion(set, *names))));
  }
  return {};
}

}  // namespace

Result<ExportReport> export_to_store(const Workplace& place, ExportRequest request,
                                     const model::CompileOptions& options) {
  ExportReport report;
  // The base is what the compile could know of, so it is read before the compile.
  request.environment = report.environment = TRY(environment_of_export(request));
  if (!request.base) {
    const uint64_t newest =
        TRY(place.store->versions().open(Name(request.environment), std::nullopt))->number();
    if (newest != 0)
      request.base = newest;
  }
  TRY(tell_removed_sets(place, request, options));
  std::optional<Activity> doing(std::in_place, place.doing, cat("compiling ", request.environment));
  model::CompileOptions at_home = options;
  at_home.home = place.home;
  at_home.facts = fact_reader(place, Name(request.environment));
  ExportedModel made = TRY(export_project(request, at_home, true));
  doing.emplace(place.doing, cat("storing a version of ", request.environment));
  report.errors = made.errors;
  if (!report.errors.empty())
    return report;
  ModelPush pushed = TRY(push_of(request, made));
  const Name environment(report.environment);
  if (!request.is_dry)
    pushed.push.detail = TRY(with_handlers_stored(place, pushed.push.detail));
  report.pushed =
      TRY(push_version(place, environment, std::move(pushed.push), std::move(pushed.claims),
                       request.is_dry, settings_of(made.project)));
  if (options.warn)
    for (const Error& refused : report.pushed.refused_settings)
      options.warn(refused);
  return report;
}

Result<std::vector<Finding>> check_version(const Workplace& place, const Name& environment,
                                           std::optional<uint64_t> number) {
  const std::unique_ptr<Snapshot> snapshot = TRY(place.store->versions().open(environment, number));
  if (snapshot->number() == 0)
    return user_error(cat("nothing was exported to `", environment, "` yet"));
  std::vector<Finding> found;
  struct SetDigest {
    Name set;
    Digest value;
  };
  std::unordered_map<Name, SetDigest> said;
  std::unordered_map<Name, Name> owners;
  std::unordered_set<Name> told;
  std::vector<std::pair<Item, Name>> with_needs;
  for (const auto& [piece, digest] : TRY(snapshot->pieces())) {
    const ContentPointer content = TRY(snapshot->content(piece));
    for (const Item& item : content->items) {
      const auto [before, is_new] =
          said.emplace(item.id, SetDigest{piece.set, value_of_item(piece, item)});
      if (!item.is_shared) {
        owners.emplace(item.id, piece.set);
        if (!item.needs.empty())
          with_needs.emplace_back(item, piece.set);
      }
      if (!is_new && before->second.value != value_of_item(piece, item) &&
          told.insert(item.id).second)
        found.push_back({piece.set, item.is_shared ? "shared resource differs" : "sets overlap",
                         cat("`", printable(before->second.set), "` and `", printable(piece.set),
                             "` disagree about ", item.id),
                         item.origin.str()});
    }
    if (content->findings.is_list())
      for (const Value& finding : content->findings.items())
        found.push_back({piece.set, std::string(finding.text_at("rule")),
                         std::string(finding.text_at("text")),
                         std::string(finding.text_at("where"))});
  }
  for (const auto& [item, set] : with_needs)
    for (const Name& need : item.needs)
      if (const auto owner = owners.find(need); owner != owners.end() && owner->second != set)
        found.push_back(
            {set, "dependency between sets",
             cat(item.id, " requires ", need, " of set `", printable(owner->second), "`"),
             item.origin.str()});
  return found;
}

}  // namespace fettle
