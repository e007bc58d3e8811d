#pragma once
/// What an API server answers when it does not do what it was asked: a `Status` object, as an error
/// that callers can tell apart.
///
///   const ApiResult<Value> pod = client.get(pods, {"default", "a"}, stop);
///   if (!pod && pod.error().reason == ApiReason::not_found) …
///
/// An `ApiError` is an `Error`, so `TRY` passes it on where nobody asks for the reason. Whether a
/// request may simply be sent again is decided here (`may_retry`), once.

#include <optional>

#include "base/http.h"
#include "base/result.h"
#include "base/time.h"
#include "value/value.h"

namespace fettle::kubernetes {

enum class ApiReason {
  bad_request,
  unauthorized,
  forbidden,
  not_found,
  method_not_allowed,
  not_acceptable,
  already_exists,
  conflict,
  gone,     ///< the resource itself, for good
  expired,  ///< a resource version, or the rest of a list
  too_large,
  unsupported_media_type,
  invalid,
  too_many_requests,
  internal,
  server_timeout,  ///< it could not be done yet
  timeout,         ///< it may have been done
  unavailable,
  unreachable,  ///< nobody answered
  cancelled,
  not_permitted,  ///< it was not sent: the lease is not ours
  unreadable,     ///< the answer is none of Kubernetes
  other
};

std::string_view to_string(ApiReason reason);

struct ApiError : Error {
  ApiReason reason = ApiReason::other;
  int code = 0;                           ///< of HTTP; 0: there was no answer
  std::string server_message{};           ///< as the server worded it
  Value details{};                        ///< a dict: `name`, `kind`, `causes`, …; or null
  std::optional<Duration> retry_after{};  ///< when the server says so

  ApiError() = default;
  /// Of what failed before there was an answer.
  ApiError(Error error);  // NOLINT: meant
  /// Whether it may be different if the same is asked again a little later.
  bool may_retry() const;
};

/// The error of an answer other than 2xx. `doing`: `PATCH pods/a in default`.
ApiError read_api_error(const HttpResponse& answer, std::string_view doing);
/// The error of a `Status` object, as it also comes in a watch.
ApiError api_error_of(const Value& status, int code, std::string_view doing);
/// An answer that cannot be one.
ApiError unreadable_error(std::string message);

template <typename T>
class [[nodiscard]] ApiResult : public tl::expected<T, ApiError> {
 public:
  using tl::expected<T, ApiError>::expected;
  ApiResult(ApiError error)
      : tl::expected<T, ApiError>(tl::unexpect, std::move(error)) {}  // NOLINT
  ApiResult(Error error) : ApiResult(ApiError(std::move(error))) {}   // NOLINT: meant
};

}  // namespace fettle::kubernetes

namespace fettle {
/// For `TRY`.
template <typename T>
T unwrap_of_try(kubernetes::ApiResult<T>&& result) {
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}
}  // namespace fettle
