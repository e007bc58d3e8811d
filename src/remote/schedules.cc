#include "remote/schedules.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/rfc3339.h"
#include "base/seal.h"
#include "base/text.h"
#include "remote/notices.h"
#include "value/json.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr Duration schedule_change_limit = 10s;
/// For somebody else who adds one, with many files.
constexpr Duration schedule_add_limit = 5min;
/// How far a clock may go back without anything but waiting.
constexpr Duration small_step = 1h;
constexpr Duration least_interval = 1s, largest_interval = 366 * 24h;
constexpr size_t longest_schedule_name = 63;

Status check_name(const std::string& name) {
  constexpr std::string_view known =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (name.empty() || name.size() > longest_schedule_name || name[0] == '.' || name[0] == '-' ||
      name.find_first_not_of(known) != name.npos)
    return user_error(cat("a schedule cannot be called `", printable(name),
                          "`: its name has letters, digits, `-`, `_` and `.`, and at most ",
                          longest_schedule_name, " of them"));
  return {};
}

Value moment_value(const std::optional<Time>& time) {
  return time ? Value(write_precise_moment(*time)) : Value();
}

std::optional<Time> moment_in(const Value& value, std::string_view key) {
  const Result<Time> moment = read_moment(value.text_at(key));
  return moment ? std::optional(*moment) : std::nullopt;
}

Value state_value(const ScheduleState& state) {
  return Value::dict({{"counted", moment_value(state.counted)},
                      {"run", state.run},
                      {"began", moment_value(state.began)},
                      {"code", state.code ? Value(*state.code) : Value()},
                      {"commit", state.commit},
                      {"done_commit", state.done_commit},
                      {"why_not", state.why_not},
                      {"skipped", state.skipped},
                      {"is_asked", state.is_asked},
                      {"calls", state.calls},
                      {"answered", state.answered},
                      {"commit_before", state.commit_before},
                      {"told", state.told},
                      {"outcome", state.outcome},
                      {"plan", state.plan},
                      {"plan_commit", state.plan_commit},
                      {"approved", state.approved},
                      {"approver", state.approver}});
}

ScheduleState state_of(const Value& value) {
  ScheduleState state;
  state.counted = moment_in(value, "counted").value_or(Time{});
  state.run = value.integer_at("run");
  state.began = moment_in(value, "began");
  if (value.at("code").is_integer())
    state.code = value.integer_at("code");
  state.commit = value.text_at("commit");
  state.done_commit = value.text_at("done_commit");
  state.why_not = value.text_at("why_not");
  state.skipped = value.integer_at("skipped");
  state.is_asked = value.bool_at("is_asked");
  state.calls = value.integer_at("calls");
  state.answered = value.integer_at("answered");
  state.commit_before = value.text_at("commit_before");
  state.told = value.integer_at("told");
  state.outcome = value.text_at("outcome");
  state.plan = value.integer_at("plan");
  state.plan_commit = value.text_at("plan_commit");
  state.approved = value.integer_at("approved");
  state.approver = value.text_at("approver");
  return state;
}

Value schedule_value(const Schedule& schedule) {
  std::vector<Value> environments(schedule.environments.begin(), schedule.environments.end());
  std::vector<Value> events;
  for (const NoticeEvent event : schedule.notify.events)
    events.emplace_back(to_string(event));
  return Value::dict({{"name", schedule.name},
                      {"cron", schedule.times.cron},
                      {"every", to_string(schedule.times.every)},
                      {"git", schedule.git.url},
                      {"branch", schedule.git.branch},
                      {"shown", schedule.shown},
                      {"token", schedule.token},
                      {"token_id", schedule.token_id},
                      {"environments", Value::list(std::move(environments))},
                      {"right", to_string(schedule.right)},
                      {"added", write_moment(schedule.added)},
                      {"has_hook", schedule.has_hook},
                      {"notify", schedule.notify.origin},
                      {"notify_on", Value::list(std::move(events))},
                      {"tells_drift", schedule.tells_drift},
                      {"needs_approval", schedule.needs_approval}});
}

