#pragma once
/// Who is signed in at the page of a server. A browser has a cookie of 256 random bits, and the server
/// a file of its own for it, whose name is a digest of the cookie: who reads the folder learns nothing
/// that lets him in, and a server that is started again knows its sessions.
///
/// A session has no right of its own. Each time it is asked what its token may do now, or what the
/// groups may do that its issuer has named, so what is taken away counts at once.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/time.h"
#include "remote/rights.h"

namespace fettle {

struct ServeSettings;

/// Without a request for so long, a session ends; and so long after it began, in any case.
constexpr Duration idle_session = 8h, longest_session = 24h;

/// Who somebody is, as an issuer says.
struct NamedByIssuer {
  std::string issuer, subject, name;
  std::vector<std::string> groups{};
};

struct PageSession {
  std::string id{};   ///< 32 hexadecimal digits
  std::string key{};  ///< what acts needs it beside the cookie: 256 bits in hexadecimal digits
  Time begun{};
  std::string digest{};  ///< of the token with which he has signed in; empty: an issuer names him
  NamedByIssuer named{};
};

class PageSessions {
 public:
  explicit PageSessions(Path folder) : folder_(std::move(folder)) {}

  /// Gives the text of its cookie, which is kept nowhere. Those that are over go; of too many, the
  /// oldest.
  Result<std::string> begin(PageSession session, Time now) const;
  /// None: there is no such session, or it is over.
  std::optional<PageSession> with_cookie(std::string_view cookie, Time now) const;
  std::optional<PageSession> with_id(const std::string& id, Time now) const;
  void note_use(const PageSession& session, Time now) const;
  void end(const std::string& id) const;

 private:
  void prune(Time now) const;
  Path folder_;
};

PageSessions page_sessions(const ServeSettings& settings);

/// What who is signed in may do now. Errors: nothing any more (`Blame::user`), or the tokens cannot be
/// read (`Blame::world`).
Result<Grant> grant_of_session(const PageSession& session, const ServeSettings& settings, Time now);

}  // namespace fettle
