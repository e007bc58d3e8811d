#include "remote/scheduled_run.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/http.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "remote/audit_log.h"
#include "remote/command_child.h"
#include "remote/line.h"
#include "remote/mirror.h"
#include "remote/notices.h"
#include "remote/path_filter.h"
#include "remote/run_log.h"
#include "remote/tokens.h"

namespace fettle {
namespace {

/// A clock that was changed is noticed within this time, and so is what another server of this home
/// was told.
constexpr Duration longest_patience = 20s;
/// Before something that could not begin is tried again.
constexpr Duration pause_of_retries = 5s;
/// Where a plan is, for its command.
constexpr std::string_view plan_path = "/.fettle-plan";
/// A fetch that takes longer is a run, which can be seen and cancelled.
constexpr Duration patience_of_fetch = 2s;
/// So that it fits into a pipe, which is read when git has ended.
constexpr size_t most_words_of_fetch = 16'384;
constexpr Duration pause_of_cancel = 50ms;
constexpr Duration pause_of_tellers = 200ms;
constexpr int64_t most_tellers = 4;
constexpr Duration pause_of_held_bytes = 20ms, pause_for_mirror = 100ms;
constexpr int last_reads_of_run = 64;
/// Of a commit, for people.
constexpr size_t shown_digits = 12;

/// Sends what a command prints to its run.
class RunOutput {
 public:
  RunOutput(RunLog& log, const std::string& mirrors)
      : log_(log), out_filter_(mirrors), error_filter_(mirrors) {}

  /// Whether something was there.
  bool take(Descriptor& from, FrameType type) {
    if (!from.is_open())
      return false;
    std::array<char, piece_bytes> buffer{};
    const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
    if (count > 0)
      add(type, filter(type).pass({buffer.data(), static_cast<size_t>(count)}));
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
      from.close();
    return count > 0;
  }
  void add(FrameType type, std::string_view text) {
    // A full disk takes the output, not the run.
    if (!text.empty())
      static_cast<void>(log_.add(type, text));
  }
  bool holds() const { return out_filter_.holds() || error_filter_.holds(); }
  void release() {
    for (const FrameType type : {FrameType::output, FrameType::errors})
      add(type, filter(type).rest());
  }

 private:
  PathFilter& filter(FrameType type) {
    return type == FrameType::output ? out_filter_ : error_filter_;
  }
  RunLog& log_;
  PathFilter out_filter_, error_filter_;
};

int code_of_status(int status, RunOutput& output) {
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  output.add(FrameType::errors,
             cat("error: the command was ended at the server by signal ", signal, "\n"));
  return 128 + signal;
}

/// Until the command has ended; its exit code.
int follow_scheduled(CommandChild& child, RunLog& log, RunOutput& output,
                     const Descriptor& signals) {
  while (true) {
    std::array<pollfd, 5> polled{
        pollfd{child.end.get(), POLLIN, 0}, pollfd{child.output.get(), POLLIN, 0},
        pollfd{child.errors.get(), POLLIN, 0}, pollfd{log.control(), POLLIN, 0},
        pollfd{signals.get(), POLLIN, 0}};
    const int limit = output.holds() ? static_cast<int>(pause_of_held_bytes / 1ms) : -1;
    if (poll(polled.data(), polled.size(), limit) == 0)
      output.release();
    if (polled[3].revents != 0) {
      log.take_request();
      kill(child.process, SIGINT);
    }
    if (polled[4].revents != 0) {
      signalfd_siginfo ignored{};
      static_cast<void>(!::read(signals.get(), &ignored, sizeof ignored));
      kill(child.process, SIGTERM);
    }
    if (polled[1].revents != 0)
      output.take(child.output, FrameType::output);
    if (polled[2].revents != 0)
      output.take(child.errors, FrameType::errors);
    if (polled[0].revents == 0)
      continue;
    // What it left running may write for ever.
    for (int left = last_reads_of_run; left > 0; --left)
      if (!output.take(child.output, FrameType::output) &&
          !output.take(child.errors, FrameType::errors))
        break;
    output.release();
    int status = 0;
    while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
    }
    return code_of_status(status, output);
  }
}

/// What has come of planning.
enum class PlanMade : uint8_t { none, is_empty, waits };

/// One run of a schedule.
class ScheduledRun {
 public:
  ScheduledRun(const ServeSettings& settings, const CommandHost& host, std::string name)
      : settings_(settings),
        host_(host),
        book_(settings.folder() / "schedules"),
        name_(std::move(name)) {}