Result<Schedule> schedule_of(const Value& value) {
  Schedule schedule;
  schedule.name = value.text_at("name");
  schedule.times.cron = value.text_at("cron");
  schedule.times.every = TRY(parse_duration(value.text_at("every")));
  schedule.git.url = value.text_at("git");
  schedule.git.branch = value.text_at("branch");
  schedule.shown = value.text_at("shown");
  schedule.token = value.text_at("token");
  schedule.token_id = value.text_at("token_id");
  for (const Value& name : items_of(value.at("environments")))
    if (name.is_text())
      schedule.environments.push_back(name.text().str());
  schedule.right = TRY(right_named(value.text_at("right")));
  schedule.added = TRY(read_moment(value.text_at("added")));
  schedule.has_hook = value.bool_at("has_hook");
  schedule.notify.origin = value.text_at("notify");
  for (const Value& event : items_of(value.at("notify_on")))
    if (const auto found =
            std::ranges::find(notice_event_names, event.is_text() ? event.text().view() : "");
        found != notice_event_names.end())
      schedule.notify.events.push_back(
          static_cast<NoticeEvent>(found - notice_event_names.begin()));
  schedule.tells_drift = value.bool_at("tells_drift");
  schedule.needs_approval = value.bool_at("needs_approval");
  return schedule;
}

Status write_state(const Path& folder, const ScheduleState& state) {
  return write_file(folder / "state", write_json(state_value(state)), 0600);
}

/// The contents that the command needs, each once.
Status copy_contents(const CommandRequest& request, const std::string& root, const Path& contents) {
  TRY(make_directories(contents));
  for (const FileEntry& entry : request.files) {
    if (entry.type != FileEntry::Type::file)
      continue;
    std::error_code failure;
    fs::copy_file(cat(root, entry.path), contents / entry.digest, fs::copy_options::skip_existing,
                  failure);
    if (failure)
      return world_error(
          cat("cannot keep `", printable(entry.path), "`: ", lower_case(failure.message())));
  }
  return {};
}

}  // namespace

std::optional<Time> next_time(const ScheduleTimes& times, const ScheduleState& state) {
  if (times.cron.empty())
    return times.every > 0s ? std::optional(state.counted + times.every) : std::nullopt;
  const Result<CronTimes> cron = CronTimes::parse(times.cron);
  return cron ? cron->next_after(state.counted) : std::nullopt;
}

bool take_back(ScheduleState& state, Time now) {
  if (state.counted <= now + small_step)
    return false;
  state.counted = now;
  return true;
}

Status check_times(const ScheduleTimes& times) {
  if (!times.cron.empty()) {
    TRY(CronTimes::parse(times.cron));
    return {};
  }
  if (times.every < least_interval || times.every > largest_interval)
    return user_error(cat("`--every` must be between ", to_string(least_interval),
                          " and a year, not ", to_string(times.every)));
  return {};
}

Status check_git_source(const GitSource& source) {
  constexpr std::array<std::string_view, 5> schemes{"https://", "http://", "ssh://", "git://",
                                                    "file://"};
  const bool has_scheme = std::ranges::any_of(
      schemes, [&](std::string_view scheme) { return source.url.starts_with(scheme); });
  // `git@host:author/name`
  const size_t at = source.url.find('@'), colon = source.url.find(':');
  const bool is_short = source.url[0] != '-' && at != source.url.npos && at > 0 && at < colon &&
                        colon != source.url.npos && source.url.find("::") == source.url.npos &&
                        source.url.find('/') > colon;
  if ((!has_scheme && !is_short) || source.url.find_first_of(" \t\r\n") != source.url.npos)
    return user_error(
        cat("`--git` must be the URL of a repository, such as "
            "`https://github.com/author/name` or `git@host:author/name`, not `",
            printable(source.url), "`"));
  if (source.branch.starts_with('-') || source.branch.starts_with("refs/") ||
      source.branch.find_first_of(" \t\r\n:^~?*[\\") != source.branch.npos)
    return user_error(
        cat("`--branch` must be the name of a branch, not `", printable(source.branch), "`"));
  return {};
}

std::string times_text(const ScheduleTimes& times) {
  if (!times.cron.empty())
    return times.cron;
  return times.every > 0s ? cat("every ", to_string(times.every)) : "when called";
}

std::vector<std::string> ScheduleBook::names() const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored))
    if (std::string name = entry.path().filename().string();
        name[0] != '.' && file_exists(entry.path() / "about"))
      names.push_back(std::move(name));
  std::ranges::sort(names);
  return names;
}

