#pragma once
/// The schedules of a server: commands that it runs by itself, at their times.
///
/// `schedules/NAME` has `about` and `request` (JSON: what was asked for, never changed), `contents`
/// (the files that travelled with the command, by their digests), `git` (what was fetched), `state`
/// (JSON: what came of it), `secrets` (sealed) and `lock`, which the process of a run holds. What is
/// due follows from the two texts and the clock, so nothing is kept in a server's memory, and a
/// server that was killed has lost nothing.
///
/// Invariants:
/// * A schedule is there as a whole or not at all: it is made beside its place, and renamed.
/// * `state` names a run before its command begins, and counts its time from then on. Whoever is
///   killed before that has begun nothing; whoever is killed later is not begun again.

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/time.h"
#include "remote/cron_times.h"
#include "remote/request.h"
#include "remote/rights.h"
#include "remote/run_log.h"
#include "value/value.h"

namespace fettle {

/// How many schedules a server keeps.
constexpr size_t most_schedules = 256;
/// How many of their runs there are at once.
constexpr size_t most_scheduled_runs = 4;

/// When something runs: one of the two is given, or none, and then it runs when somebody asks.
struct ScheduleTimes {
  std::string cron{};
  Duration every{};
};

/// Where the files of a command are fetched from before each run. No URL: they came with it.
struct GitSource {
  std::string url{}, branch{};  ///< no branch: the default one
};
/// Error (`Blame::user`): git would not fetch from there, or would run a program for it.
Status check_git_source(const GitSource& source);

/// What others prove with that they mean a schedule. They are sealed with a key that is in another
/// file: HMAC needs the text, so a digest would not do.
struct ScheduleSecrets {
  std::string hook{};                  ///< of whoever calls `POST /hooks/NAME`; empty: nobody may
  std::string notify_url{}, notify{};  ///< who is told, and with what that is signed
  std::string git_url{};               ///< instead of that of the schedule, with a password
};

/// What somebody is told of a schedule (`notices.h`).
enum class NoticeEvent : uint8_t {
  failed,
  drifted,    ///< its command says that something is due, or has changed
  succeeded,  ///< also what is `recovered`
  recovered,  ///< it went well, and the last time it did not
  refused,    ///< there was no run: its token may not do that any more
  waiting,    ///< a plan waits for somebody to approve it
};
inline constexpr std::array<std::string_view, 6> notice_event_names{
    "failed", "drifted", "succeeded", "recovered", "refused", "waiting"};
inline std::string_view to_string(NoticeEvent event) {
  return notice_event_names[static_cast<size_t>(event)];
}
/// The exit code of a command that was asked to say so (`--detailed-exitcode`).
constexpr int64_t code_of_drift = 4;

/// Who is told what.
struct ScheduleNotify {
  std::string origin{};  ///< of the URL, which may have a secret in it; empty: nobody is told
  std::vector<NoticeEvent> events{};
};

/// What waits to be told.
struct WaitingNotices {
  size_t waiting = 0;
  int64_t failures = 0;  ///< of the first one
  Time next{};           ///< when it is sent again
  std::string why{};     ///< it did not get through; empty: it did
  int64_t dropped = 0;   ///< too many waited
};

struct Schedule {
  std::string name;
  ScheduleTimes times;
  std::string shown;         ///< its words without secrets
  CommandRequest request{};  ///< which may be large; `ScheduleBook::request` reads it
  GitSource git{};
  std::string token, token_id;  ///< of whoever added it; the text of the token is kept nowhere
  /// What is known of the command, for those who ask.
  std::vector<std::string> environments{};
  Right right = Right::admin;
  Time added{};
  bool has_hook = false;
  ScheduleNotify notify{};
  bool tells_drift = false;     ///< by its exit code
  bool needs_approval = false;  ///< a run plans, and somebody else has the plan carried out
};

struct ScheduleState {
  Time counted{};   ///< all times up to this moment are done with
  int64_t run = 0;  ///< the last one; 0: none yet
  std::optional<Time> began{};
  std::optional<int64_t> code{};
  std::string why_not{};        ///< why there was no run at the last time; empty: there was
  std::string commit{};         ///< of the last run
  std::string done_commit{};    ///< of the last run that ended well
  int64_t skipped = 0;          ///< times that came while a run went on
  bool is_asked = false;        ///< somebody wants it to run now
  int64_t calls = 0;            ///< of its hook that were let in
  int64_t answered = 0;         ///< of these, those that it has looked after
  std::string commit_before{};  ///< `done_commit` when the last run began
  int64_t told = 0;             ///< the last run whose end was looked at for notices
  std::string outcome{};        ///< how that one ended; empty: there was none