  Status run() {
    const std::optional<LockFile> lock = TRY(book_.take(name_));
    if (!lock)
      return {};
    // The one before may have been killed with its server.
    TRY(queue_end_of_run(book_, name_, settings_));
    schedule_ = TRY(book_.find(name_));
    schedule_.request = TRY(book_.request(name_));
    const ScheduleState state = TRY(book_.state(name_));
    before_ = state;
    const std::optional<Time> due = next_time(schedule_.times, state);
    const Time now = settings_.clock();
    // Another server of this home may have been here.
    if (turn_of(state, due, now, {}) != ScheduleTurn::runs)
      return {};
    is_due_ = due && *due <= now;
    if (schedule_.needs_approval)
      schedule_.request = state.is_approved() ? request_by_plan(std::move(schedule_.request))
                                              : TRY(request_to_plan(std::move(schedule_.request)));
    const Result<CommandLook> look = host_.look(schedule_.request);
    const Result<Permit> permit = look ? permit_for(*look, now) : Result<Permit>(look.error());
    if (!permit)
      return refuse(permit.error(), look ? look->needs.right : schedule_.right);
    Status fetched;
    if (!schedule_.git.url.empty() && before_.is_approved()) {
      fetched = find_checkout();
    } else if (!schedule_.git.url.empty()) {
      if (!TRY(begin_fetch()))
        return run_as(*look, *permit, [&](RunOutput& output, RunLog& log) {
          return act_after_fetch(*permit, output, log);
        });
      fetched = end_fetch();
    }
    if (!fetched)
      return run_as(*look, *permit,
                    [&](RunOutput& output, RunLog&) { return fail(output, fetched.error()); });
    if (!has_news())
      return book_.change(name_, [&](ScheduleState& changed) {
        count(changed);
        changed.why_not = no_news();
      });
    Mirror mirror = TRY(await_mirror());
    return run_as(*look, *permit, [&](RunOutput& output, RunLog& log) {
      return act(mirror, *permit, output, log);
    });
  }

 private:
  Result<Permit> permit_for(const CommandLook& look, Time now) {
    Permit permit{TRY(grant_of_adder(schedule_, settings_.home, now)), look.needs.right, {}};
    CommandNeeds needs = look.needs;
    needs.right = std::max(needs.right, schedule_.right);
    if (std::optional<Error> refusal = refusal_by_rights(permit.grant, needs))
      return *std::move(refusal);
    CommandRequest& request = schedule_.request;
    permit.variables = request.environment;
    permit.variables["PWD"] = request.folder;
    // Who may not act sets no variable by which a program or a library does what he wants.
    if (permit.grant.right < Right::act)
      std::erase_if(request.environment,
                    [](const auto& each) { return !is_variable_of_answers(each.first); });
    return permit;
  }

  AuditEntry audit_entry(Right right) const {
    AuditEntry entry{write_moment(settings_.clock()), schedule_.token, cat("schedule ", name_),
                     schedule_.shown};
    if (before_.is_approved())
      entry.from += cat(", plan ", before_.plan, " approved by ", before_.approver);
    entry.right = to_string(right);
    return entry;
  }

  Status refuse(const Error& why, Right right) const {
    AuditEntry entry = audit_entry(right);
    entry.refused = why.message;
    audit_log(settings_.home).refuse(entry);
    if (why.message != TRY(book_.state(name_)).why_not)
      TRY(queue_refusal(book_, schedule_, why.message, settings_.clock()));
    return book_.change(name_, [&](ScheduleState& state) {
      count(state);
      state.why_not = why.message;
    });
  }

  /// What has led here is done with. A call of the hook takes no time of its own away.
  void count(ScheduleState& state) const {
    if (before_.is_approved()) {  // what else there is to do comes behind it
      state.plan = state.approved = 0;
      state.approver.clear();
      return;
    }
    if (is_due_ || before_.is_asked)
      state.counted = settings_.clock();
    if (before_.is_asked)
      state.is_asked = false;
    state.answered = before_.calls;
  }

