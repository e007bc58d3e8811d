#include "remote/trusts.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "base/token.h"

namespace fettle {
namespace {

constexpr size_t most_trusts = 1'000, most_told = 5, longest_claim = 200, digits_of_id = 16;

/// Who has an account there has jobs there, and these are the claims that say whose they are.
struct OpenForge {
  std::string_view issuer;
  std::array<std::string_view, 5> owners;
};
constexpr std::array<OpenForge, 2> open_forges{
    OpenForge{"https://token.actions.githubusercontent.com",
              {"repository", "repository_id", "repository_owner", "repository_owner_id", "sub"}},
    OpenForge{"https://gitlab.com",
              {"project_path", "project_id", "namespace_path", "namespace_id", "sub"}}};

/// How much a pattern says before its first wildcard.
bool begins_plainly(const ClaimRule& rule) {
  return !rule.is_pattern || rule.text.find_first_of("*?[\\") > 0;
}

Status check_owner(const Trust& trust) {
  const auto forge = std::ranges::find_if(open_forges, [&](const OpenForge& one) {
    return trust.issuer == one.issuer || trust.issuer == cat(one.issuer, "/");
  });
  if (forge == open_forges.end())
    return {};
  const bool is_owned = std::ranges::any_of(trust.claims, [&](const ClaimRule& rule) {
    return std::ranges::find(forge->owners, rule.name) != forge->owners.end() &&
           begins_plainly(rule);
  });
  if (is_owned)
    return {};
  std::vector<std::string> owners;
  for (const std::string_view owner : forge->owners)
    owners.push_back(cat("`", owner, "`"));
  return user_error(cat("everybody has jobs at `", forge->issuer,
                        "`: ask for a claim that says whose they are, as `--claim ",
                        forge->owners[0], "=acme/shop` (", join(owners, ", "),
                        "; a pattern must not begin with a wildcard)"));
}

Status check_trust(const Trust& trust) {
  TRY(check_plain_name(trust.grant.token, "a trust"));
  TRY(check_issuer(trust.issuer, "--issuer"));
  if (trust.audience.empty())
    return user_error(
        "`--audience` says for whom a token must be meant: give a text that your jobs ask their "
        "forge "
        "for, best the server's URL");
  if (trust.claims.empty())
    return user_error(
        "`--claim` says what a token must say, so that not every job counts: expected at least "
        "one, as "
        "`--claim repository=acme/shop`");
  TRY(check_owner(trust));
  for (const std::string& pattern : trust.grant.environments)
    if (pattern.empty())
      return user_error("`--environment` must name an environment, or a pattern such as `web-*`");
  if (trust.grant.right == Right::admin && trust.grant.is_limited())
    return user_error(
        "`admin` is about the server as a whole, so it cannot be limited to environments; "
        "`act` can");
  if (trust.keys.empty())
    return {};
  if (!trust.authorities.empty())
    return user_error("`--jwks` has the keys, so the issuer is not asked: leave out `--ca`");
  if (const Result<KeySet> keys = read_key_set(trust.keys); !keys)
    return user_error(
        cat("`--jwks` must be a file with the issuer's keys (JWKS): ", keys.error().message));
  return {};
}

Value value_of(const ClaimRule& rule) {
  return Value::dict({{"name", rule.name}, {"text", rule.text}, {"pattern", rule.is_pattern}});
}

Value value_of(const Trust& trust) {
  std::vector<Value> claims, patterns;
  for (const ClaimRule& rule : trust.claims)
    claims.push_back(value_of(rule));
  for (const std::string& pattern : trust.grant.environments)
    patterns.emplace_back(pattern);
  return Value::dict({{"name", trust.grant.token},
                      {"id", trust.id},
                      {"right", to_string(trust.grant.right)},
                      {"environments", Value::list(std::move(patterns))},
                      {"issuer", trust.issuer},
                      {"audience", trust.audience},
                      {"claims", Value::list(std::move(claims))},
                      {"created", write_moment(trust.created)},
                      {"keys", trust.keys},
                      {"authorities", trust.authorities}});
}

/// A field that is not there could be a limit that somebody has lost.
Result<std::string> text_of(const Value& value, std::string_view name) {
  const Value* const text = value.find(name);
  if (text == nullptr || !text->is_text())
    return user_error(cat("`", name, "` must be a text"));
  return text->text().str();
}

Result<Trust> trust_of(const Value& value) {
  Trust trust;
  trust.grant.token = TRY(text_of(value, "name"));
  trust.grant.right = TRY(right_named(TRY(text_of(value, "right"))));
  trust.grant.environments = TRY(texts_in(value.at("environments"), "environments"));
  trust.id = TRY(text_of(value, "id"));
  trust.issuer = TRY(text_of(value, "issuer"));
  trust.audience = TRY(text_of(value, "audience"));
  trust.created = TRY(read_moment(TRY(text_of(value, "created"))));
  trust.keys = TRY(text_of(value, "keys"));
  trust.authorities = TRY(text_of(value, "authorities"));
  if (trust.id.empty() || !value.at("claims").is_list())
    return user_error("`claims` must be a list, and `id` a text");
  for (const Value& item : value.at("claims").items()) {
    const Value* const is_pattern = item.find("pattern");
    if (is_pattern == nullptr || !is_pattern->is_bool())
      return user_error("`pattern` of a claim must be true or false");
    trust.claims.push_back(
        {TRY(text_of(item, "name")), TRY(text_of(item, "text")), is_pattern->boolean()});
  }
  TRY(check_trust(trust));
  return trust;
}

std::string shown_claim(std::string_view text) {
  return cat("`", printable(text.substr(0, longest_claim)), text.size() > longest_claim ? "…" : "",
             "`");
}

/// None: the claims say what is asked for.
std::optional<std::string> fault_of_claims(const Trust& trust, const Value& claims) {
  if (!is_for_audience(claims, trust.audience)) {
    const Value& given = claims.at("aud");
    return cat("`aud` is ", given.is_text() ? shown_claim(given.text().view()) : "another one",
               ", not `", trust.audience, "`");
  }
  for (const ClaimRule& rule : trust.claims) {
    const Value* const value = claims.find(rule.name);
    if (value == nullptr)
      return cat("there is no claim `", rule.name, "`");
    if (!value->is_text())
      return cat("`", rule.name, "` is no text");
    const std::string text = value->text().str();
    // A pattern ends where C's texts do.
    if (text.find('\0') != text.npos ||
        !(rule.is_pattern ? fits_pattern(rule.text, text) : text == rule.text))
      return cat("`", rule.name, "` is ", shown_claim(text), ", not `", rule.text, "`");
  }
  return std::nullopt;
}

/// Whose run it is: the trust, and the subject that its issuer has named.
Grant grant_by(const Trust& trust, const Value& claims) {
  Grant grant = trust.grant;
  const std::string_view subject = claims.text_at("sub");
  grant.trust = trust.grant.token;
  grant.token = cat(trust.grant.token, " (", printable(subject.substr(0, longest_claim)), ")");
  grant.token_id =
      sha256_hex(cat(trust.id, "\n", trust.issuer, "\n", subject)).substr(0, digits_of_id);
  return grant;
}

Error not_taken() {
  return user_error(
      "the server does not take this token of a job: who keeps the server sees why with "
      "`fettle audit --refused`, and says whom it trusts with `fettle trust add`");
}

/// The least that may be said, unless more is known to be right.
struct TrustCheck {
  std::optional<Grant> grant;
  std::string fault;
  bool is_over = false, is_unverified = false;
};

TrustCheck check_by(const Trust& trust, const Jwt& jwt, const Path& issuers, Time now) {
  const Result<KeySet> keys =
      trust.keys.empty()
          ? IssuerKeys(issuers, trust.issuer, trust.authorities).with_key(jwt.key, now)
          : read_key_set(trust.keys);
  if (!keys)
    return {{}, keys.error().message, false, true};
  if (std::optional<std::string> fault = keys->fault_of(jwt))
    return {{}, *std::move(fault)};
  if (std::optional<std::string> fault = fault_of_claims(trust, jwt.claims))
    return {{}, *std::move(fault)};
  if (!jwt.claims.at("sub").is_text())
    return {{}, "`sub` is no text"};
  if (std::optional<TimeFault> fault = time_fault(jwt.claims, now))
    return {{}, fault->why, fault->is_over};
  return {grant_by(trust, jwt.claims), {}};
}

}  // namespace

TrustBook trust_book(const Path& home) {
  return {home / "trusts.json", home / "serve" / "trusted", home / "serve" / "issuers"};
}

Result<ClaimRule> claim_rule_in(const std::string& text, bool is_pattern, std::string_view option) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals >= text.size() - 1 || text.empty())
    return user_error(cat("`", option, "` must be NAME=", is_pattern ? "PATTERN" : "TEXT", ", as `",
                          option, is_pattern ? " ref=refs/heads/*" : " repository=acme/shop",
                          "`, not `", printable(text), "`"));
  const std::string name = text.substr(0, equals);
  constexpr std::array<std::string_view, 5> own{"iss", "aud", "exp", "nbf", "iat"};
  if (std::ranges::find(own, name) != own.end())
    return user_error(cat("`", option, "` cannot be about `", name,
                          "`, which has a rule of its own (`--issuer`, `--audience`, the time)"));
  return ClaimRule{name, text.substr(equals + 1), is_pattern};
}

