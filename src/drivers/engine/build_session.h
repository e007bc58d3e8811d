#pragma once
/// What BuildKit asks back while it builds: the secrets that commands mount.
///
/// A request to build has no field for secrets. A client opens a second connection (`/session`), on
/// which the roles change: the engine asks, in gRPC over HTTP/2, and the client answers. A server of
/// HTTP/2 is large, above all for its headers, which are compressed against a table that both sides
/// keep. None of that is needed here: the engine asks whether we are still there, which is an empty
/// message, and for a secret, which is a message with its id. So headers are passed over unread, and
/// everything else that a builder may ask (files, logins) is `unimplemented`, which it can live
/// with.
///
/// A login is asked for by the name of a registry in the same form, so no secret may be called like
/// one; whoever makes the build sees to that.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/http_connection.h"
#include "base/thread.h"
#include "drivers/engine/engine.h"

namespace fettle {

/// The bytes of such a connection, without the connection.
class SessionAnswers {
 public:
  explicit SessionAnswers(std::map<std::string, std::string> secrets);
  /// What is sent first.
  static std::string greeting();
  /// Takes bytes as they arrive; returns what is to be sent. Errors: they are not HTTP/2, or more is
  /// asked than a builder would.
  Result<std::string> take(std::string_view bytes);
  /// Whether the other side has said that it ends.
  bool is_over() const { return is_over_; }

 private:
  struct Frame;
  struct Stream {
    std::string asked{};
    std::string answer{};      ///< what is left to send of it
    int64_t window = 0;        ///< how much of it the other side takes
    bool is_answered = false;  ///< all that is left is in `answer`
  };
  Status take_frame(const Frame& frame);
  Status take_settings(const Frame& frame);
  Status take_window(const Frame& frame);
  Status take_data(const Frame& frame);
  Result<std::optional<std::string>> message_for(std::string_view asked) const;
  Status answer(uint32_t number, Stream& stream);
  void send_ready();

  std::map<std::string, std::string> secrets_;
  std::string came_, out_;
  std::map<uint32_t, Stream> streams_;
  int64_t window_ = 65'535, first_window_ = 65'535;
  bool is_greeted_ = false, is_over_ = false;
};

/// A session that lives as long as this object.
class BuildSession {
 public:
  static Result<BuildSession> open(const Engine& engine, std::map<std::string, std::string> secrets,
                                   std::stop_token stop);
  /// What a request to build names it by.
  const std::string& id() const { return id_; }

 private:
  BuildSession(std::string id, Thread thread) : id_(std::move(id)), thread_(std::move(thread)) {}
  std::string id_;
  Thread thread_;
};

}  // namespace fettle
