#pragma once
/// A server of commands, and what somebody knows of servers.

#include "documents/parts.h"
#include "remote/agents.h"
#include "remote/audit_log.h"
#include "remote/contexts.h"
#include "remote/run_log.h"
#include "remote/schedules.h"
#include "remote/tokens.h"
#include "remote/trusts.h"

namespace fettle {

/// `serve`: `address`, and the `token` if it was made for this server.
Value server_document(const std::string& address, const std::string& token);
/// `name`, `url`, and whether it is `used`.
Value document_of(const Contexts& contexts);
/// `run`, `command`, `began`, the name of the `token` that began it, `status` (`running`, `ended` or
/// `killed`), and the exit `code`.
Value value_of(const RunView& run);
/// `run`, `status` and `code` as above, the `pieces` (`stream`, `text`) that it has printed from a place
/// on, and where the `next` ones begin.
Value pieces_document(const RunView& run, const RunPieces& read);
/// `name`, `status` (`connected` or `gone`), `since`, `gone`, `why`, `from`, `engine`, `token`.
Value document_of(const std::vector<AgentView>& agents);
/// `name`, `right` (or `agent`), the `agent` that its holder may be, `environments` (patterns; none: all), `created`, `expires` and `last_used`.
Value document_of(const Token& token, const std::optional<Time>& last_used);
/// The same of a new one, with its `token`, the text that is shown once.
Value token_document(const Token& token, const std::string& text);
/// `name`, `issuer`, `audience`, `claims` (`name`, `text`, and whether it is a `pattern`), `right`,
/// `environments` (patterns; none: all), where its `keys` are from (`issuer` or `file`), `created` and
/// `last_used`.
Value document_of(const Trust& trust, const std::optional<Time>& last_used);
/// `name`, `command`, `cron` or `every`, `git` and `branch`, the path of its `hook`, the run that made the `plan` which waits, and its `approver`, whom it tells (`notify`, `notify_on`, and the `notices` that wait), `next`, the name of the `token` that
/// added it, and of its last run: `run`, `status` (as of a run), `code`, `began` and `commit`; `why_not`, if nothing ran at the last
/// time, and how many times were `skipped`, since it still ran then.
Value value_of(const ScheduleView& view);
/// The same of a new one, with its `hook_secret` and its `notify_secret`, which are shown once.
Value added_document(const ScheduleView& view, const ScheduleSecrets& secrets);
Value document_of(const std::vector<ScheduleView>& views);
/// `schedule run`: `name`, `status` (`begun`, or `waiting` for others to end), and its `run`.
Value begun_document(const std::string& schedule, int64_t run);
/// `at`, `token`, `from`, `command`, `right`, `run`, `ended`, `code` and, if it was, why it was
/// `refused`.
Value document_of(const std::vector<AuditEntry>& entries);

}  // namespace fettle
