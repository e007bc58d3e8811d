/// `agent`: brings this machine to a server; `agent ls`: those that have come.

#include <unistd.h>

#include <set>

#include "base/node_name.h"
#include "base/text.h"
#include "cli/acts_door.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "cli/server_choice.h"
#include "documents/servers.h"
#include "remote/agent.h"
#include "remote/agents.h"

namespace fettle {
namespace {

/// `--name`, else that of this machine.
Result<std::string> agent_name(const Face& face) {
  std::string name = face.parsed.text("name");
  if (name.empty()) {
    std::array<char, 256> own{};
    if (gethostname(own.data(), own.size() - 1) != 0)
      return user_error("`--name` must say what this machine is called at the server");
    name = lower_case(own.data());
  }
  TRY(check_node_name(name, "an agent"));
  return name;
}

Result<ServerChoice> server_of_agent(Face& face) {
  std::optional<ServerChoice> server = TRY(server_meant(face));
  if (!server)
    return user_error(
        "an agent connects to a server: name it with `--server URL`, $FETTLE_SERVER, or "
        "`fettle context use NAME`");
  if (const std::string file = face.parsed.text("tls-ca"); !file.empty())
    server->authorities = TRY(read_authorities(file).context("--tls-ca"));
  return *std::move(server);
}

/// Where a stream leads, by what this agent lets be done.
Result<Descriptor> connect_stream(StreamGoal goal, const std::set<std::string>& acts,
                                  const EngineDoor& engine) {
  if (goal == StreamGoal::engine && acts.contains("engine"))
    return engine.connect();
  std::set<std::string> others = acts;
  others.erase("engine");
  if (goal == StreamGoal::acts && !others.empty())
    return start_acting(others);
  return world_error(cat("it allows only ", join(std::vector(acts.begin(), acts.end()), ", "),
                         " (`fettle agent --acts`)"));
}

Result<int> be_agent(Face& face) {
  AgentSettings settings;
  const std::set<std::string> acts =
      TRY(read_acts(face.parsed.text("acts", join(known_acts(), ","))));
  settings.name = TRY(agent_name(face));
  settings.server = TRY(server_of_agent(face));
  settings.version = face.build().version;
  Workplace& place = *TRY(face.workplace());
  place.interrupt->expect(Interrupt::Ends::by_any_signal);
  EngineDoor door;
  if (acts.contains("engine"))
    door = TRY(face.engine_door());
  settings.engine = door.version;
  settings.acts.assign(acts.begin(), acts.end());
  settings.connect = [&](StreamGoal goal) { return connect_stream(goal, acts, door); };
  settings.tell = [&](const std::string& text) {
    if (!face.quiet)
      print_error(text);
  };
  settings.random = place.random;
  TRY(run_agent(settings, place.interrupt->acts_token()));
  if (face.json || face.json_lines)
    print_json(status_document(settings.name, "stopped"));
  return 0;
}

Result<int> agent_ls(Face& face) {
  const std::vector<AgentView> agents = agents_of(TRY(face.home_folder()));
  if (face.json) {
    print_json(document_of(agents));
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"NAME", "STATUS", "SINCE", "FROM", "ENGINE", "ACTS"}};
  for (const AgentView& agent : agents)
    rows.push_back({agent.who.name, agent.is_connected ? "connected" : "gone",
                    agent.is_connected ? agent.since : agent.gone, agent.who.from, agent.who.engine,
                    join(agent.who.acts, ",")});
  print(agents.empty() ? "no agent has ever come; `fettle agent --server URL` connects one"
                       : table(rows));
  return 0;
}

}  // namespace

std::vector<Command> agent_commands() {
  const CommandGroup client{"servers", {}, CommandPlace::client};
  return {
      client.make(
          "agent", "", 0, 0,
          "Brings this machine to a server, until you stop it.\n"
          "There, `agent://NAME` is its engine, and `--on NAME` acts on its files and commands.",
          {"fettle agent --server https://fettle.example:9790 --name b",
           "fettle agent --server team --name b --engine unix:///run/podman/podman.sock",
           "fettle agent --server team --name b --acts files,commands,states"},
          be_agent,
          {{{"--name"},
            "HOST",
            "what this machine is called at the server (default: its host name)"},
           {{"--acts"},
            "WORDS",
            "what it allows, of engine,files,commands,handlers,states (default: all of them)"},
           {{"--tls-ca"},
            "FILE",
            "the certificate (PEM) of the authority that signed that of the server; default: "
            "that of the context, $FETTLE_TLS_CA, those that the system knows"}}),
      CommandGroup{"servers", {}}.reader(
          "agent ls", "", 0, 0, "Lists the agents that have come to the server of this home.",
          {"fettle agent ls --server team", "fettle agent ls -o json"}, agent_ls)};
}

}  // namespace fettle
