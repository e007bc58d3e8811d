#include "server/session_door.h"

#include "server/http_listener.h"
#include "server/routes.h"

namespace fettle {
namespace {

/// Says once that all who hold it have gone.
class EndNote {
 public:
  EndNote(SessionDoor::NoteEnd told, std::string noted)
      : told_(std::move(told)), noted_(std::move(noted)) {}
  ~EndNote() { told_(noted_); }
  EndNote(const EndNote&) = delete;
  EndNote& operator=(const EndNote&) = delete;

 private:
  const SessionDoor::NoteEnd told_;
  const std::string noted_;
};

/// A peer whose terminal is noted.
class NotedPeer : public WebPeer {
 public:
  NotedPeer(std::shared_ptr<WebPeer> peer, std::shared_ptr<EndNote> note)
      : peer_(std::move(peer)), note_(std::move(note)) {}

  void reply(WebReply reply) override { peer_->reply(std::move(reply)); }
  void open_stream() override { peer_->open_stream(); }
  void send(std::string bytes, std::function<void()> sent) override {
    peer_->send(std::move(bytes), std::move(sent));
  }
  std::shared_ptr<WebSocket> open_socket(SocketEnds ends) override {
    ends.gone = [gone = std::move(ends.gone), note = note_]() mutable {
      gone();
      note.reset();
    };
    return peer_->open_socket(std::move(ends));
  }
  bool is_gone() const override { return peer_->is_gone(); }

 private:
  const std::shared_ptr<WebPeer> peer_;
  const std::shared_ptr<EndNote> note_;
};

}  // namespace

std::optional<WebReply> SessionDoor::answer(const WebRequest& request,
                                            std::shared_ptr<WebPeer>& peer) {
  // What acts is a command of the server, and never comes here.
  if (request.method != "GET")
    return error_reply(405, "this page knows GET alone");
  if (!request.target.starts_with("/api/"))
    return request.wants_socket ? std::optional(error_reply(400, "there is no WebSocket here"))
                                : std::nullopt;
  const Result<WebTarget> target = parse_target(request.target);
  if (!target)
    return error_reply(400, target.error().message);
  const RouteMatch match = find_route(target->segments);
  const bool is_terminal = match.route != nullptr && match.route->right == WebRight::act;
  const bool is_by_command = match.route != nullptr && match.route->child != nullptr;
  const SessionAllowed allowed = allow_({request.target, request.from, is_terminal, is_by_command});
  if (allowed.status != 200) {
    WebReply reply = error_reply(allowed.status, allowed.message);
    if (allowed.status == 401)
      reply.fields.emplace_back("Fettle-Sign-In", "./sign-in");
    return reply;
  }
  if (!allowed.noted.empty())
    peer = std::make_shared<NotedPeer>(peer, std::make_shared<EndNote>(note_end_, allowed.noted));
  return std::nullopt;
}

}  // namespace fettle
