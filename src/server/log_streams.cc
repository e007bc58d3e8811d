#include "server/log_streams.h"

#include <atomic>

#include "base/rfc3339.h"
#include "base/text.h"
#include "base/thread.h"
#include "server/log_lines.h"
#include "server/log_position.h"
#include "value/json.h"
#include "verbs/environments/inside.h"
#include "verbs/packages/secrets.h"

namespace fettle {
namespace {

constexpr size_t most_viewers = 16;
constexpr size_t room_of_viewer = 262'144;
constexpr uint64_t first_lines = 200, most_first_lines = 5'000;
/// When a viewer that lost us tries again.
constexpr std::string_view retry_piece = "retry: 2000\n\n";

struct Line {
  std::string id;
  Value value;
};

/// Hands over whole lines with their times, of a log that comes in pieces.
StreamSink line_sink(LogLines& lines, std::function<Status(Value line)> take) {
  return [&lines, take = std::move(take)](OutputStream stream, std::string_view bytes) -> Status {
    TRY(lines.take(stream, bytes));
    for (Value& line : lines.ended())
      TRY(take(std::move(line)));
    return {};
  };
}

/// `error`: null if the container has ended by itself.
Value end_document(const Workplace& place, const Status& end) {
  return place.mask->value(Value::dict({{"error", end ? Value() : Value(to_string(end.error()))}}));
}

}  // namespace

struct LogStreams::Viewer {
  std::shared_ptr<WebPeer> peer;
  Name environment;
  ServiceView service;
  int tail = 0;
  std::optional<LogPosition> position;  ///< used by its thread; none: at the last lines
  std::weak_ptr<Viewer> self;

  std::mutex mutex;
  Condition has_room;
  std::vector<Line> lines;              ///< not sent
  size_t bytes = 0;                     ///< of those
  std::optional<Status> end;            ///< how reading ended
  std::atomic<bool> is_called = false;  ///< there is a job for it

  bool is_sending = false, is_over = false;  ///< used on the queue's thread
  std::atomic<bool> has_ended = false;       ///< its thread
  Thread thread;
};

LogStreams::~LogStreams() {
  for (const std::shared_ptr<Viewer>& viewer : viewers_)
    viewer->thread.request_stop();
  for (const std::shared_ptr<Viewer>& viewer : viewers_)
    viewer->thread = {};
}

Status LogStreams::add(const RouteCall& call, const std::string& last_seen,
                       std::shared_ptr<WebPeer> peer) {
  sweep();
  const Environment environment = TRY(call.environment());
  const auto viewer = std::make_shared<Viewer>();
  viewer->environment = environment.name;
  viewer->service = TRY(service_that_wrote(call.place, environment, call.part("service")));
  TRY(container_of(viewer->service));
  viewer->tail = static_cast<int>(TRY(call.number("tail", first_lines, most_first_lines)));
  if (!last_seen.empty())
    viewer->position = TRY(LogPosition::read(last_seen));
  if (viewer->tail < 1)
    return user_error("`tail` must be at least 1");
  if (viewers_.size() >= most_viewers)
    return world_error(cat(most_viewers, " logs are followed already: close one of them"));
  peer->open_stream();
  peer->send(std::string(retry_piece), {});
  viewer->peer = std::move(peer);
  viewer->self = viewer;
  viewers_.push_back(viewer);
  // The viewer ends its thread before it goes, so the thread may use it.
  viewer->thread =
      Thread([this, viewer = viewer.get()](const std::stop_token& stop) { read(*viewer, stop); });
  return {};
}

void LogStreams::sweep() {
  for (const std::shared_ptr<Viewer>& viewer : viewers_)
    if (viewer->peer->is_gone())
      viewer->thread.request_stop();
  // An engine may take a moment to stop, for which nobody waits here.
  std::erase_if(viewers_, [](const std::shared_ptr<Viewer>& viewer) {
    return viewer->peer->is_gone() && viewer->has_ended;
  });
}

void LogStreams::read(Viewer& viewer, const std::stop_token& stop) {
  Status done = read_lines(viewer, stop);
  {
    const std::lock_guard lock(viewer.mutex);
    viewer.end = std::move(done);
  }
  if (!stop.stop_requested())
    call(viewer);
  viewer.has_ended = true;
}

Status LogStreams::read_lines(Viewer& viewer, const std::stop_token& stop) {
  LogOptions options;
  options.timestamps = true;
  if (!viewer.position) {
    // The last lines only say where to begin: what is written meanwhile comes after that, too.
    options.tail = viewer.tail;
    std::optional<Time> first;
    LogLines lines(viewer.service.name);
    const StreamSink sink = line_sink(lines, [&](const Value& line) -> Status {
      if (const Result<Time> time = read_moment(line.text_at("time")))
        first = first ? std::min(*first, *time) : *time;
      return {};
    });
    TRY(read_logs_of(place_, viewer.service, options, sink, stop));
    viewer.position.emplace(first.value_or(Time{}));
  }
  options.tail = -1;
  options.follow = true;
  options.since = viewer.position->since();
  LogLines lines(viewer.service.name);
  const auto take = [&](Value line) -> Status {
    const Result<Time> time = read_moment(line.text_at("time"));
    if (!viewer.position->take(time ? *time : viewer.position->newest()))
      return {};
    std::unique_lock lock(viewer.mutex);
    if (!viewer.has_room.wait(lock, stop, [&] { return viewer.bytes < room_of_viewer; }))
      return cancelled_error();
    viewer.bytes += line.text_at("text").size() + 100;
    viewer.lines.push_back({viewer.position->text(), std::move(line)});
    lock.unlock();
    call(viewer);
    return {};
  };
  TRY(read_logs_of(place_, viewer.service, options, line_sink(lines, take), stop));
  for (Value& line : lines.finish())
    TRY(take(std::move(line)));
  return {};
}

void LogStreams::call(Viewer& viewer) {
  if (viewer.is_called.exchange(true))
    return;
  queue_.add([this, weak = viewer.self] {
    if (const std::shared_ptr<Viewer> again = weak.lock()) {
      again->is_called = false;
      advance(*again);
    }
  });
}

void LogStreams::advance(Viewer& viewer) {
  if (viewer.is_sending || viewer.is_over || viewer.peer->is_gone())
    return;
  // Without knowing what is secret, nothing is told.
  const Status recalled = recall_secrets(place_, viewer.environment);
  std::vector<Line> lines;
  Status end = recalled;
  {
    const std::lock_guard lock(viewer.mutex);
    if (recalled) {
      lines = std::exchange(viewer.lines, {});
      viewer.bytes = 0;
      if (viewer.end)
        end = *viewer.end;
    }
    viewer.is_over = !recalled || (lines.empty() && viewer.end);
  }
  viewer.has_room.notify_one();
  std::string piece;
  for (const Line& line : lines)
    piece += cat("id: ", line.id, "\ndata: ", write_json(place_.mask->value(line.value)), "\n\n");
  if (viewer.is_over)
    piece = cat("event: ended\ndata: ", write_json(end_document(place_, end)), "\n\n");
  if (piece.empty())
    return;
  viewer.is_sending = true;
  viewer.peer->send(std::move(piece), [this, weak = viewer.self] {
    queue_.add([this, weak] {
      if (const std::shared_ptr<Viewer> again = weak.lock()) {
        again->is_sending = false;
        advance(*again);
      }
    });
  });
}

}  // namespace fettle
