#include "drivers/handler/handler_driver.h"

#include "base/text.h"
#include "drivers/handler/handler.h"

namespace fettle {
namespace {

constexpr Duration usual_deadline = 60s;
/// In Python, one call looks and does everything, such as installing a package.
constexpr Duration deadline_in_python = 600s;
// Printed lines stay in the log of events.
constexpr size_t most_lines = 100;
constexpr size_t longest_line = 1'000;

Result<Duration> deadline_of(const HandlerCode& handler) {
  const std::string_view given = handler.deadline.view();
  if (given.empty())
    return handler.interpreter.empty() ? usual_deadline : deadline_in_python;
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

Done told(HandledOutputs outputs, bool changed) { return Done{write(outputs), {}, changed}; }

Result<Outcome> look_after(Handler& handler, const HandlerSite& site) {
  const Act& act = site.act;
  Result<HandlerAnswer> read = handler.read();
  if (!read && (is_cancelled(read.error()) || !handler.skipped().empty()))
    return read.error();
  if (!read)
    return Failed{std::move(read).error(), {}, {}, true};
  const HandlerAnswer& reading = *read;
  const bool away = site.wanted.purged.get() || act.verb == Verb::remove;
  const Value changes = reading.there && !away
                            ? changes_between(site.wanted.fields.value(), reading.current)
                            : Value::dict({});
  const bool compliant = away ? !reading.there : reading.there && changes.entries().empty();
  HandledOutputs outputs{site.code.code, compliant, changes, {}, {}};
  if (act.looks_only) {
    outputs.reloads = reading.reloads;
    return told(outputs, !compliant);
  }
  if (site.wanted.report_only.get() && act.verb != Verb::remove)
    return told(outputs, false);
  if (away && reading.there)
    TRY(handler.remove());
  else if (!away && !reading.there)
    TRY(handler.create());
  else if (!compliant)
    TRY(handler.update(changes));
  const bool reloads = !away && reading.reloads && !act.events.empty();
  if (reloads)
    TRY(handler.reload());
  outputs.is_compliant = true;
  return told(outputs, !compliant || reloads);
}

/// Keeps what the code printed with the result, and names the handler in a failure.
Result<Outcome> told_with(Result<Outcome> outcome, const HandlerSite& site) {
  if (outcome) {
    if (auto* done = std::get_if<Done>(&*outcome))
      done->printed = std::move(site.printed);
    if (auto* failed = std::get_if<Failed>(&*outcome))
      failed->error = std::move(failed->error).context(cat("handler `", site.name, "`"));
  }
  return std::move(outcome).context(cat("handler `", site.name, "`"));
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
  HandledResource wanted = read<HandledResource>(act.attributes);
  HandlerCode code = read<HandlerCode>(wanted.handler.value());
  std::vector<std::string> printed;
  const HandlerSite site{http_,
                         blobs_,
                         programs_,
                         act,
                         std::move(wanted),
                         code,
                         progress,
                         stop,
                         code.name.get().str(),
                         TRY(deadline_of(code)),
                         printed};
  if (stop.stop_requested())
    return cancelled_error();
  if (!code.interpreter.empty()) {
    Result<Outcome> outcome = python_.look_after(site);
    return !outcome && is_cancelled(outcome.error()) ? std::move(outcome)
                                                     : told_with(std::move(outcome), site);
  }
  std::unique_ptr<Handler> made;
  if (!code.program.empty())
    made = make_program_handler(site);
  else
    made = TRY(make_starlark_handler(site).context(cat("handler `", site.name, "`")));
  Result<Outcome> outcome = look_after(*made, site);
  if (!outcome && is_cancelled(outcome.error()))
    return outcome;
  if (!outcome && !made->skipped().empty())
    return Skipped{made->skipped()};
  return told_with(std::move(outcome), site);
}

}  // namespace fettle
