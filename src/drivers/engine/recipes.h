#pragma once
/// Runs recipes against a running service: kinds `exec`, `request` and `wait`.

#include "drivers/engine/site.h"
#include "kinds/hole.h"

namespace fettle {

Result<Outcome> run_exec_act(const Site& site, const Act& act, const ProgressSink& progress,
                             std::stop_token stop);
Result<Outcome> run_request_act(const Site& site, const Act& act, std::stop_token stop);
/// Tries once, answers `Pending`, and is called again: soon at first, then at the stated interval.
Result<Outcome> run_wait_act(const Site& site, const Act& act, std::stop_token stop);

/// Which codes an exec, a request or a task may end with; none: any.
template <typename Call>
std::optional<List> acceptable_codes(const Call& call) {
  return call.skip_code_check.get() ? std::nullopt : std::optional(call.acceptable_codes);
}

/// An error when `code` is not among those that are acceptable; `output` is shown in it.
Status check_code(const std::optional<List>& acceptable, std::string_view what, int64_t code,
                  std::string_view output);

}  // namespace fettle
