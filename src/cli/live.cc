#include "cli/live.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/printable.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/print.h"
#include "cli/terminal.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

constexpr Duration worth_a_line = 300ms, frame = 100ms, plain_again = 10s;
constexpr size_t most_live_lines = 12;

/// One line of a name, an output or an image, which anybody may have written. It moves no cursor,
/// and takes as much room as its length says.
std::string one_line(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r'))
    text.remove_suffix(1);
  return printable_but(replace_all(text, "\t", " "), "");
}

/// The name without the digits behind `#`, which only distinguish equal ones and take up room.
std::string short_name(const Key& key) {
  std::string name = shown_key(key);
  const size_t digits = name.rfind('#');
  if (digits != name.npos && name.find_first_not_of("0123456789abcdef.", digits + 1) == name.npos)
    name.resize(digits);
  return name;
}

/// A line that does not fit loses first the end of its name, then that of the text about it:
/// `instruction 3 of 10` behind a long path is what people look for.
std::string squeezed(const std::string& line, size_t width) {
  const size_t colon = line.find(": ");
  if (width_of(line) <= width || colon == line.npos)
    return cut_to(line, width);
  const std::string said = line.substr(colon);
  const size_t room = width > width_of(said) ? width - width_of(said) : 0;
  return cut_to(cut_to(line.substr(0, colon), std::max(room, width / 4)) + said, width);
}

std::string megabytes(int64_t bytes) { return cat(bytes / 1'000'000, ".", bytes / 100'000 % 10); }

size_t rows_of(const WindowSize& size) { return static_cast<size_t>(std::max(1, size.rows)); }
size_t columns_of(const WindowSize& size) { return static_cast<size_t>(std::max(1, size.columns)); }

void write_all(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t wrote = ::write(STDERR_FILENO, text.data() + at, text.size() - at);
    if (wrote <= 0)
      return;  // nobody looks any more
    at += static_cast<size_t>(wrote);
  }
}

}  // namespace

Result<LiveMode> live_mode(const std::string& asked, bool is_quiet, bool can_move) {
  const std::vector<std::string> known{"plain", "live", "none"};
  if (!asked.empty() && std::ranges::find(known, asked) == known.end())
    return user_error(cat("`--progress` must be plain, live or none, not `", asked, "`",
                          suggestion(asked, known)));
  if (is_quiet || asked == "none")
    return LiveMode::none;
  if (asked == "plain")
    return LiveMode::plain;
  return can_move ? LiveMode::live : asked == "live" ? LiveMode::plain : LiveMode::none;
}

std::string share_text(int64_t done, int64_t total) {
  if (total <= 0)
    return {};
  return total < 100'000 ? cat(done, " of ", total)
                         : cat(megabytes(done), " of ", megabytes(total), " MB");
}

std::vector<std::string> live_block(const std::string& title, const std::vector<LiveLine>& lines,
                                    size_t columns, size_t rows) {
  // A letter in the last column makes some terminals begin a new line.
  const size_t width = columns > 1 ? columns - 1 : 1;
  std::vector<std::string> block{squeezed(one_line(title), width)};
  const size_t room = rows > 1 ? rows - 1 : 0;
  const size_t shown = lines.size() <= room ? lines.size() : room > 0 ? room - 1 : 0;
  for (size_t i = 0; i < shown; ++i) {
    const std::string time = cat("  ", short_duration(lines[i].lasted.count()));
    const std::string text = cat("  ", one_line(lines[i].text));
    const size_t left = width > width_of(time) ? width - width_of(time) : 0;
    block.push_back(left < 10 ? cut_to(text, width) : cut_to(text, left) + time);
  }
  if (shown < lines.size() && room > 0)
    block.push_back(cut_to(cat("  and ", lines.size() - shown, " more"), width));
  return block;
}

Live::Live(LiveMode mode, const Interrupt& interrupt)
    : mode_(mode), interrupt_(interrupt), began_(instant_from_clock()) {
  if (mode_ == LiveMode::live)
    before_output([this] {
      const std::lock_guard lock(mutex_);
      erase();
    });
}

Live::~Live() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wakes_.notify_all();
  if (thread_.joinable())
    thread_.join();
  if (mode_ != LiveMode::live)
    return;
  before_output({});
  const std::lock_guard output(output_mutex());
  erase();
}

void Live::open(const std::string& title) {
  if (mode_ != LiveMode::live)
    return;
  {
    const std::lock_guard output(output_mutex());
    const std::lock_guard lock(mutex_);
    title_ = one_line(title);
    is_open_ = true;
    erase();
    draw();
    need_thread();
  }
}

void Live::doing(const std::string& what) {
  if (mode_ == LiveMode::none)
    return;
  const std::lock_guard lock(mutex_);
  const Key key{Name(), Name(), Name("doing")};
  if (what.empty())
    items_.erase(key);
  else
    items_[key] = {one_line(what), {}, 0, 0, instant_from_clock(), {}};
  need_thread();
}

