#pragma once
/// Who may ask a page that serves one session of a server of commands. Who he is has been seen by
/// whoever handed his connection over; what he may do is asked at each request.

#include <functional>
#include <string>

#include "server/guard.h"

namespace fettle {

/// What is asked for, as rights see it.
struct SessionAsk {
  std::string target;
  std::string from{};          ///< who has connected
  bool is_terminal = false;    ///< it acts
  bool is_by_command = false;  ///< a command of ours answers it (`child_calls.h`)
};

struct SessionAllowed {
  int status = 200;
  std::string message{};  ///< if it is not 200
  std::string noted{};    ///< what is told when the terminal has ended
};

class SessionDoor : public WebDoor {
 public:
  /// Both are called on any thread.
  using Allow = std::function<SessionAllowed(const SessionAsk& ask)>;
  using NoteEnd = std::function<void(const std::string& noted)>;
  SessionDoor(Allow allow, NoteEnd note_end)
      : allow_(std::move(allow)), note_end_(std::move(note_end)) {}

  std::optional<WebReply> answer(const WebRequest& request,
                                 std::shared_ptr<WebPeer>& peer) override;

 private:
  const Allow allow_;
  const NoteEnd note_end_;
};

}  // namespace fettle
