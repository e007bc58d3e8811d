#include "verbs/fleet/claims.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "base/text.h"
#include "controller/workload_objects.h"
#include "controller/workloads.h"
#include "kinds/claim.h"
#include "kinds/directory.h"
#include "kinds/pod.h"

namespace fettle {
namespace {

bool is_claim(const Key& key, const Record& record) {
  return key.kind == "claim" && record.applied && record.by_hand != ByHand::removed;
}

std::string name_of(const Key& key) {
  const NodeAddress address = node_address(key.name);
  return cat(address.space, "/", address.name);
}

/// The pod that uses a claim. Empty: none does.
std::string user_of(const Known& known, const Key& claim) {
  const NodeAddress wanted = node_address(claim.name);
  for (const auto& [key, record] : known) {
    const Resource* const then = resource_of_then(*record);
    if (key.kind != "pod" || then == nullptr || record->by_hand == ByHand::removed)
      continue;
    const NodeAddress pod = node_address(key.name);
    const Dict claims = read_one<&Pod::claims>(then->attributes);
    if (pod.space == wanted.space && pod.node == wanted.node &&
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
    const VolumeClaim claim = read<VolumeClaim>(record->applied->attributes);
    found.emplace(
        cat(name_of(key), "|", key.name),
        Value::dict(
            {{"apiVersion", "v1"},
             {"kind", "PersistentVolumeClaim"},
             {"metadata", Value::dict({{"name", claim.name.value()},
                                       {"namespace", claim.space.value()},
                                       {"labels", claim.labels.value()},
                                       {"creationTimestamp", write_moment(record->finished)}})},
             {"spec", claim.spec.value()},
             {"status", Value::dict({{"phase", "Bound"},
                                     {"volume", read_one<&VolumeOutputs::volume>(record->outputs)},
                                     {"node", claim.node.value()},
                                     {"owner", claim.owner.value()},
                                     {"retain", claim.retain.value()}})}}));
  }
  std::vector<Value> claims;
  for (auto& [name, claim] : found)
    claims.push_back(std::move(claim));
  return claims;
}

namespace {

/// The owners of a claim that may be deleted. Errors: somebody uses it, or there is none.
Result<std::set<Name>> owners_of_free(const Known& known, const std::set<Name>& stored,
                                      const std::string& wanted) {
  std::vector<std::string> names;
  std::set<Name> owners;
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
    for (const auto& [owner, wish] : record->wanted_by) {
      if (stored.contains(owner))
        return user_error(cat("claim `", wanted, "` belongs to `", owner, "`, which is stored"));
      owners.insert(owner);
    }
  }
  if (!is_there)
    return user_error(cat("there is no claim `", wanted, "`", suggestion(wanted, names)));
  return owners;
}

workloads::Object deletion_of(std::string_view claim) {
  const size_t slash = claim.find('/');
  workloads::Object object;
  object.kind = "PersistentVolumeClaim";
  object.space = claim.substr(0, slash);
  object.name = claim.substr(slash + 1);
  object.document =
      Value::dict({{"metadata", Value::dict({{"name", object.name}})}, {"deleted", true}});
  return object;
}

}  // namespace

Result<Summary> remove_claims(const Workplace& place, const Name& environment,
                              const std::vector<std::string>& claims, bool wait) {
  const Known known = TRY(place.store->known(environment));
  std::set<Name> stored;
  for (const workloads::Object& object : TRY(stored_objects(place, environment)))
    stored.insert(object.owner());
  BringOptions options;
  options.wait_for_others = wait;
  std::vector<workloads::Object> deletions;
  for (const std::string& claim : claims) {
    options.only.merge(TRY(owners_of_free(known, stored, claim)));
    deletions.push_back(deletion_of(claim));
  }
  TRY(store_objects(place, environment, std::move(deletions)));
  return TRY(bring_workloads(place, environment, options)).summary;
}

}  // namespace fettle
