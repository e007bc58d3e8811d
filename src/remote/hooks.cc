#include "remote/hooks.h"

#include <optional>

#include "base/hmac.h"
#include "base/lock_file.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "base/token.h"
#include "remote/audit_log.h"
#include "remote/posted_request.h"
#include "remote/request_fields.h"
#include "remote/schedules.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view hooks_path = "/hooks/";
constexpr std::string_view hub_prefix = "sha256=";
constexpr std::string_view branch_prefix = "refs/heads/";
/// As long as a real one, for what takes the same time as a comparison with it.
constexpr std::string_view nobodys_secret =
    "0000000000000000000000000000000000000000000000000000000000000000";

HookCall call_of(PostedRequest posted) {
  HookCall call;
  call.method = std::move(posted.method);
  call.target = std::move(posted.target);
  call.signature = posted.field("X-Hub-Signature-256");
  call.gitlab_token = posted.field("X-Gitlab-Token");
  call.authorization = posted.field("Authorization");
  call.event = posted.field("X-GitHub-Event");
  if (call.event.empty())
    call.event = posted.field("X-Gitlab-Event");
  call.is_from_browser = posted.is_from_browser;
  call.body = std::move(posted.body);
  return call;
}

/// The right to be one of those that are read at once. None: there are too many.
std::optional<LockFile> take_place(const Path& folder) {
  if (!make_directories(folder))
    return std::nullopt;
  for (size_t i = 0; i < most_hook_calls; ++i)
    if (Result<std::optional<LockFile>> lock = LockFile::take(folder / std::to_string(i));
        lock && *lock)
      return *std::move(*lock);
  return std::nullopt;
}

std::string name_in(std::string_view target) {
  return std::string(target.substr(0, target.find('?')).substr(hooks_path.size()));
}

std::string answer_of(int status, const std::string& name, std::string_view what,
                      const std::string& why = {}) {
  return closing_reply(status, json_type,
                       write_json(Value::dict({{"name", name},
                                               {"status", what},
                                               {"why", why.empty() ? Value() : Value(why)},
                                               {"schema", 1}})));
}

/// A call of somebody, and the schedule that it names.
class HookAnswer {
 public:
  HookAnswer(const HookCall& call, const ServeSettings& settings, const Caller& caller)
      : call_(call),
        settings_(settings),
        caller_(caller),
        book_(settings.folder() / "schedules"),
        name_(name_in(call.target)) {}

  std::string reply() const {
    if (call_.method != "POST")
      return refusal_reply({405, "a hook is called by POST"});
    if (call_.is_from_browser)
      return refusal_reply({403, "this server has nothing for browsers"});
    const Result<Schedule> schedule = book_.find(name_);
    // Whether it is there or not, the same is done.
    const Result<ScheduleSecrets> secrets =
        schedule ? book_.secrets(name_) : Result<ScheduleSecrets>(schedule.error());
    const bool has_hook = secrets && !secrets->hook.empty();
    const bool proven = is_proven(call_, has_hook ? secrets->hook : nobodys_secret) && has_hook;
    if (!proven)
      return refuse(schedule ? &*schedule : nullptr);
    const Result<std::string> ignored = reason_to_ignore(call_, schedule->git.branch);
    if (!ignored)
      return refusal_reply({400, ignored.error().message});
    if (!ignored->empty())
      return answer_of(200, name_, "ignored", *ignored);
    return call_schedule(*schedule);
  }

 private:
  AuditEntry entry(const Schedule* schedule) const {
    AuditEntry made{write_moment(settings_.clock()), {}, caller_.from, {}};
    // Of a name that is none, nothing is written: somebody may have put a secret there.
    made.command = cat("POST ", hooks_path, schedule != nullptr ? schedule->name : "…");
    if (schedule != nullptr)
      made.right = to_string(schedule->right);
    return made;
  }

