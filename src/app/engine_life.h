#pragma once
/// The life of the private Podman, and the engine that is in use.

#include "cli/command.h"
#include "drivers/engine/connect.h"

namespace fettle {

/// Finds the engine that answers now; starts nothing.
Result<EngineState> look_at_engines(HttpClient& http, ConnectOptions options,
                                    const std::stop_token& stop);
/// Finds the engine that answers at the usual places, or starts the private one.
Result<EngineState> start_engine(HttpClient& http, ConnectOptions options,
                                 const std::stop_token& stop);
/// Ends the private engine with its containers. `wipes`: its images and volumes go, too.
Result<EngineState> end_engine(HttpClient& http, const ConnectOptions& options, bool wipes,
                               const std::stop_token& stop);
/// The engine that answers, for others.
Result<EngineDoor> open_engine_door(HttpClient& http, const ConnectOptions& options,
                                    const std::stop_token& stop);
/// The lines of `doctor` about engines.
std::vector<Diagnosis> diagnose_engines(HttpClient& http, const ConnectOptions& options,
                                        const std::stop_token& stop);

}  // namespace fettle
