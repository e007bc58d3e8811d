/// Reads the output of containers. The engine is asked for the last lines only if it counts them
/// right.

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "base/wait.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/log_file.h"
#include "drivers/engine/log_tail.h"

namespace fettle {
namespace {

constexpr size_t longest_log_piece = 1 << 20;

Status ask_for_logs(Engine& engine, const std::string& id, const LogOptions& options, bool tty,
                    const StreamSink& sink, const std::stop_token& stop) {
  const auto flag = [](bool on) { return std::string(on ? "1" : "0"); };
  EngineCall call{.path = cat("/containers/", id, "/logs"),
                  .query = {{"stdout", flag(options.out)},
                            {"stderr", flag(options.errors)},
                            {"follow", flag(options.follow)},
                            {"timestamps", flag(options.timestamps)}}};
  for (const auto& [name, moment] :
       {std::pair("since", &options.since), std::pair("until", &options.until)})
    if (!moment->empty())
      call.query.emplace_back(name, *moment);
  if (options.tail >= 0)
    call.query.emplace_back("tail", std::to_string(options.tail));
  if (options.follow) {
    call.time_limit = for_ever;
    call.still_at_it = engine.answers();
  }
  call.sink = tty ? [sink](std::string_view bytes) { return sink(OutputStream::out, bytes); }
                  : frame_sink(sink);
  const EngineAnswer answer = TRY(engine.ask(std::move(call), stop));
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

/// Among the last lines, Podman joins a line that has no end yet, or came in pieces, to another
/// one, or loses it. Its own file shows whether that may happen, if it is on this machine.
Result<bool> counts_right(Engine& engine, const std::string& id, int lines,
                          const std::stop_token& stop) {
  if (TRY(engine.flavour(stop)) != Engine::Flavour::podman)
    return true;
  const EngineAnswer about = TRY(engine.ask({.path = cat("/containers/", id, "/json")}, stop));
  return about.ok() && is_in_whole_lines(std::string(about.body.text_at("LogPath")), lines);
}

/// When the first of slightly more than the last lines was written. Empty: there are no more lines.
Result<std::string> begin_of_last_lines(Engine& engine, const std::string& id, LogOptions options,
                                        bool tty, const std::stop_token& stop) {
  const int wanted = options.tail;
  options.follow = false;
  options.timestamps = true;
  options.tail = wanted == INT32_MAX ? wanted : wanted + 1;
  std::string first;
  int lines = 0;
  const auto take = [&](OutputStream, std::string_view bytes) -> Status {
    if (lines == 0 && first.find(' ') == first.npos)
      first += bytes.substr(0, bytes.find('\n'));
    lines += static_cast<int>(std::ranges::count(bytes, '\n'));
    return {};
  };
  TRY(ask_for_logs(engine, id, options, tty, take, stop));
  return lines > wanted ? first.substr(0, first.find(' ')) : std::string();
}

/// Counts lines here, of all that was written since the first of them, and then follows the output.
Status count_last_lines(Engine& engine, const std::string& id, const LogOptions& options, bool tty,
                        const StreamSink& sink, const std::stop_token& stop) {
  LogOptions whole = options;
  if (std::string begin = TRY(begin_of_last_lines(engine, id, options, tty, stop)); !begin.empty())
    whole.since = std::move(begin);
  whole.tail = -1;
  whole.follow = false;
  LastLines last(static_cast<size_t>(options.tail));
  const auto keep = [&](OutputStream stream, std::string_view bytes) -> Status {
    last.take(stream, bytes);
    return {};
  };
  TRY(ask_for_logs(engine, id, whole, tty, keep, stop));
  TRY(last.hand_over(sink));
  if (!options.follow)
    return {};
  whole.follow = true;
  const auto go_on = [&](OutputStream stream, std::string_view bytes) -> Status {
    const std::string_view news = last.without_taken(stream, bytes);
    return news.empty() ? Status() : sink(stream, news);
  };
  return ask_for_logs(engine, id, whole, tty, go_on, stop);
}

}  // namespace

Status read_logs(Engine& engine, const std::string& id, const LogOptions& options, bool tty,
                 const StreamSink& sink, std::stop_token stop) {
  if (options.tail <= 0 || TRY(counts_right(engine, id, options.tail, stop)))
    return ask_for_logs(engine, id, options, tty, sink, stop);
  return count_last_lines(engine, id, options, tty, sink, stop);
}

std::string last_log_lines(Engine& engine, const std::string& id, int count, std::stop_token stop) {
  std::string text;
  const auto take = [&](OutputStream, std::string_view bytes) -> Status {
    text += bytes.substr(0, longest_log_piece - std::min(longest_log_piece, text.size()));
    return {};
  };
  // A terminal has no frames: then the text is used as it is.
  if (!read_logs(engine, id, {.tail = count}, false, take, stop))
    (void)read_logs(engine, id, {.tail = count}, true, take, stop);
  return std::string(trim(text));
}

}  // namespace fettle
