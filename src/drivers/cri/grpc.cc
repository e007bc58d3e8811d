#include "drivers/cri/grpc.h"

#include <array>
#include <charconv>

#include "base/text.h"

namespace fettle::cri {
namespace {

constexpr std::array<std::string_view, 17> code_names{
    "ok",
    "cancelled",
    "unknown error",
    "invalid argument",
    "deadline exceeded",
    "not found",
    "already exists",
    "permission denied",
    "resource exhausted",
    "failed precondition",
    "aborted",
    "out of range",
    "unimplemented",
    "internal error",
    "unavailable",
    "data loss",
    "unauthenticated",
};

constexpr size_t frame_head = 5;
constexpr size_t longest_message = 4'096;  ///< of an error, as it is shown
constexpr std::string_view hex_digits = "0123456789abcdefABCDEF";

int hex_of(char digit) {
  const size_t place = hex_digits.find(digit);
  return static_cast<int>(place < 16 ? place : place - 6);
}

/// A trailer, or a header of an answer that has nothing but these. Null: there is none.
const std::string* find_trailer(const HttpResponse& answer, std::string_view name) {
  for (const std::vector<HttpHeader>* const list : {&answer.trailers, &answer.headers})
    for (const HttpHeader& header : *list)
      if (lower_case(header.name) == name)
        return &header.value;
  return nullptr;
}

/// A code that nobody has defined is as good as none.
GrpcCode code_of(std::string_view text) {
  size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_known =
      read.ec == std::errc() && read.ptr == text.data() + text.size() && number < code_names.size();
  return is_known ? static_cast<GrpcCode>(number) : GrpcCode::unknown;
}

}  // namespace

std::string_view to_string(GrpcCode code) { return code_names[static_cast<size_t>(code)]; }

GrpcError::GrpcError(Error error) : Error(std::move(error)) {
  code = is_cancelled(*this) ? GrpcCode::cancelled : GrpcCode::unavailable;
}

std::string grpc_frame(std::string_view message) {
  std::string frame(1, '\0');  // not compressed
  for (const unsigned shift : {24u, 16u, 8u, 0u})
    frame.push_back(static_cast<char>(static_cast<unsigned char>(message.size() >> shift & 0xFF)));
  return frame.append(message);
}

Result<std::string> grpc_message(std::string_view frame) {
  if (frame.size() < frame_head)
    return world_error("the answer of the runtime is cut off");
  if (frame[0] != '\0')
    return world_error("the answer of the runtime is compressed, which nobody asked for");
  size_t size = 0;
  for (size_t i = 1; i < frame_head; ++i)
    size = size << 8 | static_cast<unsigned char>(frame[i]);
  frame.remove_prefix(frame_head);
  if (frame.size() < size)
    return world_error("the answer of the runtime is cut off");
  if (frame.size() > size)
    return world_error("the runtime answers more than once");
  return std::string(frame);
}

std::string grpc_timeout(Duration limit) {
  constexpr int64_t most = 99'999'999;
  const int64_t milliseconds =
      std::max<int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(limit).count());
  if (milliseconds <= most)
    return cat(milliseconds, "m");
  return cat(std::min(milliseconds / 1'000, most), "S");
}

std::string percent_decode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() &&
                           hex_digits.find(text[i + 1]) != hex_digits.npos &&
                           hex_digits.find(text[i + 2]) != hex_digits.npos;
    if (!is_escape) {
      decoded.push_back(text[i]);
      continue;
    }
    const int byte = hex_of(text[i + 1]) * 16 + hex_of(text[i + 2]);
    decoded.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
    i += 2;
  }
  return decoded;
}

GrpcResult<std::string> read_grpc_answer(const HttpResponse& answer) {
  const std::string* const status = find_trailer(answer, "grpc-status");
  if (status == nullptr)
    return GrpcError(answer.status == 200 ? GrpcCode::internal : GrpcCode::unavailable,
                     answer.status == 200
                         ? "the runtime did not say how the call ended"
                         : cat("what answers is no runtime: it says HTTP ", answer.status));
  const GrpcCode code = code_of(*status);
  if (code != GrpcCode::ok) {
    const std::string* const said = find_trailer(answer, "grpc-message");
    const std::string text =
        said == nullptr ? std::string() : clipped(percent_decode(*said), longest_message);
    GrpcError error(code, text.empty() ? std::string(to_string(code)) : printable(text));
    error.is_answer = true;
    return error;
  }
  Result<std::string> message = grpc_message(answer.body);
  if (!message)
    return GrpcError(GrpcCode::internal, message.error().message);
  return std::move(*message);
}

}  // namespace fettle::cri
