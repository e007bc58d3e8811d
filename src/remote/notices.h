#pragma once
/// What whoever keeps a schedule is told of its runs: a POST of JSON to the URL that he named.
///
/// A notice is a file, `schedules/NAME/notices/NUMBER`, until its receiver has answered with a status
/// 2xx, so what kills a server loses none and may send one twice: at least once, with one id.
/// What is to be told follows from the state of the schedule and from its run, and that it was
/// queued is written behind it. So a run that was killed with its server is told as well.
///
/// Notices of a schedule go one after the other, and one that does not get through holds the next
/// ones up, for growing pauses; of more than `most_notices`, the oldest go. Each schedule has a
/// process of its own for it, so a receiver that is slow holds up no other one, and no run.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/time.h"
#include "remote/schedules.h"
#include "remote/session.h"

namespace fettle {

constexpr size_t most_notices = 100;
constexpr Duration first_pause_of_notices = 5s, longest_pause_of_notices = 24h;

/// Error (`Blame::user`): `url` is none that a notice can go to.
Status check_notice_url(const std::string& url);
/// Where a URL leads, without what may be secret in it: `https://hooks.example`.
std::string origin_of(const std::string& url);
/// `failed,drifted`. Error (`Blame::user`): one of them is no event.
Result<std::vector<NoticeEvent>> notice_events_in(std::string_view text);

/// What a run is told as. `before`: how the last one ended. `drift_code`: with which exit code the
/// command says that something is due or has changed; none: it does not. `code`: none: it was killed.
NoticeEvent event_of_run(const std::string& before, std::optional<int64_t> drift_code,
                         std::optional<int64_t> code);
/// Who wants all that went well also wants what went well again.
bool is_wanted(const ScheduleNotify& notify, NoticeEvent event);

/// Before a notice that has failed so often is sent again.
Duration pause_of_notices(int64_t failures);
/// For `X-Fettle-Signature`. `timestamp`: in seconds, as it is sent.
std::string notice_signature(std::string_view secret, std::string_view timestamp,
                             std::string_view body);

struct KeptNotice {
  Path file;
  std::string id, event, body;
};

class NoticeQueue {
 public:
  explicit NoticeQueue(Path folder) : folder_(std::move(folder)) {}

  /// Behind the others; what has the id of one that waits is there already.
  Status add(const std::string& id, NoticeEvent event, const Value& document) const;
  /// The oldest. None: none waits.
  std::optional<KeptNotice> first() const;
  Status remove(const KeptNotice& notice, const WaitingNotices& view) const;
  /// What has become of the first one.
  Status note_failure(const std::string& why, Time now) const;
  WaitingNotices view() const;
  /// The right to send them. None: somebody sends them.
  Result<std::optional<LockFile>> take() const;

 private:
  std::vector<Path> files() const;
  Status make_folder() const;
  Status write_view(const WaitingNotices& view) const;
  Path folder_;
};
NoticeQueue notice_queue(const ScheduleBook& book, const std::string& name);

/// Whether some of them are to be sent now. A clock that was put back holds nothing up.
bool is_due(const WaitingNotices& view, Time now);

/// Queues what is to be told of the last run, if it has ended and was not told yet. Whoever calls it
/// has the schedule's lock.
Status queue_end_of_run(const ScheduleBook& book, const std::string& name,
                        const ServeSettings& settings);
/// Queues that it was refused.
Status queue_refusal(const ScheduleBook& book, const Schedule& schedule, const std::string& why,
                     Time now);

/// Sends the notices of a schedule, in this process. The exit code of the process.
int send_notices(const std::string& name, const ServeSettings& settings);

}  // namespace fettle
