#include "verbs/cluster/handed_revisions.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cluster/names.h"
#include "cluster/objects.h"
#include "cluster/revisions.h"
#include "cluster/types.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"
#include "verbs/cluster/spare_revisions.h"
#include "workloads/rollout.h"
#include "workloads/workload.h"

namespace fettle {
namespace {

using kubernetes::ResourceType;

bool is_of(const Value& revision, const Name& uid) {
  const auto controller = cluster::meta_of(revision).controller;
  return controller && controller->uid == uid;
}

/// These parts of a spec, as they stand there; one that is null is none.
Value parts_of(const Value& spec, const Value& words) {
  std::vector<Entry> parts;
  for (const Entry& entry : words.entries())
    if (const Value& part = spec.at(entry.key.view()); !part.is_null())
      parts.push_back({entry.key, part});
  return Value::dict(std::move(parts));
}

/// Whether a spec says what these words say. A SidecarSet has none of OpenKruise's defaults while
/// nobody writes them.
bool says(const ResourceType& type, const Value& spec, const Value& words) {
  if (type.kind == cluster::types::sidecar_sets.kind)
    return workloads::sidecar_set_template(spec) == workloads::sidecar_set_template(words);
  return parts_of(spec, words) == words;
}

cluster::SidecarSetHashes hashes_of(const Value& object) {
  return {annotation_of(object, cluster::annotation::sidecar_hash),
          annotation_of(object, cluster::annotation::sidecar_hash_without_image)};
}

/// OpenKruise looks for them on a revision, too.
Value with_hashes(const Value& revision, const cluster::SidecarSetHashes& hashes) {
  const Value annotations =
      workloads::edited(revision.at("metadata").at("annotations"),
                        {{cluster::annotation::sidecar_hash, hashes.all},
                         {cluster::annotation::sidecar_hash_without_image, hashes.without_images}});
  return with(revision, "metadata", with(revision.at("metadata"), "annotations", annotations));
}

Value with_parts(const Value& object, const Value& parts) {
  Value spec = object.at("spec");
  for (const Entry& entry : parts.entries())
    spec = with(spec, entry.key.view(), entry.value);
  return with(object, "spec", spec);
}

}  // namespace

HandedRevisions::HandedRevisions(Exchange& exchange, HeldLease& lease, InstallationReport& report)
    : exchange_(exchange),
      lease_(lease),
      report_(report),
      words_(exchange.client(), exchange.patience(), exchange.stop()) {}

Status HandedRevisions::settle(const ResourceType& type) {
  space_.clear();
  revisions_.clear();
  sets_.clear();
  // One may come twice, and then its revisions are others than those that were listed.
  std::set<kubernetes::ObjectName> settled;
  TRY(exchange_.for_each(type, [&](const Value& object) -> Status {
    TRY(lease_.keep());
    return settled.insert(name_of(object)).second ? settle_one(type, object) : Status();
  }));
  TRY(write_hashes());
  for (const OfSet& each : sets_)
    TRY(replace(each.before, each.wanted));
  return {};
}

Status HandedRevisions::settle_one(const ResourceType& type, const Value& object) {
  const std::vector<Value> own = TRY(revisions_of(type, object));
  const auto is_of_fettle = [](const Value& each) {
    return cluster::has_data_of(each, installation_name);
  };
  if (is_going(object) || std::ranges::none_of(own, is_of_fettle))
    return {};
  for (const Value& revision : own)
    if (is_of_fettle(revision) && !words_.is_silent())
      TRY(settle_revision(type, object, revision, &revision == own.data()));
  if (words_.is_silent())
    left_.push_back(shown_object(type, name_of(object)));
  return {};
}

Status HandedRevisions::settle_revision(const ResourceType& type, const Value& object,
                                        const Value& revision, bool is_newest) {
  const Value words = cluster::words_of_revision(revision);
  if (words.is_null())
    return {};
  const std::optional<Value> answer = TRY(words_.ask(type, object, words));
  if (!answer) {
    if (!words_.refusal().empty())
      report_.warnings.push_back(
          cat(shown_object(cluster::types::revisions, name_of(revision)),
              " stays in the words of fettle, for OpenKruise refuses them: ", words_.refusal()));
    return {};
  }
  if (is_newest)
    TRY(write_workload(type, object, words, *answer));
  const Value wanted = cluster::revision_in_words(revision, answer->at("spec"));
  if (const cluster::SidecarSetHashes hashes = hashes_of(*answer);
      type.kind == cluster::types::sidecar_sets.kind && !hashes.all.empty()) {
    sets_.push_back({revision, with_hashes(wanted, hashes), name_of(object).name, hashes});
    return {};
  }
  return wanted.at("data") == revision.at("data") ? Status() : replace(revision, wanted);
}

Status HandedRevisions::replace(const Value& before, const Value& wanted) {
  TRY(lease_.hold());
  const std::string refusal =
      TRY(replace_revision(exchange_.client(), before, wanted, exchange_.stop()));
  if (refusal.empty())
    exchange_.tell(cluster::types::revisions, name_of(before), "rewritten", "as OpenKruise has it");
  else
    report_.warnings.push_back(cat(shown_object(cluster::types::revisions, name_of(before)),
                                   " stays in the words of fettle: ", refusal));
  return {};
}

Status HandedRevisions::write_hashes() {
  if (sets_.empty())
    return {};
  return exchange_.for_each(kubernetes::types::pods, [&](const Value& pod) -> Status {
    TRY(lease_.keep());
    return write_hashes_of(pod);
  });
}

Status HandedRevisions::write_hashes_of(const Value& pod) {
  const kubernetes::ObjectName name = name_of(pod);
  Value current = pod;
  return await_so(
      exchange_.patience(), cat("pod `", to_string(name), "` has its hashes"),
      [&]() -> Result<bool> {
        const Value change = hashes_for(current);
        if (change.is_null())
          return true;
        TRY(lease_.hold());
        const auto answer = exchange_.client().patch(
            kubernetes::types::pods, name, kubernetes::PatchType::merge, change,
            {.field_manager = std::string(reviser)}, exchange_.stop());
        if (answer || answer.error().reason == kubernetes::ApiReason::not_found)
          return true;
        if (answer.error().reason != kubernetes::ApiReason::conflict)
          return static_cast<const Error&>(answer.error());
        // Its kubelet has written it meanwhile.
        current =
            TRY(find_object(exchange_.client(), kubernetes::types::pods, name, exchange_.stop()));
        return false;
      },
      exchange_.stop());
}

/// A merge patch. Null: it has the right ones.
Value HandedRevisions::hashes_for(const Value& pod) const {
  const Value sidecars = cluster::read_sidecars(pod);
  const Value known = cluster::json_annotation(pod, cluster::annotation::sidecar_hash);
  cluster::HashesBySidecarSet hashes;
  std::vector<Value> others;
  for (const Value& part : items_of(sidecars)) {
    const std::string_view name = part.text_at("name");
    const auto found = std::ranges::find_if(sets_, [&](const OfSet& each) {
      return each.set == name && name_of(each.before).name == part.text_at("revision");
    });
    if (found != sets_.end() && known.at(name).text_at("hash") != found->hashes.all)
      hashes[Name(name)] = found->hashes;
    else
      others.push_back(part);
  }
  if (hashes.empty() || is_going(pod))
    return {};
  const Value& metadata = pod.at("metadata");
  const Value annotations = Value::dict(cluster::sidecar_annotations(
      Value::list(std::move(others)), sidecars, pod, hashes, now_from_clock()));
  return Value::dict({{"metadata", Value::dict({{"uid", metadata.at("uid")},
                                                {"resourceVersion", metadata.at("resourceVersion")},
                                                {"annotations", annotations}})}});
}

Status HandedRevisions::write_workload(const ResourceType& type, const Value& object,
                                       const Value& words, const Value& answer) {
  const Value parts = parts_of(answer.at("spec"), words);
  // That of a SidecarSet is written by the webhook, whatever else is.
  const RewriteObject rewritten =
      [&](const Value& current) -> std::optional<cluster::VersionedObject> {
    const bool has_parts = parts_of(current.at("spec"), parts) == parts;
    const bool has_hash = hashes_of(current).all == hashes_of(answer).all;
    if (!says(type, current.at("spec"), words) || (has_parts && has_hash))
      return std::nullopt;
    return cluster::VersionedObject{type, with_parts(current, parts)};
  };
  if (!rewritten(object))
    return {};
  TRY(lease_.hold());
  return exchange_.rewrite(type, object, rewritten, true);
}

Result<std::vector<Value>> HandedRevisions::revisions_of(const ResourceType& type,
                                                         const Value& object) {
  const std::string space =
      type.is_namespaced ? name_of(object).space : cluster::manager_space.str();
  if (space != space_) {
    auto listed = exchange_.client().list(cluster::types::revisions, space, {}, exchange_.stop());
    if (!listed)
      return static_cast<const Error&>(listed.error());
    revisions_ = std::move(listed->items);
    space_ = space;
  }
  const Name uid = object.at("metadata").text_at("uid");
  std::vector<Value> own;
  std::ranges::copy_if(revisions_, std::back_inserter(own),
                       [&](const Value& each) { return is_of(each, uid); });
  std::ranges::stable_sort(own, std::greater<>(),
                           [](const Value& each) { return each.integer_at("revision"); });
  return own;
}

void HandedRevisions::tell_rest() {
  if (left_.empty())
    return;
  constexpr size_t most = 5;
  const size_t count = left_.size();
  left_.resize(std::min(count, most));
  report_.warnings.push_back(cat(
      "OpenKruise's webhook does not answer, so these have revisions in the words of fettle, and "
      "OpenKruise may make new ones of the same templates: ",
      join(left_, ", "), count > most ? cat(" and ", count - most, " more") : ""));
}

}  // namespace fettle
