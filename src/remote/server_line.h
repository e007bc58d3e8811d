#pragma once
/// The way to a server: a connection, TLS if its URL says so, and the upgrade of a request.

#include "remote/contexts.h"
#include "remote/line.h"
#include "remote/upgrade.h"

namespace fettle {

/// A line on which a client begins with what it wants. Errors: nobody answers, it is not the server
/// that it should be, or it refuses. The token is told to none whose certificate does not fit.
/// `is_refused_for_now`: that it may let him in at another time; null: nobody wants to know.
/// `target`: that of commands or that of agents (`upgrade.h`).
Result<Line> line_to_server(const ServerChoice& server, std::string_view version,
                            bool* is_refused_for_now = nullptr,
                            std::string_view target = commands_path);

/// The same line after a second handshake (`FrameType::again`). Errors as above.
Result<Line> secured_again(Line line, const ServerChoice& server);

/// What a frame `error` says.
Error error_told(std::string_view json);
/// What such a frame has.
std::string told_form(const Error& error);
/// The error of a line that was open.
Error lost(const ServerChoice& server);

}  // namespace fettle
