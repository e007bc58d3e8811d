#include "drivers/kubernetes/cluster_health.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/metrics_text.h"
#include "base/text.h"
#include "cluster/objects.h"
#include "cluster/types.h"

namespace fettle {
namespace {

using Type = MetricsText::Type;

/// Each pod is in one state, so that they add up.
enum class PodState { ready, unready, ended, leaving };
constexpr std::array<std::string_view, 4> pod_state_words{"ready", "unready", "ended", "leaving"};

PodState state_of_object(const Value& pod, bool is_leaving) {
  if (is_leaving)
    return PodState::leaving;
  const Value& status = pod.at("status");
  const std::string_view phase = status.text_at("phase");
  if (phase == "Succeeded" || phase == "Failed")
    return PodState::ended;
  const Value& ready = cluster::condition_of(status.at("conditions"), "Ready");
  return ready.text_at("status") == "True" ? PodState::ready : PodState::unready;
}

struct WorkloadPods {
  std::string kind;
  Name space, name;
  std::array<uint64_t, pod_state_words.size()> counts{};
};

/// By the UIDs of the workloads.
std::map<Name, WorkloadPods> count_pods(const kubernetes::ObjectCache& objects) {
  std::map<Name, WorkloadPods> workloads;
  for (const kubernetes::ResourceType& type : cluster::types::workloads)
    for (const Value& object : objects.all(type.kind)) {
      const cluster::ObjectMeta meta = cluster::meta_of(object);
      workloads[meta.uid] = {
          .kind = type.kind, .space = meta.space, .name = meta.name, .counts = {}};
    }
  for (const Value& pod : objects.all(cluster::types::pods.kind)) {
    const cluster::ObjectMeta meta = cluster::meta_of(pod);
    if (!meta.controller)
      continue;
    if (const auto found = workloads.find(meta.controller->uid); found != workloads.end())
      ++found->second.counts.at(static_cast<size_t>(state_of_object(pod, meta.is_leaving)));
  }
  return workloads;
}

void tell_workload_pods(MetricsText& text, const kubernetes::ObjectCache& objects) {
  text.begin("fettle_workload_pods", Type::gauge, "Pods of each workload, each in one state.");
  for (const auto& [uid, workload] : count_pods(objects))
    for (size_t i = 0; i < workload.counts.size(); ++i)
      text.add({{"kind", workload.kind},
                {"namespace", workload.space.view()},
                {"name", workload.name.view()},
                {"state", pod_state_words.at(i)}},
               static_cast<double>(workload.counts.at(i)));
}

void tell_writes(MetricsText& text, const kubernetes::WriteCounts& counts) {
  text.begin("fettle_kubernetes_writes_total", Type::counter,
             "Writes that were sent, by urgency and code of the answer; code 0 is none.");
  for (const auto& [outcome, count] : counts.all())
    text.add({{"urgency", to_string(outcome.first)}, {"code", cat(outcome.second)}},
             static_cast<double>(count));
}

void tell_silence(MetricsText& text, const kubernetes::ObjectCache& objects, Instant now) {
  text.begin("fettle_kubernetes_silence_seconds", Type::gauge,
             "Time since the server last said something about a type of objects.");
  for (const auto& [kind, heard] : objects.heard())
    if (heard)
      text.add({{"kind", kind}},
               std::chrono::duration<double>(std::max<Duration>(0s, now - *heard)).count());
}

/// Of this process, in bytes. None: the system does not say.
std::optional<double> resident_memory() {
  const Result<std::string> text = read_file("/proc/self/statm");
  if (!text)
    return {};
  const std::vector<std::string_view> words = split(*text, ' ');
  uint64_t pages = 0;
  if (words.size() < 2 ||
      std::from_chars(words[1].data(), words[1].data() + words[1].size(), pages).ec != std::errc())
    return {};
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void tell_process(MetricsText& text, const HealthSettings& settings) {
  text.begin("fettle_build_info", Type::gauge, "The program, by its labels; always 1.");
  text.add({{"version", settings.version}, {"commit", settings.commit}}, 1);
  const std::optional<double> memory = resident_memory();
  if (!memory)
    return;
  text.begin("process_resident_memory_bytes", Type::gauge, "Memory of the process.");
  text.add({}, *memory);
}

}  // namespace

std::string metrics_of(ClusterLink& link, const HealthSettings& settings, Instant now) {
  MetricsText text;
  tell_workload_pods(text, link.objects());
  tell_writes(text, link.client().write_counts());
  tell_silence(text, link.objects(), now);
  text.begin("fettle_leader", Type::gauge, "Whether this one may write.");
  text.add({}, link.is_leader() ? 1 : 0);
  tell_process(text, settings);
  return text.text();
}

Result<std::unique_ptr<ClusterHealth>> ClusterHealth::open(ClusterLink& link,
                                                           HealthSettings settings) {
  std::unique_ptr<ClusterHealth> health(new ClusterHealth(link, std::move(settings)));
  const auto& [metrics, probe, version, commit] = health->settings_;
  const bool is_one = metrics == probe;
  if (!metrics.empty())
    health->metrics_port_ = TRY(health->serve(metrics, true, is_one));
  if (!probe.empty())
    health->probe_port_ = is_one ? health->metrics_port_ : TRY(health->serve(probe, false, true));
  return health;
}

Result<int> ClusterHealth::serve(const std::string& address, bool tells_metrics,
                                 bool tells_health) {
  auto server = TRY(HttpServer::open(
      address, [this, tells_metrics, tells_health](std::string_view path) -> HttpReply {
        if (tells_metrics && path == "/metrics")
          return metrics_reply();
        if (tells_health && path == "/healthz")
          return {.body = "ok\n"};
        if (tells_health && path == "/readyz")
          return readiness_reply();
        return {.status = 404, .body = "there is nothing here\n"};
      }));
  const int port = server->port();
  servers_.push_back(std::move(server));
  return port;
}

HttpReply ClusterHealth::metrics_reply() const {
  return {.body = metrics_of(link_, settings_, instant_from_clock()),
          .content_type = MetricsText::content_type};
}

HttpReply ClusterHealth::readiness_reply() const {
  const std::string reason = link_.unready_reason();
  return reason.empty() ? HttpReply{.body = "ok\n"}
                        : HttpReply{.status = 503, .body = cat(reason, "\n")};
}

}  // namespace fettle
