#include "remote/oidc_sign_in.h"

#include <algorithm>
#include <charconv>

#include "base/base64.h"
#include "base/hash.h"
#include "base/http.h"
#include "base/rfc3339.h"
#include "base/seal.h"
#include "base/text.h"
#include "base/token.h"
#include "remote/apart.h"
#include "remote/issuer_keys.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t most_groups = 1'000, longest_identity = 200, digits_of_subject = 16;
constexpr Duration code_limit = 5s;

IssuerKeys issuer_of(const OidcSettings& settings, const Path& folder) {
  return IssuerKeys(folder / "issuers", settings.issuer, settings.authorities);
}

Result<Seal> seal_of(const Path& folder) { return Seal::from_file(folder / "sign-in.key"); }

std::string bytes_of_hex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

/// What has to be known again when the browser comes back.
struct Begun {
  std::string state, nonce, verifier;
};

Result<Begun> begun_in(std::string_view cookie, const Path& folder, Time now) {
  const Error over = user_error(
      "this browser has not begun to sign in here, or did so more than ten minutes ago: begin "
      "again");
  const Result<std::string> sealed = base64url_decode(cookie);
  const std::optional<std::string> json =
      sealed && !cookie.empty() ? TRY(seal_of(folder)).open(*sealed) : std::nullopt;
  const Result<Value> value = json ? read_json(*json) : Result<Value>(over);
  if (!value)
    return over;
  const Result<Time> at = read_moment(value->text_at("at"));
  if (!at || *at > now || now - *at >= sign_in_limit)
    return over;
  return Begun{std::string(value->text_at("state")), std::string(value->text_at("nonce")),
               std::string(value->text_at("verifier"))};
}

/// The answer of the issuer to a code: `id_token`, and the user's `userinfo` where the token itself
/// says nothing of groups. In a process of its own.
Result<std::string> answer_to_code(const OidcSettings& settings, const Value& endpoints,
                                   const std::string& back, const std::string& code,
                                   const std::string& verifier) {
  HttpClient client;
  HttpRequest request;
  request.method = "POST";
  request.url = endpoints.text_at("token_endpoint");
  request.body = cat("grant_type=authorization_code&code=", percent_encode(code),
                     "&redirect_uri=", percent_encode(back),
                     "&client_id=", percent_encode(settings.client), "&code_verifier=", verifier);
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                     {"Accept", "application/json"},
                     {"User-Agent", "fettle"}};
  if (!settings.secret.empty())
    request.headers.push_back(
        {"Authorization", cat("Basic ", base64_encode(cat(percent_encode(settings.client), ":",
                                                          percent_encode(settings.secret))))});
  request.connect_limit = code_limit;
  request.time_limit = code_limit;
  request.body_limit = largest_key_set;
  request.is_sent_once = true;
  request.tls.authorities_text = settings.authorities;
  const HttpResponse answer = TRY(client.send(std::move(request), {}));
  const Result<Value> said = read_json(answer.body);
  if (answer.status != 200)
    return world_error(cat("the issuer takes no code: status ", answer.status, " ",
                           said ? printable(said->text_at("error").substr(0, 100)) : ""));
  if (!said || !said->at("id_token").is_text())
    return world_error("the issuer gives no `id_token` for a code");
  std::vector<Entry> kept{{"id_token", said->at("id_token")}};
  const Result<Jwt> token = read_jwt(said->text_at("id_token"));
  const std::string access(said->text_at("access_token"));
  const std::string about(endpoints.text_at("userinfo_endpoint"));
  if (token && token->claims.find(settings.group_claim) == nullptr && !about.empty() &&
      !access.empty())
    kept.push_back(
        {"userinfo", TRY(answer_of_issuer(client, about, settings.authorities, access))});
  return write_json(Value::dict(std::move(kept)));
}

std::vector<std::string> groups_in(const Value& claims, const std::string& name) {
  const Value& given = claims.at(name);
  std::vector<std::string> groups;
  if (given.is_text())
    groups.push_back(given.text().str());
  for (const Value& one : items_of(given))
    if (one.is_text() && !one.text().empty() && groups.size() < most_groups)
      groups.push_back(one.text().str());
  return groups;
}

std::string name_in_claims(const Value& claims) {
  for (const char* const field : {"preferred_username", "email", "sub"})
    if (const std::string_view name = claims.text_at(field); !name.empty())
      return printable(name.substr(0, longest_identity));
  return {};
}

/// Whether a token of the issuer is for us, and the answer to what this browser has begun.
Status check_id_token(const OidcSettings& settings, const Path& folder, const Jwt& token,
                      const Begun& begun, Time now) {
  const Error refused = user_error("the issuer's answer does not fit what this browser has begun");
  const KeySet keys = TRY(issuer_of(settings, folder).with_key(token.key, now));
  if (const auto fault = keys.fault_of(token))
    return world_error(cat("the issuer's `id_token`: ", *fault));
  const Value& claims = token.claims;
  const bool is_for_many = claims.at("aud").is_list() && claims.at("aud").items().size() > 1;
  if (claims.text_at("iss") != settings.issuer || !is_for_audience(claims, settings.client) ||
      (is_for_many && claims.text_at("azp") != settings.client) || claims.text_at("sub").empty() ||
      !is_same_token(claims.text_at("nonce"), begun.nonce))
    return refused;
  if (const auto fault = time_fault(claims, now))
    return world_error(cat("the issuer's `id_token`: ", fault->why));
  return {};
}

}  // namespace

