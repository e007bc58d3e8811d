#include "server/event_streams.h"

#include "base/text.h"
#include "documents/events.h"
#include "value/json.h"
#include "verbs/packages/secrets.h"

namespace fettle {
namespace {

constexpr size_t most_of_piece = 500;
/// When a viewer that lost us tries again.
constexpr std::string_view first_piece = "retry: 2000\n\n";

}  // namespace

void EventStreams::add(std::shared_ptr<WebPeer> peer, Name environment, uint64_t after) {
  peer->open_stream();
  peer->send(std::string(first_piece), {});
  viewers_.push_back(std::make_shared<Viewer>(std::move(peer), std::move(environment), after));
  advance(viewers_.back());
}

void EventStreams::advance() {
  std::erase_if(viewers_,
                [](const std::shared_ptr<Viewer>& viewer) { return viewer->peer->is_gone(); });
  for (const std::shared_ptr<Viewer>& viewer : viewers_)
    advance(viewer);
}

void EventStreams::advance(const std::shared_ptr<Viewer>& viewer) {
  if (viewer->is_sending)
    return;
  Result<std::string> piece = next_piece(*viewer);
  if (!piece || piece->empty())
    return;  // the store is asked again when it changes
  viewer->is_sending = true;
  viewer->peer->send(*std::move(piece), [this, weak = std::weak_ptr(viewer)] {
    queue_.add([this, weak] {
      if (const std::shared_ptr<Viewer> again = weak.lock()) {
        again->is_sending = false;
        advance(again);
      }
    });
  });
}

Result<std::string> EventStreams::next_piece(Viewer& viewer) const {
  const std::vector<Event> events =
      TRY(place_.store->events(viewer.environment, viewer.after, most_of_piece));
  for (size_t i = 0; i < events.size(); ++i)
    if (i == 0 || events[i].environment != events[i - 1].environment)
      TRY(recall_secrets(place_, events[i].environment));
  std::string piece;
  for (const Event& event : events)
    piece += cat("id: ", event.sequence,
                 "\ndata: ", write_json(place_.mask->value(value_of(event))), "\n\n");
  if (!events.empty())
    viewer.after = events.back().sequence;
  if (events.size() == most_of_piece)
    piece += cat("event: behind\ndata: {\"after\":", viewer.after, "}\n\n");
  return piece;
}

}  // namespace fettle
