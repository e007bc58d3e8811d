#include "drivers/agent/agent_machine.h"

#include <algorithm>
#include <deque>

#include "base/condition.h"
#include "base/text.h"
#include "base/thread.h"
#include "drivers/agent/act_codec.h"
#include "drivers/agent/named_digests.h"

namespace fettle {
namespace {

/// A call that was told to stop and does not answer is given up then.
constexpr Duration stop_limit = 30s;
/// Of one call's progress that nobody has taken yet; earlier lines are left out.
constexpr size_t most_waiting_progress = 200;
/// Of subjects that are looked at by one call.
constexpr size_t most_looked_at = 200;
/// A content that is not larger is looked through for the digests of others.
constexpr size_t longest_list = 4 << 20;

}  // namespace

/// One connection, with a thread that hears what the agent says and one that sends contents.
class AgentMachine::Stream {
 public:
  Stream(Descriptor socket, const Place& place, Blobs& blobs)
      : line_(std::move(socket)),
        place_(place),
        blobs_(blobs),
        sender_([this](const std::stop_token& stop) { send_contents(stop); }),
        listener_([this] { listen(); }) {}
  ~Stream() {
    line_.close();
    listener_.join();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool is_over() {
    const std::lock_guard lock(mutex_);
    return is_over_;
  }
  std::string why() {
    const std::lock_guard lock(mutex_);
    return why_;
  }

  Status begin(const std::optional<std::string>& states) {
    if (!place_.why_only_looks.empty())
      TRY(line_.send(ActWord::only_looks, 0, place_.why_only_looks));
    return states ? line_.send(ActWord::states, 0, *states) : Status();
  }

  /// None: the stream ended before the answer came.
  Result<std::optional<std::string>> call(ActWord word, const std::string& body,
                                          const ProgressSink& progress,
                                          const std::stop_token& stop) {
    const uint64_t number = enter(body);
    if (const Status sent = line_.send(word, number, body); !sent) {
      leave(number);
      if (sent.error().blame == Blame::user)
        return sent.error();
      say_over("");
      return std::optional<std::string>();
    }
    Result<std::optional<std::string>> answer = await(number, progress, stop);
    leave(number);
    return answer;
  }

 private:
  struct Call {
    std::deque<std::string> progress;
    std::optional<ActMessage> answer;
  };
  struct Need {
    uint64_t number = 0;
    std::string digest;
  };

  uint64_t enter(std::string_view body) {
    const std::lock_guard lock(mutex_);
    named_.add(body);
    calls_[++last_];
    return last_;
  }
  void leave(uint64_t number) {
    const std::lock_guard lock(mutex_);
    calls_.erase(number);
  }

  Result<std::optional<std::string>> await(uint64_t number, const ProgressSink& progress,
                                           const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    Call& call = calls_.at(number);
    const auto has_news = [&] { return is_over_ || call.answer || !call.progress.empty(); };
    std::optional<Instant> given_up;
    while (true) {
      if (!given_up && !news_.wait(lock, stop, has_news)) {
        given_up = instant_from_clock() + stop_limit;
        lock.unlock();
        static_cast<void>(!line_.send(ActWord::stop, number));
        lock.lock();
        continue;
      }
      if (given_up && !news_.wait_until(lock, *given_up, has_news))
        return std::optional<std::string>();
      while (!call.progress.empty()) {
        const std::string line = std::exchange(call.progress.front(), {});
        call.progress.pop_front();
        lock.unlock();
        if (const Result<Progress> told = read_progress(line); told && progress)
          progress(*told);
        lock.lock();
      }
      if (call.answer && call.answer->word == ActWord::failure)
        return read_error(call.answer->body);
      if (call.answer)
        return std::optional(std::move(call.answer->body));
      if (is_over_)
        return std::optional<std::string>();
    }
  }

  void listen() {
    while (std::optional<ActMessage> message = line_.receive())
      if (message->word == ActWord::told) {
        if (place_.tell)
          place_.tell(printable(message->body));
      } else if (!hear(*message)) {
        say_over("the agent says something that breaks the rules");
        break;
      }
    say_over(line_.why());
    line_.close();
  }

  /// False: it is against the rules.
  bool hear(ActMessage& message) {
    const std::lock_guard lock(mutex_);
    if (message.word == ActWord::need) {
      needs_.push_back({message.number, std::move(message.body)});
      news_.notify_all();
      return needs_.size() <= most_needs;
    }
    if (message.number == 0 || message.number > last_)
      return false;
    const auto found = calls_.find(message.number);
    if (found == calls_.end())  // it was given up
      return true;
    Call& call = found->second;
    switch (message.word) {
      case ActWord::progress:
        call.progress.push_back(std::move(message.body));
        if (call.progress.size() > most_waiting_progress)
          call.progress.pop_front();
        break;
      case ActWord::answer:
      case ActWord::failure:
        if (call.answer)
          return false;
        call.answer = std::move(message);
        break;
      default:
        return false;
    }
    news_.notify_all();
    return true;
  }

  void say_over(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (!is_over_)
      why_ = why;
    is_over_ = true;
    news_.notify_all();
  }

  void send_contents(const std::stop_token& stop) {
    while (true) {
      Need need;
      {
        std::unique_lock lock(mutex_);
        if (!news_.wait(lock, stop, [&] { return is_over_ || !needs_.empty(); }) || is_over_)
          return;
        need = std::move(needs_.front());
        needs_.pop_front();
      }
      const Status sent = send_content(need);
      if (!sent && !line_.send(ActWord::content_lost, need.number, to_string(sent.error())))
        return;
    }
  }

  Status send_content(const Need& need) {
    {
      const std::lock_guard lock(mutex_);
      if (!named_.has(need.digest))
        return world_error("no act of this run names this content");
    }
    const Blob blob = TRY(blobs_.open(need.digest));
    std::string list;
    std::vector<char> buffer(piece_bytes);
    while (const size_t count = TRY(blob.source(buffer))) {
      const std::string_view piece(buffer.data(), count);
      if (blob.size <= longest_list)
        list += piece;
      TRY(line_.send(ActWord::content, need.number, piece));
    }
    {
      const std::lock_guard lock(mutex_);
      named_.add(list);
    }
    return line_.send(ActWord::content_end, need.number);
  }

  static constexpr size_t most_needs = 10'000;

  ActLine line_;
  const Place& place_;
  Blobs& blobs_;
  std::mutex mutex_;  ///< guards what follows
  Condition news_;
  std::map<uint64_t, Call> calls_;
  uint64_t last_ = 0;
  std::deque<Need> needs_;
  NamedDigests named_;
  bool is_over_ = false;
  std::string why_;
  Thread sender_, listener_;
};

/// All that is on the machine. Which part of the program acts there is decided there, by the kind.
class AgentMachine::Acts : public Driver {
 public:
  explicit Acts(AgentMachine& machine) : machine_(machine) {}

