#include "drivers/engine/events.h"

#include <deque>
#include <set>

#include "base/text.h"
#include "base/wait.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t remembered = 1024;

EngineEvent event_of(const Value& line) {
  EngineEvent event;
  event.type = line.text_at("Type");
  event.action = line.text_at("Action", line.text_at("status"));
  if (event.action == "remove")  // Podman's word
    event.action = "destroy";
  const Value& actor = line.at("Actor");
  event.id = actor.text_at("ID", line.text_at("id"));
  for (auto& [key, value] : texts_of(actor.at("Attributes")))
    event.attributes.emplace(std::move(key), std::move(value));
  event.time_ns = line.integer_at("timeNano");
  return event;
}

/// Forgets the oldest events that it saw.
class Deduplicator {
 public:
  bool is_new(const EngineEvent& event) {
    const std::string mark = cat(event.time_ns, " ", event.id, " ", event.action);
    if (!seen_.insert(mark).second)
      return false;
    order_.push_back(mark);
    if (order_.size() > remembered) {
      seen_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

 private:
  std::set<std::string> seen_;
  std::deque<std::string> order_;
};

}  // namespace

Status watch_events(Engine& engine, const std::vector<std::string>& labels,
                    const std::function<void(const EngineEvent&)>& take, std::stop_token stop) {
  std::vector<std::pair<std::string, std::string>> conditions;
  for (const std::string& label : labels)
    conditions.emplace_back("label", label);
  Deduplicator deduplicator;
  EngineCall call{.path = "/events", .query = {{"filters", filters(conditions)}}};
  call.time_limit = for_ever;
  call.still_at_it = engine.answers();
  call.sink = line_sink([&](std::string_view text) -> Status {
    if (const auto line = read_json(text, {}, Duplicates::last_wins)) {
      const EngineEvent event = event_of(*line);
      if (deduplicator.is_new(event))
        take(event);
    }
    return {};
  });
  const EngineAnswer answer = TRY(engine.ask(std::move(call), stop));
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

}  // namespace fettle
