#include "verbs/environments/run_history.h"

#include <algorithm>

#include "base/text.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

/// The number of the newest event: the store tells those after a number, so it is halved.
Result<uint64_t> newest_event(Store& store, const Name& environment) {
  const auto is_any_after = [&](uint64_t after) -> Result<bool> {
    return !TRY(store.events(environment, after, 1)).empty();
  };
  if (!TRY(is_any_after(0)))
    return uint64_t{0};
  uint64_t low = 0, high = 1;
  while (TRY(is_any_after(high))) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (TRY(is_any_after(middle)) ? low : high) = middle;
  }
  return high;
}

constexpr uint64_t largest_window = 65'536;

bool is_found(const Event& event, const std::string& wanted, bool only_ends) {
  if (only_ends && event.type != EventType::run_started && event.type != EventType::run_finished)
    return false;
  if (wanted.empty())
    return true;
  const auto has = [&](std::string_view text) {
    return lower_case(std::string(text)).find(wanted) != std::string::npos;
  };
  return has(event.text) || has(to_string(event.type)) ||
         (!event.key.kind.empty() &&
          (has(to_string(event.key)) || has(shown_key(event.key)) || has(to_string(event.verb))));
}

}  // namespace

Result<EventPage> search_events(const Workplace& place, const EventSearch& search) {
  EventPage page;
  page.newest = TRY(newest_event(*place.store, search.environment));
  const std::string wanted = lower_case(search.text);
  uint64_t end = search.before == 0 ? page.newest + 1 : std::min(search.before, page.newest + 1);
  std::vector<Event> found;  // the newest first
  uint64_t read = 0;
  for (uint64_t window = std::max<uint64_t>(search.most, 1); end > 1;
       window = std::min(window * 2, largest_window)) {
    const uint64_t begin = end > window ? end - window : 1;
    std::vector<Event> events =
        TRY(place.store->events(search.environment, begin - 1, static_cast<size_t>(end - begin)));
    std::erase_if(events, [&](const Event& event) { return event.sequence >= end; });
    read += events.size();
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (!is_found(*event, wanted, search.only_ends))
        continue;
      page.next = event->sequence;
      found.push_back(std::move(*event));
      if (found.size() == search.most)
        break;
    }
    if (found.size() == search.most)
      break;
    end = begin;
    page.next = end > 1 ? end : 0;
    if (read >= search.reads)
      break;
  }
  std::ranges::reverse(found);
  page.events = std::move(found);
  return page;
}

std::vector<RunPast> runs_of(const std::vector<Event>& events) {
  std::vector<RunPast> runs;
  std::unordered_map<Key, size_t, KeyHash> acts;  // of the last run
  for (const Event& event : events) {
    if (event.type == EventType::run_started) {
      runs.push_back({event.sequence, event.time, {}, event.text, {}, {}, {}});
      acts.clear();
      continue;
    }
    if (runs.empty())
      continue;
    RunPast& run = runs.back();
    if (event.type == EventType::run_finished) {
      run.ended = event.time;
      run.outcome = event.text;
      run.counts = event.detail;
      continue;
    }
    if (event.type == EventType::planned || event.key.kind.empty())
      continue;
    const auto [found, is_new] = acts.try_emplace(event.key, run.acts.size());
    if (is_new)
      run.acts.push_back({event.key, event.verb, event.time, event.time, {}, {}});
    RunAct& act = run.acts[found->second];
    act.verb = event.verb;
    act.ended = event.time;
    act.outcome = to_string(event.type);
    if (!event.text.empty())
      act.text = event.text;
  }
  return runs;
}

}  // namespace fettle
