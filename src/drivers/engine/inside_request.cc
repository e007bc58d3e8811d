#include "drivers/engine/inside_request.h"

#include <charconv>

#include "base/text.h"
#include "drivers/engine/exec.h"

namespace fettle {
namespace {

constexpr size_t longest_answer = 64 << 20;
constexpr int nothing_to_talk_with = 97;

/// `$1` is what is said, `$2` and `$3` where.
constexpr const char* script = R"(
if command -v nc >/dev/null 2>&1; then printf %s "$1" | nc "$2" "$3"
elif command -v bash >/dev/null 2>&1; then
  exec bash -c 'exec 3<>"/dev/tcp/$2/$3" && printf %s "$1" >&3 && cat <&3' bash "$1" "$2" "$3"
elif command -v python3 >/dev/null 2>&1; then
  exec python3 -c 'import socket, sys
s = socket.create_connection((sys.argv[2], int(sys.argv[3])), 60)
s.sendall(sys.argv[1].encode("utf-8", "surrogateescape"))
for piece in iter(lambda: s.recv(65536), b""): sys.stdout.buffer.write(piece)' "$1" "$2" "$3"
else exit 97
fi)";

}  // namespace

std::string request_text(const InsideRequest& request) {
  // The older version of the protocol: the answer comes in one piece and ends the connection.
  std::string text =
      cat(request.method, " ", request.target, " HTTP/1.0\r\nHost: ", request.address, ":",
          request.port, "\r\nConnection: close\r\n");
  for (const HttpHeader& header : request.headers)
    text += cat(header.name, ": ", header.value, "\r\n");
  if (!request.body.empty() || request.method == "POST")
    text += cat("Content-Length: ", request.body.size(), "\r\n");
  return cat(text, "\r\n", request.body);
}

Result<HttpResponse> parse_response(std::string_view text) {
  HttpResponse response;
  const size_t end = text.find("\r\n\r\n");
  const std::string_view head = text.substr(0, end);
  const size_t code = head.find(' ');
  if (!text.starts_with("HTTP/") || end == text.npos || code == head.npos ||
      std::from_chars(head.data() + code + 1, head.data() + head.size(), response.status).ec !=
          std::errc())
    return world_error(text.empty() ? "nobody answered the request"
                                    : "what answered the request does not speak HTTP");
  for (const std::string_view line : split(head, '\n'))
    if (const size_t colon = line.find(':'); colon != line.npos)
      response.headers.push_back(
          {std::string(line.substr(0, colon)), std::string(trim(line.substr(colon + 1)))});
  response.body = text.substr(end + 4);
  return response;
}

Result<HttpResponse> send_inside(Engine& engine, const std::string& container,
                                 const InsideRequest& request, std::stop_token stop) {
  std::string answer, said;
  const auto take = [&](OutputStream stream, std::string_view bytes) -> Status {
    return sink_to(stream == OutputStream::out ? answer : said, longest_answer)(bytes);
  };
  const ExecOptions options{.command = {"sh", "-c", script, "sh", request_text(request),
                                        request.address, std::to_string(request.port)}};
  const int64_t code = TRY(run_exec(engine, container, options, take, stop));
  if (code == nothing_to_talk_with || code == 126 || code == 127)
    return world_error(
        "the engine is on another machine, and the container has neither nc nor bash nor Python "
        "to send a request from within");
  if (answer.empty() && !trim(said).empty())
    return world_error(std::string(trim(said)));
  return parse_response(answer);
}

}  // namespace fettle
