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
  Result<RunView> known(std::string_view what, int64_t number) const;
  Result<RunView> ask_to_stop_by(int64_t number);
  Status hear(int64_t number);
  Status stop(int64_t number);

  Line& line_;
  Visit& visit_;
  const Path runs_;
  const Duration sign_pause_;
};

}  // namespace fettle
