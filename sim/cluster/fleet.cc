#include "sim/cluster/fleet.h"

#include <algorithm>

#include "base/text.h"
#include "value/json.h"

namespace fettle::sim {
namespace {

constexpr std::string_view kinds_path = "/apis/apps.kruise.io/v1beta1/namespaces/default/";

constexpr std::string_view sidecars_path = "/apis/apps.kruise.io/v1beta1/sidecarsets/logs";

bool is_deleted(const Value& pod) {
  return !pod.at("metadata").text_at("deletionTimestamp").empty();
}

bool is_available(const Value& pod) {
  return !is_deleted(pod) && condition_of(pod, "Ready") == "True";
}

std::string_view name_of_pod(const Value& pod) { return pod.at("metadata").text_at("name"); }

}  // namespace

SimulatedWorkload::SimulatedWorkload(World& world, Wish wish)
    : world_(world),
      wish_(std::move(wish)),
      path_(cat(kinds_path, lower_case(wish_.kind), "s/", wish_.name)),
      fewest_(wish_.replicas),
      most_(wish_.replicas) {}

Value SimulatedWorkload::pod_template() const {
  return *read_json(cat(R"({"metadata":{"labels":{"app":")", wish_.name,
                        R"("}},"spec":{"containers":[{"name":"c","image":")", image(),
                        R"(","env":[{"name":"N","value":")", environment_, R"("}]}]}})"));
}

Value SimulatedWorkload::strategy() const {
  if (wish_.kind == "CloneSet")
    return *read_json(cat(R"({"rollingUpdate":{"podUpdatePolicy":")", wish_.policy,
                          R"(","maxUnavailable":)", wish_.unavailable, R"(,"maxSurge":)",
                          wish_.surge, "}}"));
  const char* const policy = wish_.kind == "DaemonSet" ? "rollingUpdateType" : "podUpdatePolicy";
  return *read_json(cat(R"({"type":"RollingUpdate","rollingUpdate":{")", policy, R"(":")",
                        wish_.policy, R"(","maxUnavailable":)", wish_.unavailable, "}}"));
}

void SimulatedWorkload::make() {
  std::vector<Entry> spec{
      {"selector", Value::dict({{"matchLabels", Value::dict({{"app", wish_.name}})}})},
      {"template", pod_template()},
      {"updateStrategy", strategy()},
      {"revisionHistoryLimit", 3}};
  if (wish_.kind != "DaemonSet")
    spec.push_back({"replicas", wish_.replicas});
  if (wish_.kind == "StatefulSet") {
    spec.push_back({"serviceName", wish_.name});
    spec.push_back({"podManagementPolicy", wish_.is_parallel ? "Parallel" : "OrderedReady"});
  }
  if (wish_.has_claims)
    spec.push_back({"volumeClaimTemplates", *read_json(R"([{"metadata":{"name":"data"},
        "spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}])")});
  std::vector<Entry> annotations;
  if (wish_.pulls_ahead)
    annotations.push_back({"fettle/image-predownload-mode", "wait"});
  world_.ask("POST", path_.substr(0, path_.rfind('/')),
             Value::dict(
                 {{"apiVersion", "apps.kruise.io/v1beta1"},
                  {"kind", wish_.kind},
                  {"metadata", Value::dict({{"name", wish_.name},
                                            {"namespace", "default"},
                                            {"annotations", Value::dict(std::move(annotations))}})},
                  {"spec", Value::dict(std::move(spec))}}));
}

void SimulatedWorkload::change(Value spec) {
  world_.ask("PATCH", path_, Value::dict({{"spec", std::move(spec)}}));
}

void SimulatedWorkload::set_template(const std::string& tag, int64_t environment) {
  is_counted_ = is_counted_ && tag == tag_ && environment == environment_;
  tag_ = tag;
  environment_ = environment;
  change(Value::dict({{"template", pod_template()}}));
}

void SimulatedWorkload::scale(int64_t replicas) {
  wish_.replicas = replicas;
  fewest_ = std::min(fewest_, replicas);
  most_ = std::max(most_, replicas);
  change(Value::dict({{"replicas", replicas}}));
}

