#include "drivers/engine/pod_look.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "drivers/engine/pod_body.h"
#include "drivers/engine/pod_end.h"
#include "drivers/engine/pod_probe.h"
#include "kinds/pod.h"
#include "value/mask.h"

namespace fettle {
namespace {

constexpr size_t seconds_length = 20;  ///< `2026-11-22T13:40:53Z`

std::string to_seconds(Time time) { return to_string(time).substr(0, seconds_length - 1) + "Z"; }

/// The moment that an engine reports, with its offset from UTC. None: it never happened.
std::optional<Time> moment_in(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &year, &month, &day, &hour, &minute,
                  &second) != 6 ||
      year < 1970)
    return {};
  const auto date = std::chrono::year(year) / month / day;
  if (!date.ok())
    return {};
  Time time = std::chrono::sys_days(date) + std::chrono::hours(hour) +
              std::chrono::minutes(minute) + std::chrono::seconds(second);
  const size_t sign = copy.find_first_of("+-", seconds_length - 1);
  int hours = 0, minutes = 0;
  if (sign != copy.npos && std::sscanf(copy.c_str() + sign + 1, "%2d:%2d", &hours, &minutes) == 2) {
    const auto offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
    time -= copy[sign] == '-' ? -offset : offset;
  }
  return time;
}

/// How long a kubelet would have waited before the last restart. Engines start at once, so a
/// container that has come back earlier does not count as ready yet. A kubelet forgets restarts
/// after ten minutes without one. Here a restart counts if it is close enough to the others over
/// the life of the pod.
Duration restart_pause(int64_t restarts, Duration life) {
  constexpr Duration first = 10s, longest = 5min, forgotten = 10min;
  if (restarts == 0)
    return Duration(0);
  if (life / restarts > forgotten)
    return first;
  return std::min<Duration>(longest, first * (int64_t{1} << std::min<int64_t>(restarts - 1, 8)));
}

/// A container of the pod, and what was found out about it.
struct Row {
  const PodContainer* wanted = nullptr;
  ContainerState state;
  PodHealth health;
  bool backs_off = false;  ///< it has just restarted, not for the first time
  bool ready() const { return state.runs() && health.ready; }
  bool has_ended() const { return state.status == "exited" || state.status == "dead"; }
  /// For an init container: whether the next one may begin.
  bool has_ended_well() const { return has_ended() && state.exit_code == 0; }
};

std::string_view ending_of(const ContainerState& state) {
  if (state.out_of_memory)
    return "OOMKilled";
  return state.exit_code == 0 ? "Completed" : "Error";
}

Value state_value(const Row& row) {
  const std::string started = kubernetes_time(row.state.started);
  if (row.state.runs() || row.state.status == "paused")
    return Value::dict({{"running", Value::dict({{"startedAt", started}})}});
  if (row.has_ended())
    return Value::dict(
        {{"terminated", Value::dict({{"exitCode", row.state.exit_code.value_or(-1)},
                                     {"reason", ending_of(row.state)},
                                     {"startedAt", started},
                                     {"finishedAt", kubernetes_time(row.state.finished)}})}});
  const char* const reason =
      row.state.status == "restarting" ? "CrashLoopBackOff" : "ContainerCreating";
  return Value::dict({{"waiting", Value::dict({{"reason", reason}})}});
}

/// When the pod was made, as its record says.
std::optional<Time> started_of(const Record& known) {
  const Value started = read_one<&PodOutputs::started>(known.outputs);
  return started.is_text() ? moment_in(started.text()) : std::nullopt;
}

Value row_value(const Row& row, const Outputs& outputs, bool is_podman) {
  const int64_t earlier = pod_restarts(outputs, row.state);
  const bool is_init = row.wanted->sort == PodContainer::Sort::init;
  const bool ready = is_init ? row.has_ended_well() : row.ready();
  std::vector<Entry> entries{{"name", row.wanted->name},
                             {"image", row.state.image},
                             {"imageID", row.state.image_id},
                             {"containerID", container_uri(is_podman, row.state.id)},
                             {"ready", ready},
                             {"restartCount", earlier + row.state.restarts},
                             {"started", row.state.runs() && row.health.started},
                             {"state", state_value(row)}};
  if (!row.health.alive)
    entries.push_back({"alive", false});
  if (row.backs_off)
    entries.push_back({"backOff", true});
  return Value::dict(std::move(entries));
}

/// The container that counts if several have the name: the one that runs.
const ContainerState* container_of(const PodContainer& wanted,
                                   const std::vector<const ContainerState*>& states,
                                   const std::string& holder) {
  const ContainerState* found = nullptr;
  for (const ContainerState* const state : states)
    if (label(state->labels, mark::container) == wanted.name &&
        label(state->labels, mark::holder) == holder && (found == nullptr || state->runs()))
      found = state;
  return found;
}

class PodLook {
 public:
  PodLook(const Site& site, const Subject& subject,
          const std::vector<const ContainerState*>& states, const std::stop_token& stop)
      : site_(site), subject_(subject), states_(states), stop_(stop) {}