  int64_t plan = 0;           ///< the run that made the plan which waits; 0: none does
  std::string plan_commit{};  ///< of what it is a plan
  int64_t approved = 0;       ///< the plan that somebody has approved, who is
  std::string approver{};

  bool is_approved() const { return plan != 0 && approved == plan; }
  bool is_called() const { return calls > answered; }
};

/// For those who ask.
struct ScheduleView {
  Schedule schedule;
  ScheduleState state;
  std::optional<Time> next{};
  std::string status{};  ///< of the last run: as `status_of` says; empty: there was none
  WaitingNotices notices{};
  std::string damage{};  ///< why it cannot be read, so it never runs; empty: it can
};

/// When it runs next, which may be over. None: never.
std::optional<Time> next_time(const ScheduleTimes& times, const ScheduleState& state);
/// A state from before the clock was put back: waiting until the old time comes again would be
/// silence, and counting from now on makes no storm. A small step back is waited for, so nothing
/// runs twice. True: it was changed.
bool take_back(ScheduleState& state, Time now);
/// Error (`Blame::user`): they are none.
Status check_times(const ScheduleTimes& times);
/// `*/5 * * * *`, `every 10m`, `when called`
std::string times_text(const ScheduleTimes& times);

class ScheduleBook {
 public:
  /// `folder`: of all schedules, which may not exist yet.
  explicit ScheduleBook(Path folder) : folder_(std::move(folder)) {}

  /// The names, in order, also of those that cannot be read.
  std::vector<std::string> names() const;
  /// Error (`Blame::user`): there is none of this name.
  Status check_is_there(const std::string& name) const;
  /// Error (`Blame::user`): there is none of this name.
  Result<Schedule> find(const std::string& name) const;
  Result<CommandRequest> request(const std::string& name) const;
  Result<ScheduleState> state(const std::string& name) const;
  /// Keeps it, with the files of its request, which are below `root`. Errors (`Blame::user`): the
  /// name is taken, or is none; there are too many.
  Status add(const Schedule& schedule, const std::string& root,
             const ScheduleSecrets& secrets = {}) const;
  /// Error: they cannot be read, or were sealed with another key.
  Result<ScheduleSecrets> secrets(const std::string& name) const;
  /// What runs goes on.
  Status remove(const std::string& name) const;
  /// The only way to change a state: one at a time.
  Status change(const std::string& name,
                const std::function<void(ScheduleState& state)>& change) const;
  Path content(const std::string& name, const std::string& digest) const {
    return folder_ / name / "contents" / digest;
  }

  /// The plan that one of its runs has made.
  Path plan_file(const std::string& name, int64_t run) const {
    return folder_ / name / ("plan-" + std::to_string(run));
  }
  /// Only this one may still be carried out; 0: none.
  void remove_other_plans(const std::string& name, int64_t run) const;
  /// What is to be told of it.
  Path notices(const std::string& name) const { return folder_ / name / "notices"; }
  /// What a server fetches for it.
  Path fetched(const std::string& name) const { return folder_ / name / "git"; }

  /// The right to run it, which ends with its holder. None: somebody runs it.
  Result<std::optional<LockFile>> take(const std::string& name) const;
  bool is_running(const std::string& name) const;

  /// Servers of this home look again at what is due.
  void wake() const;
  /// For a server: readable when somebody has woken it. Not open: it cannot be made.
  Descriptor waker() const;

 private:
  Result<LockFile> exclusive() const;
  Status keep_secrets(const Path& schedule, const ScheduleSecrets& secrets) const;
  Path key() const { return folder_.string() + ".key"; }
  /// For another one of this name.
  Status check_room(const std::string& name) const;

  Path folder_;
};

/// `runs`: of the server. What cannot be read of it is left out, and its damage is said. Error: there is
/// none of this name.
Result<ScheduleView> schedule_view(const ScheduleBook& book, const std::string& name,
                                   const std::vector<RunView>& runs);

/// Nobody knows of which environments one is that cannot be read.
Reach reach_of_schedule(const ScheduleView& view);
/// The schedules of a home of which the holder of a grant may know: those of the environments that it is
/// for.
std::vector<ScheduleView> schedules_for(const Grant& grant, const Path& home);

/// Where a server is called about a schedule.
std::string hook_path(std::string_view name);

/// That of a home.
ScheduleBook schedule_book(const Path& home);

}  // namespace fettle