  /// What is asked for at a time of cron, or by somebody, is done in any case.
  bool has_news() const {
    return schedule_.git.url.empty() || (is_due_ && !schedule_.times.cron.empty()) ||
           before_.is_asked || before_.is_approved() || commit_ != before_.done_commit;
  }
  std::string no_news() const {
    return cat("nothing is new since commit ", commit_.substr(0, shown_digits));
  }

  /// That of the plan, which was kept.
  Status find_checkout() {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(book_.fetched(name_), ignored))
      if (entry.path().filename().string().ends_with("@" + before_.plan_commit)) {
        checkout_ = entry.path();
        commit_ = before_.plan_commit;
        return {};
      }
    return world_error(cat("the checkout of commit ", before_.plan_commit.substr(0, shown_digits),
                           ", of which the plan is, is lost"));
  }

  /// Makes the branch, as it is now, the files of the command. Git may take threads and time, and
  /// somebody may end it, so it has a process of its own. Whether it has ended soon.
  Result<bool> begin_fetch() {
    const Path folder = book_.fetched(name_);
    if (const ScheduleSecrets secrets = TRY(book_.secrets(name_)); !secrets.git_url.empty())
      schedule_.git.url = secrets.git_url;
    CommandRequest nothing;
    nothing.folder = "/";
    fetch_ = TRY(start_command(nothing, "/", [&] {
      const Result<std::string> made =
          host_.fetch ? host_.fetch(folder, schedule_.git.url, schedule_.git.branch)
                      : Result<std::string>(world_error("this program does not know git"));
      const std::string said = made ? *made : clipped(made.error().message, most_words_of_fetch);
      return ::write(made ? STDOUT_FILENO : STDERR_FILENO, said.data(), said.size()) ==
                         static_cast<ssize_t>(said.size()) &&
                     made
                 ? 0
                 : 1;
    }));
    return await_events(fetch_.end.get(), POLLIN, patience_of_fetch);
  }

  /// The process has ended, or ends now.
  Status end_fetch() {
    const std::string output = all_that_comes(fetch_.output),
                      errors = all_that_comes(fetch_.errors);
    int status = 0;
    while (waitpid(fetch_.process, &status, 0) < 0 && errno == EINTR) {
    }
    const size_t at = output.rfind('@');
    if (status != 0 || at == output.npos)
      return world_error(errors.empty() ? "git was ended" : errors);
    commit_ = output.substr(at + 1);
    checkout_ = output;
    remove_older_checkouts(book_.fetched(name_));
    return {};
  }

  /// Waits for a fetch as a run, which somebody may cancel; then does what there is to do.
  int act_after_fetch(const Permit& permit, RunOutput& output, RunLog& log) {
    output.add(FrameType::errors, cat("fetching ", shown_url(schedule_.git.url), "\n"));
    bool is_cancelled = false;
    while (!await_events(fetch_.end.get(), POLLIN, pause_of_cancel)) {
      if (is_cancelled || !await_events(log.control(), POLLIN, Duration(0)))
        continue;
      log.take_request();
      is_cancelled = true;
      kill(fetch_.process, SIGTERM);
    }
    const Status fetched = end_fetch();
    if (is_cancelled) {
      output.add(FrameType::errors, "error: interrupted\n");
      return interrupted_command;
    }
    if (!fetched)
      return fail(output, fetched.error());
    if (!has_news()) {
      output.add(FrameType::errors, cat(no_news(), "\n"));
      return 0;
    }
    Result<Mirror> mirror = await_mirror();
    return mirror ? act(*mirror, permit, output, log) : fail(output, mirror.error());
  }

  static std::string all_that_comes(const Descriptor& from) {
    std::string text;
    std::array<char, 4'096> buffer{};
    pollfd one{from.get(), POLLIN, 0};
    while (poll(&one, 1, -1) > 0) {
      const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
      if (count > 0)
        text.append(buffer.data(), static_cast<size_t>(count));
      else if (count == 0 || (errno != EAGAIN && errno != EINTR))
        break;
    }
    return text;
  }

