#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/kurtosis_forms.h"
#include "cli/print.h"

namespace fettle {
namespace {

void print_state(const Face& face, const EngineState& state) {
  if (face.json) {
    print_json(document_of(state));
    return;
  }
  if (face.quiet) {
    if (!state.address.empty())
      print(state.address);
    return;
  }
  print(state.address.empty() ? state.why
                              : cat("engine ", state.address, " (", state.flavour, ")"));
  print(cat("private Podman ", state.own, state.own == "absent" ? "; its folder would be " : " in ",
            state.folder));
}

Result<int> engine_status(Face& face) {
  const EngineState state = TRY(face.engine(EngineVerb::look));
  if (face.is_kurtosis && !face.json)
    print(kurtosis_engine_text(!state.address.empty()));
  else
    print_state(face, state);
  return 0;
}
/// An engine that answers goes on: with it, every service would stop.
Result<int> engine_restart(Face& face) {
  EngineState state = TRY(face.engine(EngineVerb::look));
  const bool has_answered = !state.address.empty();
  if (!has_answered)
    state = TRY(face.engine(EngineVerb::start));
  print_state(face, state);
  if (has_answered && !face.json && !face.quiet)
    print_error("the engine answers, and fettle has no other; nothing is needed");
  return 0;
}
Result<int> engine_start(Face& face) {
  print_state(face, TRY(face.engine(EngineVerb::start)));
  return 0;
}

Result<int> end(Face& face, EngineVerb verb, std::string_view done) {
  const EngineState before = TRY(face.engine(EngineVerb::look));
  const EngineState state = TRY(face.engine(verb));
  const bool was =
      before.own == "running" || (verb == EngineVerb::remove && before.own != "absent");
  if (face.json)
    print_json(document_of(state));
  else if (!face.quiet)
    print_error(was ? cat("private Podman ", done)
                    : cat("there was no private Podman to ",
                          verb == EngineVerb::remove ? "remove" : "stop"));
  return 0;
}
Result<int> engine_stop(Face& face) {
  return end(face, EngineVerb::stop, "stopped; its containers, images and volumes stay");
}
Result<int> engine_remove(Face& face) {
  return end(face, EngineVerb::remove, "removed, with its containers, images and volumes");
}

/// About the engine's container in Kurtosis, of which fettle has none.
std::vector<CommandOption> engine_container_options() {
  const std::string help = "accepted for scripts; fettle runs no engine container";
  return {{{"--version"}, "VERSION", help},
          {{"--log-level"}, "LEVEL", help},
          {{"--enclave-pool-size"}, "N", help},
          {{"--github-auth-token"}, "TOKEN", help},
          {{"--restart-api-containers"}, "", help},
          {{"--domain"}, "NAME", help},
          {{"--log-retention-period"}, "PERIOD", help}};
}

}  // namespace

Command engine_logs_command();

std::vector<Command> engine_commands() {
  const CommandGroup group{"machine", {}, CommandPlace::here};
  return {
      group.reader(
          "engine status", "", 0, 0,
          "Says which container engine is used, and the state of the private Podman. Starts "
          "nothing.",
          {"fettle engine status", "fettle engine status -o json"}, engine_status),
      group.make("engine start", "", 0, 0,
                 "Starts the private Podman, unless another engine answers; prints the address.",
                 {"fettle engine start", "fettle engine start -q"}, engine_start,
                 engine_container_options()),
      group.make("engine restart", "", 0, 0,
                 "Starts the private Podman if no engine answers.\n"
                 "One that answers goes on, because its containers would stop; `engine stop` and\n"
                 "`engine start` do that.",
                 {"fettle engine restart", "fettle engine restart -q"}, engine_restart,
                 engine_container_options()),
      group.make("engine stop", "", 0, 0,
                 "Stops the private Podman and the containers in it; they stay, as do images and "
                 "volumes.\n"
                 "After the next start, `fettle run` and `fettle enclave start` start them again.",
                 {"fettle engine stop", "fettle engine stop -q"}, engine_stop),
      group.make("engine rm", "", 0, 0,
                 "Removes the private Podman with its containers, images and volumes.",
                 {"fettle engine rm", "fettle engine rm -q"}, engine_remove),
      engine_logs_command()};
}

}  // namespace fettle
