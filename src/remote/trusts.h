#pragma once
/// Whom a server trusts beside those who have a token of its own: jobs of CI, which come with a JWT of
/// their forge. A trust says who issues it, for whom it must be meant, what it must say, and what its
/// holder may do then.
///
/// A forge issues tokens to everybody who has an account there, with claims that he may choose in
/// part. So a trust asks for at least one claim, and at a forge that serves everybody for one that says
/// whose job it is.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remote/issuer_keys.h"
#include "remote/kept_list.h"
#include "remote/rights.h"

namespace fettle {

/// What a claim must be: this text, or one that fits a pattern.
struct ClaimRule {
  std::string name, text;
  bool is_pattern = false;
};

struct Trust {
  Grant grant;  ///< `token` is the name of the trust
  std::string issuer, audience;
  std::vector<ClaimRule> claims;
  Time created{};
  std::string id{};    ///< another trust of this name has another one
  std::string keys{};  ///< a set of keys (JWKS) that alone counts; empty: those that the issuer has
  std::string
      authorities{};  ///< PEM: who vouches for the issuer's server; empty: those of the system
};

/// `NAME=TEXT`. Error (`Blame::user`): it is none. `option`, for the error: `--claim`.
Result<ClaimRule> claim_rule_in(const std::string& text, bool is_pattern, std::string_view option);
/// `repository=acme/shop`, `ref~refs/heads/*`
std::string to_string(const ClaimRule& rule);

/// What came of a JWT.
struct JwtVerdict {
  /// Errors: what whoever sent it may know (`Blame::user`; `Blame::world`: it cannot be verified now).
  Result<Grant> grant;
  std::string noted{};  ///< which rule did not hold, for the audit
};

class TrustBook {
 public:
  /// `uses`: a folder with an empty file for each trust, whose time is that of its last use.
  /// `issuers`: one with the keys of each issuer.
  TrustBook(Path file, Path uses, Path issuers)
      : list_{std::move(file), "trusts"}, uses_(std::move(uses)), issuers_(std::move(issuers)) {}

  /// By name. Errors (`Blame::user`): the file is damaged, cannot be read, or others can.
  Result<std::vector<Trust>> all() const;
  /// Errors (`Blame::user`): its name is taken, or is none; it trusts anybody; its keys are none.
  Status add(Trust trust) const;
  /// Error (`Blame::user`): there is none of this name.
  Status remove(const std::string& name) const;
  std::optional<Time> last_used(const std::string& name) const { return time_of_use(uses_, name); }
  void note_use(const std::string& name, Time now) const { note_use_in(uses_, name, now); }

  /// What whoever has this JWT may do. Of several trusts that it fits, the one with the highest right
  /// counts, and of these the first by name.
  JwtVerdict verdict_of(std::string_view text, Time now) const;

 private:
  Status change_all(const std::function<Status(std::vector<Trust>&)>& change) const;

  KeptList list_;
  Path uses_, issuers_;
};

/// Those of a home: `trusts.json`.
TrustBook trust_book(const Path& home);

}  // namespace fettle
