#include "drivers/kubernetes/refusal.h"

namespace fettle {
namespace {

using kubernetes::ApiReason;

/// By then a watch has told what stood in the way.
constexpr Duration conflict_pause = 200ms;
constexpr Duration write_pause = 100ms;  ///< until what was written is known, …
constexpr int most_waits_for_write = 6;  ///< … each twice as long as the one before

}  // namespace

bool is_refusal(const kubernetes::ApiError& error) {
  switch (error.reason) {
    case ApiReason::bad_request:
    case ApiReason::forbidden:
    case ApiReason::method_not_allowed:
    case ApiReason::too_large:
    case ApiReason::unsupported_media_type:
    case ApiReason::invalid:
      return true;
    default:
      return false;
  }
}

Result<Outcome> outcome_of(const kubernetes::ApiError& error) {
  if (error.reason == ApiReason::conflict || error.reason == ApiReason::already_exists)
    return Outcome(Pending{"somebody else has written it meanwhile", conflict_pause, {}});
  if (error.reason == ApiReason::not_found)
    return Outcome(Skipped{"it is there no more"});
  if (!is_refusal(error))
    return static_cast<const Error&>(error);
  Error refused = error;
  if (!error.server_message.empty())
    refused.message = error.server_message;
  return Outcome(Failed{std::move(refused), {}});
}

Outcome wait_for_write(const Act& act, std::string what) {
  if (act.attempt > most_waits_for_write)
    return Skipped{std::move(what)};
  return Pending{std::move(what), write_pause * (1 << (act.attempt - 1)), {}};
}

}  // namespace fettle
