#pragma once
/// What a server does about its schedules: its main process finds out what is due, and a process of
/// its own runs each. That process is to a schedule what a session is to a client: the run has a
/// number, an entry of the audit, and the rights of the token that added the schedule, as they are
/// by then.

#include <map>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "remote/schedules.h"
#include "remote/session.h"

namespace fettle {

/// What one schedule is to do now. A function of what is known of it.
enum class ScheduleTurn : uint8_t {
  waits,  ///< for its time
  runs,   ///< it is due
  skips,  ///< its time came while it runs
};
/// `due`: its next time. `begun_from`: what was counted when the run that goes on was begun, whose
/// own time is not counted before it has its number; none: nothing runs.
ScheduleTurn turn_of(const ScheduleState& state, std::optional<Time> due, Time now,
                     std::optional<Time> begun_from);

/// Which schedules are due, in the main process of a server. It only reads, waits and begins
/// processes.
class ScheduleClock {
 public:
  using Begin = std::function<pid_t(const std::function<int()>& work)>;
  using Teller = std::function<void(const std::string&)>;

  explicit ScheduleClock(const ServeSettings& settings);

  /// For `poll`: readable when something about schedules has changed.
  int descriptor() const { return waker_.get(); }
  /// For `poll`: until something may be due, in milliseconds.
  int patience() const;
  /// Begins what is due, if it is time to look. `living`: the processes that have not ended.
  void look(const std::vector<pid_t>& living, const CommandHost& host, const Begin& begin,
            const Teller& told);

 private:
  struct BegunRun {
    pid_t process = -1;  ///< -1: it has ended
    Time counted{};      ///< when it was begun
    std::chrono::steady_clock::time_point at{};
    int64_t run = 0;  ///< the last one then
  };
  struct DueSchedule {
    std::string name;
    std::optional<Time> due{};
    Time counted{};
    int64_t run = 0;
  };
  bool has_changed(const std::vector<pid_t>& living);
  void tell(const Schedule& schedule, const ScheduleState& state, const Begin& begin,
            const std::vector<pid_t>& living);
  void skip(const DueSchedule& schedule, const Teller& told);
  /// Once for each.
  void tell_damage(const std::string& name, const Error& error, const Teller& told);
  bool may_begin(const DueSchedule& schedule);
  void begin_all(std::vector<DueSchedule> all, const CommandHost& host, const Begin& begin);
  void look_within(Duration duration);

  const ServeSettings& settings_;
  const ScheduleBook book_;
  std::set<std::string> damaged_;  ///< those of which it was told
  Descriptor waker_;
  std::map<std::string, BegunRun> begun_;
  std::map<std::string, BegunRun> tellers_;  ///< processes that send notices
  std::chrono::steady_clock::time_point looks_at_ = std::chrono::steady_clock::now();
};

/// Of a command that waits for approval: the one that makes its plan, and the one that carries it
/// out. Error (`Blame::user`): it is not `run`, which alone takes a plan.
Result<CommandRequest> request_to_plan(CommandRequest request);
CommandRequest request_by_plan(CommandRequest request);

/// Runs a schedule in this process, if it is still due. The exit code of the process.
int run_schedule(const std::string& name, const ServeSettings& settings, const CommandHost& host);

/// What whoever added a schedule may do now. Errors: his token is gone, is another one, or has
/// expired (`Blame::user`); the tokens cannot be read (`Blame::world`).
Result<Grant> grant_of_adder(const Schedule& schedule, const Path& home, Time now);

}  // namespace fettle
