#pragma once
/// Who may do what at a server of commands: what a token lets its holder do, and what a command
/// asks for.
///
/// Each right has those before it in it. What a command needs is said by the program
/// (`src/app/command_rights.cc`), from its words alone, so nothing has to be sent or run to find out
/// that it is refused.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fettle {

enum class Right : uint8_t {
  read,   ///< see what is there
  plan,   ///< have one's own text read, and nothing changed
  act,    ///< change environments, and run programs: a shell as the user of the server
  admin,  ///< the server itself: tokens, cleaning up, nodes
};

inline constexpr std::array<std::string_view, 4> right_names{"read", "plan", "act", "admin"};
std::string_view to_string(Right right);
/// Error (`Blame::user`): there is none of this name.
Result<Right> right_named(std::string_view name);

/// Whether a name fits a pattern with `*`, `?` and `[…]`.
bool fits_pattern(const std::string& pattern, const std::string& name);

/// What somebody may do.
struct Grant {
  std::string token;  ///< the name of his token
  Right right = Right::read;
  std::vector<std::string> environments{};  ///< patterns; none: in all of them
  std::string
      token_id{};  ///< another token of this name has another one; the server's own has none

  std::string
      agent{};  ///< its holder may be this agent, and nothing else; empty: it is no such token
  std::string trust{};  ///< the trust by which a job of CI came in; empty: he has a token of ours

  bool is_limited() const { return !environments.empty(); }
  /// Whether he is held to his own files and environments. Who may act without a limit has a shell.
  bool is_confined() const { return is_limited() || right < Right::act; }
  bool reaches(const std::string& environment) const;
};

/// Stands where a right would, of a token for an agent: who knows none of them gives it none.
inline constexpr std::string_view right_of_agents = "agent";
std::string_view right_text(const Grant& grant);

/// Which environments a command concerns, as far as its words say.
enum class Reach : uint8_t {
  named,    ///< those that it names
  shown,    ///< it shows what may be seen
  server,   ///< all: it is about the server as a whole
  unknown,  ///< its words do not say
};

struct CommandNeeds {
  Right right = Right::admin;
  Reach reach = Reach::server;
  std::vector<std::string> environments{};
  std::string what{};    ///< `fettle run`
  std::string manner{};  ///< what asks for more than that: " with `--engine`"; often empty
  std::string agent{};   ///< which agent he wants to be; empty: none
};

/// Why this is not for him (`Blame::user`): the right that is missing, the one that he has, and what
/// to ask for. None: he may.
std::optional<Error> refusal_by_rights(const Grant& grant, const CommandNeeds& needs);

}  // namespace fettle
