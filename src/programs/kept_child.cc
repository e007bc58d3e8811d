#include "programs/kept_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/http.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t longest_line = size_t{64} << 20;
constexpr int look_interval_ms = 50;
/// The last pieces of its output that are read before its end.
constexpr int most_last_words = 100;
/// The time for a child to leave by itself, and to answer a call that is cancelled.
constexpr Duration patience = 2s;

}  // namespace

Result<std::unique_ptr<KeptChild>> KeptChild::start(const Invocation& how) {
  Dialogue dialogue = TRY(Dialogue::start(how, Dialogue::Errors::kept));
  return std::unique_ptr<KeptChild>(new KeptChild(std::move(dialogue), how.on_errors));
}

KeptChild::KeptChild(Dialogue dialogue, ByteSink on_errors)
    : dialogue_(std::move(dialogue)),
      on_errors_(std::move(on_errors)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  fcntl(dialogue_.errors(), F_SETFL, O_NONBLOCK);
  reader_ = std::thread([this] { read_all(); });
}

KeptChild::~KeptChild() {
  end("");
  reader_.join();
}

bool KeptChild::has_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_ || !why_.empty();
}

void KeptChild::end(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (why_.empty()) {
      why_ = why;
      company_ = boxes_.size();
    }
  }
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

void KeptChild::read_all() {
  for (bool goes_on = true; goes_on;) {
    std::array<pollfd, 3> waited{{{dialogue_.descriptor(), POLLIN, 0},
                                  {errors_are_open_ ? dialogue_.errors() : -1, POLLIN, 0},
                                  {wake_.get(), POLLIN, 0}}};
    if (poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR)
      break;
    if (waited[1].revents != 0)
      read_errors();
    if (waited[0].revents != 0)
      goes_on = read_output();
    goes_on = goes_on && waited[2].revents == 0;
  }
  finish();
}

/// Returns whether more may come.
bool KeptChild::read_output() {
  std::array<char, 64 * 1024> bytes;
  const ssize_t count = recv(dialogue_.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0)
    return errno == EAGAIN || errno == EINTR;
  if (count == 0)
    return false;
  const size_t from = buffer_.size();
  buffer_.append(bytes.data(), static_cast<size_t>(count));
  size_t begin = 0;
  for (size_t newline = buffer_.find('\n', from); newline != buffer_.npos;
       newline = buffer_.find('\n', begin)) {
    take_line(std::string_view(buffer_).substr(begin, newline - begin));
    begin = newline + 1;
  }
  buffer_.erase(0, begin);
  if (buffer_.size() > longest_line)
    end("its answer does not end");
  return true;
}

/// Returns whether there was something.
bool KeptChild::read_errors() {
  std::array<char, 16 * 1024> bytes;
  const ssize_t count = read(dialogue_.errors(), bytes.data(), bytes.size());
  errors_are_open_ = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  if (count <= 0)
    return false;
  const std::string_view said(bytes.data(), static_cast<size_t>(count));
  if (on_errors_)
    (void)on_errors_(said);
  const std::lock_guard lock(mutex_);
  said_.add(said);
  for (const auto& [id, box] : boxes_)  // nobody knows of which call it speaks
    box->said.add(said);
  return true;
}

void KeptChild::take_line(std::string_view text) {
  if (trim(text).empty())
    return;
  Result<Value> line = read_json(text);
  if (!line || !line->is_dict()) {
    {
      const std::lock_guard lock(mutex_);
      said_.add(cat(text, "\n"));
    }
    end("its output is not a line with a JSON object");
    return;
  }
  const std::lock_guard lock(mutex_);
  auto box = boxes_.find(line->integer_at("id"));
  if (line->find("id") == nullptr && boxes_.size() == 1)
    box = boxes_.begin();
  if (box == boxes_.end())  // of a call that was given up
    return;
  if (const Value* log = line->find("log"))  // may be its last words
    for (Tail* const tail : {&said_, &box->second->said})
      tail->add(cat(to_text(*log), "\n"));
  box->second->heard = true;
  box->second->lines.push_back(std::move(*line));
  changed_.notify_all();
}

/// The reader's last act.
void KeptChild::finish() {
  const bool was_ended_by_us = has_ended();
  {
    const std::lock_guard lock(sending_);  // nobody uses the socket from now on
    is_closed_ = true;
  }
  const ProcessResult finished = dialogue_.end(was_ended_by_us ? 0s : patience, patience);
  for (int pieces = 0; pieces < most_last_words && read_errors();)
    ++pieces;
  const std::lock_guard lock(mutex_);
  how_it_ended_ = finished;
  ended_ = true;
  company_ = std::max(company_, boxes_.size());
  changed_.notify_all();
}

