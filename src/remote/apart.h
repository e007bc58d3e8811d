#pragma once
/// Work in a process of its own, which may die alone, and which a limit ends: to ask somebody who may
/// be slow or hostile, from a process that has no threads.

#include <functional>
#include <string>

#include "base/result.h"

namespace fettle {

/// At most this much, in bytes.
constexpr size_t most_apart = 1 << 20;

/// What `work` gives, as text. Errors: its own, by `Blame::world`; or it did not end within so many seconds.
/// An alarm of the caller stands still meanwhile.
Result<std::string> done_apart(const std::function<Result<std::string>()>& work, unsigned seconds);

}  // namespace fettle
