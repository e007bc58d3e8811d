#pragma once
/// The keys of whoever issues JWTs (OpenID Connect Discovery): which he says at
/// `ISSUER/.well-known/openid-configuration`, kept in a file.
///
/// Anybody may send a token that names a key which nobody has. If each of them made us ask the issuer,
/// strangers could have us flood it. So it is asked at most once a minute, whatever comes; whoever
/// comes meanwhile waits for that one answer, or is told that the key is not known.
///
/// It is asked by a process of its own, which may die alone: what answers may be hostile or slow, and
/// the process of a connection has no threads.

#include <string>

#include "base/file.h"
#include "base/time.h"
#include "remote/key_set.h"

namespace fettle {

/// How old keys may be before the issuer is asked again.
constexpr Duration fresh_keys = 1h;
/// How long they count while the issuer does not answer.
constexpr Duration oldest_keys = 24h;
constexpr Duration pause_of_questions = 60s;

/// Whether nobody between can read or change what goes there: https, or http on this machine.
bool is_private_url(std::string_view url);

/// What `GET` answers there, within the limits of an issuer. `token`: says who asks; empty: nobody.
class HttpClient;
Result<std::string> answer_of_issuer(HttpClient& client, const std::string& url,
                                     const std::string& authorities, const std::string& token = {});
constexpr unsigned issuer_seconds = 7;

/// Error (`Blame::user`): it is no URL of https without user, query and fragment, nor one of http on
/// this machine. `what`, for the error: `--issuer`.
Status check_issuer(const std::string& url, std::string_view what);

class IssuerKeys {
 public:
  /// `authorities`: PEM, instead of those of the system; empty: those.
  IssuerKeys(const Path& folder, std::string issuer, std::string authorities);

  /// With this key among them, if the issuer has it. Error (`Blame::world`): there are none, for the
  /// issuer does not answer as it should, with the reason.
  Result<KeySet> with_key(std::string_view name, Time now) const;
  /// Where else it is asked: an object with `authorization_endpoint`, `token_endpoint` and
  /// `userinfo_endpoint`, each a URL of https, or empty. Error: as above.
  Result<Value> endpoints(Time now) const;

 private:
  struct Kept;
  Kept read() const;
  Status write(const Kept& kept) const;
  /// One at a time, and not too often. `name`: of the key that is looked for; empty: any will do.
  void ask(std::string_view name, Time now) const;
  Error why_not(const Kept& kept) const;
  Result<std::string> asked_text() const;

  Path file_;
  std::string issuer_, authorities_;
};

}  // namespace fettle
