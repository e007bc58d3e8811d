#include "remote/agent_session.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "remote/agent_line.h"
#include "remote/agents.h"
#include "remote/upgrade.h"
#include "value/json.h"

namespace fettle {
namespace {

/// Commands of a server that was killed finish what they are changing, and need the engine for it.
constexpr Duration drain_limit = 30s, drain_pause = 1s;
constexpr int accepted_at_once = 16;
constexpr useconds_t without_descriptors = 10'000;

/// In the form in which engines say such things.
std::string engine_answer(int status, const std::string& message) {
  return closing_reply(status, json_type, write_json(Value::dict({{"message", message}})));
}

/// In the form in which acts are spoken of.
std::string acts_answer(const std::string& message) {
  return packed(FrameType::error, write_json(Value::dict({{"message", message}})));
}

/// SIGTERM is read instead of ending the process.
class EndSignal {
 public:
  EndSignal() {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &before_);
    signals_ = Descriptor(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~EndSignal() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  EndSignal(const EndSignal&) = delete;
  EndSignal& operator=(const EndSignal&) = delete;

  int descriptor() const { return signals_.get(); }
  bool take() const {
    signalfd_siginfo said{};
    return ::read(signals_.get(), &said, sizeof said) == static_cast<ssize_t>(sizeof said);
  }

 private:
  sigset_t before_{};
  Descriptor signals_;
};

class AgentSession {
 public:
  AgentSession(Line& line, const ServeSettings& settings, Visit& visit, const CommandNeeds& needs,
               const AgentPlace& place)
      : line_(line),
        settings_(settings),
        visit_(visit),
        needs_(needs),
        place_(place),
        agent_(line, most_streams, settings.agent_silence, {}) {
    agent_.streams().answer_failures([&place](StreamGoal goal, std::string_view why) {
      const std::string who = cat("the agent `", place.who().name, "` does not ");
      return goal == StreamGoal::engine
                 ? engine_answer(502, cat(who, "reach its engine: ", why))
                 : acts_answer(cat(who, "act on its machine: ", why));
    });
  }

  /// Why it ended.
  Error serve() {
    line_.send(FrameType::agent);
    while (true) {
      std::array<pollfd, 3> others{pollfd{place_.listener(StreamGoal::engine), POLLIN, 0},
                                   pollfd{end_.descriptor(), POLLIN, 0},
                                   pollfd{place_.listener(StreamGoal::acts), POLLIN, 0}};
      const Status turned = agent_.turn(others, [](const Frame&) -> Result<bool> { return false; });
      if (!turned)
        return turned.error();
      if (others[0].revents != 0)
        accept(StreamGoal::engine);
      if (others[2].revents != 0)
        accept(StreamGoal::acts);
      if (others[1].revents != 0 && end_.take() && ends_now())
        return world_error("the server ends");
      if (drains_until_ && has_drained())
        return world_error("the server was killed");
      if (const Status alive = note_life(); !alive)
        return alive.error();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  void accept(StreamGoal goal) {
    for (int i = 0; i < accepted_at_once; ++i) {
      Descriptor client(::accept4(place_.listener(goal), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.is_open()) {
        if (errno == EMFILE || errno == ENFILE)
          usleep(without_descriptors);
        return;
      }
      agent_.streams().open(std::move(client), goal,
                            goal == StreamGoal::engine ? busy_engine_ : busy_acts_);
    }
  }

  /// A server that ends asks us when its commands have ended. One that was killed asked nobody.
  bool ends_now() {
    if (getppid() == server_)
      return true;
    if (!drains_until_) {
      last_used_ = Clock::now();
      drains_until_ = last_used_ + drain_limit;
      agent_.hurry(drain_pause / 4);
    }
    return false;
  }

  bool has_drained() {
    const auto now = Clock::now();
    if (agent_.streams().count() > 0)
      last_used_ = now;
    return now >= *drains_until_ || now - last_used_ >= drain_pause;
  }

  /// Error: it may be here no longer.
  Status note_life() {
    const auto now = Clock::now();
    if (now - noted_ < settings_.agent_silence / 3)
      return {};
    noted_ = now;
    if (line_.received() != std::exchange(received_, line_.received()))
      place_.note_life();
    const Result<Grant> allowed = visit_.allow(needs_, shown_of_agent(place_.who().name));
    // Who cannot read the tokens now has not taken any away.
    return allowed || allowed.error().blame != Blame::user ? Status() : Status(allowed.error());
  }

  Line& line_;
  const ServeSettings& settings_;
  Visit& visit_;
  const CommandNeeds& needs_;
  const AgentPlace& place_;
  AgentLine agent_;
  EndSignal end_;
  const pid_t server_ = getppid();
  const std::string too_many_ =
      cat("the agent `", place_.who().name, "` has ", most_streams, " connections already");
  const std::string busy_engine_ = engine_answer(503, too_many_);
  const std::string busy_acts_ = acts_answer(too_many_);
  Clock::time_point noted_ = Clock::now(), last_used_ = noted_;
  std::optional<Clock::time_point> drains_until_;
  uint64_t received_ = 0;
};

}  // namespace

Status serve_agent(Line& line, const ServeSettings& settings, Visit& visit, std::string_view json) {
  AgentIdentity who = TRY(agent_identity_of(json));
  const std::string shown = shown_of_agent(who.name);
  const CommandNeeds needs{Right::admin, Reach::server, {}, shown, {}, who.name};
  who.from = visit.from();
  who.token = TRY(visit.allow(needs, shown)).token;
  AgentPlace place = TRY(AgentPlace::take(settings.home, std::move(who), settings.clock()));
  const Result<std::string> noted = visit.note(needs, shown, 0);
  Error end = noted ? AgentSession(line, settings, visit, needs, place).serve() : noted.error();
  if (noted)
    visit.note_end(*noted, end.blame == Blame::user ? 2 : 0);
  std::move(place).leave(settings.clock(), end.message);
  return end;
}

}  // namespace fettle
