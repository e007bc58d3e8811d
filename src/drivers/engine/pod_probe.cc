#include "drivers/engine/pod_probe.h"

#include "base/text.h"
#include "base/wait.h"
#include "drivers/engine/exec.h"
#include "drivers/engine/inside_request.h"
#include "drivers/engine/probe.h"

namespace fettle {
namespace {

constexpr size_t longest_answer = 1 << 20;
constexpr size_t longest_answer_shown = 200;
constexpr size_t most_courses = 100'000;
constexpr int first_bad_status = 400, first_good_status = 200;

/// A number, or the name of one of the container's ports.
std::optional<int> port_of(const Value& port, const Value& container) {
  int64_t number = port.is_integer() ? port.integer().value_or(0) : 0;
  if (port.is_text())
    for (const Value& each : items_of(container.at("ports")))
      if (each.at("name") == port)
        number = each.integer_at("containerPort");
  return number > 0 && number < 65'536 ? std::optional(static_cast<int>(number)) : std::nullopt;
}

using Complaint = std::optional<std::string>;

Result<Complaint> complaint_of(const Error& error) {
  if (is_cancelled(error))
    return error;
  return Complaint(error.message);
}

Result<Complaint> try_command(const Site& site, const Value& handler, const PodHandlerPlace& place,
                              Duration limit, const std::stop_token& stop) {
  std::vector<std::string> words;
  for (const Value& word : items_of(handler.at("command")))
    words.push_back(to_text(word));
  if (words.empty())
    return Complaint("it has no `command`");
  std::string output;
  const auto take = [&](OutputStream, std::string_view bytes) -> Status {
    output += bytes.substr(0, longest_answer - std::min(longest_answer, output.size()));
    return {};
  };
  const auto code = run_exec(site.engine, place.container,
                             {.command = std::move(words), .time_limit = limit}, take, stop);
  if (!code)
    return complaint_of(code.error());
  if (*code == 0)
    return Complaint();
  const std::string said(trim(output));
  return Complaint(cat("its command ended with exit code ", *code, said.empty() ? "" : ": ",
                       clipped(printable(said), longest_answer_shown)));
}

Result<Complaint> try_request(const Site& site, const Value& handler, const PodHandlerPlace& place,
                              Duration limit, const std::stop_token& stop) {
  const auto port = port_of(handler.at("port"), place.spec);
  if (!port)
    return Complaint(cat("`", to_text(handler.at("port")), "` is not a port of the container"));
  const bool is_secure = upper_case(handler.text_at("scheme", "HTTP")) == "HTTPS";
  const std::string host(handler.text_at("host", place.address));
  const std::string_view path = handler.text_at("path", "/");
  HttpRequest request;
  request.url = cat(is_secure ? "https://" : "http://", host, ":", *port,
                    path.starts_with('/') ? "" : "/", path);
  request.connect_limit = request.time_limit = request.silence_limit = limit;
  request.body_limit = longest_answer;
  request.tls.trusts_anybody = true;  // as the kubelet does: a probe asks whether somebody answers
  for (const Value& header : items_of(handler.at("httpHeaders")))
    request.headers.push_back({std::string(header.text_at("name")), to_text(header.at("value"))});
  const bool is_direct = host != place.address || is_reachable(site.engine, host);
  const auto response = is_direct ? site.http.send(std::move(request), stop)
                                  : send_inside(site.http, site.engine, place.container, host,
                                                *port, std::move(request), stop);
  if (!response)
    return complaint_of(response.error());
  if (response->status >= first_good_status && response->status < first_bad_status)
    return Complaint();
  return Complaint(cat("HTTP status ", response->status, " of port ", *port));
}

Result<Complaint> try_connection(const Site& site, const Value& handler,
                                 const PodHandlerPlace& place, Duration limit,
                                 const std::stop_token& stop) {
  const auto port = port_of(handler.at("port"), place.spec);
  if (!port)
    return Complaint(cat("`", to_text(handler.at("port")), "` is not a port of the container"));
  const std::string host(handler.text_at("host", place.address));
  bool is_open = false;
  if (host != place.address || is_reachable(site.engine, host)) {
    is_open = accepts_connections(host, *port, limit, stop);
  } else {
    const auto listens =
        listens_inside(site.engine, place.container, {Socket::Sort::tcp, *port}, stop);
    if (!listens)
      return complaint_of(listens.error());
    is_open = *listens;
  }
  if (stop.stop_requested())
    return cancelled_error();
  return is_open ? Complaint() : Complaint(cat("nothing listens on port ", *port));
}

/// Seconds as Kubernetes writes them in probes.
Duration seconds_of(const Value& probe, std::string_view field, int64_t otherwise) {
  constexpr int64_t longest = 365 * 24 * 3'600;
  return std::chrono::seconds(std::clamp<int64_t>(probe.integer_at(field, otherwise), 0, longest));
}

}  // namespace

Result<std::optional<std::string>> try_handler(const Site& site, const Value& handler,
                                               const PodHandlerPlace& place, Duration limit,
                                               const std::stop_token& stop) {
  if (const Value& command = handler.at("exec"); command.is_dict())
    return try_command(site, command, place, limit, stop);
  if (const Value& request = handler.at("httpGet"); request.is_dict())
    return try_request(site, request, place, limit, stop);
  if (const Value& connection = handler.at("tcpSocket"); connection.is_dict())
    return try_connection(site, connection, place, limit, stop);
  if (const Value& sleep = handler.at("sleep"); sleep.is_dict()) {
    TRY(pause_for(std::min(limit, seconds_of(sleep, "seconds", 0)), stop));
    return std::optional<std::string>();
  }
  return std::optional<std::string>("it must be `exec`, `httpGet` or `tcpSocket`");
}

Result<PodProbes::Course> PodProbes::try_probe(const Site& site, const Value& probe,
                                               const PodHandlerPlace& place, Course course,
                                               const std::stop_token& stop) {
  const Instant now = instant_from_clock();
  if (course.tried && now - *course.tried < seconds_of(probe, "periodSeconds", 10))
    return course;
  const Duration limit = std::max<Duration>(1s, seconds_of(probe, "timeoutSeconds", 1));
  const auto complaint = TRY(try_handler(site, probe, place, limit, stop));
  const bool good = !complaint;
  course.alike = course.tried && course.good == good ? course.alike + 1 : 1;
  const int64_t enough =
      good ? probe.integer_at("successThreshold", 1) : probe.integer_at("failureThreshold", 3);
  if (!course.tried || course.alike >= enough)
    course.holds = good;
  course.good = good;
  course.why = complaint.value_or("");
  course.tried = now;
  return course;
}

Result<PodHealth> PodProbes::ask(const Site& site, const PodHandlerPlace& place, Duration running,
                                 const std::stop_token& stop) {
  Courses courses;
  {
    const std::lock_guard lock(mutex_);
    courses = courses_[place.container];
  }
  PodHealth health;
  const auto look = [&](const char* field, Course& course, bool& holds) -> Status {
    const Value& probe = place.spec.at(field);
    if (!probe.is_dict())
      return {};
    if (running < seconds_of(probe, "initialDelaySeconds", 0)) {
      holds = false;
      health.why = cat("its ", field, " has not run yet");
      return {};
    }
    course = TRY(try_probe(site, probe, place, course, stop));
    holds = course.holds;
    if (!holds)
      health.why = cat(field, " failed: ", course.why);
    return {};
  };
  // Once it has succeeded, it is not asked again.
  if (courses.startup.holds)
    health.started = true;
  else
    TRY(look("startupProbe", courses.startup, health.started));
  if (health.started) {
    TRY(look("livenessProbe", courses.liveness, health.alive));
    // One failure alone does not show that it is dead.
    const Value& liveness = place.spec.at("livenessProbe");
    if (!health.alive && courses.liveness.alike < liveness.integer_at("failureThreshold", 3))
      health.alive = true;
    if (health.alive)
      health.why.clear();
    TRY(look("readinessProbe", courses.readiness, health.ready));
  }
  health.ready &= health.started;
  const std::lock_guard lock(mutex_);
  if (courses_.size() >= most_courses)
    courses_.clear();  // of containers that are gone; the others are asked again
  courses_[place.container] = courses;
  return health;
}

bool PodProbes::is_dead(const std::string& container, const Value& spec) {
  const Value& probe = spec.at("livenessProbe");
  if (!probe.is_dict())
    return false;
  const std::lock_guard lock(mutex_);
  const auto found = courses_.find(container);
  return found != courses_.end() && found->second.liveness.tried && !found->second.liveness.holds &&
         found->second.liveness.alike >= probe.integer_at("failureThreshold", 3);
}

Time PodProbes::since(const std::string& what, bool holds, Time otherwise) {
  const std::lock_guard lock(mutex_);
  if (since_.size() >= most_courses)
    since_.clear();
  const auto [found, is_new] = since_.try_emplace(what, holds, otherwise);
  if (!is_new && found->second.first != holds)
    found->second = {holds, otherwise};
  return found->second.second;
}

}  // namespace fettle
