#include "server/event_streams.h"

#include "base/text.h"
#include "documents/events.h"
#include "value/json.h"
#include "verbs/packages/secrets.h"

namespace fettle {
namespace {

constexpr size_t most_of_piece = 500;
/// Viewers that lag stand at places of their own; beyond this, pieces are made again.
constexpr size_t most_pieces = 16;
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
  pieces_.clear();
  std::erase_if(viewers_,
                [](const std::shared_ptr<Viewer>& viewer) { return viewer->peer->is_gone(); });
  for (const std::shared_ptr<Viewer>& viewer : viewers_)
    advance(viewer);
}

void EventStreams::advance(const std::shared_ptr<Viewer>& viewer) {
  if (viewer->is_sending)
    return;
  const Result<const Piece*> piece = piece_after(viewer->environment, viewer->after);
  if (!piece || (*piece)->text.empty())
    return;  // the store is asked again when it changes
  viewer->after = (*piece)->last;
  viewer->is_sending = true;
  viewer->peer->send((*piece)->text, [this, weak = std::weak_ptr(viewer)] {
    queue_.add([this, weak] {
      if (const std::shared_ptr<Viewer> again = weak.lock()) {
        again->is_sending = false;
        advance(again);
      }
    });
  });
}

Result<const EventStreams::Piece*> EventStreams::piece_after(const Name& environment,
                                                             uint64_t after) {
  const auto found = pieces_.find({environment, after});
  if (found != pieces_.end())
    return &found->second;
  if (pieces_.size() >= most_pieces)
    pieces_.clear();
  Piece piece = TRY(make_piece(environment, after));
  return &pieces_.emplace(std::pair(environment, after), std::move(piece)).first->second;
}

Result<EventStreams::Piece> EventStreams::make_piece(const Name& environment,
                                                     uint64_t after) const {
  const std::vector<Event> events = TRY(place_.store->events(environment, after, most_of_piece));
  for (size_t i = 0; i < events.size(); ++i)
    if (i == 0 || events[i].environment != events[i - 1].environment)
      TRY(recall_secrets(place_, events[i].environment));
  Piece piece{{}, events.empty() ? after : events.back().sequence};
  for (const Event& event : events)
    piece.text += cat("id: ", event.sequence,
                      "\ndata: ", write_json(place_.mask->value(value_of(event))), "\n\n");
  if (events.size() == most_of_piece)
    piece.text += cat("event: behind\ndata: {\"after\":", piece.last, "}\n\n");
  return piece;
}

}  // namespace fettle
