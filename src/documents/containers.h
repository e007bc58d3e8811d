#pragma once
/// What happens inside containers of services and of pods: commands, logs, copies. Anybody may have
/// written their bytes: those that are no UTF-8 are given as base64, and never cut or repaired.

#include "core/container_engine.h"
#include "documents/parts.h"

namespace fettle {

/// A command that ran: `code`, `encoding` (`text`, or `base64` of both when one of them is no
/// UTF-8), `stdout`, `stderr`.
Value output_document(int64_t code, const std::string& output, const std::string& errors);

/// A line of a log: `stream`, `time`, `text` beside what `about` says, which container wrote it.
Value log_line(std::vector<Entry> about, OutputStream stream, std::string_view time,
               std::string_view text);
/// `lines`: these lines.
Value log_document(std::vector<Value> lines);

/// A copy into, out of or between containers: `from`, `to`, as they were asked for.
Value copy_document(std::string_view from, std::string_view to);

}  // namespace fettle
