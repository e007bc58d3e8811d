#include "remote/health.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/metrics_text.h"
#include "base/text.h"
#include "remote/agents.h"
#include "remote/run_log.h"

namespace fettle {
namespace {

using Type = MetricsText::Type;

/// Commands that change something are noted there before they begin.
std::string reply_of_health(const ServeSettings& settings) {
  constexpr std::string_view type = "text/plain; charset=utf-8";
  if (access(settings.folder().c_str(), W_OK | X_OK) == 0)
    return closing_reply(200, type, "ok\n");
  return closing_reply(503, type,
                       "the server cannot write to its folder, so it begins no command\n");
}

std::string numbers_of(const ServeSettings& settings, size_t connections) {
  MetricsText text;
  text.begin("fettle_build_info", Type::gauge, "The version; always 1.");
  text.add({{"version", settings.version}}, 1);
  text.begin("fettle_serve_connections", Type::gauge,
             "Connections, runs without a client among them.");
  text.add({}, static_cast<double>(connections));
  text.begin("fettle_serve_connections_limit", Type::gauge,
             "Connections that are refused begin here.");
  text.add({}, static_cast<double>(settings.connections));
  const std::vector<AgentView> agents = agents_of(settings.home);
  text.begin("fettle_serve_agents", Type::gauge, "Agents that are connected.");
  text.add({}, static_cast<double>(std::ranges::count_if(agents, &AgentView::is_connected)));
  text.begin("fettle_serve_agents_limit", Type::gauge, "Agents that are refused begin here.");
  text.add({}, static_cast<double>(settings.agents));
  const std::vector<RunView> runs = list_runs(settings.folder() / "runs");
  std::map<std::string, uint64_t> counts{
      {"running", 0}, {"succeeded", 0}, {"failed", 0}, {"killed", 0}};
  for (const RunView& run : runs)
    ++counts[run.code ? *run.code == 0 ? "succeeded" : "failed" : std::string(status_of(run))];
  text.begin("fettle_serve_runs", Type::gauge, "Runs that are kept, by how they are.");
  for (const auto& [status, count] : counts)
    text.add({{"status", status}}, static_cast<double>(count));
  text.begin("fettle_serve_runs_begun_total", Type::counter, "Runs that were ever begun.");
  text.add({}, runs.empty() ? 0 : static_cast<double>(runs.back().number));
  return text.text();
}

}  // namespace

std::optional<std::string> health_reply(const UpgradeRequest& request,
                                        const ServeSettings& settings, const Caller& caller,
                                        Visit& visit) {
  const bool is_health = request.target == "/healthz", is_metrics = request.target == "/metrics";
  if (!is_health && !is_metrics)
    return std::nullopt;
  if (request.method != "GET" || request.has_body)
    return refusal_reply({400, cat("`", request.target, "` is asked for by GET without a body")});
  if (is_health)
    return reply_of_health(settings);
  if (const auto refusal = refusal_of_client(request, caller.at, visit.enter()))
    return refusal_reply(*refusal);
  const CommandNeeds needs{Right::read, Reach::server, {}, "GET /metrics"};
  if (const Result<Grant> allowed = visit.allow(needs, needs.what); !allowed)
    return refusal_reply({403, allowed.error().message});
  return closing_reply(200, MetricsText::content_type,
                       numbers_of(settings, caller.seats.count(Visitor::client) + 1));
}

}  // namespace fettle
