#pragma once
/// Sends an HTTP request from within a container. This is for engines on other machines: no address
/// of their networks can be reached from here, but a program for connections in the container can
/// be run. It only carries bytes. HTTP and TLS are spoken here, as for any other request.

#include "base/http.h"
#include "drivers/engine/engine.h"

namespace fettle {

/// Sends `request`, whose URL names `address` and `port`, through `nc`, bash or Python, the first
/// of these that the container has. Errors (`Blame::world`): it has none of them, or nobody
/// answers.
Result<HttpResponse> send_inside(HttpClient& http, Engine& engine, const std::string& container,
                                 const std::string& address, int port, HttpRequest request,
                                 std::stop_token stop);

}  // namespace fettle
