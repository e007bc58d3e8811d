#pragma once
/// Functions through which Starlark code of users acts on the world, lent to it for one call.
///
///   command.run(words, cwd = "", env = {}, input = "", check = True) -> struct(code, output,
///   errors)
///   files.read(path) -> text or None      files.write(path, content, mode = 0o644)
///   files.exists(path) -> bool            files.remove(path)
///   http.request(url, method = "GET", headers = {}, body = "") -> struct(status, headers, body)
///   skip(reason)

#include <stop_token>

#include "base/http.h"
#include "starlark/starlark.h"

namespace fettle {

/// The loan of one call; outlives the call.
struct Loan {
  HttpClient* http = nullptr;
  std::stop_token stop{};
  std::chrono::steady_clock::time_point ends{};  ///< when all lent functions have to end
  std::string skipped{};                         ///< why `skip` was called; empty: it was not
  /// The time that is left, at least a millisecond.
  Duration left() const;
};

/// Predeclares the functions in a session. `loan` must outlive it.
void lend(starlark::Session& session, Loan& loan);

}  // namespace fettle
