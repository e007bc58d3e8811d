#include "verbs/cluster/take_over.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/text.h"
#include "cluster/types.h"
#include "kubernetes/discovery.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"
#include "verbs/cluster/exchange.h"
#include "verbs/cluster/handed_revisions.h"
#include "verbs/cluster/held_lease.h"
#include "verbs/cluster/put_aside.h"
#include "verbs/cluster/spare_revisions.h"
#include "verbs/cluster/upstream.h"
#include "workloads/rollout.h"

namespace fettle {
namespace {

using kubernetes::ApiReason;
using kubernetes::Client;
using kubernetes::ObjectName;
using kubernetes::ResourceType;
using workloads::edited;

const ResourceType& crd_type = kubernetes::types::definitions;
constexpr std::string_view lease_name = "kruise-manager";
/// Where OpenKruise's manager keeps its webhooks while it fills in its address.
constexpr std::string_view template_annotation = "template";
constexpr std::string_view policy_of_helm = "helm.sh/resource-policy";

/// The text of an annotation as a number; else 1.
int64_t remembered_replicas(const Value& manager) {
  const std::string_view text = annotation_of(manager, replicas_mark);
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && number > 0 ? number : 1;
}

Value metadata_with(const Value& metadata, std::vector<Entry> annotations) {
  return with(metadata, "annotations", edited(metadata.at("annotations"), std::move(annotations)));
}

/// A configuration without its webhooks: OpenKruise's manager does not start where it is missing.
/// By an empty template, it puts none into it either.
Value webhooks_without_webhooks(const ResourceType& type, const Value& original) {
  const Value& before = original.at("metadata");
  Value metadata = Value::dict({{"name", before.at("name")}});
  for (const char* const key : {"labels", "annotations"})
    if (before.at(key).is_dict())
      metadata = with(metadata, key, before.at(key));
  metadata =
      metadata_with(metadata, {{Name(template_annotation), "[]"}, {Name(taken_over_mark), "back"}});
  return Value::dict({{"apiVersion", type.api_version()},
                      {"kind", type.kind},
                      {"metadata", metadata},
                      {"webhooks", Value::list({})}});
}

/// The whole one in place of that.
Value webhooks_in_place(const ResourceType& type, const Value& there, const Value& original) {
  const Value& templated = original.at("metadata").at("annotations").at(template_annotation);
  return Value::dict(
      {{"apiVersion", type.api_version()},
       {"kind", type.kind},
       {"metadata", metadata_with(there.at("metadata"), {{Name(template_annotation), templated},
                                                         {Name(taken_over_mark), Value()}})},
       {"webhooks", original.at("webhooks")}});
}

Value original_in_place(const Value& there, const Value& original) {
  const Value& policy = original.at("metadata").at("annotations").at(policy_of_helm);
  return Value::dict(
      {{"apiVersion", crd_type.api_version()},
       {"kind", crd_type.kind},
       {"metadata", metadata_with(there.at("metadata"), {{Name(policy_of_helm), policy},
                                                         {Name(taken_over_mark), Value()}})},
       {"spec", original.at("spec")}});
}

/// In the version that OpenKruise stores, with the template in the words of its newest revision, and
/// with what nobody could add later.
std::optional<cluster::VersionedObject> as_it_was_stored(const Value& object,
                                                         const ResourceType& type,
                                                         const std::vector<Value>& revisions) {
  auto made = cluster::rewritten_for_storage(object, type, type.version);
  const auto change_spec = [&](std::string_view field, const std::optional<Value>& changed) {
    if (!changed)
      return;
    if (!made)
      made = cluster::VersionedObject{
          type, with(object, {{"apiVersion", type.api_version()}, {"kind", type.kind}})};
    made->object = with(made->object, "spec",
                        with(made->object.at("spec"), field, changed->at("spec").at(field)));
  };
  change_spec("template", cluster::with_revised_template(object, type, revisions));
  change_spec("podManagementPolicy", cluster::with_fixed_defaults(object, type));
  return made;
}

struct LookBack {
  Upstream upstream{};
  InstallationRequest installation{};
  std::optional<InstallationObject> controller{};  ///< ours, if it is there
};

/// The definitions of ours that stand in place of others.
std::vector<const Upstream::Definition*> taken_definitions(const Upstream& upstream) {
  std::vector<const Upstream::Definition*> taken;
  for (const Upstream::Definition& each : upstream.definitions)
    if (is_taken_over(each.there))
      taken.push_back(&each);
  return taken;
}

std::vector<NeededRight> rights_to_hand_back(const LookBack& look) {
  const std::string& space = look.installation.space;
  const ObjectName manager = name_of(look.upstream.manager);
  std::vector<NeededRight> needed{{"delete", cluster_types::config_maps, space}};
  if (look.controller)
    needed.push_back({"list", kubernetes::types::pods, space});
  for (const UpstreamWebhooks& each : upstream_webhooks())
    for (const char* const verb : {"create", "update"})
      needed.push_back({verb, each.type});
  if (!manager.space.empty())
    needed.push_back({"patch", cluster_types::deployments, manager.space});
  for (const Upstream::Definition* each : taken_definitions(look.upstream)) {
    needed.push_back({"update", crd_type});
    if (const auto type = versioned_type(each->there))
      for (const char* const verb : {"list", "update", "patch"})
        needed.push_back({verb, *type});
  }
  // Of revisions that an earlier run has left, too.
  if (!look.upstream.definitions.empty()) {
    for (const char* const verb : {"get", "create", "update"})
      needed.push_back({verb, kubernetes::types::leases, lease_space_of(look.upstream.manager)});
    for (const char* const verb : {"list", "create", "delete"})
      needed.push_back({verb, cluster::types::revisions});
    for (const char* const verb : {"list", "patch"})
      needed.push_back({verb, kubernetes::types::pods});
  }
  return needed;
}

class HandBack {
 public:
  HandBack(Client& client, const ExchangeRequest& request, const LookBack& look, PutAside& aside,
           InstallationReport& report, const std::stop_token& stop)
      : lease_(client, {lease_space_of(look.upstream.manager), std::string(lease_name)},
               request.patience, stop),
        patience_(request.patience),
        exchange_(client, patience_, report, stop),
        client_(client),
        look_(look),
        aside_(aside),
        report_(report),
        stop_(stop),
        taken_(taken_definitions(look.upstream)) {
    patience_.pause = [this, &request](Duration pause, const std::stop_token& token) -> Status {
      TRY(lease_.keep());
      return request.patience.pause(pause, token);
    };
  }

