#pragma once
/// A broken invariant is a bug of ours: it is reported with its place and ends the process, in
/// every build. A fault that a user or the world can cause is an `Error` instead (`base/result.h`).

namespace fettle {

/// Prints `file:line: broken invariant: text` to stderr and aborts.
[[noreturn]] void broken_invariant(const char* file, int line, const char* text);

}  // namespace fettle

#define INVARIANT(condition) \
  ((condition) ? static_cast<void>(0) : ::fettle::broken_invariant(__FILE__, __LINE__, #condition))
