#include "verbs/fleet/rollout_history.h"

#include <algorithm>
#include <unordered_map>

#include "kinds/pod.h"
#include "verbs/environments/run_history.h"

namespace fettle {
namespace {

constexpr Duration longest_pause = 5min;
constexpr size_t events_of_page = 2'000, most_looked_at = 20'000;

bool is_of_rollout(const Event& event) {
  return event.key.kind == "pod" ||
         (event.key.kind == "image" && on_node(event.key.name.view()).is_on_node);
}

bool is_end(EventType type) {
  return type == EventType::done || type == EventType::kept || type == EventType::failed ||
         type == EventType::removed || type == EventType::skipped || type == EventType::blocked;
}

/// Takes the events of one rollout.
class RolloutReader {
 public:
  void take(const Event& event) {
    if (event.type == EventType::run_started)
      interrupt();
    if (!is_of_rollout(event) || event.type == EventType::planned)
      return;
    const bool is_first = past_.pods.empty() && past_.pulls.empty();
    past_.from = is_first ? event.time : past_.from;
    past_.to = event.time;
    take_act(row_of(event), event);
  }
  RolloutPast finish() {
    for (const std::vector<RolloutRow>* const rows : {&past_.pods, &past_.pulls})
      for (const RolloutRow& row : *rows)
        past_.is_under_way |= !row.acts.empty() && !row.acts.back().ended;
    return std::move(past_);
  }

 private:
  RolloutRow& row_of(const Event& event) {
    std::vector<RolloutRow>& rows = event.key.kind == "pod" ? past_.pods : past_.pulls;
    const auto [found, is_new] = places_.try_emplace(event.key, rows.size());
    if (is_new)
      rows.push_back({event.key, event.verb != Verb::create && event.verb != Verb::run, {}, {}});
    return rows[found->second];
  }

  static void take_act(RolloutRow& row, const Event& event) {
    if (row.acts.empty() || row.acts.back().ended || event.type == EventType::started) {
      end(row);
      row.acts.push_back({event.verb, event.time, {}, {}, event.text, {}});
      row.gone.reset();
    }
    RolloutAct& act = row.acts.back();
    act.outcome = to_string(event.type);
    if (!is_end(event.type))
      return;
    act.ended = event.time;
    if (event.type == EventType::failed || event.type == EventType::blocked)
      act.error = event.text;
    if (event.type == EventType::removed ||
        (event.type == EventType::done && event.verb == Verb::remove))
      row.gone = event.time;
  }

  /// Whoever begins a run has ended the one before, which may have died.
  void interrupt() {
    for (std::vector<RolloutRow>* const rows : {&past_.pods, &past_.pulls})
      std::ranges::for_each(*rows, end);
  }
  static void end(RolloutRow& row) {
    if (row.acts.empty() || row.acts.back().ended)
      return;
    row.acts.back().ended = row.acts.back().began;
    row.acts.back().outcome = "interrupted";
  }

  RolloutPast past_;
  std::unordered_map<Key, size_t, KeyHash> places_;
};

/// Where the last rollout begins.
size_t begin_of_last(const std::vector<Event>& events) {
  size_t begin = events.size();
  std::optional<Time> later;
  for (size_t i = events.size(); i-- > 0;) {
    if (!is_of_rollout(events[i]))
      continue;
    if (later && *later - events[i].time > longest_pause)
      break;
    later = events[i].time;
    begin = i;
  }
  return begin;
}

}  // namespace

RolloutPast rollout_of(const std::vector<Event>& events) {
  const size_t begin = begin_of_last(events);
  RolloutReader reader;
  for (size_t i = begin; i < events.size(); ++i)
    reader.take(events[i]);
  RolloutPast past = reader.finish();
  if (std::any_of(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(begin),
                  is_of_rollout))
    past.next = events[begin].sequence;
  return past;
}

Result<RolloutPast> last_rollout(const Workplace& place, const Name& environment, uint64_t before) {
  std::vector<Event> events;
  for (EventSearch search{.environment = environment, .before = before, .most = events_of_page};;) {
    EventPage page = TRY(search_events(place, search));
    page.events.insert(page.events.end(), std::make_move_iterator(events.begin()),
                       std::make_move_iterator(events.end()));
    events = std::move(page.events);
    // The pause before it has been seen, or there is nothing more to be seen.
    if (page.next == 0 || events.size() >= most_looked_at || rollout_of(events).next != 0)
      break;
    search.before = page.next;
  }
  RolloutPast past = rollout_of(events);
  if (past.is_under_way)
    past.to = std::max(past.to, place.clock());
  return past;
}

}  // namespace fettle