Result<GroupRule> group_rule_in(const std::string& text) {
  const size_t equals = text.rfind('=');
  const std::string wrong =
      cat("`--oidc-group` must be GROUP=RIGHT or GROUP=RIGHT:ENV-PATTERN, as `--oidc-group "
          "'ops=act:shop-*'`, not `",
          printable(text), "`");
  if (equals == text.npos || equals == 0)
    return user_error(wrong);
  const std::string rest = text.substr(equals + 1);
  const size_t colon = rest.find(':');
  GroupRule rule{
      text.substr(0, equals), TRY(right_named(rest.substr(0, colon)).context(wrong)), {}};
  if (colon != rest.npos)
    rule.environment = rest.substr(colon + 1);
  if (colon != rest.npos && rule.environment.empty())
    return user_error(wrong);
  if (rule.right == Right::admin && !rule.environment.empty())
    return user_error(
        "`--oidc-group`: `admin` is about the server as a whole, so it cannot be limited to "
        "environments; `act` can");
  return rule;
}

Result<Grant> grant_by_groups(const NamedByIssuer& named, const OidcSettings& settings) {
  std::vector<const GroupRule*> fitting;
  for (const GroupRule& rule : settings.groups)
    if (std::ranges::find(named.groups, rule.group) != named.groups.end())
      fitting.push_back(&rule);
  if (fitting.empty())
    return user_error(cat("`", named.name,
                          "` is in no group that may do something here: ask who keeps the server"));
  const auto right_of = [](const GroupRule* rule) { return rule->right; };
  Grant grant;
  grant.token = cat(named.name, " (oidc)");
  grant.token_id =
      sha256_hex(cat("oidc\n", named.issuer, "\n", named.subject)).substr(0, digits_of_subject);
  grant.right = std::ranges::max(fitting, {}, right_of)->right;
  bool is_everywhere = false;
  for (const GroupRule* const rule : fitting)
    if (rule->right == grant.right) {
      is_everywhere |= rule->environment.empty();
      grant.environments.push_back(rule->environment);
    }
  if (is_everywhere)
    grant.environments.clear();
  return grant;
}

Result<SignInBegin> begin_sign_in(const OidcSettings& settings, const Path& folder,
                                  const std::string& back, Time now) {
  const Value endpoints = TRY(issuer_of(settings, folder).endpoints(now));
  SignInBegin begin;
  begin.location = endpoints.text_at("authorization_endpoint");
  if (begin.location.empty() || endpoints.text_at("token_endpoint").empty())
    return world_error("the issuer does not say by URLs of https where it signs people in");
  const Begun begun{TRY(new_token("a mark")), TRY(new_token("a mark")), TRY(new_token("a mark"))};
  begin.cookie = base64url_encode(TRY(seal_of(folder))
                                      .close(write_json(Value::dict({{"state", begun.state},
                                                                     {"nonce", begun.nonce},
                                                                     {"verifier", begun.verifier},
                                                                     {"at", write_moment(now)}}))));
  begin.location += begin.location.find('?') == std::string::npos ? '?' : '&';
  begin.location +=
      cat("response_type=code&client_id=", percent_encode(settings.client),
          "&redirect_uri=", percent_encode(back), "&scope=", percent_encode(settings.scope),
          "&state=", begun.state, "&nonce=", begun.nonce, "&code_challenge_method=S256",
          "&code_challenge=", base64url_encode(bytes_of_hex(sha256_hex(begun.verifier))));
  return begin;
}

Result<NamedByIssuer> finish_sign_in(const OidcSettings& settings, const Path& folder,
                                     const std::string& back, std::string_view cookie,
                                     const SignInAnswer& answer, Time now) {
  const Begun begun = TRY(begun_in(cookie, folder, now));
  if (!is_same_token(answer.state, begun.state) ||
      (!answer.issuer.empty() && answer.issuer != settings.issuer))
    return user_error("the issuer's answer does not fit what this browser has begun: begin again");
  if (!answer.error.empty() || answer.code.empty())
    return user_error(cat("the issuer does not sign you in: ",
                          printable(answer.error.substr(0, longest_identity))));
  const Value endpoints = TRY(issuer_of(settings, folder).endpoints(now));
  const Value said = TRY(read_json(TRY(done_apart(
      [&] { return answer_to_code(settings, endpoints, back, answer.code, begun.verifier); },
      2 * issuer_seconds))));
  const Jwt token = TRY(read_jwt(said.text_at("id_token")).context("the issuer's `id_token`"));
  TRY(check_id_token(settings, folder, token, begun, now));
  Value claims = token.claims;
  if (const Value* const about = said.find("userinfo")) {
    const Value more = TRY(read_json(about->text().view()));
    if (more.text_at("sub") != claims.text_at("sub"))
      return world_error("what the issuer says of the user is of another one");
    std::vector<Entry> fields(more.entries().begin(), more.entries().end());
    fields.insert(fields.end(), claims.entries().begin(), claims.entries().end());
    claims = Value::dict(std::move(fields));
  }
  return NamedByIssuer{settings.issuer, std::string(claims.text_at("sub")), name_in_claims(claims),
                       groups_in(claims, settings.group_claim)};
}

}  // namespace fettle