  void remove_older_checkouts(const Path& folder) const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
      if (entry.path().filename().string().find('@') != std::string::npos &&
          entry.path() != checkout_ &&
          (before_.plan == 0 ||
           !entry.path().filename().string().ends_with("@" + before_.plan_commit)))
        static_cast<void>(remove_tree(entry.path()));
  }

  /// As if they had come with the command, always at the same place.
  Status list_checkout() {
    std::vector<FileEntry>& files = schedule_.request.files;
    files.clear();
    for (const TreeEntry& entry : TRY(list_tree(checkout_))) {
      FileEntry file{cat(schedule_.request.folder, "/", entry.path), FileEntry::Type::folder,
                     entry.mode};
      if (entry.type == TreeEntry::Type::symlink) {
        file.type = FileEntry::Type::link;
        file.target = entry.target;
      } else if (entry.type == TreeEntry::Type::file) {
        file.type = FileEntry::Type::file;
        file.size = entry.size;
        Sha256 hash;
        TRY(pump(TRY(source_of_file(checkout_ / entry.path)), [&](std::string_view bytes) {
          hash.add(bytes);
          return Status();
        }));
        file.digest = hash.hex();
      }
      files.push_back(std::move(file));
    }
    return {};
  }

  Path source_of_content(const FileEntry& entry) const {
    if (entry.path == plan_path)
      return book_.plan_file(name_, before_.plan);
    return checkout_.empty() ? book_.content(name_, entry.digest)
                             : checkout_ / entry.path.substr(schedule_.request.folder.size() + 1);
  }

  /// Waits for others to end, if there are as many commands as may be.
  Result<Mirror> await_mirror() const {
    while (true) {
      if (std::optional<Mirror> mirror = TRY(Mirror::take(settings_.folder() / "mirrors")))
        return *std::move(mirror);
      usleep(static_cast<useconds_t>(pause_for_mirror / 1us));
    }
  }

  Status place_files(Mirror& mirror) {
    if (!checkout_.empty())
      TRY(list_checkout());
    const CommandRequest& request = schedule_.request;
    std::vector<FileEntry> files = request.files;
    if (before_.is_approved()) {
      const std::string plan = TRY(read_file(book_.plan_file(name_, before_.plan)));
      files.push_back(
          {std::string(plan_path), FileEntry::Type::file, 0600, plan.size(), sha256_hex(plan)});
    }
    if (request.folder != "/" &&
        std::ranges::find(files, request.folder, &FileEntry::path) == files.end())
      files.push_back({request.folder, FileEntry::Type::folder, 0755, 0});
    for (const size_t entry : TRY(mirror.place(files))) {
      const auto named = std::ranges::find(files, mirror.path_of(entry), &FileEntry::path);
      TRY(mirror.begin_content(entry));
      const ByteSource source = TRY(source_of_file(source_of_content(*named)));
      TRY(pump(source, [&](std::string_view bytes) { return mirror.add_content(bytes); }));
      if (!TRY(mirror.end_content()))
        return world_error(cat("a part of `", named->path, "` is lost"));
    }
    return mirror.finish();
  }

  /// Makes it a run: its number is known, and its time is done with, before anything is.
  Status run_as(const CommandLook& look, const Permit& permit,
                const std::function<int(RunOutput& output, RunLog& log)>& work) {
    RunLog log = TRY(RunLog::begin(settings_.folder() / "runs",
                                   {look.shown, permit.grant.token, look.needs.environments,
                                    look.watch, permit.grant.token_id},
                                   settings_.clock()));
    const Status counted = book_.change(name_, [&](ScheduleState& state) {
      count(state);
      state.run = log.number();
      state.began = settings_.clock();
      state.commit = commit_;
      state.commit_before = state.done_commit;
      state.code.reset();
      state.why_not.clear();
    });
    book_.wake();  // its next time is known now
    int code = 1;
    RunOutput output(log, (settings_.folder() / "mirrors").string());
    if (counted)
      code = work_noted(look, output, log, work);
    TRY(log.end(code));
    TRY(counted);
    TRY(book_.change(name_, [&](ScheduleState& state) {
      state.code = code;
      state.commit = commit_;
      if (code == 0)
        state.done_commit = commit_;
      else if (before_.is_approved())
        state.done_commit.clear();  // the next look makes a new plan
      if (plan_ != PlanMade::none) {
        state.plan = plan_ == PlanMade::waits ? state.run : 0;
        state.plan_commit = commit_;
        state.approved = 0;
      }
    }));
    book_.remove_other_plans(name_, TRY(book_.state(name_)).plan);
    return queue_end_of_run(book_, name_, settings_);
  }

  /// With its entry of the audit, without which it must not begin.
  int work_noted(const CommandLook& look, RunOutput& output, RunLog& log,
                 const std::function<int(RunOutput& output, RunLog& log)>& work) {
    std::string noted;
    if (look.needs.right != Right::read) {
      AuditEntry begun = audit_entry(look.needs.right);
      begun.run = log.number();
      Result<std::string> id = audit_log(settings_.home).begin(begun);
      if (!id)
        return fail(output, id.error());
      noted = *std::move(id);
    }
    const int code = work(output, log);
    if (!noted.empty())
      audit_log(settings_.home).end(noted, code, settings_.clock());
    return code;
  }

  static int fail(RunOutput& output, const Error& error) {
    output.add(FrameType::errors, cat("error: ", to_string(error), "\n"));
    return 1;
  }

  /// Runs the command, or makes its plan, which then waits.
  int act(Mirror& mirror, const Permit& permit, RunOutput& output, RunLog& log) {
    if (const Status placed = place_files(mirror); !placed)
      return fail(output, placed.error());
    const int code = run_command(mirror, permit, output, log);
    if (!schedule_.needs_approval || before_.is_approved())
      return code;
    if (code == 0)
      plan_ = PlanMade::is_empty;
    if (code != code_of_drift)
      return code;
    const Result<std::string> plan = read_file(cat(mirror.root(), plan_path));
    const Status kept =
        plan ? write_file(book_.plan_file(name_, log.number()), *plan, 0600) : Status(plan.error());
    if (!kept)
      return fail(output, kept.error());
    plan_ = PlanMade::waits;
    output.add(FrameType::errors,
               cat("the plan waits; `fettle schedule approve ", name_,
                   "` carries it out, for another token than `", schedule_.token, "`\n"));
    return 0;
  }

  int run_command(const Mirror& mirror, const Permit& permit, RunOutput& output, RunLog& log) {
    const CommandRequest& request = schedule_.request;
    const std::string root = mirror.root();
    Result<CommandChild> child =
        start_command(request, request.folder == "/" ? root : root + request.folder,
                      [&] { return host_.run(request, root, permit); });
    if (!child)
      return fail(output, child.error());
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, nullptr);
    return follow_scheduled(*child, log, output,
                            Descriptor(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK)));
  }

  const ServeSettings& settings_;
  const CommandHost& host_;
  const ScheduleBook book_;
  const std::string name_;
  Schedule schedule_;
  ScheduleState before_;  ///< when it began
  bool is_due_ = false;
  PlanMade plan_ = PlanMade::none;
  CommandChild fetch_;
  Path checkout_;       ///< with the files of `commit_`
  std::string commit_;  ///< empty: no repository is fetched
};

}  // namespace

