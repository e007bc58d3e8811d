#pragma once
/// Signing in at the page by OpenID Connect: the code flow with PKCE (RFC 7636). The browser goes to the
/// issuer and comes back with a code, for which the server gets a token that says who it is.
///
/// What must be known when it comes back (`state`, `nonce`, the secret of PKCE) is in a cookie, sealed
/// with a key of the server's: nobody can have the server keep something by beginning many times.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/time.h"
#include "remote/page_sessions.h"

namespace fettle {

/// What who is in a group may do.
struct GroupRule {
  std::string group;
  Right right = Right::read;
  std::string environment{};  ///< a pattern; empty: in all of them
};
/// `GROUP=RIGHT` or `GROUP=RIGHT:ENV-PATTERN`. Error (`Blame::user`): it is neither.
Result<GroupRule> group_rule_in(const std::string& text);

struct OidcSettings {
  std::string issuer, client;
  std::string secret{};  ///< empty: a public client
  std::vector<GroupRule> groups{};
  std::string group_claim = "groups";
  std::string scope = "openid profile email";
  std::string
      authorities{};  ///< PEM: who vouches for the issuer's server; empty: those of the system
};

/// The highest right that one of his groups has, in the environments of all groups that have it. Error
/// (`Blame::user`): none of them has any.
Result<Grant> grant_by_groups(const NamedByIssuer& named, const OidcSettings& settings);

struct SignInBegin {
  std::string location;  ///< at the issuer
  std::string cookie;    ///< the text that must come back with the answer
};
constexpr Duration sign_in_limit = 10min;

/// `folder`: that of the server's files. `back`: where the issuer sends the browser.
Result<SignInBegin> begin_sign_in(const OidcSettings& settings, const Path& folder,
                                  const std::string& back, Time now);
/// What an issuer answers by the browser.
struct SignInAnswer {
  std::string state, code, error, issuer;
};
/// Errors: he is not let in (`Blame::user`), or the issuer does not answer as it should.
Result<NamedByIssuer> finish_sign_in(const OidcSettings& settings, const Path& folder,
                                     const std::string& back, std::string_view cookie,
                                     const SignInAnswer& answer, Time now);

}  // namespace fettle
