#include "remote/upgrade.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "base/text.h"
#include "remote/request_fields.h"
#include "value/json.h"

namespace fettle {
namespace {

namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;

constexpr uint32_t header_bytes = 16'384;

std::string list_field(const http::request<http::empty_body>& message, std::string_view name) {
  const auto [from, to] = message.equal_range({name.data(), name.size()});
  std::string list;
  for (auto each = from; each != to; ++each)
    list += cat(list.empty() ? "" : ",", std::string_view(each->value()));
  return list;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 303:
      return "See Other";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    default:
      return "Bad Request";
  }
}

}  // namespace

Result<std::optional<UpgradeRequest>> read_upgrade(std::string_view bytes, size_t& used) {
  http::request_parser<http::empty_body> parser;
  parser.header_limit(header_bytes);
  parser.body_limit(boost::none);  // whoever reads one has a limit of his own
  ErrorCode error;
  used = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error == http::error::need_more && bytes.size() <= header_bytes)
    return std::optional<UpgradeRequest>();
  if (error == http::error::header_limit || error == http::error::need_more)
    return user_error("the header of the request is too large");
  if (error)
    return user_error("this is no request");
  if (!parser.is_header_done())
    return std::optional<UpgradeRequest>();
  const auto& message = parser.get();
  UpgradeRequest request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.host = single_field(message, "Host");
  request.upgrade = single_field(message, "Upgrade");
  request.version = single_field(message, "Fettle-Version");
  request.forwarded_for = list_field(message, "X-Forwarded-For");
  if (std::string given = single_field(message, "Authorization"); given.starts_with(bearer_scheme))
    request.token = given.substr(bearer_scheme.size());
  request.is_from_browser = is_from_browser(message);
  request.has_body = message.count("Content-Length") > 0 || message.count("Transfer-Encoding") > 0;
  return std::optional<UpgradeRequest>(std::move(request));
}

std::optional<UpgradeRefusal> refusal_of_client(const UpgradeRequest& request, const CalledAt& here,
                                                const Status& known) {
  if (!here.is_ours(request.host))
    return UpgradeRefusal{421, "this server answers under its own address only"};
  if (request.is_from_browser)
    return UpgradeRefusal{403, "this server has nothing for browsers"};
  if (!known)
    return UpgradeRefusal{known.error().blame == Blame::user ? 401 : 503, known.error().message};
  return std::nullopt;
}

std::optional<UpgradeRefusal> refusal_of(const UpgradeRequest& request, const CalledAt& here,
                                         const Status& known, std::string_view version) {
  if (auto refusal = refusal_of_client(request, here, known))
    return refusal;
  if (request.target != commands_path && request.target != agents_path)
    return UpgradeRefusal{404, "there is nothing at this path"};
  if (request.method != "GET" || request.upgrade != stream_name || request.has_body)
    return UpgradeRefusal{400, cat("expected an upgrade to `", stream_name, "`")};
  if (request.version != version)
    return UpgradeRefusal{
        409, cat("the server is fettle ", version, ", and this is fettle ",
                 printable(request.version), ": install the same version on both sides")};
  return std::nullopt;
}

std::string upgrade_request(std::string_view host, std::string_view token, std::string_view version,
                            std::string_view path, std::string_view target) {
  return cat("GET ", path, target, " HTTP/1.1\r\nHost: ", host,
             "\r\nConnection: Upgrade\r\nUpgrade: ", stream_name,
             "\r\nAuthorization: ", bearer_scheme, token, "\r\nFettle-Version: ", version,
             "\r\n\r\n");
}

std::string upgrade_reply() {
  return cat("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ", stream_name,
             "\r\n\r\n");
}

std::string closing_reply(int status, std::string_view content_type, std::string_view body,
                          std::string_view fields) {
  return cat("HTTP/1.1 ", status, " ", reason_of(status), "\r\nContent-Type: ", content_type,
             "\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n", fields,
             "Connection: close\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
}

std::string refusal_reply(const UpgradeRefusal& refusal, std::string_view fields) {
  return closing_reply(
      refusal.status, json_type,
      write_json(
          Value::dict({{"error", Value::dict({{"message", refusal.message}})}, {"schema", 1}})),
      fields);
}

}  // namespace fettle