namespace {

/// How many words name a command of which a plan can be carried out. 0: there is none of it.
size_t words_of_planned(const std::vector<std::string>& words) {
  if (words.empty())
    return 0;
  if (words[0] == "run" || words[0] == "state")
    return 1;
  return words.size() > 1 && words[0] == "versions" && words[1] == "release" ? 2 : 0;
}

}  // namespace

Result<CommandRequest> request_to_plan(CommandRequest request) {
  std::vector<std::string>& words = request.words;
  const size_t count = words_of_planned(words);
  if (count == 0)
    return user_error(
        "`--approve` is for `run PACKAGE`, `state FILE` and `versions release`, whose plans can "
        "wait and be carried out");
  const std::string path(plan_path);
  // What the command line makes of `plan FILE.sls`.
  std::vector<std::string> planned = words[0] == "state"
                                         ? std::vector<std::string>{"state", "--test"}
                                         : std::vector<std::string>{"plan"};
  for (const std::string& word : {std::string("--out"), path, std::string("--detailed-exitcode")})
    planned.push_back(word);
  const bool names_version = count == 2 && words.size() > 2 && !words[2].starts_with('-');
  if (names_version)
    planned.emplace_back("--version");
  planned.insert(planned.end(), words.begin() + static_cast<ptrdiff_t>(count), words.end());
  words = std::move(planned);
  request.paths.push_back(path);
  request.writes.push_back(path);
  return request;
}

