#include "server/guard.h"

#include "base/text.h"
#include "base/token.h"
#include "server/routes.h"

namespace fettle {
namespace {

constexpr std::string_view key_prefix = "/?key=";
constexpr std::string_view another_prefix = "/?another=", at_prefix = "&at=";
constexpr std::string_view plain_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._";
constexpr size_t most_unused = 16;
constexpr std::string_view terminal_key_prefix = "key.";
constexpr size_t most_of_act = 65'536;

WebReply with_allowed(WebReply reply) {
  reply.fields.emplace_back("Allow", "GET");
  return reply;
}

bool acts(const WebRequest& request) {
  const Result<WebTarget> target = parse_target(request.target);
  return request.method == "POST" && target &&
         find_route(routes_of_acts(), target->segments).route != nullptr;
}

}  // namespace

Result<WebKeys> new_web_keys() {
  constexpr std::string_view what = "the key of the page";
  return WebKeys{TRY(new_token(what)), TRY(new_token(what)), TRY(new_token(what)),
                 TRY(new_token(what))};
}

Guard::Guard(int port, WebKeys keys, std::string landing)
    : own_host_(cat("127.0.0.1:", port)),
      cookie_name_(cat("fettle-", port)),
      keys_(std::move(keys)),
      unused_{{keys_.address, std::move(landing)}} {}

std::string Guard::address() const { return cat("http://", own_host_, key_prefix, keys_.address); }

std::string Guard::address_of_another(std::string_view at) const {
  return cat("http://", own_host_, another_prefix, keys_.another, at.empty() ? "" : at_prefix, at);
}

bool Guard::asks_for_another(const WebRequest& request) {
  return request.target.starts_with(another_prefix);
}

std::optional<WebReply> Guard::answer(const WebRequest& request) {
  if (std::optional<WebReply> refusal = refusal_of(request))
    return refusal;
  if (request.target.starts_with(key_prefix))
    return exchange_key(request);
  if (asks_for_another(request))
    return give_another(request);
  if (!has_cookie(request))
    return error_reply(
        401,
        "this page is for whoever started it: open the address that `fettle web` has "
        "printed, which counts once, or start `fettle web` again");
  if (request.method == "POST")
    return refusal_of_act(request);
  return request.wants_socket ? refusal_of_socket(request) : std::nullopt;
}

/// Each of these keeps another page out: its form has neither the key nor this type, and what its
/// script sends says where it comes from.
std::optional<WebReply> Guard::refusal_of_act(const WebRequest& request) const {
  if (request.origin != cat("http://", own_host_))
    return error_reply(403, "another page asked for this");
  if (!is_same_token(request.key, keys_.terminal))
    return error_reply(403,
                       "this browser has no key for what acts: start `fettle web` again, and open "
                       "the address that it prints");
  if (request.body_bytes > 0 && request.content_type != "application/json")
    return error_reply(415, "expected `application/json`");
  return std::nullopt;
}

/// A browser lets every page open a WebSocket to every server, and says only by `Origin` which one
/// it was. It has no field for a key, so that stands among the protocols.
std::optional<WebReply> Guard::refusal_of_socket(const WebRequest& request) const {
  if (request.origin != cat("http://", own_host_))
    return error_reply(403, "another page asked for this");
  bool has_key = false;
  for (const std::string_view protocol : split(request.protocols, ','))
    has_key |= is_same_token(trim(protocol), cat(terminal_key_prefix, keys_.terminal));
  if (!has_key)
    return error_reply(403,
                       "this browser has no key for terminals: start `fettle web` again, and open "
                       "the address that it prints");
  return std::nullopt;
}

std::optional<WebReply> Guard::refusal_of(const WebRequest& request) const {
  if (request.host != own_host_)
    return error_reply(421, "this server answers under its own address only");
  if (request.method != "GET" && !acts(request))
    return with_allowed(error_reply(405, "this server knows GET alone"));
  if (request.method == "GET" && request.body_bytes > 0)
    return error_reply(415, "a request to this server has no body");
  if (request.body_bytes > most_of_act)
    return error_reply(413, "the body of the request is too large");
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

WebReply Guard::give_another(const WebRequest& request) {
  const std::string_view rest = std::string_view(request.target).substr(another_prefix.size());
  const size_t mark = std::min(rest.find(at_prefix), rest.size());
  const std::string_view at = rest.substr(std::min(mark + at_prefix.size(), rest.size()));
  // It becomes a part of a page.
  const bool is_plain = at.find_first_not_of(plain_characters) == at.npos;
  if (!request.fetch_site.empty() || !is_same_token(rest.substr(0, mark), keys_.another) ||
      !is_plain)
    return error_reply(403, "this is for other calls of `fettle web` of the same user");
  const Result<std::string> key = new_token("the key of the page");
  if (!key)
    return error_reply(key.error());
  if (unused_.size() >= most_unused)
    unused_.pop_front();
  unused_.emplace_back(*key, at);
  WebReply reply;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = cat("http://", own_host_, key_prefix, *key);
  return reply;
}

WebReply Guard::exchange_key(const WebRequest& request) {
  const std::string_view given = std::string_view(request.target).substr(key_prefix.size());
  const auto found = std::ranges::find_if(
      unused_, [&](const auto& each) { return is_same_token(given, each.first); });
  // Whoever has the cookie loads the page again, and is given no key for terminals: somebody else
  // may have been sent the cookie.
  const bool is_known = found != unused_.end();
  if (!is_known && !has_cookie(request))
    return error_reply(403,
                       "this address has been used or was never given: start `fettle web` again");
  const std::string landing =
      is_known ? cat("#key=", keys_.terminal, found->second) : std::string();
  // A redirection would go on as a request of whoever gave the address, a mail or a file, and would
  // have no cookie; a page that loads the next one is ourselves.
  WebReply reply;
  reply.content_type = "text/html; charset=utf-8";
  reply.body = cat("<!doctype html><meta charset=\"utf-8\"><title>fettle</title>",
                   "<link rel=\"icon\" href=\"/icon.svg\">",
                   "<meta http-equiv=\"refresh\" content=\"0; url=/", landing, "\">");
  if (!is_known)
    return reply;
  unused_.erase(found);
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
