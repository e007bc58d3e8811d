#pragma once
/// The tokens of a server's home, in one file that only its owner reads. Of a token's text, the
/// file has the SHA-256 alone: who reads it learns nothing that lets him in. A text is 256 random
/// bits, so a slow digest would add nothing.
///
/// Servers look at the file at each request, so what is changed counts at once; a process reads it
/// again only if it has changed since. If it cannot be read or says something else, no token of it
/// counts.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/time.h"
#include "remote/kept_list.h"
#include "remote/rights.h"

namespace fettle {

struct Token {
  Grant grant;
  Time created{};
  std::optional<Time> expires{};  ///< none: never
  std::string digest{};           ///< of its text, in hexadecimal digits
};

/// What the server's own token is called, which is none of the file.
inline constexpr std::string_view own_token_name = "serve";

class TokenBook {
 public:
  /// `uses`: a folder with an empty file for each token, whose time is that of its last use.
  TokenBook(Path file, Path uses) : list_{std::move(file), "tokens"}, uses_(std::move(uses)) {}

  /// By name. Errors (`Blame::user`): the file is damaged, cannot be read, or others can.
  Result<std::vector<Token>> all() const;
  /// Makes a token, and gives its text, which is kept nowhere. Errors (`Blame::user`): its name is
  /// taken, or is none; a pattern is empty.
  Result<std::string> add(Token token) const;
  /// Error (`Blame::user`): there is none of this name.
  Status remove(const std::string& name) const;
  std::optional<Time> last_used(const std::string& name) const;

  /// What whoever has this text may do. `own`: the text of the server's own token. Errors: nobody
  /// has it, or it has expired (`Blame::user`); the file cannot be understood (`Blame::world`).
  Result<Grant> grant_of(std::string_view text, std::string_view own, Time now) const;
  /// The same for the digest of a text, which somebody has said before.
  Result<Grant> grant_of_digest(std::string_view digest, std::string_view own, Time now) const;
  /// Reads the file if it has changed, for all processes that are forked from then on.
  void look() const { static_cast<void>(read_again()); }
  /// The name of the token with this text, also of one that has expired. Empty: there is none.
  std::string name_of(std::string_view text) const;
  /// That it was used now. What cannot be noted is not.
  void note_use(const std::string& name, Time now) const;

 private:
  Result<std::vector<Token>> read() const;
  /// As `read`, if the file is not the one that was read last in this process.
  Result<std::shared_ptr<const std::vector<Token>>> read_again() const;
  Result<std::optional<Token>> find(std::string_view digest) const;
  /// One at a time: `change` gets all tokens, and those that it leaves are kept.
  Status change_all(const std::function<Status(std::vector<Token>&)>& change) const;

  KeptList list_;
  Path uses_;
};

/// Those of a home: `tokens.json`.
TokenBook token_book(const Path& home);

/// When something ends that lasts for `30d`, `12h` or `1h30m` from now, or that ends at a date or a
/// moment: `2026-12-31` (with that day), `2026-12-31T12:00:00Z`. Error (`Blame::user`): it is none
/// of these, or it is over.
Result<Time> expiry_asked(std::string_view text, Time now);

}  // namespace fettle
