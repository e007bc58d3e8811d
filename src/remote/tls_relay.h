#pragma once
/// Bytes between a client that speaks TLS and a session that does not. At most one piece of each
/// direction is held, so whoever is slow makes the other side wait. Nothing here waits.

#include <poll.h>

#include <array>
#include <string>

#include "base/file.h"
#include "base/tls.h"

namespace fettle {

class TlsRelay {
 public:
  /// Sockets, which never block from then on.
  TlsRelay(Descriptor client, Descriptor session, TlsStream tls);

  TlsStream& tls() { return tls_; }
  const Descriptor& client() const { return client_; }
  const Descriptor& session() const { return session_; }

  /// Passes on what it can now. Whether anything went on.
  bool pass();
  /// What it waits for, of the client and of the session; of one that has gone, `poll` would tell
  /// again and again, so it is left out.
  std::array<pollfd, 2> awaited() const;
  /// What became of that. False: there is nobody to wait for.
  bool note(const std::array<pollfd, 2>& polled);

  /// Whether either side is lost.
  bool is_lost() const { return is_lost_; }
  /// Whether the session has said all, and the client has it.
  bool has_said_all() const { return said_.has_ended && said_.is_passed_on; }
  /// Whether the client says no more.
  bool has_heard_all() const { return heard_.has_ended; }
  /// Whether nobody holds the other end of the session's socket; what it has said is still there.
  bool has_lost_session() const { return has_lost_session_; }
  /// From now on, the session says no more.
  void end_saying() { said_.has_ended = true; }
  Descriptor take_client() { return std::move(client_); }
  void leave_session() { session_.close(); }

 private:
  /// Bytes that one side has said and the other one has not taken.
  struct Piece {
    std::string bytes;
    bool has_ended = false;  ///< no more comes
    bool is_passed_on = false;

    bool wants_more() const { return bytes.empty() && !has_ended; }
    bool has_to_end() const { return bytes.empty() && has_ended && !is_passed_on; }
    void take(size_t count);
  };

  bool pass_from_client();
  bool pass_from_session();

  Descriptor client_, session_;
  TlsStream tls_;       ///< goes before its socket
  Piece heard_, said_;  ///< by the client, by the session
  TlsStep reading_ = TlsStep::wants_to_read, writing_ = TlsStep::done;
  bool is_lost_ = false, has_lost_session_ = false;
};

}  // namespace fettle
