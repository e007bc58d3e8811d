#pragma once
/// Does several things at once, for a caller that has to wait for all of them.

#include <functional>
#include <stop_token>
#include <vector>

#include "base/result.h"

namespace fettle {

using Task = std::function<Status(const std::stop_token& stop)>;

/// Does all of them on threads of its own, at most `most` at a time, and waits for their end. The
/// first error ends the others through their tokens and is the answer.
Status do_at_once(const std::vector<Task>& tasks, size_t most, const std::stop_token& stop);

}  // namespace fettle
