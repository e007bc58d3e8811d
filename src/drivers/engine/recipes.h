#pragma once
/// Runs recipes against a running service: kinds `exec`, `request` and `wait`.

#include "drivers/engine/site.h"

namespace fettle {

Result<Outcome> run_exec_act(const Site& site, const Act& act, const ProgressSink& progress,
                             std::stop_token stop);
Result<Outcome> run_request_act(const Site& site, const Act& act, std::stop_token stop);
/// Tries once, answers `Pending`, and is called again: soon at first, then at the stated interval.
Result<Outcome> run_wait_act(const Site& site, const Act& act, std::stop_token stop);

/// An error if `code` is not among the acceptable ones; `output` is shown in it.
Status check_code(const Value& attributes, std::string_view what, int64_t code,
                  std::string_view output);

}  // namespace fettle
