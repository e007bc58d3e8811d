#include "verbs/environments/explain.h"

#include <charconv>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "kinds/state.h"
#include "plan/presence.h"
#include "states/intent.h"
#include "verbs/models/versions.h"
#include "verbs/states/states.h"
#include "workplace/machines.h"
#include "workplace/orphans.h"
#include "workplace/shown_key.h"
#include "workplace/state_of_key.h"

namespace fettle {
namespace {

/// The parts of `main.star:12:5`.
struct Origin {
  std::string_view file;
  int line = 0, column = 1;
};

int number_of(std::string_view digits) {
  int number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return failure == std::errc() && end == digits.data() + digits.size() ? number : 0;
}

Origin origin_of(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() < 2)
    return {};
  const bool with_column = parts.size() > 2 && number_of(parts[parts.size() - 2]) > 0;
  const std::string_view line = parts[parts.size() - (with_column ? 2 : 1)];
  return {text.substr(0, static_cast<size_t>(line.data() - text.data()) - 1), number_of(line),
          with_column ? number_of(parts.back()) : 1};
}

/// What somebody asks about, by its place. Line 0: not by a place.
struct Question {
  std::string file;
  int line = 0;
};

Question asked_place(std::string_view what) {
  const size_t colon = what.find(':');
  if (colon == what.npos)
    return {};
  const std::string_view file = what.substr(0, colon);
  return {std::string(file == "-" ? "<stdin>" : file),
          number_of(split(what.substr(colon + 1), ':').front())};
}

bool is_same_file(std::string_view one, std::string_view other) {
  return one == other || one.ends_with(cat("/", other)) || other.ends_with(cat("/", one));
}

/// The last line of the call at a place: where its brackets close. `file`: the name of the file in
/// the question. The first line, if the file cannot be read.
int last_line_of(const Origin& origin, std::string_view file) {
  Result<std::string> text = read_file(std::string(file));
  if (!text)
    text = read_file(std::string(origin.file));
  if (!text)
    return origin.line;
  const auto lines = split(*text, '\n');
  int depth = 0;
  char quote = 0;
  for (size_t at = static_cast<size_t>(origin.line) - 1; at < lines.size(); ++at) {
    const size_t first = at + 1 == static_cast<size_t>(origin.line)
                             ? std::min(lines[at].size(), static_cast<size_t>(origin.column) - 1)
                             : 0;
    for (size_t i = first; i < lines[at].size(); ++i) {
      const char c = lines[at][i];
      if (quote != 0) {
        i += c == '\\' ? 1 : 0;
        quote = c == quote ? 0 : quote;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '#') {
        break;
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth;
      } else if (c == ')' || c == ']' || c == '}') {
        --depth;
      }
    }
    if (depth <= 0 && quote == 0)
      return static_cast<int>(at) + 1;
  }
  return origin.line;
}

/// The line where the call begins to which a line of a file belongs. 0: nothing known stands there.
int first_line_of(const Known& known, std::string_view file, int line) {
  Origin nearest;
  for (const auto& [key, record] : known)
    if (const Resource* resource = resource_of_then(*record))
      if (const Origin origin = origin_of(resource->origin.view());
          origin.line > nearest.line && origin.line <= line && is_same_file(origin.file, file))
        nearest = origin;
  return nearest.line == line || (nearest.line > 0 && last_line_of(nearest, file) >= line)
             ? nearest.line
             : 0;
}

/// The line of the state to which a line belongs: where its function stands, below its ID and above
/// its arguments. 0: the line belongs to none. If the text cannot be read again, only the line
/// above a function is known.
int first_line_of_state(const Known& known, const Question& asked) {
  std::set<int> begins;
  for (const auto& [key, record] : known)
    if (const Resource* const resource = resource_of_then(*record);
        resource != nullptr && record->wanted_by.contains(Name(states::states_set)))
      if (const Origin origin = origin_of(resource->origin.view());
          is_same_file(origin.file, asked.file))
        begins.insert(origin.line);
  const Result<std::string> text = read_file(asked.file);
  if (!text)
    return begins.contains(asked.line + 1) ? asked.line + 1 : 0;
  const auto lines = split(*text, '\n');
  if (asked.line > static_cast<int>(lines.size()))
    return 0;
  const std::string_view line = lines[static_cast<size_t>(asked.line) - 1];
  if (!line.empty() && line.find_first_of(" \t#-{") != 0 && begins.contains(asked.line + 1))
    return asked.line + 1;
  const auto after = begins.upper_bound(asked.line);
  return after == begins.begin() ? 0 : *std::prev(after);
}

bool is_declared_at(const Resource& resource, std::string_view file, int line) {
  const Origin origin = origin_of(resource.origin.view());
  return origin.line > 0 && origin.line == line && is_same_file(origin.file, file);
}

const char* past(Verb verb) {
  switch (verb) {
    case Verb::create:
      return "was created";
    case Verb::update:
      return "was updated";
    case Verb::replace:
      return "was replaced";
    case Verb::start:
      return "was started";
    case Verb::stop:
      return "was stopped";
    case Verb::remove:
      return "was removed";
    case Verb::run:
      return "ran";
    case Verb::ensure:
      return "was ensured";
    default:
      return "was checked";
  }
}

/// A command is always "run", whichever verb led to it.
std::string_view past_of(const Key& key, Verb verb) {
  const bool is_run = key.kind == command_kind().name() && verb != Verb::remove;
  return is_run && acts(verb) ? "was run" : past(verb);
}

/// An event without a beginning: the act never began, or it took no time.
std::string_view end_of(const Event& event) {
  switch (event.type) {
    case EventType::failed:
      return "failed";
    case EventType::skipped:
      return "was left for another run";
    case EventType::blocked:
      return "was kept from running";
    default:
      return past_of(event.key, event.verb);
  }
}

/// Whether `what` is the ID or the name of a state, or its tag.
bool names_state(const Key& key, const Record* record, std::string_view what) {
  const std::optional<StateTag> tag = StateTag::parse(key.name);
  // A thing beside a state (a look, a guard, a check) is meant only by its own name.
  if (!tag || !tag->function.empty())
    return false;
  return tag->id == what || tag->entry == what || what.starts_with(tag->memory()) ||
         (record != nullptr && name_of_state(key, *record) == what);
}

bool is_meant(const Key& key, const Record* record, std::string_view what) {
  return to_string(key) == what || shown_key(key) == what || key.name == what ||
         names_state(key, record, what) || names_on_node(key, what);
}

}  // namespace

