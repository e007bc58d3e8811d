#include "remote/cron_times.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <vector>

#include "base/text.h"

namespace fettle {
namespace {

constexpr int64_t minute_seconds = 60, hour_seconds = 3'600, day_seconds = 86'400;
/// More than any change of clocks by a rule.
constexpr int64_t largest_change = 3 * hour_seconds;
/// From one 29 February to the next it is eight years at most.
constexpr int64_t searched_days = 9 * 366;

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> words_of_cron{{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};

struct CronField {
  std::string_view what;
  unsigned least, most;
  std::vector<std::string_view> names{};  ///< of `least` and those that follow
};

const std::array<CronField, 5>& cron_fields() {
  static const std::array<CronField, 5> all{{
      {"a minute (0–59)", 0, 59},
      {"an hour (0–23)", 0, 23},
      {"a day of the month (1–31)", 1, 31},
      {"a month (1–12, or jan–dec)",
       1,
       12,
       {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
      {"a day of the week (0–7, or sun–sat)",
       0,
       7,
       {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
  }};
  return all;
}

/// Reads the text of one `--cron`, and knows at which column it is.
class CronReader {
 public:
  explicit CronReader(std::string_view text) : text_(text) {}

  bool is_at_end() const { return at_ == text_.size(); }
  void skip_spaces() {
    while (!is_at_end() && (text_[at_] == ' ' || text_[at_] == '\t'))
      ++at_;
  }

  /// Calls `add` with each value; whether the field begins with `*`.
  template <typename Add>
  Result<bool> read_field(const CronField& field, const Add& add) {
    const bool is_any = !is_at_end() && text_[at_] == '*';
    do {
      TRY(read_part(field, add));
    } while (take(','));
    if (!is_at_end() && text_[at_] != ' ' && text_[at_] != '\t')
      return expected("`,`, `-`, `/` or a space");
    return is_any;
  }

  Error expected(std::string_view what, std::optional<size_t> at = {}) const {
    const size_t place = at.value_or(at_);
    const size_t end = text_.find_first_of(" \t,-/", place + 1);
    const std::string found =
        place >= text_.size()
            ? "the end"
            : cat("`", printable(text_.substr(place, std::min(end, text_.size()) - place)), "`");
    return user_error(cat("the times `", printable(text_), "` are wrong at column ", place + 1,
                          ": expected ", what, ", found ", found));
  }

 private:
  template <typename Add>
  Status read_part(const CronField& field, const Add& add) {
    unsigned first = field.least, last = field.most;
    bool is_range = true;
    if (!take('*')) {
      const size_t begin = at_;
      first = last = TRY(read_value(field, "`*` or "));
      is_range = take('-');
      if (is_range)
        last = TRY(read_value(field, ""));
      // `fri-0`: Sunday is the seventh day, too.
      if (last < first && last == 0 && field.most == 7)
        last = 7;
      if (last < first)
        return expected("a range that goes up", begin);
    }
    unsigned step = 1;
    if (take('/')) {
      if (!is_range)
        last = field.most;
      const size_t begin = at_;
      step = TRY(read_number("a step (1 or more)"));
      if (step == 0)
        return expected("a step (1 or more)", begin);
    }
    for (unsigned value = first; value <= last; value += step)
      add(value);
    return {};
  }

  bool take(char one) {
    const bool is_there = !is_at_end() && text_[at_] == one;
    at_ += is_there ? 1 : 0;
    return is_there;
  }

  Result<unsigned> read_number(std::string_view what) {
    const size_t begin = at_;
    unsigned number = 0;
    while (!is_at_end() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 &&
           at_ - begin < 4)
      number = number * 10 + static_cast<unsigned>(text_[at_++] - '0');
    if (at_ == begin)
      return expected(what);
    return number;
  }

  Result<unsigned> read_value(const CronField& field, std::string_view or_else) {
    const size_t begin = at_;
    for (size_t i = 0; i < field.names.size(); ++i)
      if (const std::string word = lower_case(text_.substr(at_, 3)); word == field.names[i]) {
        at_ += 3;
        return field.least + static_cast<unsigned>(i);
      }
    const std::string what = cat(or_else, field.what);
    const unsigned number = TRY(read_number(what));
    if (number < field.least || number > field.most)
      return expected(field.what, begin);
    return number;
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// How far local time is ahead of UTC, in seconds.
int64_t offset_at(int64_t moment) {
  const std::time_t time = moment;
  std::tm local{};
  localtime_r(&time, &local);
  return local.tm_gmtoff;
}

/// The moments of a local time, which is given as if it were in UTC: one, two where it comes twice,
/// or the end of the gap in which it would be.
struct LocalMoments {
  int64_t first = 0;
  std::optional<int64_t> second{};
};

LocalMoments moments_of(int64_t local) {
  const int64_t before = local - offset_at(local - day_seconds);
  const int64_t after = local - offset_at(local + day_seconds);
  const bool is_before = before + offset_at(before) == local;
  const bool is_after = after + offset_at(after) == local;
  if (is_before && is_after && before != after)
    return {std::min(before, after), std::max(before, after)};
  if (is_before || is_after)
    return {is_before ? before : after};
  // In a gap: the moment at which the offset changes.
  int64_t low = std::min(before, after), high = std::max(before, after);
  const int64_t old_offset = offset_at(low);
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (offset_at(middle) == old_offset ? low : high) = middle;
  }
  return {high};
}

}  // namespace

Result<CronTimes> CronTimes::parse(std::string_view text) {
  CronTimes times;
  std::string_view fields = text;
  if (text.starts_with('@')) {
    const auto found = std::ranges::find(words_of_cron, lower_case(text),
                                         [](const auto& row) { return row.first; });
    if (found == words_of_cron.end()) {
      std::vector<std::string> known;
      for (const auto& [word, meaning] : words_of_cron)
        known.emplace_back(word);
      return user_error(cat("the times `", printable(text),
                            "` are wrong at column 1: expected one of ", join(known, ", "),
                            suggestion(std::string(text), known)));
    }
    fields = found->second;
  }
  TRY(times.read_fields(fields));
  if (!times.next_after(Time{}))
    return user_error(
        cat("the times `", printable(text), "` never come: none of these months has such a day"));
  return times;
}

Status CronTimes::read_fields(std::string_view text) {
  CronReader reader(text);
  const auto& fields = cron_fields();
  size_t field = 0;
  const auto next = [&](const auto& add) -> Result<bool> {
    reader.skip_spaces();
    const CronField& one = fields[field++];
    if (reader.is_at_end())
      return reader.expected(cat("`*` or ", one.what));
    return reader.read_field(one, add);
  };
  TRY(next([&](unsigned value) { minutes_.set(value); }));
  is_any_hour_ = TRY(next([&](unsigned value) { hours_.set(value); }));
  is_any_day_ = TRY(next([&](unsigned value) { days_.set(value); }));
  TRY(next([&](unsigned value) { months_.set(value); }));
  is_any_weekday_ = TRY(next([&](unsigned value) { weekdays_.set(value % 7); }));
  reader.skip_spaces();
  if (!reader.is_at_end())
    return reader.expected("the end: there are five fields");
  return {};
}

bool CronTimes::fits(const LocalDay& day) const {
  if (!months_.test(day.month))
    return false;
  const bool by_day = days_.test(day.day), by_weekday = weekdays_.test(day.weekday);
  return is_any_day_ || is_any_weekday_ ? by_day && by_weekday : by_day || by_weekday;
}

std::optional<int64_t> CronTimes::first_of(const LocalDay& day, int64_t from) const {
  const int64_t local_from = from + offset_at(from);
  std::optional<int64_t> best;
  const auto offer = [&](int64_t moment) {
    if (moment > from && (!best || moment < *best))
      best = moment;
  };
  for (size_t hour = 0; hour < hours_.size(); ++hour)
    for (size_t minute = 0; hours_.test(hour) && minute < minutes_.size(); ++minute) {
      const int64_t local = day.number * day_seconds + static_cast<int64_t>(hour) * hour_seconds +
                            static_cast<int64_t>(minute) * minute_seconds;
      if (!minutes_.test(minute) || local < local_from - largest_change)
        continue;
      if (best && local > local_from + largest_change)
        return best;
      const LocalMoments moments = moments_of(local);
      offer(moments.first);
      if (is_any_hour_ && moments.second)
        offer(*moments.second);
    }
  return best;
}

std::optional<Time> CronTimes::next_after(Time from) const {
  using namespace std::chrono;
  const int64_t seconds = floor<std::chrono::seconds>(from).time_since_epoch().count();
  const sys_days today =
      floor<days>(sys_seconds(std::chrono::seconds(seconds + offset_at(seconds))));
  for (int64_t i = -1; i < searched_days; ++i) {
    const sys_days date = today + days(i);
    const year_month_day parts(date);
    const LocalDay day{date.time_since_epoch().count(), static_cast<unsigned>(parts.month()),
                       static_cast<unsigned>(parts.day()), weekday(date).c_encoding()};
    if (!fits(day))
      continue;
    if (const std::optional<int64_t> found = first_of(day, seconds))
      return Time(std::chrono::seconds(*found));
  }
  return std::nullopt;
}

}  // namespace fettle
