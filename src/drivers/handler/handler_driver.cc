#include "drivers/handler/handler_driver.h"

#include "base/text.h"
#include "drivers/handler/handler.h"
#include "value/with.h"

namespace fettle {
namespace {

constexpr Duration usual_deadline = 60s;
// Printed lines stay in the log of events.
constexpr size_t most_lines = 100;
constexpr size_t longest_line = 1'000;

Result<Duration> deadline_of(const Value& handler) {
  const std::string_view given = handler.text_at("deadline");
  if (given.empty())
    return usual_deadline;
  const Duration deadline = TRY(parse_duration(given));
  if (deadline <= 0s)
    return world_error(cat("the deadline `", given, "` is not a time"));
  return deadline;
}

/// Fields that the handler reports and that are wanted otherwise.
Value changes_between(const Value& wanted, const Value& current) {
  std::vector<Entry> changes;
  for (const Entry& entry : current.entries())
    if (const Value* desired = wanted.find(entry.key);
        desired != nullptr && *desired != entry.value)
      changes.push_back(
          {entry.key, Value::dict({{"current", entry.value}, {"desired", *desired}})});
  return Value::dict(std::move(changes));
}

Done told(const Act& act, bool compliant, const Value& changes, bool changed) {
  return Done{Value::dict({{"digest", act.attributes.at("handler").at("code")},
                           {"compliant", compliant},
                           {"changes", changes}}),
              {},
              changed};
}

/// The outcome for a caller that only looks; it also says whether an event would lead to an act.
Outcome seen(const Act& act, const Reading& reading, bool compliant, const Value& changes) {
  Done done = told(act, compliant, changes, !compliant);
  done.outputs = with(done.outputs, "reloads", reading.reloads);
  return done;
}

Result<Outcome> look_after(Handler& handler, const Act& act) {
  Result<Reading> read = handler.read();
  if (!read && (is_cancelled(read.error()) || !handler.skipped().empty()))
    return read.error();
  if (!read)
    return Failed{std::move(read).error(), {}, {}, true};
  const Reading& reading = *read;
  const bool away = act.attributes.bool_at("purged") || act.verb == Verb::remove;
  const Value changes = reading.there && !away
                            ? changes_between(act.attributes.at("fields"), reading.current)
                            : Value::dict({});
  const bool compliant = away ? !reading.there : reading.there && changes.entries().empty();
  if (act.looks_only)
    return seen(act, reading, compliant, changes);
  if (act.attributes.bool_at("report_only") && act.verb != Verb::remove)
    return told(act, compliant, changes, false);
  if (away && reading.there)
    TRY(handler.remove());
  else if (!away && !reading.there)
    TRY(handler.create());
  else if (!compliant)
    TRY(handler.update(changes));
  const bool reloads = !away && reading.reloads && !act.events.empty();
  if (reloads)
    TRY(handler.reload());
  return told(act, true, changes, !compliant || reloads);
}

}  // namespace

void HandlerSite::tell(std::string_view line) const {
  progress({.text = std::string(line)});
  if (printed.size() < most_lines)
    printed.emplace_back(clipped(line, longest_line));
  else if (printed.size() == most_lines)
    printed.emplace_back("…");
}

Result<std::vector<Observation>> HandlerDriver::observe(std::span<const Subject> subjects,
                                                        std::stop_token) {
  return std::vector<Observation>(subjects.size());
}

Result<std::vector<Found>> HandlerDriver::list(const Name&, std::stop_token) {
  return std::vector<Found>();
}

Result<Outcome> HandlerDriver::apply(const Act& act, const ProgressSink& progress,
                                     std::stop_token stop) {
  const Value& handler = act.attributes.at("handler");
  std::vector<std::string> printed;
  const HandlerSite site{http_,
                         blobs_,
                         programs_,
                         act,
                         progress,
                         stop,
                         std::string(handler.text_at("name")),
                         TRY(deadline_of(handler)),
                         printed};
  if (stop.stop_requested())
    return cancelled_error();
  std::unique_ptr<Handler> made;
  if (handler.at("program").is_text())
    made = make_program_handler(site);
  else
    made = TRY(make_starlark_handler(site).context(cat("handler `", site.name, "`")));
  Result<Outcome> outcome = look_after(*made, act);
  if (!outcome && is_cancelled(outcome.error()))
    return outcome;
  if (!outcome && !made->skipped().empty())
    return Skipped{made->skipped()};
  if (outcome) {
    if (auto* done = std::get_if<Done>(&*outcome))
      done->printed = std::move(printed);
    if (auto* failed = std::get_if<Failed>(&*outcome))
      failed->error = std::move(failed->error).context(cat("handler `", site.name, "`"));
  }
  return std::move(outcome).context(cat("handler `", site.name, "`"));
}

}  // namespace fettle
