#include "drivers/agent/act_codec.h"

#include <algorithm>

#include "core/open_payload.h"
#include "store/record_codec.h"
#include "value/codec.h"

namespace fettle {
namespace {

constexpr uint64_t most_verbs = static_cast<uint64_t>(Verb::blocked) + 1;

Error unreadable() { return world_error("the other side says something that is not about acts"); }

void put_key(Writer& to, const Key& key) {
  to.text(key.environment);
  to.text(key.kind);
  to.text(key.name);
}

Key take_key(Reader& from) {
  Name environment(from.text()), kind(from.text()), name(from.text());
  return {environment, kind, name};
}

void put_keys(Writer& to, const std::vector<Key>& keys) {
  to.number(keys.size());
  for (const Key& key : keys)
    put_key(to, key);
}

std::vector<Key> take_keys(Reader& from) {
  std::vector<Key> keys;
  for (uint64_t count = from.number(); count > 0 && !from.broken(); --count)
    keys.push_back(take_key(from));
  return keys;
}

void put_texts(Writer& to, const std::vector<std::string>& texts) {
  to.number(texts.size());
  for (const std::string& text : texts)
    to.text(text);
}

std::vector<std::string> take_texts(Reader& from) {
  std::vector<std::string> texts;
  for (uint64_t count = from.number(); count > 0 && !from.broken(); --count)
    texts.emplace_back(from.text());
  return texts;
}

/// Null: an empty text.
void put_record(Writer& to, const RecordPointer& record) {
  to.text(record == nullptr ? std::string() : encode(*record));
}

Result<RecordPointer> take_record(Reader& from) {
  const std::string_view bytes = from.text();
  if (bytes.empty())
    return RecordPointer();
  Result<Record> record = decode(bytes);
  if (!record)
    return unreadable();
  return RecordPointer(std::make_shared<const Record>(*std::move(record)));
}

void put_duration(Writer& to, const std::optional<Duration>& duration) {
  to.number(duration ? 1 : 0);
  if (duration)
    to.number(static_cast<uint64_t>(duration->count()));
}

std::optional<Duration> take_duration(Reader& from) {
  if (from.number() == 0)
    return std::nullopt;
  return Duration(static_cast<int64_t>(from.number()));
}

void put_observation(Writer& to, const Observation& seen) {
  to.number((seen.state ? 1 : 0) | (seen.content_is_lost ? 2 : 0));
  if (seen.state)
    to.value(dict_of(*seen.state));
  to.text(seen.unavailable);
  to.number(seen.life);
}

Observation take_observation(Reader& from) {
  Observation seen;
  const uint64_t flags = from.number();
  if ((flags & 1) != 0)
    seen.state = from.value();
  seen.content_is_lost = (flags & 2) != 0;
  seen.unavailable = from.text();
  seen.life = from.number();
  return seen;
}

void put_again(Writer& to, const std::optional<Again>& again) {
  to.number(again ? 1 : 0);
  if (!again)
    return;
  to.text(again->what);
  put_duration(to, again->after);
  to.value(again->so_far);
  to.digest(again->progress);
  put_keys(to, again->watch);
}

std::optional<Again> take_again(Reader& from) {
  if (from.number() == 0)
    return std::nullopt;
  Again again;
  again.what = from.text();
  again.after = take_duration(from);
  again.so_far = from.value();
  again.progress = from.digest();
  again.watch = take_keys(from);
  return again;
}

void put_error(Writer& to, const Error& error) {
  to.number(static_cast<uint64_t>(error.blame) | (error.unknown_outcome ? 4 : 0));
  to.text(error.message);
  to.text(to_string(error.where));
  to.text(error.excerpt);
  put_texts(to, error.trace);
  to.text(error.lost_content);
}

Error take_error(Reader& from) {
  Error error;
  const uint64_t flags = from.number();
  error.blame = static_cast<Blame>(std::min<uint64_t>(flags & 3, 2));
  error.unknown_outcome = (flags & 4) != 0;
  error.message = from.text();
  error.where = where_in(from.text());
  error.excerpt = from.text();
  error.trace = take_texts(from);
  error.lost_content = from.text();
  return error;
}

void put_outcome(Writer& to, const Done& done) {
  to.value(dict_of(done.outputs));
  to.text(done.remote_id);
  to.number((done.changed ? 1 : 0) | (done.is_anew ? 2 : 0) | (done.is_vain ? 4 : 0));
  put_again(to, done.again);
  put_texts(to, done.printed);
  to.number(done.life);
}

void put_outcome(Writer& to, const Pending& pending) {
  to.text(pending.what);
  put_duration(to, pending.retry_after);
  to.value(pending.so_far);
  put_keys(to, pending.watch);
}

void put_outcome(Writer& to, const Skipped& skipped) { to.text(skipped.why); }

void put_outcome(Writer& to, const Failed& failed) {
  put_error(to, failed.error);
  to.value(dict_of(failed.outputs));
  put_again(to, failed.again);
  to.number((failed.has_only_looked ? 1 : 0) | (failed.has_changed ? 2 : 0));
  put_texts(to, failed.printed);
}

Outcome take_done(Reader& from) {
  Done done;
  done.outputs = from.value();
  done.remote_id = from.text();
  const uint64_t flags = from.number();
  done.changed = (flags & 1) != 0;
  done.is_anew = (flags & 2) != 0;
  done.is_vain = (flags & 4) != 0;
  done.again = take_again(from);
  done.printed = take_texts(from);
  done.life = from.number();
  return done;
}

Outcome take_pending(Reader& from) {
  Pending pending;
  pending.what = from.text();
  pending.retry_after = take_duration(from);
  pending.so_far = from.value();
  pending.watch = take_keys(from);
  return pending;
}

Outcome take_failed(Reader& from) {
  Failed failed;
  failed.error = take_error(from);
  failed.outputs = from.value();
  failed.again = take_again(from);
  const uint64_t flags = from.number();
  failed.has_only_looked = (flags & 1) != 0;
  failed.has_changed = (flags & 2) != 0;
  failed.printed = take_texts(from);
  return failed;
}

Outcome take_outcome(Reader& from, uint64_t alternative) {
  switch (alternative) {
    case 0:
      return take_done(from);
    case 1:
      return take_pending(from);
    case 2:
      return Skipped{std::string(from.text())};
    default:
      return take_failed(from);
  }
}

bool is_whole(const Reader& from) { return !from.broken() && from.at_end(); }

}  // namespace

std::string written(const Act& act) {
  Writer to;
  to.number(static_cast<uint64_t>(act.verb) << 1 | (act.looks_only ? 1 : 0));
  put_key(to, act.key);
  to.value(dict_of(act.attributes));
  put_record(to, act.known);
  to.number(act.needs.size());
  for (const RecordPointer& need : act.needs)
    put_record(to, need);
  put_keys(to, act.events);
  to.number(act.seen ? 1 : 0);
  if (act.seen)
    put_observation(to, *act.seen);
  to.number(act.releases.size());
  for (const RecordPointer& release : act.releases)
    put_record(to, release);
  to.value(act.so_far);
  to.number(act.incarnation);
  to.number(static_cast<uint64_t>(act.attempt));
  return to.take();
}

Result<Act> read_act(std::string_view bytes) {
  Reader from(bytes);
  Act act;
  const uint64_t flags = from.number();
  if (flags >> 1 >= most_verbs)
    return unreadable();
  act.verb = static_cast<Verb>(flags >> 1);
  act.looks_only = (flags & 1) != 0;
  act.key = take_key(from);
  act.attributes = from.value();
  act.known = TRY(take_record(from));
  for (uint64_t count = from.number(); count > 0 && !from.broken(); --count)
    act.needs.push_back(TRY(take_record(from)));
  act.events = take_keys(from);
  if (from.number() != 0)
    act.seen = take_observation(from);
  for (uint64_t count = from.number(); count > 0 && !from.broken(); --count)
    act.releases.push_back(TRY(take_record(from)));
  act.so_far = from.value();
  act.incarnation = from.number();
  act.attempt = static_cast<int>(from.number());
  const auto is_none = [](const RecordPointer& record) { return record == nullptr; };
  if (!is_whole(from) || std::ranges::any_of(act.needs, is_none) ||
      std::ranges::any_of(act.releases, is_none))
    return unreadable();
  return act;
}

std::string written(std::span<const Subject> subjects) {
  Writer to;
  to.number(subjects.size());
  for (const Subject& subject : subjects) {
    put_key(to, subject.key);
    to.number((subject.wanted != nullptr ? 1 : 0) | (subject.asks_life ? 2 : 0));
    if (subject.wanted != nullptr) {
      Record as_record;
      as_record.applied = *subject.wanted;
      to.text(encode(as_record));
    }
    put_record(to, subject.known);
  }
  return to.take();
}

Result<ReadSubjects> read_subjects(std::string_view bytes) {
  Reader from(bytes);
  ReadSubjects read;
  for (uint64_t count = from.number(); count > 0 && !from.broken(); --count) {
    Subject subject;
    subject.key = take_key(from);
    const uint64_t flags = from.number();
    subject.asks_life = (flags & 2) != 0;
    if ((flags & 1) != 0) {
      const Result<Record> as_record = decode(from.text());
      if (!as_record || !as_record->applied)
        return unreadable();
      subject.wanted = &read.wanted.emplace_back(*as_record->applied);
    }
    subject.known = TRY(take_record(from));
    read.subjects.push_back(std::move(subject));
  }
  if (!is_whole(from))
    return unreadable();
  return read;
}

std::string written(std::span<const Observation> seen) {
  Writer to;
  to.number(seen.size());
  for (const Observation& one : seen)
    put_observation(to, one);
  return to.take();
}

Result<std::vector<Observation>> read_observations(std::string_view bytes) {
  Reader from(bytes);
  std::vector<Observation> seen;
  for (uint64_t count = from.number(); count > 0 && !from.broken(); --count)
    seen.push_back(take_observation(from));
  if (!is_whole(from))
    return unreadable();
  return seen;
}

std::string written(const Outcome& outcome, std::span<const Value> additions) {
  Writer to;
  to.number(outcome.index());
  std::visit([&](const auto& one) { put_outcome(to, one); }, outcome);
  to.number(additions.size());
  for (const Value& addition : additions)
    to.value(addition);
  return to.take();
}

Result<ReadOutcome> read_outcome(std::string_view bytes) {
  Reader from(bytes);
  const uint64_t alternative = from.number();
  if (alternative >= std::variant_size_v<Outcome>)
    return unreadable();
  ReadOutcome read{take_outcome(from, alternative), {}};
  for (uint64_t count = from.number(); count > 0 && !from.broken(); --count)
    read.additions.push_back(from.value());
  if (!is_whole(from))
    return unreadable();
  return read;
}

std::string written(const Error& error) {
  Writer to;
  put_error(to, error);
  return to.take();
}

Error read_error(std::string_view bytes) {
  Reader from(bytes);
  Error error = take_error(from);
  return is_whole(from) ? error : unreadable();
}

std::string written(const Progress& progress) {
  Writer to;
  to.text(progress.text);
  to.number(static_cast<uint64_t>(progress.done));
  to.number(static_cast<uint64_t>(progress.total));
  return to.take();
}

Result<Progress> read_progress(std::string_view bytes) {
  Reader from(bytes);
  Progress progress;
  progress.text = from.text();
  progress.done = static_cast<int64_t>(from.number());
  progress.total = static_cast<int64_t>(from.number());
  if (!is_whole(from))
    return unreadable();
  return progress;
}

std::string written(const Value& value) {
  Writer to;
  to.value(value);
  return to.take();
}

Result<Value> read_value(std::string_view bytes) {
  Reader from(bytes);
  Value value = from.value();
  if (!is_whole(from))
    return unreadable();
  return value;
}

}  // namespace fettle
