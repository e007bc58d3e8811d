#include "remote/visit.h"

#include "base/rfc3339.h"
#include "base/text.h"
#include "remote/tokens.h"

namespace fettle {
namespace {

std::string_view text_of_need(const CommandNeeds& needs) {
  return needs.agent.empty() ? to_string(needs.right) : right_of_agents;
}

}  // namespace

std::string Visit::other_owner(const RunView& run) const {
  if (run.token != name_)
    return cat("the token `", run.token, "`");
  return run.token_id == token_id_ ? "" : cat("an earlier token `", run.token, "`");
}

Status Visit::enter() {
  const TokenBook book = token_book(settings_.home);
  const Time now = settings_.clock();
  const Result<Grant> grant = book.grant_of(token_, settings_.token, now);
  if (grant) {
    name_ = grant->token;
    token_id_ = grant->token_id;
    if (name_ != own_token_name)
      book.note_use(name_, now);
    return {};
  }
  name_ = book.name_of(token_);
  AuditEntry refused = entry({});
  refused.refused = grant.error().message;
  audit_log(settings_.home).refuse(refused);
  return grant.error();
}

Result<Grant> Visit::allow(const CommandNeeds& needs, const std::string& shown) {
  Result<Grant> grant =
      token_book(settings_.home).grant_of(token_, settings_.token, settings_.clock());
  if (grant) {
    name_ = grant->token;
    token_id_ = grant->token_id;
  }
  const std::optional<Error> refusal =
      grant ? refusal_by_rights(*grant, needs) : std::optional(grant.error());
  if (!refusal)
    return grant;
  AuditEntry refused = entry(shown);
  refused.right = text_of_need(needs);
  refused.refused = refusal->message;
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
  return {write_moment(settings_.clock()), name_, from_, shown};
}

}  // namespace fettle
