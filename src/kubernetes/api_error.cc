#include "kubernetes/api_error.h"

#include <array>
#include <charconv>

#include "base/text.h"
#include "value/json.h"

namespace fettle::kubernetes {
namespace {

struct ReasonRow {
  ApiReason reason;
  std::string_view name;    ///< as errors tell it
  std::string_view status;  ///< as the server spells it; empty: it does not
  int code;                 ///< where no reason is given; 0: of no code
};

constexpr std::array rows{
    ReasonRow{ApiReason::bad_request, "bad request", "BadRequest", 400},
    ReasonRow{ApiReason::unauthorized, "unauthorized", "Unauthorized", 401},
    ReasonRow{ApiReason::forbidden, "forbidden", "Forbidden", 403},
    ReasonRow{ApiReason::not_found, "not found", "NotFound", 404},
    ReasonRow{ApiReason::method_not_allowed, "method not allowed", "MethodNotAllowed", 405},
    ReasonRow{ApiReason::not_acceptable, "not acceptable", "NotAcceptable", 406},
    ReasonRow{ApiReason::already_exists, "already exists", "AlreadyExists", 0},
    ReasonRow{ApiReason::conflict, "conflict", "Conflict", 409},
    ReasonRow{ApiReason::gone, "gone", "Gone", 0},
    ReasonRow{ApiReason::expired, "expired", "Expired", 410},
    ReasonRow{ApiReason::too_large, "too large", "RequestEntityTooLarge", 413},
    ReasonRow{ApiReason::unsupported_media_type, "unsupported media type", "UnsupportedMediaType",
              415},
    ReasonRow{ApiReason::invalid, "invalid", "Invalid", 422},
    ReasonRow{ApiReason::too_many_requests, "too many requests", "TooManyRequests", 429},
    ReasonRow{ApiReason::internal, "internal error", "InternalError", 500},
    ReasonRow{ApiReason::server_timeout, "server timeout", "ServerTimeout", 0},
    ReasonRow{ApiReason::timeout, "timeout", "Timeout", 504},
    ReasonRow{ApiReason::unavailable, "unavailable", "ServiceUnavailable", 503},
    ReasonRow{ApiReason::unreachable, "unreachable", "", 502},
    ReasonRow{ApiReason::cancelled, "cancelled", "", 0},
    ReasonRow{ApiReason::not_permitted, "not permitted", "", 0},
    ReasonRow{ApiReason::unreadable, "unreadable", "", 0},
    ReasonRow{ApiReason::other, "other", "", 0},
};

ApiReason reason_of(std::string_view status, int code) {
  for (const ReasonRow& row : rows)
    if (!status.empty() && row.status == status)
      return row.reason;
  for (const ReasonRow& row : rows)
    if (code != 0 && row.code == code)
      return row.reason;
  return code >= 500 ? ApiReason::internal : ApiReason::other;
}

/// The longest that a server, or whoever answers in its place, can make us wait.
constexpr int64_t most_seconds = 60;

std::optional<Duration> retry_after_of(const HttpResponse& answer) {
  const std::string_view text = answer.header("retry-after");
  int64_t seconds = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || seconds < 0)
    return {};
  return std::min(seconds, most_seconds) * Duration(1s);
}

}  // namespace

std::string_view to_string(ApiReason reason) {
  for (const ReasonRow& row : rows)
    if (row.reason == reason)
      return row.name;
  return "other";
}

ApiError::ApiError(Error error) : Error(std::move(error)) {
  reason = is_cancelled(*this)     ? ApiReason::cancelled
           : blame == Blame::world ? ApiReason::unreachable
                                   : ApiReason::other;
}

bool ApiError::may_retry() const {
  switch (reason) {
    case ApiReason::too_many_requests:
    case ApiReason::server_timeout:
    case ApiReason::unavailable:
    case ApiReason::internal:
    case ApiReason::timeout:
    case ApiReason::unreachable:
      return true;
    default:
      return false;
  }
}

ApiError api_error_of(const Value& status, int code, std::string_view doing) {
  ApiError error(world_error(""));
  error.code = static_cast<int>(std::clamp<int64_t>(status.integer_at("code", code), 0, 999));
  error.reason = reason_of(status.text_at("reason"), error.code);
  error.server_message = printable(clipped(status.text_at("message"), 4'000));
  error.details = status.at("details");
  if (const int64_t seconds = error.details.integer_at("retryAfterSeconds"); seconds > 0)
    error.retry_after = std::min(seconds, most_seconds) * Duration(1s);
  error.message =
      cat(doing, ": ",
          error.server_message.empty()
              ? cat(to_string(error.reason), error.code != 0 ? cat(" (", error.code, ")") : "")
              : error.server_message);
  error.unknown_outcome = error.reason == ApiReason::timeout || error.reason == ApiReason::internal;
  return error;
}

ApiError read_api_error(const HttpResponse& answer, std::string_view doing) {
  Value status;
  if (Result<Value> read = read_json(answer.body, {}, Duplicates::last_wins);
      read && read->text_at("kind") == "Status")
    status = std::move(*read);
  else  // a proxy, or a server that is no more than coming up
    status = Value::dict({{"message", clipped(trim(answer.body), 300)}});
  ApiError error = api_error_of(status, answer.status, doing);
  error.code = answer.status;
  if (answer.status >= 500 && status.text_at("kind") != "Status")  // of somebody before the server
    error.unknown_outcome = true;
  if (const auto seconds = retry_after_of(answer))
    error.retry_after = seconds;
  return error;
}

ApiError unreadable_error(std::string message) {
  ApiError error(world_error(std::move(message)));
  error.reason = ApiReason::unreadable;
  return error;
}

}  // namespace fettle::kubernetes
