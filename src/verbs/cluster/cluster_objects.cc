#include "verbs/cluster/cluster_objects.h"

#include "base/text.h"

namespace fettle {
namespace {

using kubernetes::Client;
using kubernetes::ObjectName;
using kubernetes::ResourceType;

const ResourceType access_reviews{"authorization.k8s.io", "v1", "selfsubjectaccessreviews",
                                  "SelfSubjectAccessReview", false};

}  // namespace

bool is_definition(const InstallationObject& part) {
  return part.type == kubernetes::types::definitions;
}

bool has_installation_label(const Value& object) {
  return object.at("metadata").at("labels").text_at(installation_label) == installation_name;
}

bool is_going(const Value& object) {
  return object.at("metadata").find("deletionTimestamp") != nullptr;
}

std::string_view annotation_of(const Value& object, std::string_view key) {
  return object.at("metadata").at("annotations").text_at(key);
}

std::string keeper_of(const Value& object) {
  const Value& annotations = object.at("metadata").at("annotations");
  const Value& labels = object.at("metadata").at("labels");
  if (const auto release = annotations.text_at("meta.helm.sh/release-name"); !release.empty())
    return cat("Helm's release `", annotations.text_at("meta.helm.sh/release-namespace"), "/",
               release, "`");
  if (const auto id = annotations.text_at("argocd.argoproj.io/tracking-id"); !id.empty())
    return cat("Argo CD's `", id.substr(0, id.find(':')), "`");
  if (const auto id = labels.text_at("argocd.argoproj.io/instance"); !id.empty())
    return cat("Argo CD's `", id, "`");
  if (const auto id = labels.text_at("kustomize.toolkit.fluxcd.io/name"); !id.empty())
    return cat("Flux' `", id, "`");
  return {};
}

bool is_kept_by_helm(const Value& object) {
  return !annotation_of(object, "meta.helm.sh/release-name").empty() ||
         object.at("metadata").at("labels").text_at("app.kubernetes.io/managed-by") == "Helm";
}

std::string shown_object(const ResourceType& type, const ObjectName& name) {
  return cat(type.kind, " `", to_string(name), "`");
}

ObjectName name_of(const Value& object) {
  const Value& metadata = object.at("metadata");
  return {std::string(metadata.text_at("namespace")), std::string(metadata.text_at("name"))};
}

InstallationLine line_of(const ResourceType& type, const ObjectName& name, std::string status,
                         std::string why) {
  return {type.kind, name.space, name.name, std::move(status), std::move(why)};
}

Result<Value> find_object(Client& client, const ResourceType& type, const ObjectName& name,
                          const std::stop_token& stop) {
  const auto found = client.get(type, name, stop);
  if (!found && found.error().reason == kubernetes::ApiReason::not_found)
    return Value();
  if (!found)
    return static_cast<const Error&>(found.error());
  return *found;
}

Result<bool> is_allowed(Client& client, const std::string& verb, const ResourceType& type,
                        const std::string& space, const std::stop_token& stop) {
  const Value attributes = Value::dict(
      {{"verb", verb}, {"group", type.group}, {"resource", type.plural}, {"namespace", space}});
  const Value answer =
      TRY(client.create(access_reviews, {},
                        Value::dict({{"apiVersion", access_reviews.api_version()},
                                     {"kind", access_reviews.kind},
                                     {"spec", Value::dict({{"resourceAttributes", attributes}})}}),
                        {}, stop));
  return answer.at("status").bool_at("allowed");
}

std::string full_plural(const ResourceType& type) {
  return type.group.empty() ? type.plural : cat(type.plural, ".", type.group);
}

kubernetes::ApiResult<Value> send_part(Client& client, const InstallationObject& part,
                                       bool is_dry_run, const std::stop_token& stop) {
  return client.patch(part.type, part.name, kubernetes::PatchType::apply, part.object,
                      {.field_manager = std::string(installation_name), .is_dry_run = is_dry_run},
                      stop);
}

Status await_so(const ClusterPatience& patience, std::string_view what,
                const std::function<Result<bool>()>& is_so, const std::stop_token& stop) {
  for (Duration waited{0}; !TRY(is_so()); waited += patience.interval) {
    if (waited >= patience.limit)
      return world_error(cat("not after ", fettle::to_string(patience.limit), ": ", what));
    TRY(patience.pause(patience.interval, stop));
  }
  return {};
}

}  // namespace fettle
