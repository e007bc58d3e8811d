#pragma once
/// A child process that answers many calls. A thread of its own reads the child's output and puts
/// each line into the mailbox of its call.

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/process.h"
#include "base/tail.h"
#include "programs/program.h"

namespace fettle {

class KeptChild {
 public:
  static Result<std::unique_ptr<KeptChild>> start(const Invocation& how);
  ~KeptChild();
  KeptChild(const KeptChild&) = delete;
  KeptChild& operator=(const KeptChild&) = delete;

  struct Reply {
    Value answer{};
    /// It exited cleanly and said nothing about this call: ask another child.
    bool left = false;
    /// It ended while this call and others were under way: repeat this one alone.
    bool is_suspect = false;
  };
  /// `is_shared`: other calls may be under way, so the line has an `id`, and a call that takes too
  /// long is cancelled before the child is ended.
  Result<Reply> call(const ProgramCall& call, bool is_shared, const std::stop_token& stop);
  /// Or it is about to end: a new call would get no answer from it.
  bool has_ended() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Box {
    std::deque<Value> lines;
    bool heard = false;  ///< it said something about this call
    Tail said{};         ///< its log, and what was written meanwhile to standard error
  };
  struct Limit {
    std::stop_token stop;
    Duration time;
    Clock::time_point ends;
  };

  KeptChild(Dialogue dialogue, ByteSink on_errors);
  void read_all();
  bool read_output();
  bool read_errors();
  void take_line(std::string_view line);
  void finish();
  void send(const Value& line, const Limit& limit);
  Result<Reply> converse(const ProgramCall& call, Box& box, int64_t id, const Limit& limit);
  Result<Value> next_line(Box& box, const Limit& limit);
  Result<Reply> ended(const ProgramCall& call, const Box& box, int64_t id) const;
  Error ended_error() const;
  static Error with_last_lines(const std::string& what, const Tail& said);
  void give_up(Box& box, int64_t id, bool is_shared);
  void answer_question(const ProgramCall& call, const Value& line, const Limit& limit);
  void end(const std::string& why);

  Dialogue dialogue_;
  ByteSink on_errors_;  ///< hears what it writes to its standard error
  Descriptor wake_;     ///< tells the reader to end
  std::string buffer_;
  bool errors_are_open_ = true;  ///< else there is nothing to wait for; of the reader

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int64_t, Box*> boxes_;
  int64_t calls_ = 0;
  bool ended_ = false;
  size_t company_ = 0;  ///< calls that were under way when it ended
  ProcessResult how_it_ended_;
  std::string why_;  ///< why it was ended; empty: it ended by itself
  Tail said_;        ///< of all calls

  std::mutex sending_;
  bool is_closed_ = false;  ///< under `sending_`
  std::thread reader_;
};

}  // namespace fettle
