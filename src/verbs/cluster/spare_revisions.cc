#include "verbs/cluster/spare_revisions.h"

#include "base/hash.h"
#include "base/text.h"
#include "cluster/objects.h"
#include "cluster/types.h"
#include "value/json.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"

namespace fettle {
namespace {

using kubernetes::ApiReason;
using kubernetes::Client;
using kubernetes::ObjectName;

const kubernetes::ResourceType& type = cluster::types::revisions;
/// A label of a spare, and its annotation with the metadata of the revision.
constexpr std::string_view spare_key = "fettle/spare-revision";

/// One revision has one spare, whoever makes it.
ObjectName spare_name_of(const Value& revision) {
  const ObjectName name = name_of(revision);
  const std::string about = cat(to_string(name), " ", revision.at("metadata").text_at("uid"));
  return {name.space, cat("fettle-spare-", sha256_hex(about).substr(0, 16))};
}

Value spare_of(const ObjectName& name, const Value& wanted) {
  const Value metadata = Value::dict(
      {{"name", name.name},
       {"namespace", name.space},
       {"labels", Value::dict({{Name(spare_key), "true"}})},
       {"annotations", Value::dict({{Name(spare_key), write_json(wanted.at("metadata"))}})}});
  return with(wanted, "metadata", metadata);
}

/// Null: somebody broke it.
Value revision_of_spare(const Value& spare) {
  const Value metadata = cluster::json_annotation(spare, spare_key);
  if (metadata.text_at("name").empty())
    return {};
  return Value::dict({{"apiVersion", type.api_version()},
                      {"kind", type.kind},
                      {"metadata", metadata},
                      {"data", spare.at("data")},
                      {"revision", spare.at("revision")}});
}

kubernetes::ApiResult<Value> make(Client& client, const Value& object,
                                  const std::stop_token& stop) {
  return client.create(type, {name_of(object).space, ""}, object,
                       {.field_manager = std::string(reviser)}, stop);
}

Status remove(Client& client, const ObjectName& name, const std::string& uid,
              const std::stop_token& stop) {
  const auto removed = client.remove(type, name, {.uid = uid}, stop);
  if (!removed && removed.error().reason != ApiReason::not_found)
    return static_cast<const Error&>(removed.error());
  return {};
}

}  // namespace

Result<std::string> replace_revision(Client& client, const Value& before, const Value& wanted,
                                     const std::stop_token& stop) {
  const ObjectName name = name_of(before), spare = spare_name_of(before);
  const auto kept = make(client, spare_of(spare, wanted), stop);
  if (!kept && kept.error().reason == ApiReason::forbidden)
    return kept.error().message;
  if (!kept && kept.error().reason != ApiReason::already_exists)
    return static_cast<const Error&>(kept.error());
  TRY(remove(client, name, std::string(before.at("metadata").text_at("uid")), stop));
  const auto made = make(client, wanted, stop);
  if (!made && made.error().reason == ApiReason::already_exists)
    return world_error(cat(shown_object(type, name),
                           " was deleted and is still there, by its finalizers or because somebody "
                           "has made it: once it has gone, the same command goes on"));
  if (!made)
    return static_cast<const Error&>(made.error());
  TRY(remove(client, spare, {}, stop));
  return std::string();
}

Status restore_revisions(Client& client, const std::stop_token& stop) {
  const auto spares = client.list(type, {}, {.label_selector = cat(spare_key, "=true")}, stop);
  if (!spares && spares.error().reason == ApiReason::forbidden)
    return {};
  if (!spares)
    return static_cast<const Error&>(spares.error());
  for (const Value& spare : spares->items) {
    if (const Value wanted = revision_of_spare(spare); !wanted.is_null())
      if (const auto made = make(client, wanted, stop);
          !made && made.error().reason != ApiReason::already_exists)
        return static_cast<const Error&>(made.error());
    TRY(remove(client, name_of(spare), std::string(spare.at("metadata").text_at("uid")), stop));
  }
  return {};
}

}  // namespace fettle
