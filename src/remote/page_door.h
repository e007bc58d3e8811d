#pragma once
/// The page at a server of commands: who comes in with a browser, and where his connection goes.
///
/// A browser has no token at hand, so it signs in: by a form that takes a token, or at an issuer
/// (`oidc_sign_in.h`). Then it has a session by a cookie (`page_sessions.h`). Whoever has one is served by
/// a process of this session, which has a store within its grant, as a command has; so no request can
/// reach what another one's process knows. The first connection of a session becomes that process, and
/// the others are handed over to it (`page_handover.h`); each carries one request, for the next one may
/// have another cookie. What acts is a command, as clients have them run: with the grant of the session.
///
/// What browsers are told by other pages is refused here, and nowhere else: a new check is a line in
/// `refusal_of_page`, and a row of docs/trust.md with its test.

#include <functional>
#include <optional>
#include <string>

#include "remote/session.h"
#include "remote/upgrade.h"
#include "remote/visit.h"

namespace fettle {

/// What a session asks for.
struct PageAsk {
  std::string target;
  std::string from{};          ///< who has connected
  bool is_terminal = false;    ///< it acts
  bool is_by_command = false;  ///< it is answered by a command of the server's user
};

/// Whether it gets it.
struct PageAllowed {
  int status = 200;
  std::string message{};  ///< if it does not
  std::string noted{};    ///< its line of the audit, for what acts
};

/// The page of one session, for the process that serves it.
struct PageService {
  const Descriptor& door;        ///< its connections come by it (`take_for_page`)
  std::function<bool()> counts;  ///< whether the session does
  std::function<PageAllowed(const PageAsk& ask)> allow;
  std::function<void(const std::string& noted)> note_end;
};

/// How many sessions have a process at once.
constexpr size_t most_pages = 32;
/// Of how many sessions the page is served now.
size_t pages_served(const ServeSettings& settings);

/// Whether this is for the page: no client of ours asks so.
bool is_page_request(const UpgradeRequest& request, const ServeSettings& settings);

/// Whether the page asks for what clients ask for: runs, schedules and commands. It is answered as
/// they are, by the rights of the session (`refusal_of_page_client`).
bool is_as_client(const UpgradeRequest& request);
/// The reply to such a request, if it is refused. None: `visit` is that of the session. `bytes`: what came
/// of the request; they get the rest.
std::optional<std::string> refusal_of_page_client(Descriptor& socket, std::string& bytes,
                                                  const Caller& caller,
                                                  const ServeSettings& settings,
                                                  const CommandHost& host, Visit& visit);

/// Answers it: the reply. None: the connection has been handed over, or this process has served the
/// session until its end. `bytes`: what came of the request.
std::optional<std::string> answer_page(Descriptor& socket, std::string bytes, const Caller& caller,
                                       const std::string& from, const ServeSettings& settings,
                                       const CommandHost& host);

}  // namespace fettle