CommandRequest request_by_plan(CommandRequest request) {
  const std::string path(plan_path);
  const auto behind =
      request.words.begin() + static_cast<ptrdiff_t>(words_of_planned(request.words));
  request.words.insert(behind, {"--plan", path});
  request.paths.push_back(path);
  return request;
}

ScheduleTurn turn_of(const ScheduleState& state, std::optional<Time> due, Time now,
                     std::optional<Time> begun_from) {
  const bool is_due = due && *due <= now;
  if (!begun_from)
    return is_due || state.is_asked || state.is_called() || state.is_approved()
               ? ScheduleTurn::runs
               : ScheduleTurn::waits;
  return is_due && begun_from != state.counted ? ScheduleTurn::skips : ScheduleTurn::waits;
}

Result<Grant> grant_of_adder(const Schedule& schedule, const Path& home, Time now) {
  if (schedule.token == own_token_name && schedule.token_id.empty())
    return Grant{std::string(own_token_name), Right::admin, {}};
  const std::vector<Token> all = TRY(token_book(home).all());
  const auto found = std::ranges::find_if(
      all, [&](const Token& token) { return token.grant.token == schedule.token; });
  if (found == all.end())
    return user_error(cat("the token `", schedule.token, "`, which added it, was taken away"));
  if (!found->digest.starts_with(schedule.token_id))
    return user_error(cat("the token `", schedule.token,
                          "`, which added it, was taken away, and another one has its name"));
  if (found->expires && *found->expires <= now)
    return user_error(cat("the token `", schedule.token, "`, which added it, expired at ",
                          write_moment(*found->expires)));
  Grant grant = found->grant;
  grant.token_id = schedule.token_id;
  return grant;
}

ScheduleClock::ScheduleClock(const ServeSettings& settings)
    : settings_(settings), book_(settings.folder() / "schedules"), waker_(book_.waker()) {}

int ScheduleClock::patience() const {
  const Duration left = looks_at_ - std::chrono::steady_clock::now();
  return static_cast<int>(std::max(left, Duration(0)) / 1ms) + 1;
}

bool ScheduleClock::has_changed(const std::vector<pid_t>& living) {
  std::array<char, 64> ignored{};
  bool has = waker_.is_open() && ::read(waker_.get(), ignored.data(), ignored.size()) > 0;
  for (auto* const all : {&begun_, &tellers_})
    for (auto& [name, run] : *all)
      if (run.process > 0 && std::ranges::find(living, run.process) == living.end()) {
        run.process = -1;
        has = true;
      }
  return has || std::chrono::steady_clock::now() >= looks_at_;
}

void ScheduleClock::look_within(Duration duration) {
  looks_at_ =
      std::min(looks_at_, std::chrono::steady_clock::now() + std::min(duration, longest_patience));
}

void ScheduleClock::look(const std::vector<pid_t>& living, const CommandHost& host,
                         const Begin& begin, const Teller& told) {
  if (!has_changed(living))
    return;
  looks_at_ = std::chrono::steady_clock::now() + longest_patience;
  const Time now = settings_.clock();
  std::vector<DueSchedule> due;
  for (const std::string& name : book_.names()) {
    const Result<Schedule> schedule = book_.find(name);
    Result<ScheduleState> state = book_.state(name);
    if (!schedule || !state) {
      tell_damage(name, schedule ? state.error() : schedule.error(), told);
      continue;
    }
    damaged_.erase(name);
    if (take_back(*state, now))
      static_cast<void>(
          book_.change(name, [&](ScheduleState& changed) { take_back(changed, now); }));
    tell(*schedule, *state, begin, living);
    const DueSchedule one{name, next_time(schedule->times, *state), state->counted, state->run};
    const BegunRun& begun = begun_[name];
    const auto begun_from = begun.process > 0 ? std::optional(begun.counted) : std::nullopt;
    switch (turn_of(*state, one.due, now, begun_from)) {
      case ScheduleTurn::runs:
        due.push_back(one);
        break;
      case ScheduleTurn::skips:
        skip(one, told);
        look_within(Duration(0));
        break;
      case ScheduleTurn::waits:
        if (one.due && *one.due > now)
          look_within(*one.due - now);
        break;
    }
  }
  begin_all(std::move(due), host, begin);
}

