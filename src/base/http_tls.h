#pragma once
/// What libcurl is told of TLS, for exchanges and for connections on which both sides talk.

#include <string>

#include "base/http.h"
#include "base/http_library.h"

namespace fettle {

/// `tls` must outlive the transfer: libcurl keeps no copy of its texts.
void set_tls(const HttpLibrary& curl, CURL* easy, const TlsSettings& tls);

/// How to reach one server under the name of another.
struct OtherName {
  std::string url;         ///< with the name that the server must prove
  std::string host;        ///< the host and the port to connect to: for the header `Host`
  std::string connect_to;  ///< the same for `CURLOPT_CONNECT_TO`
};
OtherName under_name(std::string_view url, std::string_view name);

}  // namespace fettle
