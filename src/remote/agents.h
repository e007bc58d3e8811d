#pragma once
/// The agents of a home's server, in files of its folder: any process that sees the folder finds out
/// which machines have one, and reaches the engine of each by a socket, and what acts there by another.
///
/// In `serve/agents`, which is its owner's alone, an agent `NAME` has `NAME.sock` and `NAME.acts`;
/// `NAME.json`, what is known of it, whose time is that of its last sign of life; and `NAME.lock`,
/// which is held for as long as it is connected, by the process that has its line (`agent_hub.h`).
/// What a killed one leaves is replaced by the next.

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/time.h"
#include "remote/streams.h"

namespace fettle {

/// What an agent says of itself, and who let it in.
struct AgentIdentity {
  std::string name, engine;
  std::vector<std::string> acts;  ///< what it allows: `engine`, `files`, …
  std::string from;               ///< its address
  std::string token;              ///< its name
};

struct AgentView {
  AgentIdentity who;
  std::string since;  ///< the moment at which it came
  bool is_connected = false;
  std::string gone;  ///< the moment at which it was last there; empty: it is connected
  std::string why;   ///< it went; empty: nobody could say so
};

/// `fettle agent --name NAME`, in notes and refusals.
std::string shown_of_agent(std::string_view name);
/// Its first frame. Errors (`Blame::user`): it is none, or its name is none.
Result<AgentIdentity> agent_identity_of(std::string_view json);
std::string json_of(const AgentIdentity& who);

/// By name; those that have gone, too.
std::vector<AgentView> agents_of(const Path& home);
/// Where an agent is reached. Error: it is not connected; since when, and who is.
Result<std::string> socket_of_agent(const Path& home, const std::string& name,
                                    StreamGoal goal = StreamGoal::engine);

/// A connection to it.
Result<Descriptor> connect_socket(const std::string& path);

/// Those that have been gone for a month leave nothing behind.
void forget_gone_agents(const Path& home, Time now);

/// The place of one agent, held by the process that has its line.
class AgentPlace {
 public:
  /// Errors: another one has it; it cannot be made.
  static Result<AgentPlace> take(const Path& home, AgentIdentity who, Time now);

  int listener(StreamGoal goal) const {
    return goal == StreamGoal::engine ? engine_listener_.get() : acts_listener_.get();
  }
  const AgentIdentity& who() const { return who_; }
  /// All that another process needs to have the place as well.
  std::vector<int> descriptors() const {
    return {lock_.descriptor(), engine_listener_.get(), acts_listener_.get()};
  }
  /// That it is there.
  void note_life() const;
  void leave(Time now, std::string_view why) &&;

 private:
  AgentPlace(AgentIdentity who, Path base, LockFile lock, Time now)
      : who_(std::move(who)), base_(std::move(base)), lock_(std::move(lock)), since_(now) {}
  Path file(std::string_view ending) const { return base_.string() + std::string(ending); }
  Result<Descriptor> listen(std::string_view ending) const;
  Status write(std::optional<Time> gone, std::string_view why) const;

  AgentIdentity who_;
  Path base_;  ///< without an ending
  LockFile lock_;
  Time since_;
  Descriptor engine_listener_, acts_listener_;
};

}  // namespace fettle
