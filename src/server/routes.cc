#include "server/routes.h"

#include <charconv>

#include "base/text.h"
#include "core/environment_name.h"
#include "server/answers.h"
#include "server/plan_answers.h"
#include "verbs/packages/secrets.h"

namespace fettle {
namespace {

constexpr WebRight read_right = WebRight::read;

const std::vector<Route>& basic_routes() {
  static const std::vector<Route> all{
      {"GET",
       "/api/environments",
       read_right,
       {},
       "the environments, as `enclave ls` lists them",
       tell_environments},
      {"GET",
       "/api/environments/{environment}",
       read_right,
       {},
       "one environment with its services and files, as `enclave inspect` shows it",
       tell_environment},
      {"GET",
       "/api/environments/{environment}/graph",
       read_right,
       {"group"},
       "its resources and what needs what, with places for a picture",
       tell_graph},
      {"GET",
       "/api/environments/{environment}/resource",
       read_right,
       {"key"},
       "one resource, as `show` has it, and why it was done",
       tell_resource},
      {"GET",
       "/api/environments/{environment}/runs",
       read_right,
       {"before"},
       "its last runs",
       tell_runs},
      {"GET",
       "/api/environments/{environment}/runs/{run}",
       read_right,
       {},
       "the acts of a run",
       tell_run},
      {"GET",
       "/api/environments/{environment}/services/{service}/logs",
       read_right,
       {"tail"},
       "the last lines of a service",
       tell_logs},
      {"GET",
       "/api/environments/{environment}/artifacts/{artifact}",
       read_right,
       {},
       "what is in a files artifact",
       tell_artifact},
      {"GET",
       "/api/environments/{environment}/artifacts/{artifact}/file",
       read_right,
       {"path"},
       "one of its files, with its content",
       tell_artifact_file},
      {"GET",
       "/api/environments/{environment}/versions",
       read_right,
       {},
       "the versions of its model",
       tell_versions},
      {"GET",
       "/api/environments/{environment}/versions/{version}/sets",
       read_right,
       {},
       "the sets of a version",
       tell_version_sets},
      {"GET",
       "/api/environments/{environment}/versions/{version}/diff",
       read_right,
       {"from"},
       "what differs between two versions",
       tell_version_diff},
      {"GET",
       "/api/environments/{environment}/pending",
       read_right,
       {},
       "what is called again until it settles, and what has failed",
       tell_pending},
      {"GET",
       "/api/environments/{environment}/fleet",
       read_right,
       {},
       "its workloads, pods and images",
       tell_fleet},
      {"GET",
       "/api/events",
       read_right,
       {"environment", "text", "before"},
       "the last events",
       tell_events},
      {"GET",
       "/api/stream",
       read_right,
       {"environment", "after"},
       "events as they happen, as server-sent events",
       nullptr}};
  return all;
}

/// Logs, plans and rollouts.
std::vector<Route> further_routes() {
  return {
      {"GET",
       "/api/environments/{environment}/services/{service}/logs/stream",
       read_right,
       {"tail", "after"},
       "the lines of a service as it writes them, as server-sent events",
       nullptr},
      {"GET",
       "/api/environments/{environment}/services/{service}/terminal",
       WebRight::act,
       {"rows", "columns"},
       "a shell in a service, as a WebSocket",
       nullptr},
      {"GET",
       "/api/environments/{environment}/rollout",
       read_right,
       {"before"},
       "what was done to its pods and images in its last rollout, over time",
       tell_rollout},
      {"GET",
       "/api/session",
       read_right,
       {},
       "who is signed in at the page of a server; no name: it is one's own page",
       nullptr,
       ask_session},
      {"GET",
       "/api/nodes",
       read_right,
       {},
       "the nodes, as `node ls` lists them",
       nullptr,
       ask_nodes},
      {"GET",
       "/api/environments/{environment}/plan",
       read_right,
       {},
       "what a run would do, as `plan` shows it, of what was run last",
       nullptr,
       ask_plan},
      {"GET",
       "/api/plans",
       read_right,
       {"environment"},
       "the plans that were kept in files",
       tell_plans},
      {"GET", "/api/plans/steps", read_right, {"file"}, "the steps of a kept plan", tell_plan_file},
      {"GET",
       "/api/plans/stand",
       read_right,
       {"file"},
       "whether the same is still due",
       nullptr,
       ask_stand_of_plan}};
}

const std::vector<Route>& table_of_acts() {
  static const std::vector<Route> all{{"POST",
                                       "/api/environments/{environment}/plan",
                                       WebRight::act,
                                       {},
                                       "carries out the plan that is shown",
                                       nullptr},
                                      {"POST",
                                       "/api/environments/{environment}/plan/cancel",
                                       WebRight::act,
                                       {},
                                       "asks what carries it out to stop",
                                       nullptr}};
  return all;
}

const std::vector<Route>& table_of_runs() {
  static const std::vector<Route> all{
      {"GET", "/api/runs", read_right, {}, "the runs of a server, as `runs` lists them", nullptr},
      {"GET", "/api/runs/{run}", read_right, {}, "one of them", nullptr},
      {"GET",
       "/api/runs/{run}/output",
       read_right,
       {"after"},
       "what it has printed, in parts",
       nullptr},
      {"GET",
       "/api/schedules",
       read_right,
       {},
       "its schedules, and the plans that wait for approval, as `schedule ls` lists them",
       nullptr},
      {"POST",
       "/api/runs/{run}/cancel",
       WebRight::act,
       {},
       "asks it to stop, as `cancel` does",
       nullptr},
      {"POST",
       "/api/commands",
       WebRight::act,
       {},
       "runs a command, and answers when it has ended",
       nullptr}};
  return all;
}

const std::vector<Route>& table() {
  static const std::vector<Route> all = [] {
    std::vector<Route> rows = basic_routes();
    for (const Route& route : further_routes())
      rows.push_back(route);
    return rows;
  }();
  return all;
}

/// The parts of a path that fits a pattern.
std::optional<std::map<std::string, std::string>> parts_of(
    std::string_view pattern, const std::vector<std::string>& segments) {
  const std::vector<std::string_view> wanted = split(pattern.substr(1), '/');
  if (wanted.size() != segments.size())
    return std::nullopt;
  std::map<std::string, std::string> parts;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i].starts_with('{'))
      parts.emplace(wanted[i].substr(1, wanted[i].size() - 2), segments[i]);
    else if (wanted[i] != segments[i])
      return std::nullopt;
  return parts;
}