void SimulatedWorkload::set_partition(int64_t kept) {
  Value partition = Value::dict({{"partition", kept}});
  change(Value::dict({{"updateStrategy", Value::dict({{"rollingUpdate", std::move(partition)}})}}));
}

void SimulatedWorkload::set_paused(bool is_paused) {
  Value paused = Value::dict({{"paused", is_paused}});
  change(Value::dict({{"updateStrategy", Value::dict({{"rollingUpdate", std::move(paused)}})}}));
}

void SimulatedWorkload::excuse(const std::string& uid) { excused_.emplace(uid, false); }

std::vector<Value> SimulatedWorkload::pods() const {
  std::vector<Value> all;
  for (const auto& [uid, pod] : known_)
    all.push_back(pod);
  return all;
}

size_t SimulatedWorkload::available() const {
  return static_cast<size_t>(
      std::ranges::count_if(known_, [](const auto& each) { return is_available(each.second); }));
}

void SimulatedWorkload::take(std::string_view type, const Value& pod) {
  if (pod.at("metadata").at("labels").text_at("app") != wish_.name)
    return;
  const std::string uid(pod.at("metadata").text_at("uid"));
  const auto excused = excused_.find(uid);
  if (type == "DELETED") {
    known_.erase(uid);
    if (excused != excused_.end()) {
      excused_.erase(excused);
      ++lost_;
    }
  } else {
    known_[uid] = pod;
    if (excused != excused_.end()) {
      if (!is_available(pod))
        excused->second = true;
      else if (excused->second)
        excused_.erase(excused);
    }
  }
  check();
}

void SimulatedWorkload::check() {
  const auto up = static_cast<int64_t>(available());
  const auto present =
      std::ranges::count_if(known_, [](const auto& each) { return !is_deleted(each.second); });
  const auto all = static_cast<int64_t>(known_.size());
  if (up == wish_.replicas && all == wish_.replicas) {
    is_complete_ = true;
    lost_ = 0;
    fewest_ = most_ = wish_.replicas;
    if (!is_counted_ && is_rolled_out()) {
      is_counted_ = true;
      ++rollouts_;
    }
  }
  const int64_t excuses = lost_ + static_cast<int64_t>(excused_.size());
  if (is_complete_ && up < fewest_ - wish_.unavailable - wish_.more_unavailable - excuses)
    world_.complain(cat(wish_.kind, ": ", up, " pods are available, ", fewest_, " are wanted, ",
                        wish_.unavailable, " may be missing and ", excuses, " are excused"));
  // A pod that is deleted and the one in its place are written at once, in any order; and if the
  // server never heard of the deletion, the pod stays until that is asked for again.
  const int64_t more = wish_.surge + 2 * wish_.unavailable;
  if (present > most_ + more)
    world_.complain(cat(wish_.kind, ": there are ", present, " pods, ", most_, " are wanted and ",
                        more, " more may be"));
}

bool SimulatedWorkload::is_done(const Value& pod) const {
  const Value& container = items_of(pod.at("spec").at("containers"))[0];
  const auto rows = items_of(pod.at("status").at("containerStatuses"));
  return is_available(pod) && container.text_at("image") == image() && !rows.empty() &&
         rows[0].text_at("image") == image() &&
         items_of(container.at("env"))[0].text_at("value") == cat(environment_);
}

bool SimulatedWorkload::is_rolled_out() const {
  return static_cast<int64_t>(known_.size()) == wish_.replicas &&
         std::ranges::all_of(known_, [&](const auto& each) { return is_done(each.second); });
}

std::string SimulatedWorkload::half_written(const Value& pod, std::string_view revision) const {
  const Value& metadata = pod.at("metadata");
  for (const Value& gate : items_of(pod.at("spec").at("readinessGates")))
    if (condition_of(pod, gate.text_at("conditionType")) != "True")
      return cat("gate ", gate.text_at("conditionType"), " is closed");
  const std::string_view label = metadata.at("labels").text_at("controller-revision-hash");
  if (label.empty() || !revision.ends_with(label))
    return cat("its revision is ", label, " and not ", revision);
  const Value& notes = metadata.at("annotations");
  if (notes.find("apps.kruise.io/inplace-update-grace") != nullptr)
    return "it is in its grace";
  const std::string_view text = notes.text_at("apps.kruise.io/inplace-update-state");
  const Value state = text.empty() ? Value() : *read_json(text);
  if (!state.is_null() && !revision.ends_with(state.text_at("revision")))
    return cat("its state is of ", state.text_at("revision"));
  return {};
}

