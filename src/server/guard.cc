#include "server/guard.h"

#include "base/text.h"
#include "base/token.h"

namespace fettle {
namespace {

constexpr std::string_view key_prefix = "/?key=";

WebReply with_allowed(WebReply reply) {
  reply.fields.emplace_back("Allow", "GET");
  return reply;
}

}  // namespace

Result<WebKeys> new_web_keys() {
  constexpr std::string_view what = "the key of the page";
  return WebKeys{TRY(new_token(what)), TRY(new_token(what))};
}

Guard::Guard(int port, WebKeys keys, std::string landing)
    : own_host_(cat("127.0.0.1:", port)),
      cookie_name_(cat("fettle-", port)),
      keys_(std::move(keys)),
      landing_(std::move(landing)) {}

std::string Guard::address() const { return cat("http://", own_host_, key_prefix, keys_.address); }

std::optional<WebReply> Guard::answer(const WebRequest& request) {
  if (std::optional<WebReply> refusal = refusal_of(request))
    return refusal;
  if (request.target.starts_with(key_prefix))
    return exchange_key(request);
  if (!has_cookie(request))
    return error_reply(
        401,
        "this page is for whoever started it: open the address that `fettle web` has "
        "printed, which counts once, or start `fettle web` again");
  return std::nullopt;
}

std::optional<WebReply> Guard::refusal_of(const WebRequest& request) const {
  if (request.host != own_host_)
    return error_reply(421, "this server answers under its own address only");
  if (request.method != "GET")
    return with_allowed(error_reply(405, "this server only shows: it knows GET"));
  if (request.body_bytes > 0)
    return error_reply(415, "a request to this server has no body");
  // Only whoever knows the key comes from elsewhere.
  if (request.target.starts_with(key_prefix))
    return std::nullopt;
  const std::string& site = request.fetch_site;
  if (!site.empty() && site != "same-origin" && site != "none")
    return error_reply(403, "another page asked for this");
  if (!request.origin.empty() && request.origin != cat("http://", own_host_))
    return error_reply(403, "another page asked for this");
  return std::nullopt;
}

std::optional<WebReply> Guard::exchange_key(const WebRequest& request) {
  const std::string_view given = std::string_view(request.target).substr(key_prefix.size());
  // A redirection would go on as a request of whoever gave the address, a mail or a file, and would
  // have no cookie; a page that loads the next one is ourselves.
  WebReply reply;
  reply.content_type = "text/html; charset=utf-8";
  reply.body = cat("<!doctype html><meta charset=\"utf-8\"><title>fettle</title>",
                   "<link rel=\"icon\" href=\"/icon.svg\">",
                   "<meta http-equiv=\"refresh\" content=\"0; url=/",
                   landing_.empty() ? "" : cat("#", landing_), "\">");
  // Whoever has the cookie only loads the page again.
  if (has_cookie(request))
    return reply;
  if (!is_same_token(given, keys_.address) || is_key_used_)
    return error_reply(403,
                       "this address has been used or was never given: start `fettle web` again");
  is_key_used_ = true;
  reply.fields.emplace_back(
      "Set-Cookie", cat(cookie_name_, "=", keys_.cookie, "; Path=/; HttpOnly; SameSite=Strict"));
  return reply;
}

bool Guard::has_cookie(const WebRequest& request) const {
  bool found = false;
  for (const std::string_view pair : split(request.cookie, ';')) {
    const std::string_view one = trim(pair);
    const size_t equals = one.find('=');
    found |= equals != one.npos && one.substr(0, equals) == cookie_name_ &&
             is_same_token(one.substr(equals + 1), keys_.cookie);
  }
  return found;
}

}  // namespace fettle
