#include "remote/agent.h"

#include <algorithm>

#include "base/text.h"
#include "base/wait.h"
#include "remote/agent_line.h"
#include "remote/agents.h"
#include "remote/server_line.h"

namespace fettle {
namespace {

constexpr Duration greeting_limit = 15s;
/// Streams that have ended at the server may still have something to say here.
constexpr size_t most_here = 2 * most_streams;

class Agent {
 public:
  Agent(const AgentSettings& settings, const std::stop_token& stop)
      : settings_(settings), stop_(stop) {}

  Status run() {
    for (int failures = 0;; ++failures) {
      const auto began = Clock::now();
      const Status end = be_there();
      if (is_cancelled(end.error()))
        return {};
      if (end.error().blame == Blame::user && !is_refused_for_now_)
        return end;
      tell_once(cat(to_string(end.error()), "; trying again until it works"));
      if (Clock::now() - began > settings_.silence / 3)
        failures = 0;
      if (!pause_for(pause_after(failures), stop_))
        return {};
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// One connection. Always an error: why it ended.
  Status be_there() {
    is_refused_for_now_ = false;
    Line line =
        TRY(line_to_server(settings_.server, settings_.version, &is_refused_for_now_, agents_path));
    if (stop_.stop_requested())
      return cancelled_error();
    line.send(FrameType::agent,
              json_of({settings_.name, settings_.engine, settings_.acts, {}, {}}));
    if (!line.push_all(greeting_limit))
      return lost(settings_.server);
    std::optional<Frame> answer = line.await(greeting_limit);
    if (answer && answer->type == FrameType::again && settings_.server.address.is_secured) {
      line = TRY(secured_again(std::move(line), settings_.server));
      line.send_packed(answer->payload);
      answer = line.push_all(greeting_limit) ? line.await(greeting_limit) : std::nullopt;
    }
    if (!answer)
      return lost(settings_.server);
    if (answer->type == FrameType::error)
      return error_told(answer->payload);
    if (answer->type != FrameType::agent)
      return world_error("the server says something that this program does not understand");
    tell_once(cat("connected to `", settings_.server.url, "` as the agent `", settings_.name,
                  "`: there, ", brought()));
    AgentLine agent(line, most_here, settings_.silence, stop_);
    const auto hear = [&](const Frame& frame) -> Result<bool> {
      if (frame.type == FrameType::error)
        return error_told(frame.payload);
      return frame.type == FrameType::stream_open && agent.streams().join(frame, settings_.connect);
    };
    while (true)
      TRY(agent.turn({}, hear).context(cat("the server at `", settings_.server.url, "`")));
  }

  std::string brought() const {
    const std::string& name = settings_.name;
    const std::string engine =
        settings_.engine.empty() ? "" : cat("`agent://", name, "` is ", settings_.engine);
    const bool is_acting =
        std::ranges::any_of(settings_.acts, [](const std::string& act) { return act != "engine"; });
    const std::string acts = is_acting ? cat("`--on ", name, "` acts on this machine") : "";
    return cat(engine, engine.empty() || acts.empty() ? "" : ", and ", acts);
  }

  /// Half of it by chance: the agents of a server that was started again come one after another.
  Duration pause_after(int failures) const {
    constexpr int most_doublings = 16;
    const Duration most = std::min(
        settings_.longest_pause, settings_.first_pause * (1 << std::min(failures, most_doublings)));
    constexpr uint64_t parts = 1'000;
    return most / 2 + most / 2 * static_cast<int64_t>(settings_.random() % parts) /
                          static_cast<int64_t>(parts);
  }

  void tell_once(const std::string& text) {
    if (text != std::exchange(told_, text))
      settings_.tell(text);
  }

  const AgentSettings& settings_;
  const std::stop_token& stop_;
  std::string told_;
  bool is_refused_for_now_ = false;
};

}  // namespace

Status run_agent(const AgentSettings& settings, const std::stop_token& stop) {
  return Agent(settings, stop).run();
}

}  // namespace fettle