  Result<Observation> look() {
    const Resource* const then = resource_then();
    if (states_.empty() || then == nullptr)
      return Observation{};
    attributes_ = reveal(then->attributes);
    wanted_ = pod_containers(attributes_);
    const auto holder = std::ranges::find_if(states_, [](const ContainerState* state) {
      return label(state->labels, mark::container).empty();
    });
    holds_ = holder != states_.end() && (*holder)->runs();
    if (holder != states_.end()) {
      address_ = label((*holder)->labels, mark::address);
      holder_ = (*holder)->id;
      is_cut_off_ = is_cut_off(**holder);
    }
    if (holds_)
      for (const PodContainer& wanted : wanted_)
        if (const ContainerState* const state = container_of(wanted, states_, holder_))
          TRY(add(wanted, *state));
    return Observation{status()};
  }

 private:
  /// The resource that it was made as. While it is being made, that is the wanted one.
  const Resource* resource_then() const {
    const Record* const known = subject_.known.get();
    if (subject_.wanted != nullptr && (known == nullptr || !known->applied))
      return subject_.wanted;
    return known == nullptr ? nullptr : resource_of_then(*known);
  }

  Status add(const PodContainer& wanted, const ContainerState& listed) {
    const auto state = TRY(inspect_container(site_.engine, listed.id, stop_));
    if (!state)
      return {};
    Row row{&wanted, *state, {}};
    const auto started = moment_in(state->started);
    if (state->runs()) {
      const Duration running =
          started ? std::max<Duration>(0s, now_from_clock() - *started) : Duration(0);
      if (wanted.stays())
        row.health =
            TRY(site_.probes.ask(site_, {state->id, address_, wanted.spec}, running, stop_));
      if (running < restart_pause(state->restarts, now_from_clock() - begun())) {
        row.backs_off = true;
        row.health.ready = false;
        row.health.why =
            cat("it has restarted ", state->restarts, state->restarts == 1 ? " time" : " times",
                ", and has to run for a while");
      }
    }
    row.backs_off |=
        row.has_ended() && state->restarts > 0 && (wanted.stays() || !row.has_ended_well());
    if (started && wanted.stays())
      last_start_ = std::max(last_start_, *started);
    is_probed_ |=
        wanted.spec.at("readinessProbe").is_dict() || wanted.spec.at("startupProbe").is_dict();
    rows_.push_back(std::move(row));
    return {};
  }

  /// When the pod was made, as far as anybody knows.
  Time begun() const {
    const Record* const known = subject_.known.get();
    if (const auto created = known == nullptr ? std::optional<Time>() : started_of(*known))
      return *created;
    if (known != nullptr && known->attempt && known->attempt->started != Time())
      return known->attempt->started;
    return last_start_ == Time() ? now_from_clock() : last_start_;
  }

  const Row* row_of(const PodContainer& wanted) const {
    const auto found = std::ranges::find(rows_, &wanted, &Row::wanted);
    return found == rows_.end() ? nullptr : &*found;
  }

  /// The init container that the others wait for. Null: all have ended well.
  const PodContainer* awaited() const {
    const bool has_begun = std::ranges::any_of(
        rows_, [](const Row& row) { return row.wanted->sort == PodContainer::Sort::plain; });
    if (has_begun || !holds_)
      return nullptr;
    for (const PodContainer& wanted : wanted_)
      if (const Row* const row = row_of(wanted); wanted.sort == PodContainer::Sort::init)
        if (row == nullptr || !row->has_ended_well())
          return &wanted;
    return nullptr;
  }

  std::string complaint_about_init(const PodContainer& awaited) const {
    const std::string begin = cat("init container `", awaited.name, "` ");
    const Row* const row = row_of(awaited);
    if (row == nullptr)
      return cat(begin, "has not begun");
    const int64_t restarts = row->state.restarts;
    if (restarts > 0)
      return cat(begin, "has failed ", restarts, restarts == 1 ? " time" : " times");
    return row->has_ended() ? cat(begin, "ended with exit code ", row->state.exit_code.value_or(-1))
                            : cat(begin, "has not ended");
  }

  /// Why it is not ready. Empty: its containers are.
  std::string complaint() const {
    if (is_cut_off_)
      return "it is cut off from its network";
    if (const PodContainer* const init = awaited())
      return complaint_about_init(*init);
    for (const PodContainer& wanted : wanted_) {
      const Row* const row = row_of(wanted);
      if (!wanted.stays() || (row != nullptr && row->ready()))
        continue;
      if (row == nullptr)
        return cat("container `", wanted.name, "` does not exist");
      const std::string why = row->health.why.empty() ? row->state.status : row->health.why;
      return cat("container `", wanted.name, "`: ", why);
    }
    return {};
  }

