#pragma once
/// An HTTP request from within a container, for engines on other machines: no address of their
/// networks can be reached from here, but whatever the container itself has for talking can be run
/// in it.

#include "base/http.h"
#include "drivers/engine/engine.h"

namespace fettle {

struct InsideRequest {
  std::string address;  ///< of the service, as its neighbours see it
  int port = 80;
  std::string method = "GET";
  std::string target = "/";  ///< `/path?query`
  std::vector<HttpHeader> headers{};
  std::string body{};
};

/// Sends it by `nc`, bash or Python, the first that the container has. Errors (`Blame::world`): it
/// has none of them, nobody answers, the answer is no HTTP.
Result<HttpResponse> send_inside(Engine& engine, const std::string& container,
                                 const InsideRequest& request, std::stop_token stop);

/// The request as it is written on the connection.
std::string request_text(const InsideRequest& request);
/// The answer that came.
Result<HttpResponse> parse_response(std::string_view text);

}  // namespace fettle
