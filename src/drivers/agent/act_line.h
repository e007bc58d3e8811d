#pragma once
/// One stream of the line of an agent, over which a run acts on the agent's machine: messages with
/// numbers, from any thread.
///
/// Of a call, the server says `ready`, `observe`, `apply` or `ask` with a number of its own, and
/// perhaps `stop`; the agent says `progress`, and at last `answer` or `failure`. Calls are answered in any
/// order. Beside them it tells people things, as what users' code prints.
///
/// Of a content, the agent says `need` with a number of its own and its digest; the server says
/// `content` for each piece of it, and at last `content_end`, or `content_lost`.

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "remote/frames.h"

namespace fettle {

enum class ActWord : char {
  // From the server.
  states = 's',      ///< how states are called in this run: a value. Not numbered, and not answered
  only_looks = 'y',  ///< nobody's programs are run for this run, and why. As `states`
  ready = 'r',       ///< kinds of things that are to be acted on: a value, a list of texts
  observe = 'o',
  apply = 'a',
  ask = 'x',  ///< something of the functions of states (`Machine::ask_states`): a value
  stop = 'k',
  content = 'c',
  content_end = 'e',
  content_lost = 'l',  ///< why
  // From the agent.
  answer = 'w',
  failure = 'f',  ///< an error
  progress = 'p',
  need = 'n',  ///< the digest
  told = 't',  ///< for people, of no call
};

struct ActMessage {
  ActWord word{};
  uint64_t number = 0;
  std::string body;
};

/// What one message holds at most.
constexpr size_t largest_act = largest_frame - 64;

class ActLine {
 public:
  explicit ActLine(Descriptor socket) : socket_(std::move(socket)) {}

  /// From any thread; waits until the socket has taken it. Errors: the line has ended; it is too
  /// large (`Blame::user`).
  Status send(ActWord word, uint64_t number, std::string_view body = {});
  /// Ends it: the other side hears why.
  void refuse(std::string_view why);
  /// From one thread; waits for the next one. None: the line has ended (`why`).
  std::optional<ActMessage> receive();
  /// From any thread: both sides hear of the end.
  void close();
  /// Why the line has ended, if somebody said so. From the thread that receives.
  const std::string& why() const { return why_; }

 private:
  Status send_packed(std::string_view bytes);

  Descriptor socket_;
  std::mutex sending_;
  FrameReader reader_;
  std::string why_;
};

}  // namespace fettle