  Status run() {
    TRY(remove_controller());
    TRY(hold());
    for (const Upstream::Definition* each : taken_)
      TRY(rewrite_objects(*each, nullptr));
    TRY(make_webhooks());
    TRY(start_manager());
    for (const Upstream::Definition* each : taken_)
      TRY(restore(*each));
    TRY(fill_webhooks());
    TRY(settle_revisions());
    TRY(remove_policies());
    return lease_.give_back();
  }

 private:
  using Generations = std::map<ObjectName, int64_t>;

  /// Where none of its objects could be read wrongly, nobody is held up.
  Status hold() { return taken_.empty() ? Status() : lease_.hold(); }

  Status remove_controller() {
    if (!look_.controller)
      return {};
    const auto removed =
        client_.remove(look_.controller->type, look_.controller->name,
                       {.propagation = kubernetes::Propagation::background}, stop_);
    if (!removed && removed.error().reason != ApiReason::not_found)
      return static_cast<const Error&>(removed.error());
    exchange_.tell(look_.controller->type, look_.controller->name, "deleted");
    return exchange_.await_no_pods(look_.controller->object);
  }

  /// `seen`: what they are like then, if somebody wants to know.
  Status rewrite_objects(const Upstream::Definition& definition, Generations* seen) {
    const auto type = versioned_type(definition.there);
    if (!type)
      return {};
    std::string space;
    std::vector<Value> revisions;
    const RewriteObject rewritten = [&](const Value& object) {
      return as_it_was_stored(object, *type, revisions);
    };
    return exchange_.for_each(*type, [&](const Value& object) -> Status {
      TRY(lease_.keep());
      if (std::string other = name_of(object).space; !other.empty() && other != space) {
        revisions = TRY(revisions_in(other));
        space = std::move(other);
      }
      const int64_t generation = object.at("metadata").integer_at("generation");
      const bool is_due = rewritten(object).has_value();
      TRY(exchange_.rewrite(*type, object, rewritten, false));
      if (seen != nullptr)
        (*seen)[name_of(object)] = generation + (is_due ? 1 : 0);
      return {};
    });
  }

  Result<std::vector<Value>> revisions_in(const std::string& space) {
    auto listed = client_.list(cluster::types::revisions, space, {}, stop_);
    if (!listed)
      return static_cast<const Error&>(listed.error());
    return std::move(listed->items);
  }