Status ScheduleBook::check_is_there(const std::string& name) const {
  if (check_name(name) && file_exists(folder_ / name / "about"))
    return {};
  const std::vector<std::string> all = names();
  return user_error(cat("there is no schedule `", printable(name), "`", suggestion(name, all),
                        "; `fettle schedule ls` lists them"));
}

Result<Schedule> ScheduleBook::find(const std::string& name) const {
  TRY(check_is_there(name));
  const std::string text = TRY(read_file(folder_ / name / "about"));
  const auto what = [&] { return cat("the schedule `", name, "`"); };
  return schedule_of(TRY(read_json(text).context(what()))).context(what());
}

Result<CommandRequest> ScheduleBook::request(const std::string& name) const {
  return command_request_of(TRY(read_file(folder_ / name / "request")));
}

Result<ScheduleState> ScheduleBook::state(const std::string& name) const {
  const std::string text = TRY(read_file(folder_ / name / "state"));
  const Value value = TRY(read_json(text).context(cat("the state of the schedule `", name, "`")));
  if (!value.is_dict())
    return world_error(cat("the state of the schedule `", name, "` is no JSON object"));
  return state_of(value);
}

Result<LockFile> ScheduleBook::exclusive() const {
  return LockFile::await(folder_ / ".lock", schedule_change_limit, {});
}

Status ScheduleBook::check_room(const std::string& name) const {
  const std::vector<std::string> all = names();
  if (std::ranges::binary_search(all, name))
    return user_error(cat("there is a schedule `", name, "` already; `fettle schedule rm ", name,
                          "` removes it"));
  if (all.size() >= most_schedules)
    return user_error(cat("the server has ", most_schedules,
                          " schedules already, which is all that it keeps; `fettle schedule rm "
                          "NAME` removes one"));
  return {};
}

Status ScheduleBook::keep_secrets(const Path& schedule, const ScheduleSecrets& secrets) const {
  if (cat(secrets.hook, secrets.notify, secrets.git_url).empty())
    return {};
  const Seal seal = TRY(Seal::from_file(key()));
  const Value plain = Value::dict({{"hook", secrets.hook},
                                   {"notify_url", secrets.notify_url},
                                   {"notify", secrets.notify},
                                   {"git_url", secrets.git_url}});
  return write_file(schedule / "secrets", seal.close(write_json(plain)), 0600);
}

Result<ScheduleSecrets> ScheduleBook::secrets(const std::string& name) const {
  TRY(check_is_there(name));
  ScheduleSecrets secrets;
  if (!file_exists(folder_ / name / "secrets"))
    return secrets;
  const Seal seal = TRY(Seal::from_file(key()));
  const auto opened = seal.open(TRY(read_file(folder_ / name / "secrets")));
  if (!opened)
    return world_error(cat("the secrets of the schedule `", name,
                           "` were sealed with another key than `", key().string(), "`"));
  const Value plain = TRY(read_json(*opened));
  secrets.hook = plain.text_at("hook");
  secrets.notify_url = plain.text_at("notify_url");
  secrets.notify = plain.text_at("notify");
  secrets.git_url = plain.text_at("git_url");
  return secrets;
}

Status ScheduleBook::add(const Schedule& schedule, const std::string& root,
                         const ScheduleSecrets& secrets) const {
  TRY(check_name(schedule.name));
  TRY(make_directories(folder_));
  // Its files may take long, and a server must not wait for them to change a state.
  const LockFile adding = TRY(LockFile::await(folder_ / ".adding", schedule_add_limit, {}));
  TRY(check_room(schedule.name));
  // What somebody who was killed has left is removed as well.
  const Path beside = folder_ / ".new";
  TRY(remove_tree(beside));
  TRY(make_directories(beside));
  fs::permissions(beside, fs::perms::owner_all);
  TRY(copy_contents(schedule.request, root, beside / "contents"));
  TRY(write_file(beside / "about", write_json(schedule_value(schedule)), 0600));
  TRY(write_file(beside / "request", write_json(value_of(schedule.request)), 0600));
  ScheduleState state;
  state.counted = schedule.added;
  TRY(write_state(beside, state));
  TRY(keep_secrets(beside, secrets));
  const LockFile lock = TRY(exclusive());
  // What a run has left behind that went on when its schedule was removed.
  TRY(remove_tree(folder_ / schedule.name));
  if (rename(beside.c_str(), (folder_ / schedule.name).c_str()) != 0)
    return file_error("cannot make", folder_ / schedule.name);
  return {};
}

