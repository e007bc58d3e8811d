#include "remote/agent_session.h"

#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "remote/agent_line.h"
#include "remote/upgrade.h"
#include "value/json.h"

namespace fettle {
namespace {

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

class AgentSession {
 public:
  explicit AgentSession(const AgentStreams& begun)
      : line_(begun.line),
        settings_(begun.settings),
        visit_(begun.visit),
        place_(begun.place),
        agent_(line_, most_streams, settings_.agent_silence, {}) {
    agent_.hurry(agent_lingers / 4);
    agent_.streams().go_on_after(begun.last);
    agent_.streams().answer_failures([this](StreamGoal goal, std::string_view why) {
      const std::string who = cat("the agent `", place_.who().name, "` does not ");
      return goal == StreamGoal::engine ? engine_answer(502, cat(who, "reach its engine: ", why))
                                        : acts_answer(cat(who, "act on its machine: ", why));
    });
  }

  std::variant<uint64_t, Error> serve() {
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
      const auto now = Clock::now();
      if (agent_.streams().count() > 0)
        last_used_ = now;
      const bool is_unused = now - last_used_ >= agent_lingers;
      if (drains_until_ && (is_unused || now >= *drains_until_))
        return world_error("the server was killed");
      if (is_unused && line_.is_idle())
        return agent_.streams().last();
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

  /// The hub asks us when the commands of its server have ended. One that was killed asked nobody.
  bool ends_now() {
    if (getppid() == hub_)
      return true;
    if (!drains_until_)
      drains_until_ = Clock::now() + agents_drain;
    return false;
  }

  /// Error: it may be here no longer.
  Status note_life() {
    const auto now = Clock::now();
    if (now - noted_ < settings_.agent_silence / 3)
      return {};
    noted_ = now;
    if (line_.received() != std::exchange(received_, line_.received()))
      place_.note_life();
    const std::string& name = place_.who().name;
    const Result<Grant> allowed = visit_.allow(needs_of_agent(name), shown_of_agent(name));
    // Who cannot read the tokens now has not taken any away.
    return allowed || allowed.error().blame != Blame::user ? Status() : Status(allowed.error());
  }

  Line& line_;
  const ServeSettings& settings_;
  Visit& visit_;
  const AgentPlace& place_;
  AgentLine agent_;
  EndSignal end_;
  const pid_t hub_ = getppid();
  const std::string too_many_ =
      cat("the agent `", place_.who().name, "` has ", most_streams, " connections already");
  const std::string busy_engine_ = engine_answer(503, too_many_);
  const std::string busy_acts_ = acts_answer(too_many_);
  Clock::time_point noted_ = Clock::now(), last_used_ = noted_;
  std::optional<Clock::time_point> drains_until_;
  uint64_t received_ = 0;
};

}  // namespace

EndSignal::EndSignal() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, &before_);
  signals_ = Descriptor(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
}

EndSignal::~EndSignal() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

bool EndSignal::take() const {
  signalfd_siginfo said{};
  return ::read(signals_.get(), &said, sizeof said) == static_cast<ssize_t>(sizeof said);
}

CommandNeeds needs_of_agent(const std::string& name) {
  return {Right::admin, Reach::server, {}, shown_of_agent(name), {}, name};
}

std::variant<uint64_t, Error> serve_streams(const AgentStreams& begun) {
  return AgentSession(begun).serve();
}

}  // namespace fettle
