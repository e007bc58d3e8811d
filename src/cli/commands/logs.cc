#include <atomic>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "base/wait.h"
#include "cli/commands/commands.h"
#include "cli/commands/service_common.h"
#include "cli/line_filter.h"
#include "cli/print.h"
#include "documents/containers.h"

namespace fettle {
namespace {

/// `2026-11-22T13:42:15.747Z`, also without the fraction, the seconds or the time of day.
std::optional<Time> time_of(std::string text) {
  if (text.ends_with('Z'))
    text.pop_back();
  double fraction = 0;
  if (const size_t point = text.find('.'); point != text.npos) {
    const std::string digits = text.substr(point + 1);
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != digits.npos)
      return std::nullopt;
    fraction = std::stod("0." + digits);
    text.resize(point);
  }
  for (const char* const form :
       {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* const end = strptime(text.c_str(), form, &parts);
    if (end == nullptr || *end != 0)
      continue;
    const std::chrono::nanoseconds part{static_cast<int64_t>(fraction * 1e9)};
    return Time(
        std::chrono::duration_cast<Time::duration>(std::chrono::seconds(timegm(&parts)) + part));
  }
  return std::nullopt;
}

/// The logs that are asked for, and of which services.
struct LogsQuery {
  std::vector<ServiceView> services;
  LogOptions options;
  LineFilterOptions filter;
  std::optional<Time> end;  ///< nothing later is wanted
  bool with_names = false;
  bool colour = false;
  std::map<std::string, Colour> colours{};  ///< of the names
};

}  // namespace

Result<std::string> moment_asked(const Face& face, const Workplace& place,
                                 const std::string& name) {
  const std::string text = face.parsed.text(name);
  if (text.empty())
    return std::string();
  const auto written = [](Time time) {
    const auto count = time.time_since_epoch().count();
    const std::string nanoseconds = std::to_string(count % 1'000'000'000);
    return cat(count / 1'000'000'000, ".", std::string(9 - nanoseconds.size(), '0'), nanoseconds);
  };
  if (const Result<Duration> age = parse_duration(text); age && *age >= 0s)
    return written(place.clock() - *age);
  if (text.ends_with('d'))
    if (const Result<Duration> days = parse_duration(text.substr(0, text.size() - 1) + "h"); days)
      return written(place.clock() - *days * 24);
  // Seconds since 1970, as engines and `date +%s` write them. A small number has lost its unit.
  constexpr size_t digits_of_seconds = 10;
  if (text.find_first_not_of("0123456789.") == text.npos &&
      std::min(text.find('.'), text.size()) >= digits_of_seconds)
    return text;
  if (const std::optional<Time> time = time_of(text))
    return written(*time);
  return user_error(cat("`--", name,
                        "` must be an age such as 10s, 10m, 2h or 1d, or a time such as ",
                        to_string(place.clock()), ", not `", text, "`"));
}

namespace {

Result<LogsQuery> asked_for(const Face& face, const Workplace& place,
                            const Environment& environment) {
  LogsQuery asked;
  const size_t first = face.parsed.has("enclave") ? 0 : 1;
  const bool all = face.parsed.flag("all-services");
  if (all && face.parsed.arguments.size() > first)
    return user_error("name services, or ask for `--all-services`, but not both");
  if (all) {
    asked.services = TRY(inspect_environment(place, environment.name.str())).services;
    std::erase_if(asked.services,
                  [](const ServiceView& service) { return service.status == "absent"; });
  } else {
    if (face.parsed.arguments.size() <= first)
      return user_error("name the service, or ask for `--all-services`");
    for (size_t i = first; i < face.parsed.arguments.size(); ++i)
      asked.services.push_back(
          TRY(service_that_wrote(place, environment, face.parsed.arguments[i])));
  }
  asked.with_names = all || asked.services.size() > 1;
  asked.colour = face.colour;
  constexpr std::array tints{Colour::green, Colour::yellow, Colour::bold, Colour::red,
                             Colour::grey};
  for (size_t i = 0; i < asked.services.size(); ++i)
    asked.colours[asked.services[i].name] = tints[i % tints.size()];
  asked.options.follow = face.parsed.flag("follow");
  asked.options.timestamps = face.parsed.flag("timestamps");
  asked.options.since = TRY(moment_asked(face, place, "since"));
  asked.options.until = TRY(moment_asked(face, place, "until"));
  if (!asked.options.until.empty()) {
    asked.end = Time(std::chrono::duration_cast<Time::duration>(
        std::chrono::duration<double>(std::strtod(asked.options.until.c_str(), nullptr))));
    asked.options.follow &= *asked.end > place.clock();  // of what is past nothing more comes
  }
  const int64_t number = TRY(face.parsed.number("num", 200));
  if (number < 0)
    return user_error(cat("`--num` must be a number of lines, not ", number));
  asked.options.tail =
      face.parsed.flag("all") || (!asked.options.since.empty() && !face.parsed.has("num"))
          ? -1
          : static_cast<int>(std::min<int64_t>(number, INT32_MAX));
  asked.filter = {face.parsed.text("match"),
                  face.parsed.text("regex-match"),
                  face.parsed.flag("invert-match"),
                  {}};
  return asked;
}

/// Lines on their way out, those of both streams to standard output: they are what was asked for.
/// Each is written at once while logs are followed, else many together: the engine's answer has a
/// piece for every line, and a system call for each takes longer than all else.
class LineWriter {
 public:
  explicit LineWriter(bool at_once) : at_once_(at_once) {}
  Status take(std::string_view line) {
    const std::lock_guard lock(mutex_);
    pending_ += line;
    return at_once_ || pending_.size() >= enough ? write() : Status();
  }
  Status end() {
    const std::lock_guard lock(mutex_);
    return write();
  }

 private:
  Status write() {
    const std::string lines = std::exchange(pending_, {});
    return lines.empty() ? Status() : to_terminal(OutputStream::out, lines);
  }

  static constexpr size_t enough = size_t{64} << 10;
  const bool at_once_;
  std::mutex mutex_;
  std::string pending_;
};

/// Reads the logs of one service to their end.
Status tell(const Workplace& place, const LogsQuery& asked, const ServiceView& service,
            const LineFilter::Sink& sink, const std::stop_token& stop) {
  LineFilterOptions options = asked.filter;
  if (asked.with_names)
    options.prefix =
        cat(in(asked.colours.at(service.name), cat("[", service.name, "]"), asked.colour), " ");
  LineFilter filter = TRY(LineFilter::make(std::move(options), sink));
  Status read = read_logs_of(
      place, service, asked.options,
      [&](OutputStream stream, std::string_view bytes) { return filter.take(stream, bytes); },
      stop);
  TRY(filter.end());
  return read;
}

/// The same, with each matching line as an object.
Status tell_as_values(const Workplace& place, const LogsQuery& asked, const ServiceView& service,
                      const LineSink& sink, const std::stop_token& stop) {
  LogOptions options = asked.options;
  options.timestamps = true;
  return tell_lines_as_values(
      {{"service", service.name}}, asked.filter, sink,
      [&](const StreamSink& take) { return read_logs_of(place, service, options, take, stop); });
}

/// Shows them one after the other, or all at once while they are followed. Returns the first error.
Status tell_all(const Workplace& place, const LogsQuery& asked, const LineSink* values,
                const std::stop_token& stop) {
  std::mutex mutex;
  LineWriter writer(asked.options.follow);
  const LineFilter::Sink sink = [&](OutputStream, std::string_view line) {
    return writer.take(line);
  };
  const LineSink value_sink = [&](Value line) -> Status {
    const std::lock_guard lock(mutex);
    return (*values)(std::move(line));
  };
  const auto tell_one = [&](const ServiceView& service, const std::stop_token& end) {
    return values == nullptr ? tell(place, asked, service, sink, end)
                             : tell_as_values(place, asked, service, value_sink, end);
  };
  if (!asked.options.follow) {
    Status told;
    for (size_t i = 0; i < asked.services.size() && told; ++i)
      told = tell_one(asked.services[i], stop);
    TRY(writer.end());  // also what came before an error
    return told;
  }
  std::mutex of_end;
  Status first;
  std::stop_source end;
  const std::stop_callback passed_on(stop, [&] { end.request_stop(); });
  std::vector<std::jthread> threads;
  for (const ServiceView& service : asked.services)
    threads.emplace_back([&tell_one, &service, &of_end, &first, &end] {
      Status told = tell_one(service, end.get_token());
      const std::lock_guard lock(of_end);
      if (told || !first)
        return;
      first = std::move(told);
      end.request_stop();  // the others are ended by it and are no error
    });
  // Some engines do not end what they send at the time that they were told.
  std::atomic<bool> is_over = false;
  std::jthread timer;
  if (asked.end)
    timer = std::jthread([&, left = *asked.end - place.clock()](const std::stop_token& done) {
      if (!pause_for(std::max(Duration(left), Duration(0s)), done))
        return;
      is_over = true;
      end.request_stop();
    });
  threads.clear();
  timer = {};
  return is_over ? Status() : first;
}

Result<int> print_logs(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_of(face, 0));
  const LogsQuery asked = TRY(asked_for(face, *place, environment));
  TRY(LineFilter::make(asked.filter, {}));
  for (const ServiceView& service : asked.services)
    TRY(container_of(service));
  LineDocument document(face);
  const LineSink values = document.sink();
  const bool as_values = face.json || face.json_lines;
  const Status told =
      tell_all(*place, asked, as_values ? &values : nullptr, place->interrupt->acts_token());
  if (told || place->interrupt->asked() > 0)
    document.end();
  if (place->interrupt->asked() > 0)
    return interrupted_code;
  TRY(told);
  return 0;
}

}  // namespace

LineSink LineDocument::sink() {
  return [this](Value line) -> Status {
    if (face_.json_lines)
      print_json_line(line);
    else
      lines_.push_back(std::move(line));
    return {};
  };
}

void LineDocument::end() {
  if (face_.json)
    print_json(log_document(std::move(lines_)));
}

Status tell_lines_as_values(std::vector<Entry> about, const LineFilterOptions& asked,
                            const LineSink& sink,
                            const std::function<Status(const StreamSink&)>& read) {
  bool fits = false;
  LineFilter filter = TRY(LineFilter::make(asked, [&](OutputStream, std::string_view) {
    fits = true;
    return Status();
  }));
  LineFilter lines =
      TRY(LineFilter::make({}, [&](OutputStream stream, std::string_view line) -> Status {
        if (line.ends_with('\n'))
          line.remove_suffix(1);
        // A connection that breaks may cut the time itself.
        const size_t space = line.find(' ');
        const std::string_view text =
            space == line.npos ? std::string_view() : line.substr(space + 1);
        fits = false;
        TRY(filter.take(stream, cat(text, "\n")));
        if (!fits)
          return {};
        return sink(log_line(about, stream, line.substr(0, space), text));
      }));
  Status done =
      read([&](OutputStream stream, std::string_view bytes) { return lines.take(stream, bytes); });
  TRY(lines.end());
  return done;
}

Command logs_command() {
  const CommandGroup group{"services", {environment_option()}};
  Command command = group.reader(
      "service logs", "ENCLAVE [SERVICE…]", 1, 99,
      "Shows the logs of services, also of one that is gone, as long as the engine has them. Both "
      "streams go to standard output.",
      {"fettle service logs shop web -f", "fettle service logs shop -x --match error"}, print_logs,
      {{{"-f", "--follow"}, "", "follow the logs of all named services"},
       {{"-a", "--all"}, "", "all lines, from the beginning"},
       {{"-n", "--num"}, "N", "the last N lines (200)"},
       {{"--since"}, "WHEN", "only lines since then: an age such as 10m, or a time"},
       {{"--until"}, "WHEN", "only lines until then"},
       {{"-t", "--timestamps"}, "", "show the time of each line"},
       {{"-x", "--all-services"}, "", "the logs of all services"},
       {{"--match"}, "TEXT", "only lines with this text"},
       {{"--regex-match"}, "EXPRESSION", "only lines that match"},
       {{"-v", "--invert-match"}, "", "only lines that do not match"}});
  command.tells_lines = true;
  return command;
}

}  // namespace fettle