  std::string_view phase() const {
    const std::string_view policy = pod_restart_policy(attributes_);
    bool all_ended = true, any_failed = false;
    if (const PodContainer* const init = awaited()) {
      const Row* const row = row_of(*init);
      return policy == "Never" && row != nullptr && row->has_ended() ? "Failed" : "Pending";
    }
    for (const PodContainer& wanted : wanted_) {
      if (wanted.sort != PodContainer::Sort::plain)
        continue;
      const Row* const row = row_of(wanted);
      if (row == nullptr || row->state.status == "created")
        return "Pending";
      all_ended &= row->has_ended();
      any_failed |= row->has_ended() && row->state.exit_code != 0;
    }
    if (!all_ended || policy == "Always" || (policy == "OnFailure" && any_failed))
      return "Running";
    return any_failed ? "Failed" : "Succeeded";
  }

  Value condition(std::string_view type, bool holds, Time since, std::string_view reason = {},
                  const std::string& message = {}) const {
    std::vector<Entry> entries{{"type", type},
                               {"status", holds ? "True" : "False"},
                               {"lastTransitionTime", to_seconds(since)}};
    if (!holds && !reason.empty())
      entries.insert(entries.end(), {{"reason", reason}, {"message", message}});
    return Value::dict(std::move(entries));
  }

  /// When the condition became as it is. If nobody has watched, the acts tell, unless a probe
  /// decides; else it is now.
  Time since(std::string_view what, bool holds, Time told) const {
    const bool is_told = holds && !is_probed_ && last_start_ != Time();
    return site_.probes.since(cat(holder_, " ", what), holds, is_told ? told : now_from_clock());
  }

  /// When an act set the condition as it is.
  Time gate_since(const Name& type) const {
    if (subject_.known == nullptr)
      return {};
    return moment_in(
               read_one<&PodOutputs::gates>(subject_.known->outputs).value().text_at(type.view()))
        .value_or(subject_.known->finished);
  }

  Value conditions() const {
    const Time begun = this->begun();
    const PodContainer* const awaited = this->awaited();
    const std::string why = complaint();
    const bool are_ready = why.empty();
    std::vector<Value> all{
        condition("PodScheduled", true, begun),
        condition("Initialized", awaited == nullptr, begun, "ContainersNotInitialized", why),
        condition("ContainersReady", are_ready, since("containers", are_ready, last_start_),
                  "ContainersNotReady", why)};
    std::string gate;
    Time ready_since = last_start_;
    const Dict gates = read_one<&Pod::conditions>(attributes_);
    for (const Entry& entry : gates.entries()) {
      const bool holds = entry.value == Value("True");
      const Time told = gate_since(entry.key);
      ready_since = std::max(ready_since, told);
      all.push_back(condition(entry.key, holds, told == Time() ? last_start_ : told));
      if (!holds)
        gate = cat("condition `", entry.key, "` is False");
    }
    const bool is_ready = are_ready && gate.empty();
    all.push_back(condition("Ready", is_ready, since("ready", is_ready, ready_since),
                            are_ready ? "ReadinessGatesNotReady" : "ContainersNotReady",
                            are_ready ? gate : why));
    return Value::list(std::move(all));
  }

  const Outputs& outputs() const {
    static const Outputs none;
    return subject_.known == nullptr ? none : subject_.known->outputs;
  }

  Value rows(bool init) const {
    const bool is_podman =
        site_.engine.flavour(stop_).value_or(Engine::Flavour::docker) == Engine::Flavour::podman;
    std::vector<Value> found;
    for (const Row& row : rows_)
      if ((row.wanted->sort != PodContainer::Sort::plain) == init)
        found.push_back(row_value(row, outputs(), is_podman));
    return Value::list(std::move(found));
  }

  Value status() const {
    std::vector<Entry> entries{{"phase", phase()},
                               {"podIP", address_},
                               {"conditions", conditions()},
                               {"containerStatuses", rows(false)},
                               {"initContainerStatuses", rows(true)}};
    if (subject_.known != nullptr)
      if (const auto started = started_of(*subject_.known))
        entries.push_back({"startTime", to_seconds(*started)});
    if (site_.engine.address().is_local())
      entries.push_back({"hostIP", "127.0.0.1"});
    if (holds_ && is_cut_off_)
      entries.push_back({"cutOff", true});
    return Value::dict(std::move(entries));
  }

  const Site& site_;
  const Subject& subject_;
  const std::vector<const ContainerState*>& states_;
  const std::stop_token& stop_;
  Attributes attributes_;
  std::vector<PodContainer> wanted_;
  std::vector<Row> rows_;
  std::string address_, holder_;
  Time last_start_;
  bool is_probed_ = false;
  bool holds_ = false;       ///< the holder runs
  bool is_cut_off_ = false;  ///< the holder is on no network
};

}  // namespace

Result<Observation> look_at_pod(const Site& site, const Subject& subject,
                                const std::vector<const ContainerState*>& states,
                                const std::stop_token& stop) {
  return PodLook(site, subject, states, stop).look();
}

std::string kubernetes_time(std::string_view text) {
  const auto moment = moment_in(text);
  return moment ? to_seconds(*moment) : std::string();
}

}  // namespace fettle
