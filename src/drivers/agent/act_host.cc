#include "drivers/agent/act_host.h"

#include <algorithm>
#include <map>

#include "base/condition.h"
#include "base/process.h"
#include "base/text.h"
#include "base/thread.h"
#include "drivers/agent/act_codec.h"

namespace fettle {
namespace {

/// More at once are against the rules.
constexpr size_t most_calls = 4'000;

class ActServer {
 public:
  ActServer(ActLine& line, FarBlobs& blobs, const ActHost& host)
      : line_(line), blobs_(blobs), host_(host) {}

  Status serve() {
    Status end;
    while (const std::optional<ActMessage> message = line_.receive())
      if (end = hear(*message); !end)
        break;
    if (end && !line_.why().empty())
      end = world_error(line_.why());
    line_.close();
    blobs_.end();
    std::unique_lock lock(mutex_);
    for (auto& [number, call] : calls_)
      call.stop.request_stop();
    over_.wait(lock, [&] { return under_way_ == 0; });
    return end;
  }

 private:
  struct Call {
    std::stop_source stop{};
    Thread thread{};
    bool is_over = false;
  };

  Status hear(const ActMessage& message) {
    bool is_right = true;
    switch (message.word) {
      case ActWord::states:
        is_right = take_states(message.body);
        break;
      case ActWord::only_looks:
        is_right = last_ == 0 && !message.body.empty();
        why_only_own_programs() = printable(message.body);
        break;
      case ActWord::ready:
      case ActWord::observe:
      case ActWord::apply:
      case ActWord::ask:
        is_right = begin(message);
        break;
      case ActWord::stop:
        is_right = stop(message.number);
        break;
      case ActWord::content:
      case ActWord::content_end:
      case ActWord::content_lost:
        is_right = blobs_.hear(message);
        break;
      default:
        is_right = false;
    }
    return is_right ? Status() : world_error("the server says something that breaks the rules");
  }

  bool take_states(std::string_view body) {
    Result<Value> states = read_value(body);
    if (!states)
      return false;
    const std::lock_guard lock(states_mutex_);
    states_ = *std::move(states);
    return true;
  }

  bool begin(const ActMessage& message) {
    std::map<uint64_t, Call> over;  // their threads have nothing left to do
    const std::lock_guard lock(mutex_);
    for (auto call = calls_.begin(); call != calls_.end();)
      if (call->second.is_over)
        over.insert(calls_.extract(call++));
      else
        ++call;
    if (calls_.contains(message.number) || calls_.size() >= most_calls)
      return false;
    last_ = std::max(last_, message.number);
    Call& call = calls_[message.number];
    ++under_way_;
    call.thread = Thread([this, message, &call] {
      answer(message, call.stop.get_token());
      const std::lock_guard end(mutex_);
      call.is_over = true;
      --under_way_;
      over_.notify_all();
    });
    return true;
  }

  bool stop(uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(number);
    if (found != calls_.end())
      found->second.stop.request_stop();
    return number <= last_;
  }

  void answer(const ActMessage& message, const std::stop_token& stop) {
    Result<std::string> made = carry_out(message, stop);
    // Who cannot be told has gone.
    const Status sent = made ? line_.send(ActWord::answer, message.number, *made)
                             : line_.send(ActWord::failure, message.number, written(made.error()));
    if (!sent && sent.error().blame == Blame::user)
      static_cast<void>(!line_.send(ActWord::failure, message.number, written(sent.error())));
  }

  Result<std::string> carry_out(const ActMessage& message, const std::stop_token& stop) {
    switch (message.word) {
      case ActWord::ready:
        return ready(message.body);
      case ActWord::observe:
        return observe(message.body, stop);
      case ActWord::ask:
        return ask(message.body, stop);
      default:
        return apply(message, stop);
    }
  }

  Result<std::string> ready(std::string_view body) {
    const Value kinds = TRY(read_value(body));
    if (!kinds.is_list())
      return world_error("the server does not name kinds");
    for (const Value& kind : kinds.items())
      if (kind.is_text())
        TRY(driver_of(kind.text()));
    return std::string();
  }

  /// By driver, in as few calls as the subjects allow.
  Result<std::string> observe(std::string_view body, const std::stop_token& stop) {
    const ReadSubjects read = TRY(read_subjects(body));
    std::vector<Observation> seen(read.subjects.size());
    std::map<Driver*, std::vector<size_t>> by_driver;
    for (size_t i = 0; i < read.subjects.size(); ++i)
      by_driver[TRY(driver_of(read.subjects[i].key.kind))].push_back(i);
    for (const auto& [driver, places] : by_driver) {
      std::vector<Subject> subjects;
      for (const size_t place : places)
        subjects.push_back(read.subjects[place]);
      std::vector<Observation> found = TRY(driver->observe(subjects, stop));
      for (size_t i = 0; i < places.size() && i < found.size(); ++i)
        seen[places[i]] = std::move(found[i]);
    }
    return written(seen);
  }

  Result<std::string> apply(const ActMessage& message, const std::stop_token& stop) {
    const Act act = TRY(read_act(message.body));
    Driver* const driver = TRY(driver_of(act.key.kind));
    const auto tell = [&](const Progress& progress) {
      static_cast<void>(!line_.send(ActWord::progress, message.number, written(progress)));
    };
    const Outcome outcome = TRY(driver->apply(act, tell, stop));
    const std::lock_guard lock(states_mutex_);  // others may be the first to call a state
    return written(outcome, host_.take_additions());
  }

  /// Allowed where acts on states are.
  Result<std::string> ask(std::string_view body, const std::stop_token& stop) {
    const Value asked = TRY(read_value(body));
    TRY(driver_of("state"));
    return written(TRY(host_.ask_states(asked, stop)));
  }

  Result<Driver*> driver_of(const Name& kind) {
    const std::lock_guard lock(states_mutex_);
    if (kind == "state" && states_) {
      TRY(host_.begin_states(*states_));
      states_.reset();
    }
    return host_.driver(kind);
  }

  ActLine& line_;
  FarBlobs& blobs_;
  const ActHost& host_;
  std::mutex states_mutex_;
  std::optional<Value> states_;
  std::mutex mutex_;  ///< guards what follows
  Condition over_;
  std::map<uint64_t, Call> calls_;
  uint64_t last_ = 0;  ///< the highest so far: threads of the server overtake one another
  size_t under_way_ = 0;
};

}  // namespace

Status serve_acts(ActLine& line, FarBlobs& blobs, const ActHost& host) {
  return ActServer(line, blobs, host).serve();
}

}  // namespace fettle
