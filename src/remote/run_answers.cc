#include "remote/run_answers.h"

#include <unistd.h>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr Duration pause_of_followers = 20ms;

/// Error (`Blame::user`): he may know of none of this number.
Result<RunView> known_run(std::string_view what, int64_t number, const Path& runs, Visit& visit) {
  const std::string shown = number == 0 ? std::string(what) : cat(what, " ", number);
  const Grant grant = TRY(visit.allow({Right::read, Reach::shown, {}, shown}, shown));
  return find_run(runs_for(grant, runs), number);
}

}  // namespace

std::vector<RunView> runs_for(const Grant& grant, const Path& runs) {
  std::vector<RunView> all = list_runs(runs);
  std::erase_if(all, [&](const RunView& run) {
    const CommandNeeds needs{Right::read, Reach::named, run.environments};
    return refusal_by_rights(grant, needs).has_value();
  });
  return all;
}

CommandNeeds needs_to_watch(const Grant& grant, const RunView& run, std::string what) {
  const bool is_own = run.token == grant.token && run.token_id == grant.token_id;
  return {is_own ? Right::read : run.watch, Reach::named, run.environments, std::move(what)};
}

Result<RunView> stop_run(int64_t number, const Path& runs, Visit& visit) {
  RunView run = TRY(known_run("fettle cancel", number, runs, visit));
  const std::string owner = visit.other_owner(run);
  const std::string shown = cat("fettle cancel ", run.number);
  const CommandNeeds needs{owner.empty() ? Right::read : Right::admin, Reach::named,
                           run.environments, shown,
                           owner.empty() ? "" : cat(", a run of ", owner, ",")};
  TRY(visit.allow(needs, shown));
  const std::string noted = TRY(visit.note(needs, shown, run.number));
  const Status asked = ask_to_stop(runs, run.number);
  visit.note_end(noted, asked ? 0 : 2);
  TRY(asked);
  return run;
}

Status RunAnswers::list() {
  const Grant grant =
      TRY(visit_.allow({Right::read, Reach::shown, {}, "fettle runs"}, "fettle runs"));
  std::vector<Value> list;
  for (const RunView& run : runs_for(grant, runs_))
    list.push_back(sent_form(run));
  line_.send(FrameType::document, write_json(Value::list(std::move(list))));
  return {};
}

Status RunAnswers::cancel(int64_t number) {
  const RunView run = TRY(stop_run(number, runs_, visit_));
  line_.send(FrameType::document, write_json(sent_form(run)));
  return {};
}

/// Tells what a run has printed and prints, until it has ended.
Status RunAnswers::attach(int64_t number) {
  RunView run = TRY(known_run("fettle attach", number, runs_, visit_));
  const std::string shown = cat("fettle attach ", run.number);
  const Right needed = visit_.other_owner(run).empty() ? Right::read : run.watch;
  TRY(visit_.allow({needed, Reach::named, run.environments, shown}, shown));
  const Path path = runs_ / std::to_string(run.number) / "frames";
  const Descriptor file = TRY(open_to_read(path));
  line_.send(FrameType::run, write_json(Value::dict({{"run", run.number}})));
  std::string bytes(piece_bytes, '\0');
  SignOfLife sign(sign_pause_);
  bool was_quiet = false;
  while (!line_.is_gone()) {
    // Asked first: what it wrote before it ended is there then.
    run = TRY(find_run(runs_, run.number));
    // No further than the client reads, which may take its time over a page.
    ssize_t count = 1;
    bool is_quiet = true;
    while (line_.unsent() < most_unsent &&
           (count = ::read(file.get(), bytes.data(), bytes.size())) > 0) {
      is_quiet = false;
      line_.send_packed({bytes.data(), static_cast<size_t>(count)});
      line_.push();
    }
    if (!run.is_running && count <= 0 && line_.unsent() == 0)
      break;
    // Not into a frame of which only a part was written yet.
    if (std::exchange(was_quiet, is_quiet) && is_quiet && count <= 0)
      sign.send_if_due(line_);
    TRY(hear(run.number));
  }
  if (!run.code)
    return world_error(cat("run ", run.number,
                           " was killed, perhaps with its server; start the command again, and "
                           "it goes on from what was done"));
  line_.send(FrameType::end, write_json(Value::dict({{"code", *run.code}})));
  return {};
}

/// What the client says while it follows a run.
Status RunAnswers::hear(int64_t number) {
  if (await_events(line_.descriptor(), line_.events(), pause_of_followers))
    line_.pull();
  line_.push();
  while (const std::optional<Frame> frame = line_.take())
    if (frame->type == FrameType::stop)
      TRY(stop(number));
    else if (frame->type == FrameType::output_end)
      line_.leave();
  return {};
}

/// Who may not stop it leaves it as it is, and hears why.
Status RunAnswers::stop(int64_t number) {
  const Result<RunView> asked = stop_run(number, runs_, visit_);
  const Result<RunView> now = find_run(runs_, number);
  const bool has_ended = now && !now->is_running;
  return asked || has_ended ? Status() : Status(asked.error());
}

}  // namespace fettle
