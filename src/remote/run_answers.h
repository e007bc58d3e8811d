#pragma once
/// What a client may ask about runs, of which others may have begun some.
///
/// Who is limited to environments knows of the runs that concern these, and of no other. To look on
/// needs `read`, or more if what is shown does. One's own run may be stopped in any case, that of
/// somebody else with the right `admin`.

#include "remote/line.h"
#include "remote/run_log.h"
#include "remote/visit.h"

namespace fettle {

/// The runs in `runs` of which the holder of a grant may know, the oldest first.
std::vector<RunView> runs_for(const Grant& grant, const Path& runs);
/// Asks a run to stop for whoever visits, and notes that. Errors (`Blame::user`): he knows of none of
/// this number, may not stop it, or it has ended.
Result<RunView> stop_run(int64_t number, const Path& runs, Visit& visit);

/// What its holder needs to see what a run has printed.
CommandNeeds needs_to_watch(const Grant& grant, const RunView& run, std::string what);

class RunAnswers {
 public:
  RunAnswers(Line& line, const ServeSettings& settings, Visit& visit)
      : line_(line),
        visit_(visit),
        runs_(settings.folder() / "runs"),
        sign_pause_(settings.sign_pause) {}

  Status list();
  Status cancel(int64_t number);
  /// Tells what a run has printed and prints, until it has ended.
  Status attach(int64_t number);

 private:
  Status hear(int64_t number);
  Status stop(int64_t number);

  Line& line_;
  Visit& visit_;
  const Path runs_;
  const Duration sign_pause_;
};

}  // namespace fettle