std::string SimulatedWorkload::wrong_status(const Value& workload) const {
  const Value& status = workload.at("status");
  const auto wrong = [&](std::string_view field, int64_t wanted) {
    const int64_t told = status.integer_at(field, 0);
    return told == wanted ? std::string()
                          : cat(" status.", field, " is ", told, " and not ", wanted);
  };
  std::string all = wrong("observedGeneration", workload.at("metadata").integer_at("generation"));
  if (wish_.kind == "DaemonSet")
    return all + wrong("numberReady", wish_.replicas) +
           wrong("updatedNumberScheduled", wish_.replicas) +
           wrong("desiredNumberScheduled", wish_.replicas);
  return all + wrong("replicas", wish_.replicas) + wrong("readyReplicas", wish_.replicas) +
         wrong("updatedReplicas", wish_.replicas);
}

std::string SimulatedWorkload::unfinished() const {
  const std::string who = cat(wish_.kind, "/", wish_.name, ": ");
  if (!is_rolled_out()) {
    std::string all =
        cat(who, image(), " of ", environment_, " is not rolled out to ", wish_.replicas, " pods:");
    for (const auto& [uid, pod] : known_)
      if (!is_done(pod))
        all += cat(" ", name_of_pod(pod), " ", write_json(pod.at("spec").at("containers")), " ",
                   write_json(pod.at("status").at("conditions")));
    return all + cat("; ", known_.size(), " pods; ", write_json(world_.get(path_).at("status")));
  }
  const Value workload = world_.get(path_);
  const Value& status = workload.at("status");
  const std::string_view revision = wish_.kind == "DaemonSet" ? status.text_at("daemonSetHash")
                                                              : status.text_at("updateRevision");
  for (const auto& [uid, pod] : known_)
    if (const std::string half = half_written(pod, revision); !half.empty())
      return cat(who, name_of_pod(pod), ": ", half);
  if (const std::string wrong = wrong_status(workload); !wrong.empty())
    return cat(who, wrong);
  return {};
}

Value SimulatedSidecars::containers() const {
  return *read_json(
      cat(R"([{"name":"log","podInjectPolicy":"AfterAppContainer","image":"log:)", tag_, R"("}])"));
}

void SimulatedSidecars::make() {
  world_.ask(
      "POST", "/apis/apps.kruise.io/v1beta1/sidecarsets",
      *read_json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet",
    "metadata":{"name":"logs"},"spec":{"selector":{"matchLabels":{"app":")",
                     app_, R"("}},"containers":)", write_json(containers()),
                     R"(,"revisionHistoryLimit":3,"updateStrategy":{"maxUnavailable":1}}})")));
}

void SimulatedSidecars::set_tag(const std::string& tag) {
  tag_ = tag;
  world_.ask("PATCH", std::string(sidecars_path),
             Value::dict({{"spec", Value::dict({{"containers", containers()}})}}));
}

std::string SimulatedSidecars::unfinished(const std::vector<Value>& pods) const {
  int64_t with_sidecar = 0;
  for (const Value& pod : pods)
    for (const Value& container : items_of(pod.at("spec").at("containers"))) {
      if (container.text_at("name") != "log")
        continue;
      ++with_sidecar;
      if (container.text_at("image") != "log:" + tag_)
        return cat("the sidecar of ", name_of_pod(pod), " is ", container.text_at("image"),
                   " and not log:", tag_);
    }
  const Value set = world_.get(std::string(sidecars_path));
  const Value& status = set.at("status");
  for (const char* field : {"matchedPods", "updatedPods", "updatedReadyPods", "readyPods"})
    if (status.integer_at(field) != with_sidecar)
      return cat("of SidecarSet/logs, status.", field, " is ", status.integer_at(field),
                 " and not ", with_sidecar);
  return {};
}

}  // namespace fettle::sim
