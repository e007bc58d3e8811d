#pragma once
/// What monitors ask of a server of commands: whether it is well, and its numbers.
///
///   GET /healthz   `ok`, for anybody: a probe has no token, and learns nothing else
///   GET /metrics   the text format of Prometheus, for a token that sees the whole server
///
/// A request of theirs is one connection, as a command is, and its process answers it. So a server
/// that answers can also make processes, which is what its next command needs.

#include <optional>
#include <string>

#include "remote/session.h"
#include "remote/upgrade.h"
#include "remote/visit.h"

namespace fettle {

/// The whole reply. None: this asks for something else.
std::optional<std::string> health_reply(const UpgradeRequest& request,
                                        const ServeSettings& settings, const Caller& caller,
                                        Visit& visit);

}  // namespace fettle
