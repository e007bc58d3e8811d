#include "remote/page_request.h"

#include "base/text.h"
#include "remote/posted_request.h"

namespace fettle {
namespace {

constexpr uint64_t page_body_bytes = 16'384;

PageRequest request_of(PostedRequest posted) {
  PageRequest request;
  request.method = std::move(posted.method);
  request.target = std::move(posted.target);
  const size_t mark = request.target.find('?');
  request.path = request.target.substr(0, mark);
  request.query = mark == std::string::npos ? "" : request.target.substr(mark + 1);
  request.host = posted.field("Host");
  request.origin = posted.field("Origin");
  request.site = posted.field("Sec-Fetch-Site");
  request.cookie = posted.field("Cookie");
  request.type = posted.field("Content-Type");
  request.protocols = posted.field("Sec-WebSocket-Protocol");
  request.key = posted.field("Fettle-Key");
  request.wants_socket = posted.wants_socket;
  // What stands twice could be read in two ways.
  if (posted.count("Origin") > 1 || posted.count("Sec-Fetch-Site") > 1)
    request.site = "cross-site";
  request.body = std::move(posted.body);
  return request;
}

std::optional<std::string> form_text(std::string_view text) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      made += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    constexpr std::string_view digits = "0123456789abcdef";
    const std::string pair = lower_case(text.substr(i + 1, 2));
    if (pair.size() != 2 || pair.find_first_not_of(digits) != pair.npos)
      return std::nullopt;
    made += static_cast<char>(digits.find(pair[0]) * 16 + digits.find(pair[1]));
    i += 2;
  }
  return made;
}

std::string origin_of_address(const ServerAddress& address) {
  const bool is_usual = address.port == (address.is_secured ? 443 : 80);
  const std::string whole = address.text();
  return cat(address.is_secured ? "https://" : "http://",
             is_usual ? whole.substr(0, whole.rfind(':')) : whole);
}

}  // namespace

tl::expected<PageRequest, UpgradeRefusal> receive_page_request(const Descriptor& socket,
                                                               std::string& bytes) {
  std::optional<PostedResult> posted = receive_posted(socket, bytes, page_body_bytes);
  if (!posted)
    return tl::unexpected(UpgradeRefusal{400, ""});
  if (!*posted)
    return tl::unexpected(posted->error());
  return request_of(std::move(**posted));
}

std::map<std::string, std::string> form_fields(std::string_view text) {
  std::map<std::string, std::string> fields;
  if (text.empty())
    return fields;
  for (const std::string_view pair : split(text, '&')) {
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::optional<std::string> name = form_text(pair.substr(0, equals)),
                                     value =
                                         form_text(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value || !fields.emplace(*name, *value).second)
      return {};
  }
  return fields;
}

std::string cookie_in(std::string_view cookies, std::string_view name) {
  std::string found;
  size_t count = 0;
  for (const std::string_view pair : split(cookies, ';')) {
    const std::string_view one = trim(pair);
    const size_t equals = one.find('=');
    if (equals == one.npos || one.substr(0, equals) != name)
      continue;
    ++count;
    found = one.substr(equals + 1);
  }
  return count == 1 ? found : "";
}

PagePlace page_place(const CalledAt& here) {
  PagePlace place;
  place.path = here.by_proxy ? here.by_proxy->path + "/" : "/";
  const bool is_secured = here.by_proxy ? here.by_proxy->is_secured : !here.port;
  // The first prefix has a browser refuse what another path or a neighbour's name has set.
  const std::string prefix = !is_secured         ? cat("fettle-", here.port.value_or(0))
                             : place.path == "/" ? std::string("__Host-fettle")
                                                 : std::string("__Secure-fettle");
  place.cookie = prefix;
  place.sign_in_cookie = prefix + "-sign-in";
  place.attributes = cat("; Path=", place.path, "; HttpOnly", is_secured ? "; Secure" : "");
  if (here.by_proxy)
    place.back = cat(origin_of_address(*here.by_proxy), place.path, "sign-in/callback");
  return place;
}

bool is_own_origin(std::string_view origin, std::string_view host, const CalledAt& here) {
  if (here.by_proxy && origin == origin_of_address(*here.by_proxy))
    return true;
  return here.is_ours(host) && origin == cat(here.port ? "http://" : "https://", host);
}

}  // namespace fettle
