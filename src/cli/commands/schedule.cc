#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "base/http.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "base/token.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "documents/servers.h"
#include "remote/notices.h"
#include "remote/run_log.h"
#include "remote/scheduled_run.h"
#include "remote/schedules.h"
#include "remote/session.h"

namespace fettle {
namespace {

/// Of a commit.
constexpr size_t shown_digits = 12;
constexpr Duration start_limit = 5s, pause_of_start = 20ms;

/// Whoever asks, and from here on times are those of the server.
Result<ServedCaller> caller_of(const Face& face) {
  const std::optional<ServedCaller> caller = face.served();
  if (!caller)
    return user_error(
        "only a server has schedules: `fettle serve` starts one, and `--server URL`, "
        "$FETTLE_SERVER or `fettle context use NAME` says which one is meant");
  if (caller->zone)
    setenv("TZ", caller->zone->c_str(), 1);
  else
    unsetenv("TZ");
  tzset();
  return *caller;
}

Result<ScheduleBook> book_of(Face& face) { return schedule_book(TRY(face.home_folder())); }

/// `--cron` or `--every`; neither, if something else has it run.
Result<ScheduleTimes> times_asked(const CommandLine& parsed) {
  ScheduleTimes times;
  if (parsed.has("cron") && parsed.has("every"))
    return user_error("`--cron` and `--every` both say when: leave out one of them");
  if (!parsed.has("cron") && !parsed.has("every")) {
    if (parsed.flag("hook"))
      return times;
    return user_error(
        "say when it runs: `--cron '0 3 * * *'`, `--every 10m`, or `--hook`, when somebody calls");
  }
  times.cron = parsed.text("cron");
  if (parsed.has("every"))
    times.every = TRY(parse_duration(parsed.text("every")));
  if (const Status known = check_times(times); !known)
    return user_error(cat(parsed.has("cron") ? "`--cron`: " : "", known.error().message));
  return times;
}

/// `--git` and `--branch`.
Result<GitSource> git_asked(const CommandLine& parsed) {
  GitSource source{parsed.text("git"), parsed.text("branch")};
  if (source.url.empty() && parsed.has("branch"))
    return user_error("`--branch` needs `--git URL`, the repository that has it");
  if (!source.url.empty())
    TRY(check_git_source(source));
  return source;
}

/// `--notify` and `--notify-on`.
Result<ScheduleNotify> notify_asked(const CommandLine& parsed, bool tells_drift) {
  ScheduleNotify notify;
  const std::string url = parsed.text("notify");
  if (url.empty()) {
    if (parsed.has("notify-on"))
      return user_error("`--notify-on` needs `--notify URL`, which is told");
    return notify;
  }
  TRY(check_notice_url(url));
  notify.origin = origin_of(url);
  notify.events =
      TRY(notice_events_in(parsed.text("notify-on", "failed,drifted,recovered,refused,waiting")));
  const bool wants_drift =
      std::ranges::find(notify.events, NoticeEvent::drifted) != notify.events.end();
  if (parsed.has("notify-on") && wants_drift && !tells_drift)
    return user_error(
        "`drifted` is told of a command that says so by its exit code, such as "
        "`drift shop --detailed-exitcode` or `plan ./pkg -e shop --detailed-exitcode`");
  return notify;
}

/// A repository is fetched with the server's own keys.
Right right_to_fetch(const GitSource& source, Right right) {
  return source.url.empty() ? right : std::max(right, Right::act);
}

void tell_added(const Face& face, const ScheduleView& view, const ScheduleSecrets& secrets) {
  if (face.json) {
    print_json(added_document(view, secrets));
    return;
  }
  const std::string& name = view.schedule.name;
  if (!face.quiet)
    print(cat("added ", name, "; it runs ",
              view.next ? cat("next at ", write_moment(*view.next)) : "when it is called"));
  if (!secrets.hook.empty())
    print(cat("hook: POST ", hook_path(name), "\nsecret of the hook: ", secrets.hook));
  if (!secrets.notify.empty())
    print(cat("notices: POST ", view.schedule.notify.origin,
              "\nsecret of the notices: ", secrets.notify));
  if (!cat(secrets.hook, secrets.notify).empty() && !face.quiet)
    print_error("Keep what is secret now: it is not shown again.");
}

Result<int> schedule_add(Face& face) {
  const ScheduleTimes times = TRY(times_asked(face.parsed));
  TRY(git_asked(face.parsed));
  TRY(notify_asked(face.parsed, true));
  const ServedCaller caller = TRY(caller_of(face));
  if (!caller.grant.trust.empty())
    return user_error(
        cat("a schedule is of who added it, as long as his token counts, and `", caller.grant.token,
            "` has that of a job, which ends with it: add it with a token of the server"));
  Schedule schedule;
  schedule.name = face.parsed.argument(0);
  schedule.times = times;
  schedule.request = TRY(face.scheduled_request());
  schedule.git = TRY(git_asked(face.parsed));
  // Where its files will be, whichever commit they are of.
  if (!schedule.git.url.empty())
    schedule.request.folder = cat("/schedules/", schedule.name);
  const CommandLook look = TRY(face.command_host().look(schedule.request));
  schedule.shown = look.shown;
  schedule.environments = look.needs.environments;
  schedule.right = right_to_fetch(schedule.git, look.needs.right);
  schedule.token = caller.grant.token;
  schedule.token_id = caller.grant.token_id;
  schedule.added = now_from_clock();
  schedule.has_hook = face.parsed.flag("hook");
  schedule.tells_drift = look.tells_drift;
  schedule.needs_approval = face.parsed.flag("approve");
  if (schedule.needs_approval)
    if (const auto planned = face.command_host().look(TRY(request_to_plan(schedule.request)));
        !planned)
      return user_error(cat("`--approve` has `fettle plan` take the words of the command: ",
                            planned.error().message));
  schedule.notify = TRY(notify_asked(face.parsed, look.tells_drift));
  ScheduleSecrets secrets;
  if (const std::string shown = shown_url(schedule.git.url); shown != schedule.git.url) {
    secrets.git_url = schedule.git.url;
    schedule.git.url = shown;
  }
  if (!schedule.notify.origin.empty()) {
    secrets.notify_url = face.parsed.text("notify");
    secrets.notify = TRY(new_token("a signature"));
  }
  if (schedule.has_hook)
    secrets.hook = TRY(new_token("a hook"));
  const ScheduleBook book = TRY(book_of(face));
  TRY(book.add(schedule, caller.root, secrets));
  book.wake();
  tell_added(face, TRY(schedule_view(book, schedule.name, {})), secrets);
  return 0;
}

/// The schedules of which somebody may know: those of the environments that his token is for.
Result<std::vector<ScheduleView>> views_for(Face& face) {
  return schedules_for(TRY(caller_of(face)).grant, TRY(face.home_folder()));
}

/// The schedule that is named, if he may know of it.
Result<ScheduleView> named_schedule(Face& face) {
  const std::string name = face.parsed.argument(0);
  std::vector<std::string> names;
  for (ScheduleView& view : TRY(views_for(face))) {
    if (view.schedule.name == name)
      return std::move(view);
    names.push_back(view.schedule.name);
  }
  return user_error(cat("there is no schedule `", printable(name), "`", suggestion(name, names),
                        "; `fettle schedule ls` lists them"));
}

bool is_own(const Schedule& schedule, const ServedCaller& caller) {
  return schedule.token == caller.grant.token && schedule.token_id == caller.grant.token_id;
}

/// One that somebody may change: his own, or with the right `admin` any of which he may know.
Result<ScheduleView> own_schedule(Face& face) {
  const ServedCaller caller = TRY(caller_of(face));
  ScheduleView view = TRY(named_schedule(face));
  const Schedule& schedule = view.schedule;
  const bool is_his = is_own(schedule, caller);
  const CommandNeeds needs{is_his ? schedule.right : Right::admin, reach_of_schedule(view),
                           schedule.environments, "fettle schedule",
                           is_his ? ""
                           : schedule.token.empty()
                               ? ", a schedule that is damaged,"
                               : cat(", a schedule of the token `", schedule.token, "`,")};
  if (std::optional<Error> refusal = refusal_by_rights(caller.grant, needs))
    return *std::move(refusal);
  return view;
}

Status check_is_whole(const ScheduleView& view) {
  if (view.damage.empty())
    return {};
  const std::string& name = view.schedule.name;
  return world_error(cat("the schedule `", name, "` is damaged: ", view.damage,
                         "; `fettle schedule rm ", name, "` removes it"));
}

std::string end_text(const ScheduleView& view) {
  if (view.state.run == 0)
    return "-";
  return cat(view.state.run, " ", view.status,
             view.state.code ? cat(" (", *view.state.code, ")") : "");
}

/// What its owner should know.
std::string remark_on(const ScheduleView& view) {
  if (!view.damage.empty())
    return cat("it is damaged, and does not run (", view.damage, "): remove it, and add it again");
  std::string text = view.state.why_not;
  if (view.state.skipped > 0)
    text += cat(text.empty() ? "" : "; ", view.state.skipped,
                " skipped, since it still ran at these times");
  if (view.state.plan > 0)
    text += cat(text.empty() ? "" : "; ", "plan ", view.state.plan,
                view.state.is_approved() ? cat(" is approved by `", view.state.approver, "`")
                                         : cat(" waits: `fettle attach ", view.state.plan,
                                               "` shows it, `fettle schedule approve ",
                                               view.schedule.name, "` carries it out"));
  const WaitingNotices& notices = view.notices;
  if (!notices.why.empty())
    text += cat(text.empty() ? "" : "; ", notices.waiting, " notices wait: ", notices.why);
  if (notices.dropped > 0)
    text += cat(text.empty() ? "" : "; ", notices.dropped, " notices were too many to be kept");
  return text.empty() ? "-" : text;
}

Result<int> schedule_ls(Face& face) {
  const std::vector<ScheduleView> views = TRY(views_for(face));
  if (face.json) {
    print_json(document_of(views));
    return 0;
  }
  std::vector<std::vector<std::string>> rows{
      {"NAME", "WHEN", "NEXT", "RUN", "BEGAN", "COMMIT", "COMMAND", "REMARK"}};
  for (const ScheduleView& view : views)
    rows.push_back({view.schedule.name,
                    view.schedule.shown.empty() ? "-" : times_text(view.schedule.times),
                    view.next ? write_moment(*view.next) : "-", end_text(view),
                    view.state.began ? write_moment(*view.state.began) : "-",
                    view.state.commit.empty() ? "-" : view.state.commit.substr(0, shown_digits),
                    view.schedule.shown.empty() ? "-" : view.schedule.shown, remark_on(view)});
  print(views.empty() ? "no schedules; `fettle schedule add NAME --cron TIMES -- COMMAND` adds one"
                      : table(rows));
  return 0;
}

Result<int> schedule_rm(Face& face) {
  const ScheduleView view = TRY(own_schedule(face));
  const ScheduleBook book = TRY(book_of(face));
  TRY(book.remove(view.schedule.name));
  book.wake();
  if (face.json)
    print_json(status_document(view.schedule.name, "removed"));
  else if (!face.quiet)
    print(cat("removed ", view.schedule.name,
              view.status == "running" ? cat("; its run ", view.state.run, " goes on") : ""));
  return 0;
}

/// One whose plan waits, for somebody who may decide on it.
struct WaitingPlan {
  ScheduleView view;
  std::string decider;  ///< his token
  bool is_own = false;  ///< he added the schedule himself
};
Result<WaitingPlan> waiting_plan(Face& face, const char* what) {
  const ServedCaller caller = TRY(caller_of(face));
  const int64_t asked = TRY(face.parsed.number("plan", 0));
  ScheduleView view = TRY(named_schedule(face));
  const Schedule& schedule = view.schedule;
  const CommandNeeds needs{schedule.right, Reach::named, schedule.environments, what};
  if (std::optional<Error> refusal = refusal_by_rights(caller.grant, needs))
    return *std::move(refusal);
  TRY(check_is_whole(view));
  if (view.state.plan == 0)
    return user_error(cat("no plan of the schedule `", schedule.name, "` waits",
                          schedule.needs_approval ? "" : "; it was added without `--approve`"));
  if (asked != 0 && asked != view.state.plan)
    return user_error(cat("plan ", asked, " of the schedule `", schedule.name,
                          "` does not wait any more: plan ", view.state.plan, " does"));
  const bool is_his = is_own(schedule, caller);
  return WaitingPlan{std::move(view), caller.grant.token, is_his};
}

/// Decides on this plan, and on no newer one.
Status decide(const ScheduleBook& book, const WaitingPlan& waiting,
              const std::function<void(ScheduleState& state)>& decision) {
  bool waits = false;
  TRY(book.change(waiting.view.schedule.name, [&](ScheduleState& state) {
    waits = state.plan == waiting.view.state.plan && !state.is_approved();
    if (waits)
      decision(state);
  }));
  if (!waits)
    return user_error(cat("plan ", waiting.view.state.plan, " of the schedule `",
                          waiting.view.schedule.name, "` does not wait any more"));
  book.wake();
  return {};
}

Result<int> schedule_approve(Face& face) {
  const WaitingPlan waiting = TRY(waiting_plan(face, "fettle schedule approve"));
  const Schedule& schedule = waiting.view.schedule;
  if (waiting.is_own)
    return user_error(cat("the token `", waiting.decider, "` added the schedule `", schedule.name,
                          "`: somebody with another token approves its plans"));
  const ScheduleBook book = TRY(book_of(face));
  const int64_t plan = waiting.view.state.plan;
  TRY(decide(book, waiting, [&](ScheduleState& state) {
    state.approved = plan;
    state.approver = waiting.decider;
  }));
  ScheduleState after = TRY(book.state(schedule.name));
  for (Duration waited{}; after.is_approved() && waited < start_limit; waited += pause_of_start) {
    usleep(static_cast<useconds_t>(pause_of_start / 1us));
    after = TRY(book.state(schedule.name));
  }
  const bool has_begun = !after.is_approved() && after.run != plan;
  if (face.json)
    print_json(begun_document(schedule.name, has_begun ? after.run : 0));
  else if (!face.quiet)
    print(has_begun
              ? cat("plan ", plan, " is approved; run ", after.run,
                    " carries it out, and `fettle attach ", after.run, "` shows it")
              : cat("plan ", plan, " is approved; `fettle schedule ls` shows what comes of it"));
  return 0;
}

Result<int> schedule_refuse(Face& face) {
  const WaitingPlan waiting = TRY(waiting_plan(face, "fettle schedule refuse"));
  const std::string& name = waiting.view.schedule.name;
  const int64_t plan = waiting.view.state.plan;
  TRY(decide(TRY(book_of(face)), waiting, [&](ScheduleState& state) {
    state.plan = 0;
    state.why_not = cat("plan ", plan, " was refused by `", waiting.decider, "`");
  }));
  if (face.json)
    print_json(status_document(name, "refused"));
  else if (!face.quiet)
    print(cat("refused plan ", plan, " of ", name));
  return 0;
}

Result<int> schedule_run(Face& face) {
  const ScheduleView before = TRY(own_schedule(face));
  TRY(check_is_whole(before));
  const std::string& name = before.schedule.name;
  const ScheduleBook book = TRY(book_of(face));
  if (book.is_running(name))
    return user_error(cat("the schedule `", name, "` runs already",
                          before.state.run > 0 && before.status == "running"
                              ? cat("; `fettle attach ", before.state.run, "` shows it")
                              : ""));
  TRY(book.change(name, [](ScheduleState& state) { state.is_asked = true; }));
  book.wake();
  ScheduleState after = TRY(book.state(name));
  for (Duration waited{}; after.is_asked && waited < start_limit; waited += pause_of_start) {
    usleep(static_cast<useconds_t>(pause_of_start / 1us));
    after = TRY(book.state(name));
  }
  if (!after.is_asked && !after.why_not.empty())
    return user_error(cat("the schedule `", name, "` does not run: ", after.why_not));
  const bool has_begun = !after.is_asked;
  if (face.json)
    print_json(begun_document(name, has_begun ? after.run : 0));
  else if (!face.quiet)
    print(has_begun ? cat("run ", after.run, " has begun; `fettle attach ", after.run, "` shows it")
                    : "it runs as soon as one of the runs that go on has ended");
  return 0;
}

}  // namespace

std::vector<Command> schedule_commands() {
  const CommandGroup group{"servers", {}};
  return {
      group.make(
          "schedule add", "NAME COMMAND…", 2, 10'000,
          "Has a server run a command by itself, at its times, with the files that it names now.",
          {"fettle schedule add nightly --cron '0 3 * * *' -- run ./pkg -e prod",
           "fettle schedule add watch --every 10m -- drift prod"},
          schedule_add,
          {{{"--cron"},
            "TIMES",
            "minute, hour, day of the month, month and day of the week, local to the server; or "
            "@hourly, @daily, @weekly, @monthly, @yearly"},
           {{"--every"}, "TIME", "so long after the last time: 90s, 10m, 12h"},
           {{"--git"},
            "URL",
            "run it in a checkout of this repository, fetched before each run; with `--every`, "
            "only "
            "when there is a commit that has not ended well yet"},
           {{"--branch"}, "NAME", "of the repository (default: its own default)"},
           {{"--hook"},
            "",
            "also when somebody calls `POST /hooks/NAME` at the server, with a secret that is "
            "shown once: GitHub, GitLab or curl"},
           {{"--approve"},
            "",
            "of `run`, `state` and `versions release`: only make the plan, which waits until "
            "somebody "
            "with another token approves it"},
           {{"--notify"},
            "URL",
            "tell this URL what becomes of its runs: a POST of JSON, signed with a secret that is "
            "shown once"},
           {{"--notify-on"},
            "EVENTS",
            "failed, drifted, succeeded, recovered, refused and waiting, with commas (default: all "
            "but succeeded)"}}),
      group.reader("schedule ls", "", 0, 0,
                   "Lists the schedules of a server: when they run next, and what came of the last "
                   "time.",
                   {"fettle schedule ls", "fettle schedule ls -o json"}, schedule_ls),
      group.make("schedule rm", "NAME", 1, 1, "Removes a schedule; what runs goes on.",
                 {"fettle schedule rm nightly", "fettle schedule rm nightly --server team"},
                 schedule_rm),
      group.make("schedule approve", "NAME", 1, 1,
                 "Carries out the plan of a schedule that waits for somebody with another token.",
                 {"fettle schedule approve prod", "fettle schedule approve prod --plan 42"},
                 schedule_approve,
                 {{{"--plan"}, "RUN", "only if it is the plan that this run has made"}}),
      group.make("schedule refuse", "NAME", 1, 1,
                 "Takes the plan of a schedule away that waits to be approved.",
                 {"fettle schedule refuse prod", "fettle schedule refuse prod --plan 42"},
                 schedule_refuse,
                 {{{"--plan"}, "RUN", "only if it is the plan that this run has made"}}),
      group.make("schedule run", "NAME", 1, 1, "Runs a schedule now, as at its time.",
                 {"fettle schedule run nightly", "fettle schedule run nightly -o json"},
                 schedule_run)};
}

}  // namespace fettle