  std::string refuse(const Schedule* schedule) const {
    const bool has_said = has_one_proof(call_);
    const std::string why = has_said
                                ? "there is no such hook, or its secret is another one"
                                : "say the secret of the hook, in one way: `X-Hub-Signature-256`, "
                                  "`X-Gitlab-Token` or `Authorization: Bearer`";
    AuditEntry refused = entry(schedule);
    refused.refused = why;
    audit_log(settings_.home).refuse(refused);
    return refusal_reply({has_said ? 404 : 401, why});
  }

  std::string call_schedule(const Schedule& schedule) const {
    const AuditLog log = audit_log(settings_.home);
    const Result<std::string> noted = log.begin(entry(&schedule));
    if (!noted)
      return refusal_reply({503, noted.error().message});
    bool has_waited = false;
    const bool runs = book_.is_running(name_);
    const Status called = book_.change(name_, [&](ScheduleState& state) {
      has_waited = state.is_called();
      ++state.calls;  // also then: the look that goes on may have begun too early for this one
    });
    log.end(*noted, called ? 0 : 1, settings_.clock());
    if (!called)
      return refusal_reply({503, called.error().message});
    book_.wake();
    if (runs)
      return answer_of(202, name_, "waiting", "it runs, and looks again when that run has ended");
    if (has_waited)
      return answer_of(202, name_, "waiting", "an earlier call waits, and both are one run");
    return answer_of(202, name_, "called");
  }

  const HookCall& call_;
  const ServeSettings& settings_;
  const Caller& caller_;
  const ScheduleBook book_;
  const std::string name_;
};

/// The default branch, as GitHub (`repository`) and GitLab (`project`) say it.
std::string default_branch_in(const Value& body) {
  for (const char* const key : {"repository", "project"})
    if (const std::string_view branch = body.at(key).text_at("default_branch"); !branch.empty())
      return std::string(branch);
  return {};
}

}  // namespace

bool has_one_proof(const HookCall& call) {
  return (call.signature.empty() ? 0 : 1) + (call.gitlab_token.empty() ? 0 : 1) +
             (call.authorization.empty() ? 0 : 1) ==
         1;
}

bool is_proven(const HookCall& call, std::string_view secret) {
  if (!has_one_proof(call))
    return false;
  if (!call.gitlab_token.empty())
    return is_same_token(call.gitlab_token, secret);
  if (!call.authorization.empty())
    return call.authorization.starts_with(bearer_scheme) &&
           is_same_token(std::string_view(call.authorization).substr(bearer_scheme.size()), secret);
  return is_same_token(call.signature, cat(hub_prefix, hmac_sha256_hex(secret, call.body))) &&
         !secret.empty();
}

Result<std::string> reason_to_ignore(const HookCall& call, const std::string& branch) {
  if (!call.event.empty() && call.event != "push" && call.event != "Push Hook")
    return cat("the event `", printable(call.event), "` is no push");
  if (call.body.empty())
    return std::string();
  const Result<Value> body = read_json(call.body);
  if (!body)
    return user_error(
        cat("the body is no JSON (choose `application/json` as its type): ", body.error().message));
  if (!body->is_dict())
    return user_error("the body must be a JSON object");
  const std::string ref(body->text_at("ref"));
  const std::string followed = branch.empty() ? default_branch_in(*body) : branch;
  if (ref.empty() || followed.empty() || ref == cat(branch_prefix, followed))
    return std::string();
  return cat("`", printable(ref), "` was pushed, and the schedule follows `", followed, "`");
}

bool is_hook_request(const UpgradeRequest& request) {
  return request.target.starts_with(hooks_path);
}

std::string hook_reply(const Descriptor& socket, std::string bytes, const ServeSettings& settings,
                       const Caller& caller) {
  const std::optional<LockFile> place = take_place(settings.folder() / "hooks");
  if (!place)
    return refusal_reply({429, "the server has many calls of hooks; try again in a moment"});
  std::optional<PostedResult> posted = receive_posted(socket, bytes, most_hook_bytes);
  if (!posted)
    return refusal_reply({400, "the request broke off"});
  if (!*posted)
    return refusal_reply(posted->error());
  HookCall call = call_of(std::move(**posted));
  call.target = caller.at.own_target(call.target);
  return HookAnswer(call, settings, caller).reply();
}

}  // namespace fettle