  Status make_webhooks() {
    for (const auto& [type, name] : upstream_webhooks()) {
      const Value original = aside_.find(type.kind, name);
      if (original.is_null() || !TRY(find_object(client_, type, {"", name}, stop_)).is_null())
        continue;
      TRY(client_.create(type, {}, webhooks_without_webhooks(type, original), {}, stop_));
    }
    return {};
  }

  Status start_manager() {
    const ObjectName name = name_of(look_.upstream.manager);
    const bool is_stopped = look_.upstream.manager.at("spec").integer_at("replicas", 1) == 0;
    if (is_stopped || !annotation_of(look_.upstream.manager, replicas_mark).empty()) {
      const Value metadata =
          Value::dict({{"annotations", Value::dict({{Name(replicas_mark), Value()}})}});
      Value change = Value::dict({{"metadata", metadata}});
      if (is_stopped)
        change = with(change, "spec",
                      Value::dict({{"replicas", remembered_replicas(look_.upstream.manager)}}));
      TRY(client_.patch(cluster_types::deployments, name, kubernetes::PatchType::merge, change,
                        {.field_manager = std::string(installation_name)}, stop_));
    }
    if (is_stopped)
      exchange_.tell(cluster_types::deployments, name, "started");
    return await_so(
        exchange_.patience(), cat("Deployment `", to_string(name), "` is ready"),
        [&]() -> Result<bool> {
          const Value now = TRY(find_object(client_, cluster_types::deployments, name, stop_));
          const Value& status = now.at("status");
          return status.integer_at("observedGeneration") >=
                     now.at("metadata").integer_at("generation") &&
                 status.integer_at("readyReplicas") > 0;
        },
        stop_);
  }

  /// The last look at its objects is as short before as can be: what is written in between in
  /// v1alpha1, the server would read without its fields.
  Status restore(const Upstream::Definition& definition) {
    TRY(hold());
    Generations seen;
    TRY(rewrite_objects(definition, &seen));
    const ObjectName& name = definition.part.name;
    const Value there = TRY(find_object(client_, crd_type, name, stop_));
    const Value original = aside_.find(crd_type.kind, name.name);
    if (there.is_null() || !is_taken_over(there))
      return {};
    TRY(exchange_.put_definition(there, original_in_place(there, original), "restored"));
    const auto type = versioned_type(definition.there);
    if (!type)
      return {};
    return exchange_.for_each(*type, [&](const Value& object) -> Status {
      const ObjectName each = name_of(object);
      const auto before = seen.find(each);
      if (before == seen.end() || before->second < object.at("metadata").integer_at("generation"))
        report_.warnings.push_back(
            cat(shown_object(*type, each),
                " was written while its definition changed: apply it again"));
      return {};
    });
  }

  Status fill_webhooks() {
    for (const auto& [type, name] : upstream_webhooks()) {
      const Value original = aside_.find(type.kind, name);
      const Value there = TRY(find_object(client_, type, {"", name}, stop_));
      if (original.is_null() || there.is_null() || annotation_of(there, taken_over_mark).empty())
        continue;
      TRY(client_.replace(type, {"", name}, webhooks_in_place(type, there, original), {}, stop_));
      exchange_.tell(type, {"", name}, "restored");
    }
    return {};
  }

  /// Of all kinds whose definitions are OpenKruise's again, now or since an earlier run.
  Status settle_revisions() {
    TRY(restore_revisions(client_, stop_));
    HandedRevisions handed(exchange_, lease_, report_);
    for (const Upstream::Definition& each : look_.upstream.definitions)
      if (const auto type = versioned_type(each.there))
        TRY(handed.settle(*type));
    handed.tell_rest();
    return {};
  }

  /// Those of SidecarSets, which OpenKruise's webhook does again.
  Status remove_policies() {
    const auto served = kubernetes::Discovery::ask(client_, stop_);
    if (!served)
      return static_cast<const Error&>(served.error());
    for (const char* const plural :
         {"mutatingadmissionpolicybindings", "mutatingadmissionpolicies"}) {
      const auto* const found = served->find("admissionregistration.k8s.io", plural);
      if (found == nullptr)
        continue;
      const auto listed =
          client_.list(found->type, {},
                       {.label_selector = cat(installation_label, "=", installation_name)}, stop_);
      if (!listed && listed.error().reason == ApiReason::forbidden)
        continue;  // said when fettle is removed
      if (!listed)
        return static_cast<const Error&>(listed.error());
      for (const Value& each : listed->items) {
        const auto removed =
            client_.remove(found->type, name_of(each),
                           {.uid = std::string(each.at("metadata").text_at("uid"))}, stop_);
        if (!removed && removed.error().reason != ApiReason::not_found)
          return static_cast<const Error&>(removed.error());
        exchange_.tell(found->type, name_of(each), "deleted");
      }
    }
    return {};
  }

