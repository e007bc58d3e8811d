#include "app/engine_life.h"

#include "base/text.h"
#include "drivers/engine/dial.h"
#include "drivers/engine/engine.h"
#include "drivers/engine/prerequisites.h"
#include "drivers/engine/private_podman.h"

namespace fettle {
namespace {

void describe(HttpClient& http, const ConnectOptions& options, const EngineLink& link,
              EngineState& state, const std::stop_token& stop) {
  Engine engine(http, link.address, {}, options.limits);
  const Result<Engine::Flavour> flavour = engine.flavour(stop);
  state.address = link.address.text;
  state.flavour = flavour && *flavour == Engine::Flavour::podman ? "Podman" : "Docker";
}

}  // namespace

Result<EngineState> look_at_engines(HttpClient& http, ConnectOptions options,
                                    const std::stop_token& stop) {
  EngineState state;
  const PrivatePodman own({.root = options.private_root});
  state.folder = options.private_root.string();
  state.socket = cat("unix://", own.socket().string());
  state.own = own.is_running(stop)                ? "running"
              : file_exists(options.private_root) ? "stopped"
                                                  : "absent";
  options.may_start = false;
  const Result<EngineLink> link = connect_engine(http, options, stop);
  if (link)
    describe(http, options, *link, state, stop);
  else if (is_cancelled(link.error()) || link.error().blame == Blame::user)
    return link.error();
  else
    state.why = to_string(link.error());
  return state;
}

Result<EngineState> start_engine(HttpClient& http, ConnectOptions options,
                                 const std::stop_token& stop) {
  options.may_start = true;
  options.notice = {};
  TRY(connect_engine(http, options, stop));
  return look_at_engines(http, options, stop);
}

Result<EngineState> end_engine(HttpClient& http, const ConnectOptions& options, bool wipes,
                               const std::stop_token& stop) {
  TRY(PrivatePodman({.root = options.private_root}).stop(wipes, stop));
  ConnectOptions then = options;
  then.given.clear();
  return look_at_engines(http, then, stop);
}

Result<EngineDoor> open_engine_door(HttpClient& http, const ConnectOptions& options,
                                    const std::stop_token& stop) {
  for (const EngineAddress& address : TRY(find_engines(options.given, options.variables)))
    TRY(check_dialled(address));
  const EngineLink link = TRY(connect_engine(http, options, stop));
  EngineState state;
  describe(http, options, link, state, stop);
  const Result<EngineAnswer> answer =
      Engine(http, link.address, {}, options.limits).ask({.path = "/version"}, stop);
  const std::string version = answer ? std::string(answer->body.text_at("Version")) : "";
  return EngineDoor{version.empty() ? state.flavour : cat(state.flavour, " ", version),
                    [link] { return dial_engine(link.address); }};
}

std::vector<Diagnosis> diagnose_engines(HttpClient& http, const ConnectOptions& options,
                                        const std::stop_token& stop) {
  const Result<EngineState> state = look_at_engines(http, options, stop);
  if (!state)
    return {{false, to_string(state.error())}};
  if (!state->address.empty())
    return {{true, cat("engine ", state->address, " (", state->flavour, ")")}};
  std::vector<Diagnosis> lines;
  const std::vector<std::string> lacks = private_engine_lacks();
  const bool is_asked_for = !options.given.empty() || options.variables("DOCKER_HOST");
  if (lacks.empty() && !is_asked_for)
    return {{true,
             "no container engine is running; fettle starts a private Podman when it needs one, as "
             "`fettle engine start` does"}};
  lines.push_back({false, state->why});
  if (!is_asked_for)
    for (const std::string& lack : lacks)
      lines.push_back({false, lack});
  return lines;
}

}  // namespace fettle
