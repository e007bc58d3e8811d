/// Manifests of workloads: stored, brought about, deleted.

#include "controller/workloads.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/shell_word.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"
#include "verbs/fleet/claims.h"
#include "verbs/fleet/workload_edits.h"
#include "verbs/fleet/workload_views.h"

namespace fettle {
namespace {

Result<int> apply(Face& face) {
  const std::vector<workloads::Object> objects = TRY(objects_asked(face));
  Workplace* place = TRY(face.workplace());
  const std::string gates = face.parsed.text("feature-gates");
  if (!gates.empty())
    TRY(check_gates(*place, fleet_of(face), gates));
  const auto stored = TRY(apply_objects(*place, fleet_of(face), objects));
  if (!gates.empty())
    TRY(put_gates(*place, fleet_of(face), gates));
  if (stored.empty() && !face.parsed.has("filename") &&
      !TRY(place->store->environment(fleet_of(face))))
    return user_error(cat("nothing is stored in `", fleet_of(face), "`: name manifests with `-f`"));
  return finish_workloads(face, *place, stored);
}

/// Takes those out of `owners` that are not stored, and tells of them unless nobody minds. When
/// there is nothing else to do, the first one stays, and is the error.
Result<std::vector<Name>> take_missing(const Face& face, const Workplace& place,
                                       std::vector<Name>& owners, bool has_others) {
  std::set<Name> known;
  for (const workloads::Object& object : TRY(stored_objects(place, fleet_of(face))))
    known.insert(object.owner());
  std::vector<Name> missing, there;
  for (const Name& owner : owners)
    (known.contains(owner) ? there : missing).push_back(owner);
  const bool is_fine = face.parsed.flag("ignore-not-found");
  if (there.empty() && !has_others && !is_fine)
    return std::vector<Name>();
  owners = std::move(there);
  if (is_fine)
    return std::vector<Name>();
  for (const Name& owner : missing)
    print_error(cat("there is no `", owner_text(owner), "`"));
  return missing;
}

/// Jobs that pull ahead for a rollout have no manifest of their own.
Status refuse_jobs_of_rollouts(const Workplace& place, const Name& fleet,
                               const std::vector<Name>& owners) {
  for (const Name& job : owners)
    if (job.view().starts_with("ImagePullJob/"))
      if (const Name owner = TRY(owner_of_job(place, fleet, job)); !owner.empty())
        return user_error(cat("`", owner_text(job), "` pulls ahead for `", owner_text(owner),
                              "` and goes with its rollout; `fettle rollout undo ",
                              owner_text(owner), "` or `delete` ends it"));
  return {};
}

/// Everything in a namespace goes with it.
Status add_contents_of_namespaces(const Workplace& place, const Name& fleet,
                                  std::vector<Name>& owners) {
  std::set<Name> spaces, known(owners.begin(), owners.end());
  constexpr std::string_view mark = "Namespace//";
  for (const Name& owner : owners)
    if (owner.view().starts_with(mark))
      spaces.insert(owner.view().substr(mark.size()));
  if (spaces.empty())
    return {};
  for (const workloads::Object& object : TRY(stored_objects(place, fleet)))
    if (spaces.contains(object.space) && object.kind != "Pod" &&
        known.insert(object.owner()).second)
      owners.push_back(object.owner());
  return {};
}

/// Takes those of a kind out.
std::vector<Name> taken_of(std::vector<Name>& owners, std::string_view kind) {
  const auto others = std::ranges::stable_partition(
      owners, [&](const Name& owner) { return !owner.view().starts_with(kind); });
  std::vector<Name> taken(others.begin(), others.end());
  owners.erase(others.begin(), owners.end());
  return taken;
}

Result<int> remove_claims_asked(Face& face, Workplace& place, const std::vector<Name>& claims,
                                bool has_others) {
  if (has_others)
    return user_error("delete claims in a separate command");
  std::vector<std::string> names;
  for (const Name& claim : claims)
    names.emplace_back(claim.view().substr(claim.view().find('/') + 1));
  const Summary summary =
      TRY(remove_claims(place, fleet_of(face), names, !face.parsed.flag("no-lease-wait")));
  if (!summary.good())
    return tell_failed(face, summary);
  std::vector<StoredObject> deleted;
  for (const Name& claim : claims)
    deleted.push_back({.owner = claim, .fate = StoredObject::Fate::deleted});
  return tell_stored(face, deleted);
}

/// Data that outlive what was deleted.
Status tell_claims_left(const Face& face, const Workplace& place,
                        const std::vector<StoredObject>& deleted) {
  if (face.json || face.quiet)
    return {};
  std::map<std::string, std::vector<std::string>> left;  // by namespace
  for (const Value& claim : TRY(claims_of(place, fleet_of(face))))
    for (const StoredObject& object : deleted)
      if (const Value& status = claim.at("status");
          status.bool_at("retain") && status.text_at("owner") == object.owner.view())
        left[std::string(claim.at("metadata").text_at("namespace"))].emplace_back(
            claim.at("metadata").text_at("name"));
  for (const auto& [space, names] : left) {
    std::string command = cat("fettle delete pvc ", join(names, " "));
    if (space != "default")
      command += cat(" -n ", space);
    if (fleet_of(face) != default_fleet)
      command += cat(" -e ", quoted_for_shell(fleet_of(face).view()));
    print_error(cat(names.size() == 1 ? "the claim " : "the claims ", join(names, ", "),
                    names.size() == 1 ? " keeps its" : " keep their", " data; `", command,
                    "` removes ", names.size() == 1 ? "it" : "them"));
  }
  return {};
}

Result<int> workload_remove(Face& face) {
  std::vector<Name> owners;
  if (face.parsed.has("filename")) {
    for (const workloads::Object& object : TRY(objects_asked(face)))
      owners.push_back(object.owner());
  } else {
    if (face.parsed.arguments.empty())
      return user_error(
          "name a kind and an object, or a file with `-f`: `fettle delete cloneset web`");
    size_t used = 0;
    owners.push_back(TRY(owner_asked(face, 0, used)));
    const std::string kind(owners[0].view().substr(0, owners[0].view().find('/')));
    const std::string space = has_namespace(kind) ? space_of(face) : std::string();
    for (size_t i = used; i < face.parsed.arguments.size(); ++i)
      owners.push_back(used == 1 ? TRY(owner_asked(face, i, used))
                                 : Name(cat(kind, "/", space, "/", face.parsed.argument(i))));
  }
  Workplace* place = TRY(face.workplace());
  TRY(refuse_jobs_of_rollouts(*place, fleet_of(face), owners));
  TRY(add_contents_of_namespaces(*place, fleet_of(face), owners));
  // A pod has an owner, which makes another one; a claim has no manifest.
  const std::vector<Name> pods = taken_of(owners, "Pod/");
  const std::vector<Name> claims = taken_of(owners, "PersistentVolumeClaim/");
  if (!claims.empty())
    return remove_claims_asked(face, *place, claims, !owners.empty() || !pods.empty());
  std::vector<StoredObject> stored;
  const std::vector<Name> missing = TRY(take_missing(face, *place, owners, !pods.empty()));
  if (!owners.empty())
    stored = TRY(delete_objects(*place, fleet_of(face), owners));
  if (!pods.empty())
    for (StoredObject& pod : TRY(delete_pods(*place, fleet_of(face), pods)))
      stored.push_back(std::move(pod));
  if (stored.empty() && face.parsed.flag("ignore-not-found") && !face.json)
    return 0;
  const int code = TRY(finish_workloads(face, *place, stored));
  TRY(tell_claims_left(face, *place, stored));
  return missing.empty() ? code : std::max(code, 1);
}

}  // namespace

std::vector<Command> workload_commands() {
  const CommandGroup group{"workloads", workload_options()};
  const CommandOption file = file_option(), wait = wait_options()[0], limit = wait_options()[1];
  std::vector<Command> all{
      group.make(
          "apply", "", 0, 0,
          "Stores manifests of workloads and carries them out; without a file, those that are "
          "stored.",
          {"fettle apply -f web.yaml", "fettle apply -f manifests -n shop --wait=false"}, apply,
          {file, wait, limit, gates_option(), {{"--skip-unknown"}, "", "skip unknown kinds"}}),
      workload_get_command(),
      group.make(
          "delete", "[KIND NAME…]", 0, 99, "Deletes manifests and everything they created.",
          {"fettle delete cloneset web", "fettle delete -f web.yaml --ignore-not-found"},
          workload_remove,
          {file, wait, limit, {{"--ignore-not-found"}, "", "ignore objects that do not exist"}}),
      controller_command(),
      node_daemon_command(),
      workload_plan_command(),
      workload_describe_command()};
  for (const std::vector<Command>& more : {rollout_commands(), pod_commands(), install_commands()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace fettle
