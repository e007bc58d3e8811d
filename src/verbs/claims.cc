#include "verbs/claims.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/pod.h"
#include "verbs/workload_objects.h"
#include "verbs/workloads.h"

namespace fettle {
namespace {

bool is_claim(const Key& key, const Record& record) {
  return key.kind == "claim" && record.applied && record.by_hand != ByHand::removed;
}

std::string name_of(const Key& key) {
  const NodeAddress address = node_address(key.name);
  return cat(address.space, "/", address.name);
}

/// The pod that uses a claim; empty: none does.
std::string user_of(const Known& known, const Key& claim) {
  const NodeAddress wanted = node_address(claim.name);
  for (const auto& [key, record] : known) {
    const Resource* const then = resource_of_then(*record);
    if (key.kind != "pod" || then == nullptr || record->by_hand == ByHand::removed)
      continue;
    const NodeAddress pod = node_address(key.name);
    const Value& claims = then->attributes.at("claims");
    if (pod.space == wanted.space && pod.node == wanted.node && claims.is_dict() &&
        std::ranges::any_of(claims.entries(), [&](const Entry& entry) {
          return to_text(entry.value) == wanted.name;
        }))
      return cat(pod.space, "/", pod.name);
  }
  return {};
}

}  // namespace

Result<std::vector<Value>> claims_of(const Workplace& place, const Name& environment) {
  std::map<std::string, Value> found;
  for (const auto& [key, record] : TRY(place.store->known(environment))) {
    if (!is_claim(key, *record))
      continue;
    const Value& attributes = record->applied->attributes;
    const Value& spec = attributes.at("spec");
    found.emplace(
        cat(name_of(key), "|", key.name),
        Value::dict({{"apiVersion", "v1"},
                     {"kind", "PersistentVolumeClaim"},
                     {"metadata",
                      Value::dict({{"name", attributes.at("name")},
                                   {"namespace", attributes.at("namespace")},
                                   {"labels", attributes.at("labels")},
                                   {"creationTimestamp", workloads::time_text(record->finished)}})},
                     {"spec", spec},
                     {"status", Value::dict({{"phase", "Bound"},
                                             {"volume", record->outputs.at("volume")},
                                             {"node", attributes.at("node")},
                                             {"owner", attributes.at("owner")},
                                             {"retain", attributes.at("retain")}})}}));
  }
  std::vector<Value> claims;
  for (auto& [name, claim] : found)
    claims.push_back(std::move(claim));
  return claims;
}

Result<Summary> remove_claims(const Workplace& place, const Name& environment,
                              const std::vector<std::string>& claims, bool wait) {
  if (TRY(is_kept(place, environment)))
    return world_error(cat("a controller maintains `", environment, "`; stop it first"));
  const Hold hold = TRY(hold_environment(place, environment.str(), wait));
  const Known known = TRY(place.store->known(environment));
  std::set<Name> stored;
  for (const workloads::Object& object : TRY(stored_objects(place, environment)))
    stored.insert(object.owner());
  auto intent = std::make_shared<Intent>();
  intent->environment = environment;
  for (const std::string& wanted : claims) {
    std::vector<std::string> names;
    bool is_there = false;
    for (const auto& [key, record] : known) {
      if (!is_claim(key, *record))
        continue;
      names.push_back(name_of(key));
      if (names.back() != wanted)
        continue;
      is_there = true;
      if (const std::string user = user_of(known, key); !user.empty())
        return user_error(cat("claim `", wanted, "` is used by pod `", user, "`"));
      for (const auto& [owner, wish] : record->wanted_by)
        if (stored.contains(owner))
          return user_error(cat("claim `", wanted, "` belongs to `", owner, "`, which is stored"));
      intent->requests.push_back({key, Verb::remove});
    }
    if (!is_there)
      return user_error(cat("there is no claim `", wanted, "`", suggestion(wanted, names)));
  }
  return TRY(edit_by(place, *hold.edit, intent)).summary;
}

}  // namespace fettle
