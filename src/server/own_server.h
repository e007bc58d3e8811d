#pragma once
/// The server of this home that is already there, for other calls of `fettle web`.
///
/// Its address alone opens nothing, since the key in it counts once. So the server leaves a note in
/// the home, which only its user can read, of where another key is given. A server that was killed
/// leaves its note behind, and its port may be anybody's by now; a lock says whether it lives.

#include <optional>
#include <stop_token>
#include <string>

#include "base/lock_file.h"

namespace fettle {

class OwnServerNote {
 public:
  /// `where`: where the server gives another address (`WebServer::address_of_another`). None:
  /// another server of this home has left one.
  static Result<std::optional<OwnServerNote>> leave(const Path& home, const std::string& where);
  /// Takes it away.
  ~OwnServerNote();
  OwnServerNote(OwnServerNote&& other) noexcept = default;
  OwnServerNote& operator=(OwnServerNote&&) = delete;

 private:
  OwnServerNote(const Path& home, LockFile lock) : home_(home), lock_(std::move(lock)) {}
  Path home_;
  std::optional<LockFile> lock_;
};

struct OwnServerWish {
  int port = 0;         ///< that it must have; 0: any
  std::string landing;  ///< where the page opens
};

/// An address that opens the page of the server of this home, once. None: there is no such server,
/// or it does not answer.
std::optional<std::string> address_of_own_server(const Path& home, const OwnServerWish& wish,
                                                 const std::stop_token& stop);

}  // namespace fettle