Result<std::vector<Key>> find_keys(const Workplace& place, const Name& environment,
                                   const std::string& what) {
  const Known known = TRY(place.store->known(environment));
  std::vector<Key> found;
  std::vector<std::string> names;
  const Question asked = asked_place(what);
  int line = asked.line == 0 ? 0 : first_line_of(known, asked.file, asked.line);
  if (asked.line > 0 && line == 0)
    line = first_line_of_state(known, asked);
  for (const auto& [key, record] : known) {
    const Resource* resource = resource_of_then(*record);
    const bool here = resource != nullptr && is_declared_at(*resource, asked.file, line);
    if (here || is_meant(key, record.get(), what) ||
        // Services and files artifacts have one.
        begins_uuid(read_one<&ServiceOutputs::uuid>(record->outputs), what))
      found.push_back(key);
    names.push_back(shown_key(key));
    names.push_back(key.name.str());
  }
  if (found.empty())
    return user_error(cat("nothing is recorded about `", what, "` in `", environment, "`",
                          suggestion(what, names)));
  std::sort(found.begin(), found.end());
  // A bare name means a service first.
  const auto service = std::find_if(found.begin(), found.end(),
                                    [](const Key& key) { return key.kind == "service"; });
  if (service != found.end() && what.find(':') == what.npos)
    return std::vector<Key>{*service};
  return found;
}

namespace {

/// The resources that the released version of a model declares at a line of a file, by id.
Result<std::set<std::string>> declared_at(const Workplace& place, const Name& environment,
                                          const std::string& what) {
  std::set<std::string> ids;
  const Question asked = asked_place(what);
  const std::optional<uint64_t> version =
      current_release(TRY(place.store->versions().heads(environment)));
  if (asked.line == 0 || !version)
    return ids;
  const WholeVersion whole = TRY(read_version(place, environment, *version));
  for (const WholeItem& one : whole.items)
    if (const Origin origin = origin_of(one.item.origin.view());
        origin.line == asked.line && is_same_file(origin.file, asked.file))
      ids.insert(one.item.id.str());
  return ids;
}

}  // namespace

Result<std::vector<Key>> find_keys_of_events(const Workplace& place, const Name& environment,
                                             const std::string& what) {
  Result<std::vector<Key>> known = find_keys(place, environment, what);
  if (known)
    return known;
  const std::set<std::string> ids = TRY(declared_at(place, environment, what));
  std::vector<Key> found;
  for (Key& key : TRY(place.store->keys_of_events(environment)))
    if (!key.kind.empty() && (is_meant(key, nullptr, what) || ids.contains(key.name.str())))
      found.push_back(std::move(key));
  return found.empty() ? std::move(known) : std::move(found);
}

std::string to_string(const Cause& cause) {
  const std::string origin = cause.origin.empty() ? "" : cat(" (", cause.origin, ")");
  if (!cause.event)
    return cat(shown_key(cause.key), origin, ": nothing was done to it");
  const Event& event = *cause.event;
  return cat(shown_key(cause.key), origin, " ",
             event.type == EventType::started ? past_of(cause.key, event.verb) : end_of(event),
             " on ", to_string(event.time), event.text.empty() ? "" : ": ", event.text);
}