std::string to_string(const ClaimRule& rule) {
  return cat(rule.name, rule.is_pattern ? "~" : "=", rule.text);
}

Result<std::vector<Trust>> TrustBook::all() const {
  std::vector<Trust> trusts;
  for (const Value& item : TRY(list_.read())) {
    Result<Trust> trust = trust_of(item);
    if (!trust)
      return list_.damaged(cat("trust ", trusts.size() + 1, ": ", trust.error().message));
    trusts.push_back(*std::move(trust));
  }
  return trusts;
}

Status TrustBook::change_all(const std::function<Status(std::vector<Trust>&)>& change) const {
  return list_.change([&]() -> Result<std::vector<Value>> {
    std::vector<Trust> trusts = TRY(all());
    TRY(change(trusts));
    std::ranges::sort(trusts, {}, [](const Trust& trust) { return trust.grant.token; });
    std::vector<Value> values;
    for (const Trust& trust : trusts)
      values.push_back(value_of(trust));
    return values;
  });
}

Status TrustBook::add(Trust trust) const {
  TRY(check_trust(trust));
  const std::string name = trust.grant.token;
  trust.id = TRY(new_token("the mark of a trust")).substr(0, digits_of_id);
  TRY(change_all([&](std::vector<Trust>& trusts) -> Status {
    if (trusts.size() >= most_trusts)
      return user_error(cat("there are ", most_trusts, " trusts already"));
    for (const Trust& other : trusts)
      if (other.grant.token == name)
        return user_error(cat("there is a trust `", name, "` already: `fettle trust rm ", name,
                              "` takes it away, then another one may have the name"));
    trusts.push_back(trust);
    return {};
  }));
  unlink((uses_ / name).c_str());  // of one that had the name before
  return {};
}