/// What is secret is hidden in it, and in an error.
Result<Value> hidden_answer(const Route& route, const RouteCall& call) {
  const Result<Value> answered = route.answer(call);
  if (!answered)
    return call.place.mask->error(answered.error());
  return call.place.mask->value(*answered);
}

}  // namespace

std::string RouteCall::parameter(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

Result<uint64_t> RouteCall::number(const std::string& name, uint64_t otherwise,
                                   uint64_t most) const {
  const auto part = parts.find(name);
  return route_number(name, part != parts.end() ? part->second : parameter(name), otherwise, most);
}

Result<uint64_t> route_number(std::string_view name, const std::string& text, uint64_t otherwise,
                              uint64_t most) {
  if (text.empty())
    return otherwise;
  uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number > most)
    return user_error(
        cat("`", name, "` must be a number from 0 to ", most, ", not `", printable(text), "`"));
  return number;
}

Result<Environment> RouteCall::environment() const {
  const std::string& name = part("environment");
  TRY(check_environment_name(name));
  std::optional<Environment> found = TRY(place.store->environment(Name(name)));
  if (!found)
    return user_error(cat("there is no environment `", name, "`"));
  TRY(recall_secrets(place, found->name));
  return *std::move(found);
}

std::span<const Route> routes() { return table(); }

std::span<const Route> routes_of_acts() { return table_of_acts(); }

std::span<const Route> routes_of_runs() { return table_of_runs(); }

RouteMatch find_route(const std::vector<std::string>& segments) {
  return find_route(table(), segments);
}

RouteMatch find_route(std::span<const Route> table, const std::vector<std::string>& segments) {
  for (const Route& route : table)
    if (auto parts = parts_of(route.pattern, segments))
      return {&route, *std::move(parts)};
  return {};
}

Status check_parameters(const Route& route, const WebTarget& target) {
  for (const auto& [name, value] : target.query)
    if (std::ranges::find(route.parameters, name) == route.parameters.end())
      return user_error(cat("the parameter `", printable(name), "` is unknown here",
                            suggestion(name, route.parameters)));
  return {};
}

Result<Value> document_by_routes(const Workplace& place, const WebTarget& target) {
  RouteMatch match = find_route(target.segments);
  if (match.route == nullptr)
    return user_error("there is nothing at this path; `fettle api --openapi` lists the paths");
  TRY(check_parameters(*match.route, target));
  if (match.route->child != nullptr)
    return user_error("a command of its own tells this: `fettle plan`, `fettle node ls`");
  if (match.route->answer == nullptr)
    return user_error(
        "this is a stream, and of the page alone; `fettle events -f` and `fettle service logs -f` "
        "follow");
  return hidden_answer(*match.route, {place, std::move(match.parts), target.query});
}

WebReply answer_by_routes(const Workplace& place, const WebTarget& target) {
  RouteMatch match = find_route(target.segments);
  if (match.route == nullptr)
    return error_reply(404, "there is nothing at this path");
  if (const Status known = check_parameters(*match.route, target); !known)
    return error_reply(400, known.error().message);
  const RouteCall call{place, std::move(match.parts), target.query};
  const Result<Value> answered = hidden_answer(*match.route, call);
  if (!answered)
    return error_reply(answered.error());
  WebReply reply = document_reply(*answered);
  reply.rest = std::move(call.rest);
  return reply;
}

}  // namespace fettle
