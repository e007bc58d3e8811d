#include "drivers/engine/last_line.h"

#include <condition_variable>

#include "base/text.h"

namespace fettle {
namespace {

constexpr Duration progress_interval = 100ms, worth_a_look = 300ms;
constexpr size_t longest_line = 200;

}  // namespace

void LastLine::take(std::string_view bytes) {
  if (!progress_)
    return;
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    if (line_.size() < longest_line)
      line_ += bytes.substr(0, std::min(end, longest_line - line_.size()));
    if (end == bytes.size())
      return;
    bytes.remove_prefix(end + 1);
    const auto now = std::chrono::steady_clock::now();
    if (const std::string_view said = trim(line_);
        !said.empty() && now - told_ >= progress_interval) {
      told_ = now;
      progress_({.text = std::string(said)});
    }
    line_.clear();
  }
}

OutputTail::OutputTail(const Site& site, const std::string& container,
                       const ProgressSink& progress) {
  if (!progress)
    return;
  thread_ = std::jthread([&site, &container, &progress](const std::stop_token& end) {
    std::mutex mutex;
    std::condition_variable_any ends;
    std::unique_lock lock(mutex);
    if (ends.wait_for(lock, end, worth_a_look, [&] { return end.stop_requested(); }))
      return;
    LastLine line(progress);
    // Whatever goes wrong here, the task reports.
    static_cast<void>(read_logs(
        site.engine, container, {.tail = 1, .follow = true}, false,
        [&](OutputStream, std::string_view bytes) -> Status {
          line.take(bytes);
          return {};
        },
        end));
  });
}

}  // namespace fettle