Status TrustBook::remove(const std::string& name) const {
  TRY(change_all([&](std::vector<Trust>& trusts) -> Status {
    std::vector<std::string> names;
    for (const Trust& trust : trusts)
      names.push_back(trust.grant.token);
    if (std::erase_if(trusts, [&](const Trust& trust) { return trust.grant.token == name; }) > 0)
      return {};
    return user_error(cat("there is no trust `", printable(name), "`", suggestion(name, names),
                          "; `fettle trust ls` lists all"));
  }));
  unlink((uses_ / name).c_str());
  return {};
}

JwtVerdict TrustBook::verdict_of(std::string_view text, Time now) const {
  const Result<Jwt> jwt = read_jwt(text);
  if (!jwt)
    return {not_taken(), cat("a JWT: ", jwt.error().message)};
  Result<std::vector<Trust>> trusts = all();
  if (!trusts)
    return {world_error("the server cannot read whom it trusts; `fettle trust ls` on its machine "
                        "says why"),
            trusts.error().message};
  std::erase_if(*trusts,
                [&](const Trust& trust) { return trust.issuer != jwt->claims.text_at("iss"); });
  if (trusts->empty())
    return {not_taken(), "a JWT: nobody trusts its issuer (`iss`)"};
  std::ranges::stable_sort(*trusts, std::ranges::greater(),
                           [](const Trust& trust) { return trust.grant.right; });
  std::vector<std::string> faults;
  bool is_over = false, is_unverified = false;
  for (const Trust& trust : *trusts) {
    TrustCheck check = check_by(trust, *jwt, issuers_, now);
    if (check.grant)
      return {*std::move(check.grant), {}};
    is_over |= check.is_over;
    is_unverified |= check.is_unverified;
    if (faults.size() < most_told)
      faults.push_back(cat("trust `", trust.grant.token, "`: ", check.fault));
  }
  const std::string noted =
      cat("a JWT: ", join(faults, "; "), trusts->size() > faults.size() ? "; …" : "");
  if (is_over)
    return {user_error("the token of this job has expired: the job asks its forge for a new one"),
            noted};
  if (is_unverified)
    return {world_error("the server cannot have the keys of this token's issuer now, so it cannot "
                        "verify the token: try again"),
            noted};
  return {not_taken(), noted};
}

}  // namespace fettle
