#include "remote/visit.h"

#include "base/rfc3339.h"
#include "base/text.h"
#include "base/token.h"
#include "remote/jwt.h"
#include "remote/page_sessions.h"
#include "remote/tokens.h"
#include "remote/trusts.h"

namespace fettle {
namespace {

/// Behind an address, in the audit.
constexpr std::string_view at_page = " at the page";

std::string_view text_of_need(const CommandNeeds& needs) {
  return needs.agent.empty() ? to_string(needs.right) : right_of_agents;
}

}  // namespace

std::string Visit::other_owner(const RunView& run) const {
  if (run.token != name_)
    return cat("the token `", run.token, "`");
  return run.token_id == token_id_ ? "" : cat("an earlier token `", run.token, "`");
}

Visit::Known Visit::look_up() const {
  const Time now = settings_.clock();
  if (!session_.empty()) {
    const std::optional<PageSession> session = page_sessions(settings_).with_id(session_, now);
    Result<Grant> grant =
        session ? grant_of_session(*session, settings_, now)
                : Result<Grant>(user_error("nobody is signed in any more: sign in again"));
    std::string noted = grant ? "" : grant.error().message;
    return {std::move(grant), std::move(noted)};
  }
  if (is_like_jwt(token_) && !is_same_token(token_, settings_.token)) {
    JwtVerdict verdict = trust_book(settings_.home).verdict_of(token_, now);
    return {std::move(verdict.grant), std::move(verdict.noted)};
  }
  Result<Grant> grant = token_book(settings_.home).grant_of(token_, settings_.token, now);
  std::string noted = grant ? "" : grant.error().message;
  return {std::move(grant), std::move(noted)};
}

Status Visit::enter() {
  const Known known = look_up();
  const Time now = settings_.clock();
  if (known.grant) {
    name_ = known.grant->token;
    token_id_ = known.grant->token_id;
    if (!known.grant->trust.empty())
      trust_book(settings_.home).note_use(known.grant->trust, now);
    else if (name_ != own_token_name)
      token_book(settings_.home).note_use(name_, now);
    return {};
  }
  name_ = token_book(settings_.home).name_of(token_);
  AuditEntry refused = entry({});
  refused.refused = known.noted;
  audit_log(settings_.home).refuse(refused);
  return known.grant.error();
}

Result<Grant> Visit::allow(const CommandNeeds& needs, const std::string& shown) {
  Known known = look_up();
  if (known.grant) {
    name_ = known.grant->token;
    token_id_ = known.grant->token_id;
  }
  const std::optional<Error> refusal =
      known.grant ? refusal_by_rights(*known.grant, needs) : std::optional(known.grant.error());
  if (!refusal)
    return std::move(known.grant);
  AuditEntry refused = entry(shown);
  refused.right = text_of_need(needs);
  refused.refused = known.grant ? refusal->message : known.noted;
  audit_log(settings_.home).refuse(refused);
  return *refusal;
}

Result<std::string> Visit::note(const CommandNeeds& needs, const std::string& shown,
                                int64_t run) const {
  if (needs.right == Right::read)
    return std::string();
  AuditEntry begun = entry(shown);
  begun.right = text_of_need(needs);
  begun.run = run;
  return audit_log(settings_.home).begin(begun);
}

void Visit::note_end(const std::string& noted, int64_t code) const {
  if (!noted.empty())
    audit_log(settings_.home).end(noted, code, settings_.clock());
}

AuditEntry Visit::entry(const std::string& shown) const {
  return {write_moment(settings_.clock()), name_, cat(from_, session_.empty() ? "" : at_page),
          shown};
}

}  // namespace fettle
