#include "store/record_codec.h"

#include <bit>

#include "core/open_payload.h"
#include "value/codec.h"

namespace fettle {
namespace {

constexpr uint64_t record_format = 7;  ///< 6: without what was found; 5: texts not sealed
constexpr uint64_t format_without_lives = 4;
constexpr uint64_t format_without_courses = 3;
constexpr uint64_t format_without_runs = 2;
constexpr uint64_t format_without_mandates = 1;

void put(Writer& to, const Key& key) {
  to.text(key.environment);
  to.text(key.kind);
  to.text(key.name);
}

Key read_key(Reader& from) {
  Name environment(from.text()), kind(from.text()), name(from.text());
  return {environment, kind, name};
}

void put(Writer& to, Duration duration) { to.number(static_cast<uint64_t>(duration.count())); }
Duration read_duration(Reader& from) { return Duration(static_cast<int64_t>(from.number())); }
void put(Writer& to, Time time) { put(to, time.time_since_epoch()); }
Time read_time(Reader& from) { return Time(read_duration(from)); }
/// Reads an enumerator below `count`. Broken bytes give the first one.
template <typename Enum>
Enum read_enum(Reader& from, uint64_t count) {
  const uint64_t number = from.number();
  return static_cast<Enum>(number < count ? number : 0);
}

/// Next to the two bits of the mandate. 0: the resource says nothing.
uint64_t leftover_bits(const std::optional<Leftover>& leftover) {
  return leftover ? (3 - static_cast<uint64_t>(*leftover)) << 2 : 0;
}

/// Writes the waiting rules of the resource; the less these differ from those of most resources,
/// the fewer bytes.
void put_patience(Writer& to, const Resource& resource) {
  static const Pace usual_pace;
  static const Patience usual_patience;
  const bool has_pace = resource.pace.factor != usual_pace.factor ||
                        resource.pace.jitter != usual_pace.jitter ||
                        resource.pace.unit != usual_pace.unit;
  const bool has_patience = resource.patience != usual_patience;
  const bool has_limit = resource.deadlines.attempt.count() != 0;
  to.number(static_cast<uint64_t>(has_pace) | static_cast<uint64_t>(has_patience) << 1 |
            static_cast<uint64_t>(has_limit) << 2 | static_cast<uint64_t>(resource.redo) << 3);
  if (has_pace) {
    to.number(std::bit_cast<uint64_t>(resource.pace.factor));
    to.number(static_cast<uint64_t>(resource.pace.jitter));
    put(to, resource.pace.unit);
  }
  if (has_patience) {
    to.number(static_cast<uint64_t>(resource.patience.calls));
    put(to, resource.patience.time);
    to.number(resource.patience.with_errors ? 1 : 0);
  }
  if (has_limit)
    put(to, resource.deadlines.attempt);
}

void read_patience(Reader& from, Resource& resource) {
  const uint64_t parts = from.number();
  resource.redo = static_cast<Redo>(std::min<uint64_t>(parts >> 3, 3));
  if ((parts & 1) != 0) {
    resource.pace.factor = std::bit_cast<double>(from.number());
    resource.pace.jitter = read_enum<Jitter>(from, 4);
    resource.pace.unit = read_duration(from);
  }
  if ((parts & 2) != 0) {
    resource.patience.calls = static_cast<int>(from.number());
    resource.patience.time = read_duration(from);
    resource.patience.with_errors = from.number() != 0;
  }
  if ((parts & 4) != 0)
    resource.deadlines.attempt = read_duration(from);
}

void put(Writer& to, const Resource& resource) {
  put(to, resource.key);
  to.value(dict_of(resource.attributes));
  to.number(resource.needs.size());
  for (const Need& need : resource.needs) {
    to.number(static_cast<uint64_t>(need.any) | (static_cast<uint64_t>(need.when) & 3) << 1 |
              static_cast<uint64_t>(need.unmet) << 3 | static_cast<uint64_t>(need.bond) << 4 |
              (static_cast<uint64_t>(need.when) & 4) << 4);
    to.number(need.keys.size());
    for (const Key& key : need.keys)
      put(to, key);
  }
  to.text(resource.driver);
  to.number(static_cast<uint64_t>(resource.mandate) | leftover_bits(resource.leftover));
  to.text(resource.pool);
  to.text(resource.origin);
  to.number(static_cast<uint64_t>(resource.pace.wait));
  put(to, resource.pace.shortest);
  put(to, resource.pace.longest);
  put(to, resource.deadlines.settle);
  put_patience(to, resource);
}

void put(Writer& to, const Course& course) {
  to.number(static_cast<uint64_t>(course.calls));
  put(to, course.spent);
  put(to, course.pause);
  to.value(course.so_far);
  to.digest(course.progress);
  to.number(static_cast<uint64_t>(course.alike));
  put(to, course.alike_for);
}

Course read_course(Reader& from) {
  Course course;
  course.calls = static_cast<int>(from.number());
  course.spent = read_duration(from);
  course.pause = read_duration(from);
  course.so_far = from.value();
  course.progress = from.digest();
  course.alike = static_cast<int>(from.number());
  course.alike_for = read_duration(from);
  return course;
}

Resource read_resource(Reader& from, uint64_t written_format) {
  Resource resource;
  resource.key = read_key(from);
  resource.attributes = from.value();
  for (uint64_t count = from.number(); count > 0 && !from.broken(); --count) {
    Need need;
    const uint64_t flags = from.number();
    need.any = (flags & 1) != 0;
    need.when = static_cast<When>(std::min<uint64_t>((flags >> 1 & 3) | (flags >> 4 & 4), 4));
    need.unmet = static_cast<Unmet>(flags >> 3 & 1);
    need.bond = static_cast<Bond>(flags >> 4 & 3);
    for (uint64_t keys = from.number(); keys > 0 && !from.broken(); --keys)
      need.keys.push_back(read_key(from));
    resource.needs.push_back(std::move(need));
  }
  resource.driver = from.text();
  const uint64_t flags = written_format == format_without_mandates ? 0 : from.number();
  resource.mandate = static_cast<Mandate>(std::min<uint64_t>(flags & 3, 2));
  if (const uint64_t said = flags >> 2 & 3; said != 0)
    resource.leftover = static_cast<Leftover>(3 - said);
  resource.pool = from.text();
  resource.origin = from.text();
  resource.pace.wait = read_enum<Wait>(from, 3);
  resource.pace.shortest = read_duration(from);
  resource.pace.longest = read_duration(from);
  resource.deadlines.settle = read_duration(from);
  if (written_format > format_without_courses)
    read_patience(from, resource);
  return resource;
}

}  // namespace

std::string encode(const Record& record, SealPolicy sealing) {
  Writer to(sealing);
  to.number(record_format);
  to.number(static_cast<uint64_t>(record.applied.has_value()) |
            static_cast<uint64_t>(record.attempt.has_value()) << 1);
  if (record.applied)
    put(to, *record.applied);
  if (record.attempt) {
    put(to, *record.attempt->resource);
    to.number(static_cast<uint64_t>(record.attempt->verb));
    put(to, record.attempt->started);
    to.number(record.attempt->failed ? 1 : 0);
    to.text(sealing.secrets == nullptr ? record.attempt->error
                                       : sealing.secrets->text(record.attempt->error));
    to.number(record.attempt->host_incarnation);
    to.number(record.attempt->course ? 1 : 0);
    if (record.attempt->course)
      put(to, *record.attempt->course);
  }
  to.value(dict_of(record.outputs));
  to.text(record.remote_id);
  to.number(record.incarnation);
  to.number(record.changes);
  to.number(record.sequence);
  put(to, record.finished);
  to.number(record.acted_on.size());
  for (const Version& version : record.acted_on) {
    put(to, version.key);
    to.number(version.incarnation);
    to.number(version.changes);
    to.digest(version.outputs);
    to.number(version.life);
  }
  to.number(record.wanted_by.size());
  for (const auto& [set, wish] : record.wanted_by) {
    to.text(set);
    to.digest(wish);
  }
  to.number(record.run);
  to.number(static_cast<uint64_t>(record.by_hand));
  to.number((record.is_adopted ? 1 : 0) | (record.was_found ? 2 : 0));
  return to.take();
}

Result<Record> decode(std::string_view bytes, const Seal* seal, SealedParts* sealed) {
  Reader from(bytes, seal, sealed);
  const uint64_t written_format = from.number();
  if (written_format < format_without_mandates || written_format > record_format)
    return Error(Blame::bug, "a record of the store has an unknown record_format");
  Record record;
  const uint64_t parts = from.number();
  if ((parts & 1) != 0)
    record.applied = read_resource(from, written_format);
  if ((parts & 2) != 0) {
    Attempt& attempt = record.attempt.emplace();
    attempt.resource = read_resource(from, written_format);
    if (written_format > format_without_runs)
      attempt.verb = read_enum<Verb>(from, static_cast<uint64_t>(Verb::blocked) + 1);
    attempt.started = read_time(from);
    attempt.failed = from.number() != 0;
    attempt.error = from.text();
    attempt.host_incarnation = from.number();
    if (written_format > format_without_courses && from.number() != 0)
      attempt.course = read_course(from);
  }
  record.outputs = from.value();
  record.remote_id = from.text();
  record.incarnation = from.number();
  record.changes = from.number();
  record.sequence = from.number();
  record.finished = read_time(from);
  for (uint64_t count = from.number(); count > 0 && !from.broken(); --count) {
    Version version;
    version.key = read_key(from);
    version.incarnation = from.number();
    version.changes = from.number();
    version.outputs = from.digest();
    if (written_format > format_without_lives)
      version.life = from.number();
    record.acted_on.push_back(std::move(version));
  }
  for (uint64_t count = from.number(); count > 0 && !from.broken(); --count) {
    Name set(from.text());
    record.wanted_by[set] = from.digest();
  }
  if (written_format > format_without_runs) {
    record.run = from.number();
    record.by_hand = read_enum<ByHand>(from, 3);
    const uint64_t found = from.number();
    record.is_adopted = (found & 1) != 0;
    record.was_found = (found & 2) != 0;
  } else {
    // Earlier formats said so in the origin.
    record.is_adopted = record.applied && record.applied->origin == "found by its marks";
  }
  if (from.broken() || !from.at_end())
    return Error(Blame::bug, "a record of the store is damaged");
  return record;
}

}  // namespace fettle
