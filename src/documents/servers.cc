#include "documents/servers.h"

#include "base/http.h"
#include "base/rfc3339.h"

namespace fettle {
namespace {

Value moment_or_null(const std::optional<Time>& time) {
  return time ? Value(write_moment(*time)) : Value();
}

std::vector<Entry> fields_of(const Token& token) {
  std::vector<Value> environments(token.grant.environments.begin(), token.grant.environments.end());
  return {{"name", token.grant.token},
          {"right", right_text(token.grant)},
          {"agent", text_or_null(token.grant.agent)},
          {"environments", Value::list(std::move(environments))},
          {"created", write_moment(token.created)},
          {"expires", moment_or_null(token.expires)}};
}

Value value_of(const WaitingNotices& notices) {
  return Value::dict({{"waiting", static_cast<int64_t>(notices.waiting)},
                      {"why", text_or_null(notices.why)},
                      {"dropped", notices.dropped}});
}

}  // namespace

Value server_document(const std::string& address, const std::string& token) {
  return Value::dict({{"address", address}, {"token", text_or_null(token)}});
}

Value document_of(const Contexts& contexts) {
  std::vector<Value> all;
  for (const Context& one : contexts.all)
    all.push_back(
        Value::dict({{"name", one.name}, {"url", one.url}, {"used", one.name == contexts.used}}));
  return Value::list(std::move(all));
}

Value value_of(const RunView& run) {
  return Value::dict({{"run", run.number},
                      {"command", run.command},
                      {"began", run.began},
                      {"token", text_or_null(run.token)},
                      {"status", status_of(run)},
                      {"code", run.code ? Value(*run.code) : Value()}});
}

Value pieces_document(const RunView& run, const RunPieces& read) {
  std::vector<Value> pieces;
  for (const Frame& piece : read.pieces)
    pieces.push_back(Value::dict({{"stream", piece.type == FrameType::output ? "output" : "errors"},
                                  {"text", piece.payload}}));
  return Value::dict({{"run", run.number},
                      {"status", status_of(run)},
                      {"code", run.code ? Value(*run.code) : Value()},
                      {"pieces", Value::list(std::move(pieces))},
                      {"next", static_cast<int64_t>(read.next)}});
}

Value document_of(const std::vector<AgentView>& agents) {
  std::vector<Value> all;
  for (const AgentView& agent : agents)
    all.push_back(Value::dict({{"name", agent.who.name},
                               {"status", agent.is_connected ? "connected" : "gone"},
                               {"since", text_or_null(agent.since)},
                               {"gone", text_or_null(agent.gone)},
                               {"why", text_or_null(agent.why)},
                               {"from", text_or_null(agent.who.from)},
                               {"engine", text_or_null(agent.who.engine)},
                               {"acts", list_of(agent.who.acts)},
                               {"token", text_or_null(agent.who.token)}}));
  return Value::list(std::move(all));
}

Value document_of(const Token& token, const std::optional<Time>& last_used) {
  std::vector<Entry> fields = fields_of(token);
  fields.push_back({"last_used", moment_or_null(last_used)});
  return Value::dict(std::move(fields));
}

Value token_document(const Token& token, const std::string& text) {
  std::vector<Entry> fields = fields_of(token);
  fields.push_back({"token", text});
  return Value::dict(std::move(fields));
}

Value document_of(const Trust& trust, const std::optional<Time>& last_used) {
  std::vector<Value> claims;
  for (const ClaimRule& rule : trust.claims)
    claims.push_back(
        Value::dict({{"name", rule.name}, {"text", rule.text}, {"pattern", rule.is_pattern}}));
  return Value::dict({{"name", trust.grant.token},
                      {"issuer", trust.issuer},
                      {"audience", trust.audience},
                      {"claims", Value::list(std::move(claims))},
                      {"right", to_string(trust.grant.right)},
                      {"environments", list_of(trust.grant.environments)},
                      {"keys", trust.keys.empty() ? "issuer" : "file"},
                      {"created", write_moment(trust.created)},
                      {"last_used", moment_or_null(last_used)}});
}

Value value_of(const ScheduleView& view) {
  std::vector<Value> events;
  for (const NoticeEvent event : view.schedule.notify.events)
    events.emplace_back(to_string(event));
  const ScheduleTimes& times = view.schedule.times;
  const ScheduleState& state = view.state;
  return Value::dict(
      {{"name", view.schedule.name},
       {"command", text_or_null(view.schedule.shown)},
       {"cron", text_or_null(times.cron)},
       {"every", times.every > 0s ? Value(to_string(times.every)) : Value()},
       {"git", text_or_null(shown_url(view.schedule.git.url))},
       {"branch", text_or_null(view.schedule.git.branch)},
       {"hook", view.schedule.has_hook ? Value(hook_path(view.schedule.name)) : Value()},
       {"notify", text_or_null(view.schedule.notify.origin)},
       {"notify_on", Value::list(std::move(events))},
       {"notices", value_of(view.notices)},
       {"plan", state.plan == 0 ? Value() : Value(state.plan)},
       {"approver", text_or_null(state.approver)},
       {"next", moment_or_null(view.next)},
       {"token", text_or_null(view.schedule.token)},
       {"run", state.run == 0 ? Value() : Value(state.run)},
       {"status", text_or_null(view.status)},
       {"code", state.code ? Value(*state.code) : Value()},
       {"began", moment_or_null(state.began)},
       {"commit", text_or_null(state.commit)},
       {"why_not", text_or_null(state.why_not)},
       {"skipped", state.skipped},
       {"damage", text_or_null(view.damage)}});
}

Value added_document(const ScheduleView& view, const ScheduleSecrets& secrets) {
  const Value shown = value_of(view);
  std::vector<Entry> fields(shown.entries().begin(), shown.entries().end());
  fields.push_back({"hook_secret", text_or_null(secrets.hook)});
  fields.push_back({"notify_secret", text_or_null(secrets.notify)});
  return Value::dict(std::move(fields));
}

Value begun_document(const std::string& schedule, int64_t run) {
  return Value::dict({{"name", schedule},
                      {"status", run == 0 ? "waiting" : "begun"},
                      {"run", run == 0 ? Value() : Value(run)}});
}

Value document_of(const std::vector<ScheduleView>& views) {
  std::vector<Value> all;
  for (const ScheduleView& view : views)
    all.push_back(value_of(view));
  return Value::list(std::move(all));
}

Value document_of(const std::vector<AuditEntry>& entries) {
  std::vector<Value> all;
  for (const AuditEntry& entry : entries)
    all.push_back(Value::dict({{"at", entry.at},
                               {"token", text_or_null(entry.token)},
                               {"from", entry.from},
                               {"command", text_or_null(entry.command)},
                               {"right", text_or_null(entry.right)},
                               {"run", entry.run == 0 ? Value() : Value(entry.run)},
                               {"ended", text_or_null(entry.ended)},
                               {"code", entry.code ? Value(*entry.code) : Value()},
                               {"refused", text_or_null(entry.refused)}}));
  return Value::list(std::move(all));
}

}  // namespace fettle