  HeldLease lease_;
  ClusterPatience patience_;  ///< in whose pauses the lease is kept
  Exchange exchange_;
  Client& client_;
  const LookBack& look_;
  PutAside& aside_;
  InstallationReport& report_;
  const std::stop_token stop_;
  const std::vector<const Upstream::Definition*> taken_;
};

Result<LookBack> look_back(Client& client, const ExchangeRequest& request,
                           InstallationReport& report, const PutAside& aside,
                           const std::stop_token& stop) {
  LookBack look{.installation = request.installation};
  look.installation.is_exchange = true;
  look.upstream = TRY(look_at_upstream(client, look.installation, stop));
  std::vector<std::string>& problems = report.problems;
  problems = look.upstream.problems;
  for (InstallationObject& part : TRY(installation_objects(look.installation))) {
    if (part.type != cluster_types::deployments)
      continue;
    const Value there = TRY(find_object(client, part.type, part.name, stop));
    if (there.is_null() || !has_installation_label(there))
      continue;
    if (const std::string keeper = keeper_of(there); !keeper.empty())
      problems.push_back(cat(shown_object(part.type, part.name), " is of ", keeper,
                             ": remove fettle there first"));
    look.controller = std::move(part);
  }
  if (!problems.empty())
    return look;
  if (aside.is_empty() && taken_definitions(look.upstream).empty() &&
      annotation_of(look.upstream.manager, replicas_mark).empty()) {
    problems.push_back(cat("nothing of OpenKruise is put aside in `", look.installation.space,
                           "`; `--namespace` names another one"));
    return look;
  }
  if (look.upstream.manager.is_null())
    problems.push_back(cat("there is no Deployment `", upstream_manager_name,
                           "` that could take over: install OpenKruise's manager first"));
  for (const Upstream::Definition* each : taken_definitions(look.upstream))
    if (aside.find(crd_type.kind, each->part.name.name).is_null())
      problems.push_back(cat("the copy of OpenKruise's definition `", each->part.name.name,
                             "` is gone: apply OpenKruise's own one"));
  for (std::string& missing : TRY(missing_rights(client, rights_to_hand_back(look), stop)))
    problems.push_back(std::move(missing));
  InstallationReport removal = TRY(check_uninstall(client, look.installation, stop));
  for (std::string& problem : removal.problems)
    problems.push_back(std::move(problem));
  return look;
}

/// The controller, which went first.
bool is_told_before(const InstallationReport& report, const InstallationLine& line) {
  return std::ranges::any_of(report.objects, [&](const InstallationLine& each) {
    return each.kind == line.kind && each.space == line.space && each.name == line.name;
  });
}

}  // namespace

Result<InstallationReport> hand_back(Client& client, const ExchangeRequest& request,
                                     const std::stop_token& stop) {
  InstallationReport report;
  PutAside aside = TRY(PutAside::read(client, request.installation.space, stop));
  const LookBack look = TRY(look_back(client, request, report, aside, stop));
  if (!report.problems.empty())
    return report;
  if (Status done = HandBack(client, request, look, aside, report, stop).run(); !done) {
    report.failure = std::move(done.error());
    return report;
  }
  Result<InstallationReport> removed = uninstall(client, look.installation, stop);
  if (!removed) {
    report.failure = std::move(removed.error());
    return report;
  }
  for (InstallationLine& line : removed->objects)
    if (line.kind != crd_type.kind && !is_told_before(report, line))
      report.objects.push_back(std::move(line));
  for (std::string& warning : removed->warnings)
    report.warnings.push_back(std::move(warning));
  report.failure = std::move(removed->failure);
  if (!removed->problems.empty())
    report.failure = world_error(
        cat("OpenKruise is back, and fettle cannot be removed: ", join(removed->problems, "; ")));
  if (report.failure)
    return report;
  if (Status done = aside.remove_all(); !done)
    report.failure = std::move(done.error());
  return report;
}

}  // namespace fettle
