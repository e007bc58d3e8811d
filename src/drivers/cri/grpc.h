#pragma once
/// gRPC as far as one question with one answer needs it: a message travels in a frame of five bytes
/// and its own, and how the call ended stands in trailers.

#include <string>
#include <string_view>

#include "base/http.h"
#include "base/result.h"
#include "base/time.h"

namespace fettle::cri {

/// How a call ended; numbers and names are those of gRPC.
enum class GrpcCode : uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,  ///< also: nobody answers
  data_loss = 15,
  unauthenticated = 16,
};

/// `not found`
std::string_view to_string(GrpcCode code);

/// An `Error` with a reason that callers can tell apart; `TRY` passes it on.
struct GrpcError : Error {
  GrpcCode code = GrpcCode::unknown;
  bool is_answer = false;  ///< the runtime said so; else there was no answer of one

  GrpcError() = default;
  /// Of what failed before there was an answer.
  GrpcError(Error error);  // NOLINT: meant
  GrpcError(GrpcCode code_, std::string message_)
      : Error(world_error(std::move(message_))), code(code_) {}
};

template <typename T>
class [[nodiscard]] GrpcResult : public tl::expected<T, GrpcError> {
 public:
  using tl::expected<T, GrpcError>::expected;
  GrpcResult(GrpcError error)
      : tl::expected<T, GrpcError>(tl::unexpect, std::move(error)) {}   // NOLINT: meant
  GrpcResult(Error error) : GrpcResult(GrpcError(std::move(error))) {}  // NOLINT: meant
};

/// A message in its frame.
std::string grpc_frame(std::string_view message);
/// The message of the only frame. Errors: it is compressed, cut off, or something follows it.
Result<std::string> grpc_message(std::string_view frame);
/// A limit as the header `grpc-timeout` has it: at most eight digits and a unit.
std::string grpc_timeout(Duration limit);
/// A text in which bytes stand as `%XX`. What is no such escape stays as it is.
std::string percent_decode(std::string_view text);

/// The message that an answer brings, or the error that it tells of.
GrpcResult<std::string> read_grpc_answer(const HttpResponse& answer);

}  // namespace fettle::cri

namespace fettle {
/// For `TRY`.
template <typename T>
T unwrap_of_try(cri::GrpcResult<T>&& result) {
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}
}  // namespace fettle
