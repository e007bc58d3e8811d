#include "remote/posted_request.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "base/text.h"
#include "remote/request_fields.h"

namespace fettle {
namespace {

namespace beast_http = boost::beast::http;

constexpr uint32_t posted_header_bytes = 16'384;

using BodyMessage = beast_http::request<beast_http::string_body>;

PostedRequest posted_of(BodyMessage message) {
  PostedRequest posted;
  posted.method = std::string(message.method_string());
  posted.target = std::string(message.target());
  posted.is_from_browser = is_from_browser(message);
  posted.wants_socket = boost::beast::websocket::is_upgrade(message);
  for (const auto& field : message)
    posted.fields.emplace_back(std::string(field.name_string()), std::string(field.value()));
  posted.body = std::move(message.body());
  return posted;
}

UpgradeRefusal refusal_of_post(const boost::system::error_code& error, uint64_t most_body) {
  if (error == beast_http::error::body_limit)
    return {413, cat("the body of a request is at most ", most_body, " bytes here")};
  if (error == beast_http::error::header_limit)
    return {431, "the header of the request is too large"};
  return {400, "this is no request"};
}

}  // namespace

size_t PostedRequest::count(std::string_view name) const {
  return static_cast<size_t>(std::ranges::count_if(
      fields, [&](const auto& field) { return boost::beast::iequals(field.first, name); }));
}

std::string PostedRequest::field(std::string_view name) const {
  if (count(name) != 1)
    return {};
  return std::ranges::find_if(
             fields, [&](const auto& field) { return boost::beast::iequals(field.first, name); })
      ->second;
}

std::optional<PostedResult> receive_posted(const Descriptor& socket, std::string& bytes,
                                           uint64_t most_body) {
  beast_http::request_parser<beast_http::string_body> parser;
  parser.header_limit(posted_header_bytes);
  parser.body_limit(most_body);
  parser.eager(true);
  std::array<char, 16'384> buffer{};
  size_t read = 0;
  while (true) {
    boost::system::error_code error;
    while (read < bytes.size() && !parser.is_done()) {
      const size_t used =
          parser.put(boost::asio::buffer(bytes.data() + read, bytes.size() - read), error);
      read += used;
      if (error && error != beast_http::error::need_more)
        return tl::unexpected(refusal_of_post(error, most_body));
      if (error || used == 0)
        break;
    }
    if (parser.is_done())
      return posted_of(parser.release());
    const ssize_t count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0)
      return std::nullopt;
    bytes.append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace fettle
