#pragma once
/// A server of commands, and what somebody knows of servers.

#include "documents/parts.h"
#include "remote/contexts.h"
#include "remote/run_log.h"

namespace fettle {

/// `serve`: `address`, and the `token` if it was made for this server.
Value server_document(const std::string& address, const std::string& token);
/// `name`, `url`, and whether it is `used`.
Value document_of(const Contexts& contexts);
/// `run`, `command`, `began`, `status` (`running`, `ended` or `killed`), and the exit `code`.
Value value_of(const RunView& run);

}  // namespace fettle