std::string outcome_text(const Cause& cause) {
  if (!cause.outcome)
    return "";
  return cat("it ", cause.outcome->type == EventType::failed ? "failed" : "was skipped", ": ",
             cause.outcome->text);
}

namespace {

/// A resource that looks for itself in every run reports its last change. Earlier versions of
/// fettle also wrote events about runs that changed nothing. Newest first.
void leave_out_looks(std::vector<Event>& events) {
  bool is_of_look = false;
  std::erase_if(events, [&](const Event& event) {
    if (event.type == EventType::done)
      is_of_look = event.verb == Verb::ensure && !event.detail.bool_at("changed", true);
    const bool goes = is_of_look;
    is_of_look &= event.type != EventType::started;
    return goes;
  });
}

/// The last act on a key and its last end, if they began before something else did.
struct LastEvents {
  std::optional<Event> begun;
  std::optional<Event> ended;
};

Result<LastEvents> last_events(const Workplace& place, const Key& key, uint64_t before) {
  constexpr size_t most = 500;
  LastEvents last;
  std::vector<Event> events = TRY(place.store->events_of(key, most));
  std::vector<Event> changes = events;
  leave_out_looks(changes);
  for (Event& event : changes.empty() ? events : changes) {
    if (event.sequence >= before)
      continue;
    const bool is_end = event.type == EventType::done || event.type == EventType::failed ||
                        event.type == EventType::skipped || event.type == EventType::blocked;
    if (event.type == EventType::started && !last.begun)
      last.begun = std::move(event);
    else if (is_end && !last.ended)
      last.ended = std::move(event);
  }
  return last;
}

/// Whether a later run ended well, so that what failed or was held back is settled.
Result<bool> ended_well_after(const Workplace& place, const Event& event) {
  constexpr size_t most = 10'000;
  for (const Event& later : TRY(place.store->events(event.environment, event.sequence, most))) {
    const auto is_none = [&](const char* count) { return later.detail.at(count) == Value(0); };
    if (later.type == EventType::run_finished && !is_none("kept") && is_none("failed") &&
        is_none("skipped") && is_none("unsettled") && is_none("blocked"))
      return true;
  }
  return false;
}

}  // namespace

std::string since_text(const Cause& cause) {
  return cause.is_settled_since ? "a later run found it as it should be" : "";
}

Result<std::vector<Cause>> why(const Workplace& place, const Name& environment, const Key& key) {
  return why(place, TRY(place.store->known(environment)), key);
}

Result<std::vector<Cause>> why(const Workplace& place, const Known& known, const Key& key) {
  std::vector<Cause> causes;
  std::set<Key> told;
  std::optional<Key> at = key;
  uint64_t before = std::numeric_limits<uint64_t>::max();
  while (at && told.insert(*at).second) {
    LastEvents last = TRY(last_events(place, *at, before));
    const auto record = known.find(*at);
    const Resource* resource = record == known.end() ? nullptr : resource_of_then(*record->second);
    Cause cause{*at, resource == nullptr ? Name() : resource->origin, {}, {}};
    const bool is_end = last.ended && (!last.begun || last.ended->sequence > last.begun->sequence);
    if (is_end && (!last.begun || last.ended->type == EventType::blocked)) {
      cause.event = std::move(last.ended);
    } else if (last.begun) {
      cause.event = std::move(last.begun);
      if (is_end && last.ended->type != EventType::done)
        cause.outcome = std::move(last.ended);
    } else if (!causes.empty() && record == known.end()) {
      break;  // a look leaves no trace; whatever needs it says what it found
    }
    const Event* end = cause.outcome ? &*cause.outcome : cause.event ? &*cause.event : nullptr;
    if (causes.empty() && end != nullptr && end->type != EventType::started &&
        end->type != EventType::done && record != known.end() && !record->second->attempt)
      cause.is_settled_since = TRY(ended_well_after(place, *end));
    at = !cause.event || cause.event->because.kind.empty() ? std::nullopt
                                                           : std::optional(cause.event->because);
    if (cause.event)
      before = cause.event->sequence;
    causes.push_back(std::move(cause));
  }
  return causes;
}

