#include "workloads/seen.h"

#include <charconv>

#include "base/text.h"
#include "kinds/pod.h"

namespace fettle::workloads {
namespace {

Phase phase_of(std::string_view text) {
  return text == "Running"     ? Phase::running
         : text == "Unknown"   ? Phase::unknown
         : text == "Succeeded" ? Phase::succeeded
         : text == "Failed"    ? Phase::failed
                               : Phase::pending;
}

/// The number in a part of a text. Below zero: it is none.
int64_t digits_at(std::string_view text, size_t begin, size_t count) {
  if (begin + count > text.size())
    return -1;
  int64_t number = 0;
  const char* first = text.data() + begin;
  const auto read = std::from_chars(first, first + count, number);
  return read.ec == std::errc() && read.ptr == first + count ? number : -1;
}

ContainerSeen container_of(const Value& status) {
  ContainerSeen seen;
  seen.name = status.text_at("name");
  seen.image = status.text_at("image");
  seen.image_id = status.text_at("imageID");
  seen.container_id = status.text_at("containerID");
  seen.restarts = static_cast<int>(status.integer_at("restartCount"));
  seen.is_ready = status.bool_at("ready");
  seen.is_running = status.at("state").find("running") != nullptr;
  return seen;
}

}  // namespace

std::optional<Time> time_of(std::string_view text) {
  const int64_t year = digits_at(text, 0, 4), month = digits_at(text, 5, 2),
                day = digits_at(text, 8, 2), hour = digits_at(text, 11, 2),
                minute = digits_at(text, 14, 2), second = digits_at(text, 17, 2);
  const bool is_shaped = text.size() >= 20 && text.ends_with('Z') && text[4] == '-' &&
                         text[7] == '-' && text[10] == 'T' && text[13] == ':' && text[16] == ':';
  if (!is_shaped || year < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 60 || month < 1 || month > 12 || day < 1 || day > 31)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  Duration fraction{0};
  if (text[19] == '.') {
    const std::string_view digits = text.substr(20, text.size() - 21);
    int64_t unit = 100'000'000;
    for (const char digit : digits) {
      if (digit < '0' || digit > '9')
        return std::nullopt;
      fraction += Duration((digit - '0') * unit);
      unit /= 10;
    }
  } else if (text.size() != 20) {
    return std::nullopt;
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch();
  return Time(std::chrono::duration_cast<Duration>(days) + hour * 1h + minute * 1min + second * 1s +
              fraction);
}

std::string time_text(Time time) {
  std::string text = fettle::to_string(time);
  if (const size_t point = text.find('.'); point != text.npos)
    text = text.substr(0, point) + "Z";
  return text;
}

void read_status(const State& status, FleetPod& pod) {
  const PodSeen seen = read<PodSeen>(status);
  pod.phase = phase_of(seen.phase);
  pod.readiness = Readiness::not_ready;
  pod.ready_since = Time();
  pod.restarts = 0;
  pod.complaint = {};
  pod.containers.clear();
  pod.created = time_of(seen.started).value_or(Time());
  for (const Value& each : seen.conditions.items()) {
    if (each.text_at("type") != "Ready")
      continue;
    if (each.text_at("status") == "True")
      pod.readiness = Readiness::ready;
    if (pod.is_ready())
      pod.ready_since = time_of(each.text_at("lastTransitionTime")).value_or(Time());
    else
      pod.complaint = each.text_at("message");
  }
  for (const Value& each : seen.containers.items()) {
    pod.containers.push_back(container_of(each));
    pod.restarts = std::max(pod.restarts, pod.containers.back().restarts);
  }
}

}  // namespace fettle::workloads
