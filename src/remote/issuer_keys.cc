#include "remote/issuer_keys.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/http.h"
#include "base/lock_file.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "remote/apart.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view configuration_path = "/.well-known/openid-configuration";
constexpr Duration issuer_limit = 3s;

std::string_view host_of(std::string_view url) {
  const size_t begin = url.find("://") + 3;
  std::string_view host = url.substr(begin, std::min(url.find('/', begin), url.size()) - begin);
  if (const size_t colon = host.rfind(':'); colon != host.npos && !host.ends_with(']'))
    host = host.substr(0, colon);
  return host;
}

bool is_plain_url(std::string_view url) {
  return is_private_url(url) && !host_of(url).empty() && url.find_first_of("?#@\\") == url.npos &&
         std::ranges::all_of(url, [](char c) { return c > ' ' && c < 0x7F; });
}

bool is_within(Time then, Duration age, Time now) { return then <= now && now - then < age; }

}  // namespace

struct IssuerKeys::Kept {
  Time asked{}, answered{};
  std::string keys, fault;
  Value endpoints;
};

bool is_private_url(std::string_view url) {
  if (url.starts_with("https://"))
    return true;
  constexpr std::array<std::string_view, 3> here{"127.0.0.1", "localhost", "[::1]"};
  return url.starts_with("http://") && std::ranges::find(here, host_of(url)) != here.end();
}

/// Redirects are not followed: they would lead to where nobody has trusted.
Result<std::string> answer_of_issuer(HttpClient& client, const std::string& url,
                                     const std::string& authorities, const std::string& token) {
  HttpRequest request;
  request.url = url;
  request.headers = {{"Accept", "application/json"}, {"User-Agent", "fettle"}};
  if (!token.empty())
    request.headers.push_back({"Authorization", cat("Bearer ", token)});
  request.connect_limit = issuer_limit;
  request.time_limit = issuer_limit;
  request.body_limit = largest_key_set;
  request.tls.authorities_text = authorities;
  HttpResponse answer = TRY(client.send(std::move(request), {}));
  if (answer.status != 200)
    return world_error(cat("`", shown_url(url), "` answers with status ", answer.status));
  return std::move(answer.body);
}

Status check_issuer(const std::string& url, std::string_view what) {
  if (is_plain_url(url))
    return {};
  return user_error(
      cat("`", what, "` must be a URL such as `https://gitlab.example.com`, and not `",
          printable(url), "`: https (http at 127.0.0.1 alone), without user, `?` and `#`"));
}

IssuerKeys::IssuerKeys(const Path& folder, std::string issuer, std::string authorities)
    : file_(folder / (sha256_hex(cat(issuer, "\n", authorities)).substr(0, 32) + ".json")),
      issuer_(std::move(issuer)),
      authorities_(std::move(authorities)) {}

/// A file that is damaged is one that is not there.
IssuerKeys::Kept IssuerKeys::read() const {
  Kept kept;
  const Result<std::string> text = read_file(file_);
  const Result<Value> value = text ? read_json(*text) : Result<Value>(Value());
  if (!value || value->text_at("issuer") != issuer_)
    return kept;
  kept.asked = read_moment(value->text_at("asked")).value_or(Time());
  kept.answered = read_moment(value->text_at("answered")).value_or(Time());
  kept.keys = value->text_at("keys");
  kept.fault = value->text_at("fault");
  kept.endpoints = value->at("endpoints");
  return kept;
}

Status IssuerKeys::write(const Kept& kept) const {
  return write_file(file_,
                    write_json(Value::dict({{"issuer", issuer_},
                                            {"asked", write_moment(kept.asked)},
                                            {"answered", write_moment(kept.answered)},
                                            {"keys", kept.keys},
                                            {"endpoints", kept.endpoints},
                                            {"fault", kept.fault}})),
                    0600);
}

