#pragma once
/// An HTTP request from within a container, for engines on other machines: no address of their
/// networks can be reached from here, but whatever the container itself has for talking can be run
/// in it. It carries bytes only; HTTP and TLS are spoken here, as in any other request.

#include "base/http.h"
#include "drivers/engine/engine.h"

namespace fettle {

/// Sends `request`, whose URL names `address` and `port`, by way of `nc`, bash or Python, the first
/// that the container has. Errors (`Blame::world`): it has none of them, nobody answers.
Result<HttpResponse> send_inside(HttpClient& http, Engine& engine, const std::string& container,
                                 const std::string& address, int port, HttpRequest request,
                                 std::stop_token stop);

}  // namespace fettle
