#pragma once
/// A browser's request to the page of a server, read as a whole.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "remote/called_at.h"
#include "remote/upgrade.h"

namespace fettle {

/// Fields that were not sent are empty, and so are those that were sent twice.
struct PageRequest {
  std::string method, path;  ///< without the query
  std::string query, target;
  std::string host, origin, site, cookie, type, protocols;
  std::string key;  ///< `Fettle-Key`, of a request that acts
  std::string body;
  bool wants_socket = false;
};

/// Reads the rest of it; `bytes` gets all of them. Error: why it is none; no message: who sent it went.
tl::expected<PageRequest, UpgradeRefusal> receive_page_request(const Descriptor& socket,
                                                               std::string& bytes);

/// The fields of a query or of a form. What is no such text, or has a name twice, has no fields.
std::map<std::string, std::string> form_fields(std::string_view text);
/// The value of a cookie. Empty: there is none of the name, or several.
std::string cookie_in(std::string_view cookies, std::string_view name);

/// How browsers call this server.
struct PagePlace {
  std::string cookie, sign_in_cookie;  ///< their names
  std::string attributes;              ///< of both, without `SameSite`
  std::string back;                    ///< where an issuer sends them; empty: nobody has said
  std::string path;                    ///< of the page, with `/` at its end
};
PagePlace page_place(const CalledAt& here);
/// Whether a page of this server has asked: `Origin` is its own.
bool is_own_origin(std::string_view origin, std::string_view host, const CalledAt& here);

}  // namespace fettle
