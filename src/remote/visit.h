#pragma once
/// Who is at the other end of a connection, and what he may do now.

#include <string>

#include "remote/audit_log.h"
#include "remote/run_log.h"
#include "remote/session.h"

namespace fettle {

class Visit {
 public:
  /// `token`: its text. `from`: the address of the client.
  Visit(const ServeSettings& settings, std::string token, std::string from)
      : settings_(settings), token_(std::move(token)), from_(std::move(from)) {}

  /// He has no token, but is signed in at the page: from here on he may do what this session may
  /// (`page_sessions.h`).
  void sign_in_by(std::string session) { session_ = std::move(session); }

  /// Whether he may come in. Error: his token does not count, which is noted.
  Status enter();
  /// Lets him do this, by what his token may do now: since he came, it may have been taken away. Who
  /// is refused (`Blame::user`) is noted. `shown`: what he wants, for the note.
  Result<Grant> allow(const CommandNeeds& needs, const std::string& shown);
  /// What was let in is noted before it begins, with its run, if it is one. Gives what `note_end`
  /// takes. Error: it cannot be noted, so it must not begin.
  Result<std::string> note(const CommandNeeds& needs, const std::string& shown, int64_t run) const;
  void note_end(const std::string& noted, int64_t code) const;

  const std::string& from() const { return from_; }
  const std::string& token() const { return token_; }
  /// Whose run it is: "the token `ci`". Empty: his own. One that was made later under the same name
  /// is another token.
  std::string other_owner(const RunView& run) const;

 private:
  AuditEntry entry(const std::string& shown) const;
  /// What his token or session lets him do now; the audit hears why it does not.
  struct Known {
    Result<Grant> grant;
    std::string noted;
  };
  Known look_up() const;

  const ServeSettings& settings_;
  const std::string token_, from_;
  std::string session_{};        ///< at the page; empty: he has a token
  std::string name_, token_id_;  ///< of his token, when it was last seen
};

}  // namespace fettle
