#include "drivers/cri/client.h"

#include "base/text.h"

namespace fettle::cri {
namespace {

/// Longer than the runtime's own limit, so that its word about it comes first.
constexpr Duration time_to_answer = 200ms;

/// What was read, or why it could not be.
template <typename T>
GrpcResult<T> answered(Result<T> read) {
  if (!read)
    return GrpcError(GrpcCode::internal, read.error().message);
  return std::move(*read);
}

}  // namespace

GrpcResult<std::string> Client::call(std::string_view method, std::string_view message,
                                     Duration limit, const std::stop_token& stop) const {
  HttpRequest request{
      .method = "POST", .url = cat("http://localhost/", method), .unix_socket = socket_.string()};
  request.headers = {{"Content-Type", "application/grpc"},
                     {"TE", "trailers"},
                     {"User-Agent", "fettle"},
                     {"Grpc-Timeout", grpc_timeout(limit)}};
  request.body = grpc_frame(message);
  request.connect_limit = connect_limit;
  request.time_limit = limit + time_to_answer;
  request.silence_limit = Duration(0);
  request.body_limit = largest_answer;
  request.is_http2 = true;
  const Instant began = instant_from_clock();
  const Result<HttpResponse> answer = http_.send(std::move(request), stop);
  if (answer)
    return read_grpc_answer(*answer);
  if (!is_cancelled(answer.error()) && has_taken(began, limit))
    return GrpcError(GrpcCode::deadline_exceeded,
                     cat("the runtime did not end the call within ", fettle::to_string(limit)));
  return answer.error();
}

GrpcResult<RuntimeVersion> Client::version(const std::stop_token& stop) const {
  const std::string bytes =
      TRY(call("runtime.v1.RuntimeService/Version", version_request(), look_limit, stop));
  return answered(read_version(bytes));
}

GrpcResult<std::optional<RuntimeImage>> Client::image_status(std::string_view image,
                                                             const std::stop_token& stop) const {
  const std::string bytes = TRY(
      call("runtime.v1.ImageService/ImageStatus", image_status_request(image), look_limit, stop));
  return answered(read_image_status(bytes));
}

GrpcResult<std::string> Client::pull_image(const PullRequest& request, Duration limit,
                                           const std::stop_token& stop) const {
  const std::string bytes =
      TRY(call("runtime.v1.ImageService/PullImage", pull_image_request(request), limit, stop));
  return answered(read_pull_image(bytes));
}

GrpcResult<std::vector<RuntimeImage>> Client::list_images(const std::stop_token& stop) const {
  const std::string bytes = TRY(call("runtime.v1.ImageService/ListImages", {}, look_limit, stop));
  return answered(read_images(bytes));
}

GrpcResult<std::vector<ImageFilesystem>> Client::image_filesystems(
    const std::stop_token& stop) const {
  const std::string bytes = TRY(call("runtime.v1.ImageService/ImageFsInfo", {}, look_limit, stop));
  return answered(read_filesystems(bytes));
}

}  // namespace fettle::cri
