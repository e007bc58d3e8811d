#include "verbs/cluster/take_over.h"

#include <algorithm>

#include "base/text.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"
#include "verbs/cluster/exchange.h"
#include "verbs/cluster/put_aside.h"
#include "verbs/cluster/spare_revisions.h"
#include "verbs/cluster/upstream.h"
#include "workloads/rollout.h"

namespace fettle {
namespace {

using kubernetes::Client;
using kubernetes::ObjectName;
using kubernetes::ResourceType;
using workloads::edited;

constexpr std::string_view helm_policy = "helm.sh/resource-policy";

const ResourceType& definition_type = kubernetes::types::definitions;

struct LookBefore {
  Upstream upstream{};
  UpstreamUse use{};
  InstallationRequest installation{};  ///< as it is installed afterwards
  InstallationReport report{};
};

bool has_version(const Value& definition, std::string_view version) {
  return std::ranges::any_of(items_of(definition.at("spec").at("versions")),
                             [&](const Value& each) { return each.text_at("name") == version; });
}

/// What a server would refuse: versions in which objects are stored have to stay.
std::string unknown_version(const Upstream::Definition& definition) {
  for (const Value& version : items_of(definition.there.at("status").at("storedVersions")))
    if (const std::string name = to_text(version); !has_version(definition.part.object, name))
      return name;
  const std::string stored = stored_version(definition.there);
  return has_version(definition.part.object, stored) ? std::string() : stored;
}

Value annotated(const Value& metadata, std::vector<Entry> changes) {
  const Value annotations = edited(metadata.at("annotations"), std::move(changes));
  return with(metadata, "annotations", annotations);
}

/// Ours, in place of one of OpenKruise's. Objects stay stored in the version in which they are.
Value definition_in_place(const Upstream::Definition& definition, std::string_view mark) {
  const std::string stored = stored_version(definition.there);
  std::vector<Value> versions;
  for (const Value& version : items_of(definition.part.object.at("spec").at("versions")))
    versions.push_back(with(version, "storage", version.text_at("name") == stored));
  std::vector<Entry> changes{{Name(taken_over_mark), mark}};
  if (is_kept_by_helm(definition.there))
    changes.push_back({Name(helm_policy), "keep"});
  return Value::dict({{"apiVersion", definition_type.api_version()},
                      {"kind", definition_type.kind},
                      {"metadata", annotated(definition.there.at("metadata"), std::move(changes))},
                      {"spec", with(definition.part.object.at("spec"), "versions",
                                    Value::list(std::move(versions)))}});
}

/// `there`: the definition of the type.
RewriteObject rewrite_for_owners(const ResourceType& type, const Value& there) {
  return [type, stored = stored_version(there)](const Value& object) {
    return cluster::rewritten_for_owner(object, type, stored);
  };
}

bool is_to_rewrite(const Upstream::Definition& definition) {
  return !is_taken_over(definition.there) ||
         annotation_of(definition.there, taken_over_mark) != mark_whole;
}

int64_t wanted_replicas(const Value& deployment) {
  return deployment.at("spec").integer_at("replicas", 1);
}

std::vector<NeededRight> rights_to_take_over(const LookBefore& look) {
  const std::string& space = look.installation.space;
  const std::string manager_space = name_of(look.upstream.manager).space;
  std::vector<NeededRight> needed;
  for (const char* const verb : {"list", "create", "patch", "delete"})
    needed.push_back({verb, cluster_types::config_maps, space});
  needed.push_back({"list", kubernetes::types::pods, space});
  for (const Upstream::Webhooks& each : look.upstream.webhooks)
    needed.push_back({"delete", each.type});
  if (!manager_space.empty()) {
    needed.push_back({"patch", cluster_types::deployments, manager_space});
    needed.push_back({"list", kubernetes::types::pods, manager_space});
  }
  for (const char* const verb : {"update", "patch"})
    needed.push_back({verb, definition_type});
  for (const Upstream::Definition& each : look.upstream.definitions)
    if (const auto type = versioned_type(each.there))
      for (const char* const verb : {"list", "update", "patch"})
        needed.push_back({verb, *type});
  return needed;
}

Status add_lines(Client& client, const ClusterPatience& patience, LookBefore& look,
                 const std::stop_token& stop) {
  Exchange told(client, patience, look.report, stop);
  for (const Upstream::Webhooks& each : look.upstream.webhooks)
    told.tell(each.type, name_of(each.there), "to put aside");
  if (const Value& manager = look.upstream.manager; !manager.is_null())
    told.tell(cluster_types::deployments, name_of(manager),
              wanted_replicas(manager) == 0 ? "stopped" : "to stop");
  for (const Upstream::Definition& each : look.upstream.definitions) {
    told.tell(definition_type, each.part.name,
              is_taken_over(each.there) ? "put aside" : "to put aside");
    const auto type = versioned_type(each.there);
    if (!type || !is_to_rewrite(each))
      continue;
    const RewriteObject rewritten = rewrite_for_owners(*type, each.there);
    TRY(told.for_each(*type, [&](const Value& object) -> Status {
      if (const auto made = rewritten(object))
        told.tell(*type, name_of(object), "to rewrite", cat("into ", made->type.version));
      return {};
    }));
  }
  for (const Value& definition : look.use.kept)
    if (annotation_of(definition, helm_policy) != "keep")
      told.tell(definition_type, name_of(definition), "to mark", cat(helm_policy, ": keep"));
  return {};
}

/// What `install` says of definitions is told here.
bool is_told_elsewhere(const Upstream& upstream, const InstallationLine& line) {
  return line.kind == definition_type.kind &&
         std::ranges::any_of(upstream.definitions, [&](const Upstream::Definition& each) {
           return each.part.name.name == line.name;
         });
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void add_problems(const ExchangeRequest& request, LookBefore& look) {
  InstallationReport& report = look.report;
  append(report.problems, look.upstream.problems);
  append(report.problems, look.use.problems);
  if (!look.upstream.is_there() && look.upstream.problems.empty())
    report.problems.push_back("OpenKruise is not in this cluster: install without `--take-over`");
  for (const Upstream::Definition& each : look.upstream.definitions) {
    if (is_going(each.there))
      report.problems.push_back(
          cat(shown_object(definition_type, each.part.name), " is being deleted"));
    if (const std::string version = unknown_version(each); !version.empty())
      report.problems.push_back(cat(shown_object(definition_type, each.part.name),
                                    " stores objects in `", version, "`, which fettle has not"));
  }
  if (look.use.unmatched.empty())
    return;
  const std::string used =
      cat("fettle does not do what is used here: ", join(look.use.unmatched, "; "));
  if (request.is_accepted)
    report.warnings.push_back(used);
  else
    report.problems.push_back(cat(used, ". `--accept` goes on without"));
}

/// Those of a controller of ours that is there.
Result<std::string> gates_of_controller(Client& client, const InstallationRequest& request,
                                        const std::stop_token& stop) {
  for (const InstallationObject& part : TRY(installation_objects(request)))
    if (part.type == cluster_types::deployments)
      if (const auto there = client.get(part.type, part.name, stop))
        return gates_of_manager(*there);
  return std::string();
}

Result<LookBefore> look_before(Client& client, const ExchangeRequest& request,
                               const std::stop_token& stop) {
  LookBefore look{.installation = request.installation};
  look.installation.is_exchange = true;
  look.upstream = TRY(look_at_upstream(client, look.installation, stop));
  look.use = TRY(look_at_use(client, look.upstream, stop));
  if (look.installation.gates.empty() && !look.installation.has_default_gates) {
    look.installation.gates = TRY(gates_of_controller(client, look.installation, stop));
    if (look.installation.gates.empty())
      look.installation.gates = look.use.gates;
  }
  InstallationReport installed = TRY(check_installation(client, look.installation, stop));
  look.report.warnings = std::move(installed.warnings);
  look.report.problems = std::move(installed.problems);
  add_problems(request, look);
  append(look.report.problems, TRY(missing_rights(client, rights_to_take_over(look), stop)));
  append(look.report.warnings, look.use.advice);
  if (look.report.problems.empty())
    TRY(add_lines(client, request.patience, look, stop));
  for (InstallationLine& line : installed.objects)
    if (!is_told_elsewhere(look.upstream, line))
      look.report.objects.push_back(std::move(line));
  return look;
}

class TakeOver {
 public:
  TakeOver(Client& client, const ExchangeRequest& request, const LookBefore& look,
           InstallationReport& report, const std::stop_token& stop)
      : exchange_(client, request.patience, report, stop),
        client_(client),
        look_(look),
        stop_(stop) {}

  Status run() {
    TRY(restore_revisions(client_, stop_));  // if it was handed back by half
    TRY(store());
    TRY(remove_webhooks());
    TRY(stop_controller());
    TRY(stop_manager());
    for (const Upstream::Definition& each : look_.upstream.definitions)
      TRY(replace(each));
    for (const Value& definition : look_.use.kept)
      TRY(mark_for_helm(definition));
    for (const Upstream::Definition& each : look_.upstream.definitions)
      TRY(rewrite_objects(each));
    return {};
  }

 private:
  Status store() {
    for (const InstallationObject& part : TRY(installation_objects(look_.installation)))
      if (part.type == cluster::types::spaces &&
          TRY(find_object(client_, part.type, part.name, stop_)).is_null())
        TRY(send_part(client_, part, false, stop_));
    PutAside aside = TRY(PutAside::read(client_, look_.installation.space, stop_));
    for (const Upstream::Webhooks& each : look_.upstream.webhooks)
      if (annotation_of(each.there, taken_over_mark).empty())
        TRY(aside.store(each.there));
    for (const Upstream::Definition& each : look_.upstream.definitions)
      if (!is_taken_over(each.there))
        TRY(aside.store(original_of(each.there)));
    return {};
  }

  /// Our mark may still be on one that somebody has put back.
  static Value original_of(const Value& definition) {
    if (annotation_of(definition, taken_over_mark).empty())
      return definition;
    return with(definition, "metadata",
                annotated(definition.at("metadata"), {{Name(taken_over_mark), Value()}}));
  }

  Status remove_webhooks() {
    for (const Upstream::Webhooks& each : look_.upstream.webhooks) {
      const ObjectName name = name_of(each.there);
      // Only the one that was stored.
      const auto removed = client_.remove(
          each.type, name,
          {.resource_version = std::string(each.there.at("metadata").text_at("resourceVersion"))},
          stop_);
      if (!removed && removed.error().reason != kubernetes::ApiReason::not_found)
        return static_cast<const Error&>(removed.error());
      exchange_.tell(each.type, name, "put aside");
    }
    return {};
  }

  /// One of ours that ran beside OpenKruise. It comes back by the installation.
  Status stop_controller() {
    for (const InstallationObject& part : TRY(installation_objects(look_.installation))) {
      if (part.type != cluster_types::deployments ||
          TRY(find_object(client_, part.type, part.name, stop_)).is_null())
        continue;
      InstallationObject stopped = part;
      stopped.object = with(part.object, "spec", with(part.object.at("spec"), "replicas", 0));
      TRY(send_part(client_, stopped, false, stop_));
      TRY(exchange_.await_no_pods(part.object));
    }
    return {};
  }

  Status stop_manager() {
    const Value& manager = look_.upstream.manager;
    if (manager.is_null())
      return {};
    const ObjectName name = name_of(manager);
    TRY(await_so(
        exchange_.patience(), cat("Deployment `", to_string(name), "` is stopped"),
        [&] { return scale_down(name); }, stop_));
    TRY(exchange_.await_no_pods(manager));
    exchange_.tell(cluster_types::deployments, name, "stopped");
    return {};
  }

  /// What is remembered are the replicas that it has in that moment. False: somebody, such as
  /// whoever writes its status, has written it meanwhile.
  Result<bool> scale_down(const ObjectName& name) {
    const Value manager = TRY(find_object(client_, cluster_types::deployments, name, stop_));
    const int64_t replicas = manager.is_null() ? 0 : wanted_replicas(manager);
    if (replicas == 0)
      return true;
    const Value metadata =
        Value::dict({{"resourceVersion", manager.at("metadata").at("resourceVersion")},
                     {"annotations", Value::dict({{Name(replicas_mark), cat(replicas)}})}});
    const auto answer = client_.patch(
        cluster_types::deployments, name, kubernetes::PatchType::merge,
        Value::dict({{"metadata", metadata}, {"spec", Value::dict({{"replicas", 0}})}}),
        {.field_manager = std::string(installation_name)}, stop_);
    if (!answer && answer.error().reason != kubernetes::ApiReason::conflict)
      return static_cast<const Error&>(answer.error());
    return answer.has_value();
  }

  /// The mark of one that was replaced before stays as it is.
  Status replace(const Upstream::Definition& definition) {
    const bool is_replaced = is_taken_over(definition.there);
    const std::string_view mark = is_replaced ? annotation_of(definition.there, taken_over_mark)
                                  : versioned_type(definition.there) ? mark_new
                                                                     : mark_whole;
    return exchange_.put_definition(definition.there, definition_in_place(definition, mark),
                                    is_replaced ? "replaced" : "put aside");
  }

  Status annotate_definition(const ObjectName& name, std::string_view key, std::string_view text) {
    const Value metadata = Value::dict({{"annotations", Value::dict({{Name(key), text}})}});
    TRY(client_.patch(definition_type, name, kubernetes::PatchType::merge,
                      Value::dict({{"metadata", metadata}}),
                      {.field_manager = std::string(installation_name)}, stop_));
    return {};
  }

  Status mark_for_helm(const Value& definition) {
    if (annotation_of(definition, helm_policy) == "keep")
      return {};
    TRY(annotate_definition(name_of(definition), helm_policy, "keep"));
    exchange_.tell(definition_type, name_of(definition), "marked", cat(helm_policy, ": keep"));
    return {};
  }

  /// Whoever writes in the meantime writes as in the end, so once is enough.
  Status rewrite_objects(const Upstream::Definition& definition) {
    const auto type = versioned_type(definition.there);
    if (!type || !is_to_rewrite(definition))
      return {};
    const RewriteObject rewritten = rewrite_for_owners(*type, definition.there);
    TRY(exchange_.for_each(*type, [&](const Value& object) {
      return exchange_.rewrite(*type, object, rewritten, true);
    }));
    return annotate_definition(definition.part.name, taken_over_mark, mark_whole);
  }

  Exchange exchange_;
  Client& client_;
  const LookBefore& look_;
  const std::stop_token stop_;
};

}  // namespace

Result<InstallationReport> check_take_over(Client& client, const ExchangeRequest& request,
                                           const std::stop_token& stop) {
  LookBefore look = TRY(look_before(client, request, stop));
  return std::move(look.report);
}

Result<InstallationReport> take_over(Client& client, const ExchangeRequest& request,
                                     const std::stop_token& stop) {
  if (request.installation.image.empty())
    return user_error("which image has fettle? None is published; name yours by `--image`");
  LookBefore look = TRY(look_before(client, request, stop));
  InstallationReport report = std::move(look.report);
  if (!report.problems.empty())
    return report;
  report.objects.clear();
  if (Status done = TakeOver(client, request, look, report, stop).run(); !done) {
    report.failure = std::move(done.error());
    return report;
  }
  Result<InstallationReport> installed = install(client, look.installation, stop);
  if (!installed) {
    report.failure = std::move(installed.error());
    return report;
  }
  for (InstallationLine& line : installed->objects)
    if (!is_told_elsewhere(look.upstream, line))
      report.objects.push_back(std::move(line));
  report.failure = std::move(installed->failure);
  if (!installed->problems.empty())
    report.failure = world_error(cat("OpenKruise is put aside, and fettle cannot be installed: ",
                                     join(installed->problems, "; ")));
  return report;
}

}  // namespace fettle