Status ScheduleBook::remove(const std::string& name) const {
  TRY(check_is_there(name));
  // Its files may be many, so the lock is held for the change of names alone.
  const LockFile removing = TRY(LockFile::await(folder_ / ".removing", schedule_add_limit, {}));
  const Path gone = folder_ / ".removed";
  TRY(remove_tree(gone));
  {
    const LockFile lock = TRY(exclusive());
    TRY(check_is_there(name));
    if (rename((folder_ / name).c_str(), gone.c_str()) != 0)
      return file_error("cannot remove", folder_ / name);
  }
  return remove_tree(gone);
}

Status ScheduleBook::change(const std::string& name,
                            const std::function<void(ScheduleState& state)>& change) const {
  const LockFile lock = TRY(exclusive());
  ScheduleState changed = TRY(state(name));
  change(changed);
  return write_state(folder_ / name, changed);
}

void ScheduleBook::remove_other_plans(const std::string& name, int64_t run) const {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / name, ignored))
    if (entry.path().filename().string().starts_with("plan-") &&
        (run == 0 || entry.path() != plan_file(name, run)))
      fs::remove(entry.path(), ignored);
}

Result<std::optional<LockFile>> ScheduleBook::take(const std::string& name) const {
  return LockFile::take(folder_ / name / "lock");
}

bool ScheduleBook::is_running(const std::string& name) const {
  return LockFile::is_taken(folder_ / name / "lock").value_or(false);
}

void ScheduleBook::wake() const {
  const Descriptor pipe(
      ::open((folder_ / ".wake").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (pipe.is_open())
    static_cast<void>(!::write(pipe.get(), "w", 1));
}

Descriptor ScheduleBook::waker() const {
  const Path pipe = folder_ / ".wake";
  if (mkfifo(pipe.c_str(), 0600) != 0 && errno != EEXIST)
    return Descriptor();
  // With both ends open it is never at its end.
  return Descriptor(::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
}

namespace {

ScheduleView damaged(ScheduleView view, const Error& error) {
  view.damage = to_string(error);
  return view;
}

}  // namespace

Result<ScheduleView> schedule_view(const ScheduleBook& book, const std::string& name,
                                   const std::vector<RunView>& runs) {
  TRY(book.check_is_there(name));
  ScheduleView view;
  view.schedule.name = name;
  if (Result<Schedule> schedule = book.find(name))
    view.schedule = *std::move(schedule);
  else
    return damaged(std::move(view), schedule.error());
  if (const Result<ScheduleState> state = book.state(name))
    view.state = *state;
  else
    return damaged(std::move(view), state.error());
  view.next = next_time(view.schedule.times, view.state);
  if (!view.schedule.notify.origin.empty())
    view.notices = notice_queue(book, name).view();
  const auto run = std::ranges::find(runs, view.state.run, &RunView::number);
  if (run != runs.end())
    view.status = status_of(*run);
  else if (view.state.run > 0)  // so long ago that it is kept no more
    view.status = view.state.code ? "ended" : "killed";
  return view;
}

Reach reach_of_schedule(const ScheduleView& view) {
  return view.damage.empty() || !view.schedule.environments.empty() ? Reach::named : Reach::server;
}

std::vector<ScheduleView> schedules_for(const Grant& grant, const Path& home) {
  const ScheduleBook book = schedule_book(home);
  const std::vector<RunView> runs = list_runs(home / "serve" / "runs");
  std::vector<ScheduleView> views;
  for (const std::string& name : book.names())
    if (Result<ScheduleView> view = schedule_view(book, name, runs)) {
      const CommandNeeds needs{Right::read, reach_of_schedule(*view), view->schedule.environments};
      if (!refusal_by_rights(grant, needs))
        views.push_back(*std::move(view));
    }
  return views;
}

std::string hook_path(std::string_view name) { return cat("/hooks/", name); }

ScheduleBook schedule_book(const Path& home) { return ScheduleBook(home / "serve" / "schedules"); }

}  // namespace fettle