  Status ready(std::span<const Resource* const> wanted, std::stop_token stop) override {
    std::set<Name> kinds;
    for (const Resource* const resource : wanted)
      kinds.insert(resource->key.kind);
    std::vector<Value> names(kinds.begin(), kinds.end());
    TRY(machine_.ask(ActWord::ready, written(Value::list(std::move(names))), {}, stop));
    return {};
  }

  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token stop) override {
    std::vector<Observation> all;
    for (size_t from = 0; from < subjects.size(); from += most_looked_at) {
      const auto part = subjects.subspan(from, std::min(most_looked_at, subjects.size() - from));
      std::vector<Observation> seen =
          TRY(read_observations(TRY(machine_.ask(ActWord::observe, written(part), {}, stop))));
      if (seen.size() != part.size())
        return world_error(cat("the agent `", machine_.name(), "` answers something else"));
      std::ranges::move(seen, std::back_inserter(all));
    }
    return all;
  }

  /// Looks of users' code are acts, too.
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override {
    if (!machine_.place_.why_only_looks.empty())
      return user_error(machine_.place_.why_only_looks);
    ReadOutcome read =
        TRY(read_outcome(TRY(machine_.ask(ActWord::apply, written(act), progress, stop))));
    const std::lock_guard lock(machine_.mutex_);
    std::ranges::move(read.additions, std::back_inserter(machine_.additions_));
    return std::move(read.outcome);
  }

  /// Nothing of a machine has marks.
  Result<std::vector<Found>> list(const Name&, std::stop_token) override {
    return std::vector<Found>();
  }

 private:
  AgentMachine& machine_;
};

AgentMachine::AgentMachine(std::string name, Place place, Blobs& blobs)
    : name_(std::move(name)),
      place_(std::move(place)),
      blobs_(blobs),
      acts_(std::make_unique<Acts>(*this)) {}

AgentMachine::~AgentMachine() = default;

Driver& AgentMachine::driver() { return *acts_; }

Status AgentMachine::begin_states(const Value& settings, std::stop_token) {
  const std::lock_guard lock(mutex_);
  states_ = written(settings);
  stream_.reset();  // the next one begins with them
  return {};
}

Result<Value> AgentMachine::ask_states(const Value& asked, std::stop_token stop) {
  if (!place_.why_only_looks.empty())
    return user_error(place_.why_only_looks);
  return read_value(TRY(ask(ActWord::ask, written(asked), {}, stop)));
}

std::vector<Value> AgentMachine::take_additions() {
  const std::lock_guard lock(mutex_);
  return std::exchange(additions_, {});
}

Result<std::shared_ptr<AgentMachine::Stream>> AgentMachine::stream() {
  const std::lock_guard lock(mutex_);
  if (stream_ != nullptr && !stream_->is_over())
    return stream_;
  auto made = std::make_shared<Stream>(TRY(place_.connect()), place_, blobs_);
  if (!made->begin(states_))
    return gone(*made, ActWord::ready);
  stream_ = made;
  return made;
}

Error AgentMachine::gone(Stream& stream, ActWord of) const {
  const std::string why = stream.why();
  const bool is_act = of == ActWord::apply, is_asked = of == ActWord::ask;
  Error error = world_error(cat("the connection to the agent `", name_, "` was lost",
                                why.empty() ? "" : ": ", why,
                                is_act     ? "; what it was doing is looked at by the next run"
                                : is_asked ? "; nobody knows what became of the call"
                                           : ""));
  error.unknown_outcome = is_act || is_asked;
  return error;
}

Result<std::string> AgentMachine::ask(ActWord word, const std::string& body,
                                      const ProgressSink& progress, const std::stop_token& stop) {
  if (stop.stop_requested())
    return cancelled_error();
  const std::shared_ptr<Stream> through = TRY(stream());
  std::optional<std::string> answer = TRY(through->call(word, body, progress, stop));
  if (!answer)
    return gone(*through, word);
  return *std::move(answer);
}

}  // namespace fettle
