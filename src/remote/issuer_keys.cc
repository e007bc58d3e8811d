#include "remote/issuer_keys.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/http.h"
#include "base/lock_file.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view configuration_path = "/.well-known/openid-configuration";
constexpr Duration issuer_limit = 3s;
/// Of the whole question; whoever waits for the answer waits no longer.
constexpr unsigned question_seconds = 7;

std::string_view host_of(std::string_view url) {
  const size_t begin = url.find("://") + 3;
  std::string_view host = url.substr(begin, std::min(url.find('/', begin), url.size()) - begin);
  if (const size_t colon = host.rfind(':'); colon != host.npos && !host.ends_with(']'))
    host = host.substr(0, colon);
  return host;
}

/// http alone would let everybody between choose the keys.
bool is_private(std::string_view url) {
  if (url.starts_with("https://"))
    return true;
  constexpr std::array<std::string_view, 3> here{"127.0.0.1", "localhost", "[::1]"};
  return url.starts_with("http://") && std::ranges::find(here, host_of(url)) != here.end();
}

bool is_plain_url(std::string_view url) {
  return is_private(url) && !host_of(url).empty() && url.find_first_of("?#@\\") == url.npos &&
         std::ranges::all_of(url, [](char c) { return c > ' ' && c < 0x7F; });
}

bool is_within(Time then, Duration age, Time now) { return then <= now && now - then < age; }

/// Redirects are not followed: they would lead to where nobody has trusted.
Result<std::string> answer_at(HttpClient& client, const std::string& url,
                              const std::string& authorities) {
  HttpRequest request;
  request.url = url;
  request.headers = {{"Accept", "application/json"}, {"User-Agent", "fettle"}};
  request.connect_limit = issuer_limit;
  request.time_limit = issuer_limit;
  request.body_limit = largest_key_set;
  request.tls.authorities_text = authorities;
  HttpResponse answer = TRY(client.send(std::move(request), {}));
  if (answer.status != 200)
    return world_error(cat("`", shown_url(url), "` answers with status ", answer.status));
  return std::move(answer.body);
}

}  // namespace

struct IssuerKeys::Kept {
  Time asked{}, answered{};
  std::string keys, fault;
};

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
  return kept;
}

Status IssuerKeys::write(const Kept& kept) const {
  return write_file(file_,
                    write_json(Value::dict({{"issuer", issuer_},
                                            {"asked", write_moment(kept.asked)},
                                            {"answered", write_moment(kept.answered)},
                                            {"keys", kept.keys},
                                            {"fault", kept.fault}})),
                    0600);
}

Result<std::string> IssuerKeys::asked_text() const {
  HttpClient client;
  const std::string base = issuer_.ends_with('/') ? issuer_.substr(0, issuer_.size() - 1) : issuer_;
  const std::string about = base + std::string(configuration_path);
  const Result<Value> configuration = read_json(TRY(answer_at(client, about, authorities_)));
  if (!configuration)
    return world_error(cat("`", about, "` is no JSON"));
  if (configuration->text_at("issuer") != issuer_)
    return world_error(cat("`", about, "` is of another issuer, `",
                           printable(configuration->text_at("issuer").substr(0, 200)), "`"));
  const std::string keys(configuration->text_at("jwks_uri"));
  const bool is_here = issuer_.starts_with("http://");
  if (!is_private(keys) || (!is_here && !keys.starts_with("https://")))
    return world_error(cat("`jwks_uri` of `", about, "` is no URL of https"));
  std::string text = TRY(answer_at(client, keys, authorities_));
  if (const Result<KeySet> set = read_key_set(text); !set)
    return world_error(cat("`", shown_url(keys), "` has no keys: ", set.error().message));
  return text;
}

void IssuerKeys::ask(std::string_view name, Time now) const {
  if (!make_directories(file_.parent_path()))
    return;
  const Result<LockFile> turn =
      LockFile::await(file_.string() + ".lock", std::chrono::seconds(question_seconds), {});
  if (!turn)
    return;
  Kept kept = read();
  const bool is_known = is_within(kept.answered, fresh_keys, now) &&
                        read_key_set(kept.keys).has_value() && read_key_set(kept.keys)->has(name);
  if (is_known || is_within(kept.asked, pause_of_questions, now))
    return;
  // Noted first: one that dies has been asked, too.
  kept.asked = now;
  if (!write(kept))
    return;
  std::fflush(nullptr);
  const pid_t asker = fork();
  if (asker == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(question_seconds);
    Result<std::string> text = asked_text();
    kept.fault = text ? "" : text.error().message;
    if (text) {
      kept.keys = *std::move(text);
      kept.answered = now;
    }
    _exit(write(kept) ? 0 : 1);
  }
  while (asker > 0 && waitpid(asker, nullptr, 0) < 0 && errno == EINTR) {
  }
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
    const unsigned left = alarm(0);  // the limit of whoever sends slowly
    ask(name, now);
    alarm(left);
    kept = read();
    keys = usable(kept);
  }
  if (keys)
    return keys;
  return world_error(cat("the keys of the issuer are not to be had: ",
                         kept.fault.empty() ? "it has not answered in time" : kept.fault));
}

}  // namespace fettle