/// An object of JSON with what is kept of the answers.
Result<std::string> IssuerKeys::asked_text() const {
  HttpClient client;
  const std::string base = issuer_.ends_with('/') ? issuer_.substr(0, issuer_.size() - 1) : issuer_;
  const std::string about = base + std::string(configuration_path);
  const Result<Value> configuration = read_json(TRY(answer_of_issuer(client, about, authorities_)));
  if (!configuration)
    return world_error(cat("`", about, "` is no JSON"));
  if (configuration->text_at("issuer") != issuer_)
    return world_error(cat("`", about, "` is of another issuer, `",
                           printable(configuration->text_at("issuer").substr(0, 200)), "`"));
  // One that is asked by https leads nobody out of it.
  const auto url = [&](std::string_view name) {
    const std::string found(configuration->text_at(name));
    const bool is_fine = is_private_url(found) &&
                         (issuer_.starts_with("http://") || found.starts_with("https://")) &&
                         std::ranges::all_of(found, [](char c) { return c > ' ' && c < 0x7F; });
    return is_fine ? found : std::string();
  };
  const std::string keys = url("jwks_uri");
  if (keys.empty())
    return world_error(cat("`jwks_uri` of `", about, "` is no URL of https"));
  const std::string text = TRY(answer_of_issuer(client, keys, authorities_));
  if (const Result<KeySet> set = read_key_set(text); !set)
    return world_error(cat("`", shown_url(keys), "` has no keys: ", set.error().message));
  std::vector<Entry> endpoints;
  for (const char* const name : {"authorization_endpoint", "token_endpoint", "userinfo_endpoint"})
    endpoints.push_back({name, url(name)});
  return write_json(
      Value::dict({{"keys", text}, {"endpoints", Value::dict(std::move(endpoints))}}));
}

void IssuerKeys::ask(std::string_view name, Time now) const {
  if (!make_directories(file_.parent_path()))
    return;
  const unsigned left = alarm(0);  // the limit of whoever sends slowly
  const Result<LockFile> turn =
      LockFile::await(file_.string() + ".lock", std::chrono::seconds(issuer_seconds), {});
  alarm(left);
  if (!turn)
    return;
  Kept kept = read();
  const Result<KeySet> known = read_key_set(kept.keys);
  const bool is_known =
      is_within(kept.answered, fresh_keys, now) && known && (name.empty() || known->has(name));
  if (is_known || is_within(kept.asked, pause_of_questions, now))
    return;
  // Noted first: one that dies has been asked, too.
  kept.asked = now;
  if (!write(kept))
    return;
  const Result<std::string> said = done_apart([&] { return asked_text(); }, issuer_seconds);
  const Result<Value> answer = said ? read_json(*said) : Result<Value>(said.error());
  kept.fault = answer ? "" : answer.error().message;
  if (answer) {
    kept.keys = answer->text_at("keys");
    kept.endpoints = answer->at("endpoints");
    kept.answered = now;
  }
  static_cast<void>(write(kept));
}

Error IssuerKeys::why_not(const Kept& kept) const {
  return world_error(cat("the keys of the issuer are not to be had: ",
                         kept.fault.empty() ? "it was asked a moment ago" : kept.fault));
}

Result<KeySet> IssuerKeys::with_key(std::string_view name, Time now) const {
  const auto usable = [&](const Kept& kept) {
    return is_within(kept.answered, oldest_keys, now) ? read_key_set(kept.keys)
                                                      : user_error("there are none");
  };
  Kept kept = read();
  Result<KeySet> keys = usable(kept);
  if (keys && keys->has(name) && is_within(kept.answered, fresh_keys, now))
    return keys;
  if (!is_within(kept.asked, pause_of_questions, now)) {
    ask(name, now);
    kept = read();
    keys = usable(kept);
  }
  return keys ? std::move(keys) : why_not(kept);
}

Result<Value> IssuerKeys::endpoints(Time now) const {
  Kept kept = read();
  if (!is_within(kept.answered, fresh_keys, now) &&
      !is_within(kept.asked, pause_of_questions, now)) {
    ask({}, now);
    kept = read();
  }
  if (!is_within(kept.answered, oldest_keys, now) || !kept.endpoints.is_dict())
    return why_not(kept);
  return kept.endpoints;
}

}  // namespace fettle