void Live::begin(const Key& key, std::string label) {
  items_[key] = {std::move(label), {}, 0, 0, instant_from_clock(), {}};
}

void Live::end(const Key& key) { ended_ += items_.erase(key); }

void Live::event(const Event& event) {
  if (mode_ == LiveMode::none)
    return;
  const std::lock_guard lock(mutex_);
  switch (event.type) {
    case EventType::run_started:
      environment_ = event.environment.str();
      break;
    case EventType::planned:
    case EventType::unlocked:
    case EventType::failed_over:
      break;
    case EventType::started:
      begin(event.key, one_line(cat(to_string(event.verb), " ", short_name(event.key))));
      break;
    case EventType::pending:
      // An act that is called again has been waiting since its first call.
      if (!items_.contains(event.key))
        begin(event.key, one_line(cat(to_string(event.verb), " ", short_name(event.key))));
      items_[event.key].text = one_line(event.text);
      break;
    case EventType::run_finished:
      items_.clear();
      break;
    case EventType::done:
    case EventType::kept:
    case EventType::failed:
    case EventType::blocked:
    case EventType::skipped:
    case EventType::removed:
      end(event.key);
      break;
  }
  need_thread();
}

void Live::progress(const Key& key, const Progress& progress) {
  if (mode_ == LiveMode::none)
    return;
  const std::lock_guard lock(mutex_);
  const auto found = items_.find(key);
  if (found == items_.end())
    return;
  found->second.text = one_line(progress.text);
  found->second.done = progress.done;
  found->second.total = progress.total;
}

void Live::need_thread() {
  if (thread_.joinable())
    return;
  // Signals are for others, whenever those begin to wait for them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::jthread([this] { tick(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Live::tick() {
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, frame, [this] { return ends_; })) {
    if (mode_ == LiveMode::plain) {
      lock.unlock();
      tell_plainly();
      lock.lock();
      continue;
    }
    // The output's mutex comes first.
    lock.unlock();
    {
      const std::lock_guard output(output_mutex());
      const std::lock_guard inner(mutex_);
      erase();
      draw();
    }
    lock.lock();
  }
}

std::string Live::title_now() const {
  const std::string lasted = short_duration((instant_from_clock() - began_).count());
  if (interrupt_.asked() > 0)
    return cat("finishing running changes; Ctrl-C again stops at once, ", lasted);
  if (!title_.empty())
    return cat(title_, ", ", lasted);
  return cat(environment_.empty() ? "working" : environment_, ended_ == 0 ? "" : ": ",
             ended_ == 0 ? std::string() : cat(ended_, " done"), ", ", lasted);
}

std::string Live::text_of(const Item& item) const {
  const std::string share = share_text(item.done, item.total);
  return hidden(
      cat(item.label, item.text.empty() ? "" : ": ", item.text, share.empty() ? "" : ", ", share));
}

void Live::draw() {
  const Instant now = instant_from_clock();
  std::vector<std::pair<Instant, const Item*>> order;
  for (const auto& [key, item] : items_)
    if (now - item.began >= worth_a_line)
      order.emplace_back(item.began, &item);
  if (order.empty() && !is_open_)
    return;
  std::ranges::sort(order);
  std::vector<LiveLine> lines;
  for (const auto& [began, item] : order)
    lines.push_back({text_of(*item), now - began});
  const WindowSize size = window_size(STDERR_FILENO).value_or(WindowSize{24, 80});
  const size_t rows = std::min<size_t>(most_live_lines, size.rows > 2 ? rows_of(size) - 1 : 1);
  std::string text;
  drawn_.clear();
  for (const std::string& line : live_block(title_now(), lines, columns_of(size), rows)) {
    drawn_.push_back(width_of(line));
    text += line + "\n";
  }
  write_all(text);
}

void Live::erase() {
  if (drawn_.empty())
    return;
  // In a window that became narrower a line may take several rows.
  const WindowSize size = window_size(STDERR_FILENO).value_or(WindowSize{24, 80});
  size_t rows = 0;
  for (const size_t width : drawn_)
    rows += std::max<size_t>(1, (width + columns_of(size) - 1) / columns_of(size));
  drawn_.clear();
  write_all(cat("\033[", std::min(rows, rows_of(size)), "A\r\033[J"));
}

void Live::tell_plainly() {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    const Instant now = instant_from_clock();
    for (auto& [key, item] : items_) {
      const bool is_first = item.told == Instant{};
      if (now - item.began < worth_a_line || (!is_first && now - item.told < plain_again))
        continue;
      item.told = now;
      lines.push_back(cat(text_of(item), ", ", short_duration((now - item.began).count())));
    }
  }
  for (const std::string& line : lines)
    print_error(line);
}

}  // namespace fettle