namespace {

/// The changed fields, for people. A state reports them as `{"old": {…}, "new": {…}}`.
std::vector<std::string> fields_of(const Value& changes, bool is_of_state) {
  std::set<std::string> names;
  const auto add = [&](const Value& of) {
    if (of.is_dict())
      for (const Entry& entry : of.entries())
        names.insert(cat("`", entry.key, "`"));
  };
  const bool has_sides =
      is_of_state && (!changes.at("old").is_null() || !changes.at("new").is_null());
  if (has_sides) {
    add(changes.at("old"));
    add(changes.at("new"));
  } else {
    add(changes);
  }
  return {names.begin(), names.end()};
}

Result<std::vector<Drift>> drift_by_acts(const Workplace& place, const Name& environment,
                                         const Known& known) {
  std::vector<Resource> resources;
  std::set<Key> looked_at;
  for (const auto& [key, record] : known) {
    const Kind* kind = place.kinds->find(key.kind);
    if (kind == nullptr || kind->sort() != Sort::ensuring || !record->applied ||
        record->by_hand == ByHand::removed || is_orphan(*record))
      continue;
    resources.push_back(*record->applied);
    looked_at.insert(key);
  }
  if (resources.empty())
    return std::vector<Drift>();
  Threads threads(*place.interrupt, place.mask.get());
  const RunResult run_result = TRY(look_by_acts(
      place.run_context(), threads, only_looks(environment, std::move(resources)), known, {}));
  std::vector<Drift> found;
  for (const Key& key : looked_at)
    if (run_result.run.standing(key) == Standing::changed) {
      std::vector<std::string> fields;
      fields = fields_of(read_one<&StateOutputs::changes>(*run_result.run.looked(key)),
                         key.kind == "state");
      found.push_back({key, Verb::ensure,
                       fields.empty() ? "it is not as described"
                                      : cat(join(fields, ", "), " changed outside fettle")});
    }
  if (!run_result.summary)
    return run_result.summary.error();
  for (const Failure& failure : run_result.summary->failures)
    found.push_back({failure.key, Verb::ensure, cat("unknown: ", failure.error.message)});
  return found;
}

}  // namespace

namespace {

/// A thing on which somebody else works, or that has changed since it was read, says nothing about
/// drift.
Status leave_out_what_changes(const Workplace& place, const Name& environment, const Known& before,
                              std::vector<Drift>& found) {
  if (found.empty())
    return {};
  const bool is_at_work = TRY(place.store->holder(environment)).has_value();
  const Known now = TRY(place.store->known(environment));
  std::erase_if(found, [&](const Drift& one) {
    const auto record = now.find(one.key);
    if (record == now.end())
      return true;
    const Record &then = *before.at(one.key), &is = *record->second;
    return (is_at_work && is.attempt && !is.attempt->failed) ||
           bool(then.attempt) != bool(is.attempt) || then.incarnation != is.incarnation ||
           then.finished != is.finished;
  });
  return {};
}

}  // namespace

Result<std::vector<Drift>> drift(const Workplace& workplace, const Name& environment) {
  TRY(machine_name(workplace, environment));
  const Known known = TRY(workplace.store->known(environment));
  const bool has_states =
      std::ranges::any_of(known, [](const auto& one) { return one.first.kind == "state"; });
  const std::unique_ptr<StatesPlace> with_states =
      has_states ? TRY(StatesPlace::make(workplace, environment)) : nullptr;
  const Workplace& place = has_states ? with_states->place() : workplace;
  const Seen seen = TRY(look_at_known(place.run_context(), known));
  const auto left = presences_left(known, *place.kinds);
  std::vector<Drift> found;
  for (const auto& [key, observation] : seen) {
    const Record& record = *known.at(key);
    const Kind* kind = place.kinds->find(key.kind);
    if (!record.applied || kind == nullptr || is_orphan(record))
      continue;
    if (!observation.unavailable.empty()) {
      found.push_back({key, Verb::ensure, cat("unknown: ", observation.unavailable)});
      continue;
    }
    const auto expected = left.find(key);
    Comparison comparison =
        record.by_hand == ByHand::removed && !observation.state
            ? Comparison{kind->first_verb(), {}, "it was removed"}
            : kind->compare(record, observation,
                            expected == left.end() ? Presence::running : expected->second);
    if (comparison.verb == Verb::keep)
      continue;
    if (record.attempt && !record.attempt->failed)
      comparison.why = cat("interrupted on ", to_string(record.attempt->started));
    else if (record.attempt && may_have_changed(*record.attempt))
      comparison.why = cat("it failed before: ", record.attempt->error);
    found.push_back({key, comparison.verb, std::move(comparison.why)});
  }
  TRY(leave_out_what_changes(workplace, environment, known, found));
  for (Drift& one : TRY(drift_by_acts(place, environment, known)))
    found.push_back(std::move(one));
  std::sort(found.begin(), found.end(),
            [](const Drift& a, const Drift& b) { return a.key < b.key; });
  return found;
}

std::string_view state_of(const Record& record, bool is_at_work) {
  if (!record.attempt)
    return "done";
  if (record.attempt->failed)
    return "failed";
  if (record.attempt->verb == Verb::blocked)
    return "held back";
  if (is_at_work)
    return "under way";
  return record.attempt->course ? "not finished" : "interrupted";
}

}  // namespace fettle