void ScheduleClock::tell_damage(const std::string& name, const Error& error, const Teller& told) {
  // Another process may have removed it since it was listed.
  if (book_.check_is_there(name) && damaged_.insert(name).second)
    told(cat("the schedule `", name, "` is damaged, and does not run: ", to_string(error)));
}

/// What is to be told has a process of its own, for each schedule.
void ScheduleClock::tell(const Schedule& schedule, const ScheduleState& state, const Begin& begin,
                         const std::vector<pid_t>& living) {
  if (schedule.notify.origin.empty())
    return;
  const Time now = settings_.clock();
  const WaitingNotices view = notice_queue(book_, schedule.name).view();
  const bool is_running = book_.is_running(schedule.name);
  const bool was_killed = state.told != state.run && !is_running;
  // A process that is not ours tells nobody when it ends, such as one that was killed and still dies.
  if (is_running && begun_[schedule.name].process <= 0)
    look_within(1s);
  if (view.waiting > 0 && !is_due(view, now))
    look_within(view.next - now);
  if (!was_killed && !is_due(view, now))
    return;
  const auto still = [&](pid_t process) {
    return process > 0 && std::ranges::find(living, process) != living.end();
  };
  BegunRun& teller = tellers_[schedule.name];
  if (still(teller.process))
    return;  // its end is a reason to look
  const auto since = std::chrono::steady_clock::now() - teller.at;
  const auto telling =
      std::ranges::count_if(tellers_, [&](const auto& each) { return still(each.second.process); });
  if (telling >= most_tellers || since < pause_of_tellers) {
    look_within(pause_of_tellers);
    return;
  }
  teller = {begin([this, name = schedule.name] { return send_notices(name, settings_); }),
            {},
            std::chrono::steady_clock::now()};
}

void ScheduleClock::skip(const DueSchedule& schedule, const Teller& told) {
  told(cat("the schedule `", schedule.name, "` still runs at ", write_moment(*schedule.due),
           ", its next time, which is skipped"));
  static_cast<void>(book_.change(schedule.name, [&](ScheduleState& state) {
    state.counted = settings_.clock();
    ++state.skipped;
  }));
}

/// What has led to no run is tried again after a pause.
bool ScheduleClock::may_begin(const DueSchedule& schedule) {
  const BegunRun& before = begun_[schedule.name];
  const auto since = std::chrono::steady_clock::now() - before.at;
  if (before.counted != schedule.counted || before.run != schedule.run || since >= pause_of_retries)
    return !book_.is_running(schedule.name);
  look_within(pause_of_retries - since);
  return false;
}

void ScheduleClock::begin_all(std::vector<DueSchedule> all, const CommandHost& host,
                              const Begin& begin) {
  std::ranges::stable_sort(all, {}, &DueSchedule::due);
  size_t running = static_cast<size_t>(
      std::ranges::count_if(begun_, [](const auto& each) { return each.second.process > 0; }));
  for (const DueSchedule& one : all) {
    if (running >= most_scheduled_runs)
      break;  // the end of one of them is a reason to look
    if (!may_begin(one)) {
      look_within(1s);
      continue;
    }
    const pid_t process = begin([&] { return run_schedule(one.name, settings_, host); });
    begun_[one.name] = {process, one.counted, std::chrono::steady_clock::now(), one.run};
    running += process > 0 ? 1 : 0;
  }
}

int run_schedule(const std::string& name, const ServeSettings& settings, const CommandHost& host) {
  return ScheduledRun(settings, host, name).run() ? 0 : 1;
}

}  // namespace fettle
