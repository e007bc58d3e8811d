#include "cli/commands/each_host.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/print.h"
#include "remote/agents.h"
#include "workplace/machines.h"

namespace fettle {

CommandOption on_each_option() {
  return {{"-L", "--on-each"},
          "GLOB",
          "each agent whose name fits, in an environment ENVIRONMENT.HOST of its own"};
}

Status check_on_each(const Face& face, std::initializer_list<const char*> others) {
  for (const char* const other : others)
    if (face.parsed.has(other))
      return user_error(cat("`-L` is for many machines, and `--", other, "` for one"));
  return {};
}

Result<std::vector<std::string>> hosts_asked(Face& face) {
  const std::string glob = face.parsed.text("on-each");
  std::vector<std::string> fitting, gone;
  for (const AgentView& agent : agents_of(TRY(face.home_folder())))
    if (fnmatch(glob.c_str(), agent.who.name.c_str(), 0) == 0)
      (agent.is_connected ? fitting : gone).push_back(agent.who.name);
  std::ranges::sort(fitting);
  const std::string left_out =
      gone.empty() ? "" : cat("not connected: ", join(gone, ", "), " (`fettle agent ls`)");
  if (fitting.empty())
    return world_error(cat("no agent is connected whose name fits `", printable(glob), "`",
                           left_out.empty() ? "" : "; ", left_out));
  if (!left_out.empty())
    print_warning(face, cat("left out, ", left_out));
  return fitting;
}

std::string environment_of_host(const Workplace& place, const std::string& environment,
                                const std::string& host) {
  std::string own = cat(environment, ".", host);
  (*place.machines->asked_for)[Name(own)] = host;
  return own;
}

void print_host(const Face& face, const std::string& host, const std::string& environment) {
  print(cat(in(Colour::bold, host, face.colour), " (", environment, ")"));
}

int tell_failed_host(const Face& face, const std::string& host, const Error& error) {
  print_error(cat(host, ": ", error_text(error, face.terminal)));
  return error.blame == Blame::user ? 2 : failed_code;
}

int worse_code(int a, int b) {
  constexpr std::array<int, 6> by_rank{0, 4, 3, 1, 2, interrupted_code};
  const auto rank = [&](int code) { return std::ranges::find(by_rank, code) - by_rank.begin(); };
  return rank(a) < rank(b) ? b : a;
}

}  // namespace fettle
