#include "server/server.h"

#include "base/text.h"
#include "base/thread.h"
#include "base/wait.h"
#include "server/routes.h"

namespace fettle {
namespace {

/// How often it is looked whether somebody is still there.
constexpr Duration look_around = 1s;
/// Where the store cannot tell that it was written, its stamp is compared.
constexpr Duration look_at_stamp = 500ms;
/// A run may write a thousand times a second, and a hundred viewers be told each time. They are told
/// of the first write at once, and then of all those in such a time together.
constexpr Duration between_news = 10ms;

constexpr std::string_view prefix_of_api = "/api/";

WebReply reply_of(const PageFile& file) {
  WebReply reply;
  reply.content_type = file.content_type;
  reply.body = file.gzipped;
  reply.fields.emplace_back("Content-Encoding", "gzip");
  return reply;
}

}  // namespace

Status check_page(std::span<const PageFile> files) {
  if (!files.empty())
    return {};
  return world_error(
      "this program was built without its page: install Node 18 or later with npm and build it "
      "again, or install the Debian package of a build that has the page");
}

Result<std::unique_ptr<WebServer>> WebServer::open(const Workplace& place,
                                                   const WebSettings& settings,
                                                   std::span<const PageFile> files) {
  TRY(check_page(files));
  WebKeys keys = TRY(new_web_keys());
  std::unique_ptr<HttpListener> listener =
      TRY(HttpListener::open(settings.port, settings.listener));
  auto guard = std::make_unique<Guard>(listener->port(), std::move(keys), settings.landing);
  const Guard* const known = guard.get();
  std::unique_ptr<WebServer> server(
      new WebServer(place, settings, files, std::move(listener), std::move(guard)));
  server->guard_ = known;
  return server;
}

Result<std::unique_ptr<WebServer>> WebServer::open_for_handed(const Workplace& place,
                                                              const WebSettings& settings,
                                                              std::span<const PageFile> files,
                                                              std::unique_ptr<WebDoor> door) {
  TRY(check_page(files));
  return std::unique_ptr<WebServer>(new WebServer(
      place, settings, files, HttpListener::for_handed(settings.listener), std::move(door)));
}

WebServer::WebServer(const Workplace& place, const WebSettings& settings,
                     std::span<const PageFile> files, std::unique_ptr<HttpListener> listener,
                     std::unique_ptr<WebDoor> door)
    : place_(place),
      settings_(settings),
      files_(files),
      listener_(std::move(listener)),
      door_(std::move(door)),
      streams_(place, queue_),
      logs_(place, queue_),
      terminals_(place),
      acts_(settings.program, place.home),
      children_(settings.program, place.home, settings.child),
      looked_until_(instant_from_clock()),
      awaited_until_(instant_from_clock() + settings.patience) {}

WebServer::~WebServer() {
  listener_->close();
  queue_.clear();
}

void WebServer::serve(const std::stop_token& stop) {
  listener_->serve([this](const WebRequest& request, const std::shared_ptr<WebPeer>& peer) {
    take(request, peer);
  });
  const Thread watcher([this](const std::stop_token& end) { watch_store(end); });
  while (!stop.stop_requested()) {
    if (const WorkQueue::Job job = queue_.next(stop, instant_from_clock() + look_around))
      job();
    logs_.sweep();
    terminals_.sweep();
    acts_.sweep();
    if (settings_.still_counts && !settings_.still_counts())
      break;
    if (listener_->viewers() > 0)
      looked_until_ = instant_from_clock() + settings_.linger;
    else if (is_left())
      break;
  }
  // Jobs hold peers, which must be gone before the thread of their sockets has ended.
  children_.stop();
  listener_->close();
  queue_.clear();
}

bool WebServer::is_left() const {
  return instant_from_clock() > std::max(looked_until_.load(), awaited_until_.load());
}

void WebServer::watch_store(const std::stop_token& stop) {
  // A write while one job waits for its turn needs no other one.
  const auto advance = [this, &stop] {
    if (!is_advancing_.exchange(true))
      queue_.add([this] {
        is_advancing_ = false;
        streams_.advance();
      });
    (void)pause_for(between_news, stop);  // a stop ends the watch, too
  };
  if (place_.store->watch(advance, stop))
    return;
  while (pause_for(look_at_stamp, stop))
    advance();
}

const PageFile* WebServer::find_file(std::string_view path) const {
  const auto found = std::ranges::find(files_, path, &PageFile::path);
  return found == files_.end() ? nullptr : &*found;
}

void WebServer::take(const WebRequest& request, std::shared_ptr<WebPeer> peer) {
  if (std::optional<WebReply> answered = door_->answer(request, peer)) {
    if (answered->status == 200) {
      const Instant now = instant_from_clock();
      looked_until_ = now + settings_.linger;
      awaited_until_ = Guard::asks_for_another(request) ? now + settings_.patience : now;
    }
    peer->reply(*std::move(answered));
    return;
  }
  looked_until_ = instant_from_clock() + settings_.linger;
  Result<WebTarget> target = parse_target(request.target);
  if (!target) {
    peer->reply(error_reply(400, target.error().message));
    return;
  }
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  if (!path.starts_with(prefix_of_api)) {
    const PageFile* const file = find_file(path);
    peer->reply(file != nullptr ? reply_of(*file)
                                : error_reply(404, "there is nothing at this path"));
    return;
  }
  queue_.add([this, request, target = *std::move(target), peer] {
    if (!peer->is_gone())
      answer(request, target, peer);
  });
}

void WebServer::answer(const WebRequest& request, const WebTarget& target,
                       const std::shared_ptr<WebPeer>& peer) {
  if (request.method == "POST") {
    if (const Status begun = act(request, target, peer); !begun)
      peer->reply(error_reply(place_.mask->error(begun.error())));
    return;
  }
  RouteMatch match = find_route(target.segments);
  if (request.wants_socket && (match.route == nullptr || match.route->right != WebRight::act)) {
    peer->reply(error_reply(400, "there is no WebSocket at this path"));
    return;
  }
  if (match.route == nullptr || match.route->answer != nullptr) {
    WebReply reply = answer_by_routes(place_, target);
    const std::shared_ptr<const void> rest = std::exchange(reply.rest, nullptr);
    peer->reply(std::move(reply));
    return;
  }
  const Status begun = match.route->child != nullptr
                           ? call_child(target, std::move(match), peer)
                           : open_stream(request, target, std::move(match), peer);
  if (!begun)
    peer->reply(error_reply(place_.mask->error(begun.error())));
}

/// The guard has found the route.
Status WebServer::act(const WebRequest& request, const WebTarget& target,
                      const std::shared_ptr<WebPeer>& peer) {
  RouteMatch match = find_route(routes_of_acts(), target.segments);
  TRY(check_parameters(*match.route, target));
  const RouteCall call{place_, std::move(match.parts), target.query};
  if (!match.route->pattern.ends_with("/cancel"))
    return acts_.begin(call, request.body, peer);
  TRY(acts_.cancel(call));
  peer->reply(document_reply(Value::dict({})));
  return {};
}

Status WebServer::call_child(const WebTarget& target, RouteMatch match,
                             const std::shared_ptr<WebPeer>& peer) {
  TRY(check_parameters(*match.route, target));
  children_.add(TRY(match.route->child({place_, std::move(match.parts), target.query})), peer);
  return {};
}

Status WebServer::open_stream(const WebRequest& request, const WebTarget& target, RouteMatch match,
                              const std::shared_ptr<WebPeer>& peer) {
  TRY(check_parameters(*match.route, target));
  const RouteCall call{place_, std::move(match.parts), target.query};
  // A browser that comes back says what it saw last; then the address tells what was long ago.
  const std::string& seen = request.last_event_id;
  if (match.route->right == WebRight::act)
    return terminals_.add(call, request.wants_socket, peer);
  if (call.parts.contains("service"))
    return logs_.add(call, seen.empty() ? call.parameter("after") : seen, peer);
  const RouteCall again{place_, {}, {{"Last-Event-ID", seen}}};
  const uint64_t after = seen.empty() ? TRY(call.number("after", 0, INT64_MAX))
                                      : TRY(again.number("Last-Event-ID", 0, INT64_MAX));
  streams_.add(peer, Name(call.parameter("environment")), after);
  return {};
}

}  // namespace fettle