void KeptChild::send(const Value& line, const Limit& limit) {
  const std::string text = write_json(line, {.show_secrets = true}) + "\n";
  const std::lock_guard lock(sending_);
  for (std::string_view left = text; !left.empty() && !is_closed_ && !has_ended();) {
    const ssize_t count =
        ::send(dialogue_.descriptor(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      left.remove_prefix(static_cast<size_t>(count));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR)
      return;  // the reader finds out that it ended
    if (limit.stop.stop_requested() || Clock::now() >= limit.ends) {
      if (left.size() < text.size())
        end("it does not read its requests");
      return;
    }
    pollfd waited{dialogue_.descriptor(), POLLOUT, 0};
    poll(&waited, 1, look_interval_ms);
  }
}

/// Waits for a line. Errors: the child ended, the time is up, or a stop was asked for.
Result<Value> KeptChild::next_line(Box& box, const Limit& limit) {
  std::unique_lock lock(mutex_);
  const auto is_there = [&] { return !box.lines.empty() || ended_; };
  const bool came = limit.ends == Clock::time_point::max()
                        ? changed_.wait(lock, limit.stop, is_there)
                        : changed_.wait_until(lock, limit.stop, limit.ends, is_there);
  if (!came && limit.stop.stop_requested())
    return cancelled_error();
  if (!came)
    return with_last_lines(cat("it did not answer within ", to_string(limit.time)), box.said);
  if (box.lines.empty())
    return ended_error();
  Value line = std::move(box.lines.front());
  box.lines.pop_front();
  return line;
}

/// The lock must be held.
Error KeptChild::ended_error() const {
  std::string what = why_;
  if (what.empty())
    what = how_it_ended_.signal != 0
               ? cat("it was killed by signal ", how_it_ended_.signal)
               : cat("it exited with code ", how_it_ended_.code, " and no answer");
  if (company_ > 1)
    what += cat("; ", company_, " calls were under way");
  Error error = with_last_lines(what, said_);
  error.unknown_outcome = true;
  return error;
}

/// The fate of a call whose child ended without an answer to it. The lock must be held.
Result<KeptChild::Reply> KeptChild::ended(const ProgramCall& call, const Box& box,
                                          int64_t id) const {
  if (company_ > 1 && call.may_repeat)
    return Reply{.is_suspect = true};
  if (!box.heard && why_.empty() && how_it_ended_.code == 0 && how_it_ended_.signal == 0 && id > 1)
    return Reply{.left = true};
  return ended_error();
}

Error KeptChild::with_last_lines(const std::string& what, const Tail& said) {
  const std::string lines = said.lines();
  return world_error(lines.empty() ? what : cat(what, "; its last lines:\n", lines));
}

void KeptChild::answer_question(const ProgramCall& call, const Value& line, const Limit& limit) {
  const Result<Value> answer = call.on_ask
                                   ? call.on_ask(line)
                                   : Result<Value>(world_error("requests are not possible here"));
  std::vector<Entry> entries{{"answer", line.at("ask")}};
  if (answer)
    entries.push_back({"result", *answer});
  else
    entries.push_back({"error", to_string(answer.error())});
  send(Value::dict(std::move(entries)), limit);
}

Result<KeptChild::Reply> KeptChild::converse(const ProgramCall& call, Box& box, int64_t id,
                                             const Limit& limit) {
  while (true) {
    Result<Value> line = next_line(box, limit);
    if (!line) {
      const std::lock_guard lock(mutex_);
      const bool has_ended = !is_cancelled(line.error()) && ended_ && box.lines.empty();
      return has_ended ? ended(call, box, id) : std::move(line).error();
    }
    if (line->find("ask") != nullptr)
      answer_question(call, *line, limit);
    else if (const Value* text = line->find("log"); text == nullptr)
      return Reply{.answer = std::move(*line)};
    else if (call.on_log)
      call.on_log(to_text(*text));
  }
}

/// Asks a shared child to leave the call, so that the others may go on. A child that does not is
/// ended.
void KeptChild::give_up(Box& box, int64_t id, bool is_shared) {
  const Limit limit{{}, patience, Clock::now() + patience};
  if (is_shared) {
    send(Value::dict({{"cancel", id}}), limit);
    while (const Result<Value> line = next_line(box, limit))
      if (line->find("ask") == nullptr && line->find("log") == nullptr)
        return;
  }
  end("it was stopped because it did not answer a call in time");
}

Result<KeptChild::Reply> KeptChild::call(const ProgramCall& call, bool is_shared,
                                         const std::stop_token& stop) {
  Box box;
  int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (ended_)
      return Reply{.left = true};  // it never heard of this call
    id = ++calls_;
    boxes_.emplace(id, &box);
  }
  std::vector<Entry> entries(call.request.entries().begin(), call.request.entries().end());
  if (is_shared)
    entries.push_back({"id", id});
  const Limit limit{
      stop, call.time_limit,
      call.time_limit > 0s ? Clock::now() + call.time_limit : Clock::time_point::max()};
  send(Value::dict(std::move(entries)), limit);
  Result<Reply> reply = converse(call, box, id, limit);
  if (!reply && !has_ended())
    give_up(box, id, is_shared);
  const std::lock_guard lock(mutex_);
  boxes_.erase(id);
  return reply;
}

}  // namespace fettle
