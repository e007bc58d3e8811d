#include "starlark/calendar/zone.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

#include "starlark/calendar/calendar.h"

namespace fettle::starlark {
namespace {

int64_t big_endian(const std::string& data, size_t at, size_t size) {
  if (at + size > data.size())
    return 0;
  uint64_t n = 0;
  for (size_t i = 0; i < size; ++i)
    n = n << 8 | static_cast<uint8_t>(data[at + i]);
  return size == 4 ? static_cast<int32_t>(n) : static_cast<int64_t>(n);
}

/// Adds the years behind those that the file lists, from its last line.
void add_rule(const std::string& data, size_t at, Zone& zone) {
  if (at >= data.size() || data[at] != '\n')
    return;
  const size_t end = data.find('\n', at + 1);
  if (end == std::string::npos)
    return;
  const std::string_view rule = std::string_view(data).substr(at + 1, end - at - 1);
  const int64_t last = zone.changes.back().from;
  Fields date;
  set_date(date, last == INT64_MIN ? 0 : last / 86400);
  for (ZoneChange& each : changes_of_rule(rule, date.year)) {
    if (each.from <= last)
      continue;
    zone.repeats = true;
    zone.changes.push_back(std::move(each));
  }
}

/// The 64-bit part of a TZif file.
bool read_changes(const std::string& data, Zone& zone) {
  if (data.size() < 44 || data.compare(0, 4, "TZif") != 0 || data[4] < '2')
    return false;
  const auto counts = [&](size_t at, size_t i) {
    return size_t(big_endian(data, at + 20 + 4 * i, 4));
  };
  const size_t first = 44 + counts(0, 3) * 5 + counts(0, 4) * 6 + counts(0, 5) + counts(0, 2) * 8 +
                       counts(0, 1) + counts(0, 0);
  if (first + 44 > data.size())
    return false;
  const size_t times = counts(first, 3), types = counts(first, 4), letters = counts(first, 5);
  const size_t times_at = first + 44, indices_at = times_at + times * 8;
  const size_t types_at = indices_at + times, letters_at = types_at + types * 6;
  if (letters_at + letters > data.size() || types == 0)
    return false;
  const auto change = [&](int64_t from, size_t type) {
    if (type >= types)
      type = 0;
    const auto name_at = static_cast<uint8_t>(data[types_at + type * 6 + 5]);
    const char* name = name_at < letters ? data.c_str() + letters_at + name_at : "";
    zone.changes.push_back(
        {from, int(big_endian(data, types_at + type * 6, 4)), std::string(name, strnlen(name, 8))});
  };
  change(INT64_MIN, 0);
  for (size_t i = 0; i < times; ++i)
    change(big_endian(data, times_at + 8 * i, 8), static_cast<uint8_t>(data[indices_at + i]));
  add_rule(data, letters_at + letters + counts(first, 2) * 12 + counts(first, 1) + counts(first, 0),
           zone);
  return true;
}

}  // namespace

const Zone::Change& Zone::at(long long seconds) const {
  constexpr long long cycle = 146'097LL * 86'400;  // of the Gregorian calendar
  const long long last = changes.back().from;
  if (repeats && seconds > last)
    seconds -= ((seconds - last) / cycle + 1) * cycle;
  const auto after =
      std::upper_bound(changes.begin(), changes.end(), seconds,
                       [](long long value, const Change& change) { return value < change.from; });
  return after == changes.begin() ? changes.front() : *std::prev(after);
}

const Zone* utc() {
  static const Zone zone{"UTC", {{INT64_MIN, 0, "UTC"}}};
  return &zone;
}

const Zone* find_zone(std::string_view name) {
  if (name.empty() || name == "UTC" || name == "Local")
    return utc();
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Zone>, std::less<>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(name); found != known.end())
    return found->second.get();
  const bool plain =
      name.size() < 64 && name.find("..") == std::string_view::npos && name[0] != '/';
  if (!plain || known.size() > 1000)
    return nullptr;
  std::unique_ptr<Zone> zone;
  std::ifstream file("/usr/share/zoneinfo/" + std::string(name), std::ios::binary);
  if (file) {
    const std::string data{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    zone = std::make_unique<Zone>();
    zone->name = name;
    if (!read_changes(data, *zone))
      zone = nullptr;
  }
  return known.emplace(name, std::move(zone)).first->second.get();
}

}  // namespace fettle::starlark
