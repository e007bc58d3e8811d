#include "remote/page_sessions.h"

#include <unistd.h>

#include <algorithm>

#include "base/hash.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "base/token.h"
#include "remote/kept_list.h"
#include "remote/session.h"
#include "remote/tokens.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t most_sessions = 1'000, digits_of_session = 32;

bool is_session_id(std::string_view id) {
  return id.size() == digits_of_session && id.find_first_not_of("0123456789abcdef") == id.npos;
}

Value value_of(const PageSession& session) {
  std::vector<Value> groups(session.named.groups.begin(), session.named.groups.end());
  return Value::dict({{"key", session.key},
                      {"begun", write_moment(session.begun)},
                      {"digest", session.digest},
                      {"issuer", session.named.issuer},
                      {"subject", session.named.subject},
                      {"name", session.named.name},
                      {"groups", Value::list(std::move(groups))}});
}

Result<PageSession> session_of(std::string_view json) {
  const Value value = TRY(read_json(json));
  PageSession session;
  session.key = value.text_at("key");
  session.begun = TRY(read_moment(value.text_at("begun")));
  session.digest = value.text_at("digest");
  session.named.issuer = value.text_at("issuer");
  session.named.subject = value.text_at("subject");
  session.named.name = value.text_at("name");
  session.named.groups = TRY(texts_in(value.at("groups"), "groups"));
  if (session.key.empty() || (session.digest.empty() && session.named.subject.empty()))
    return user_error("it says nothing of whom it is");
  return session;
}

}  // namespace

PageSessions page_sessions(const ServeSettings& settings) {
  return PageSessions(settings.folder() / "sessions");
}

Result<std::string> PageSessions::begin(PageSession session, Time now) const {
  TRY(make_directories(folder_));
  prune(now);
  std::string cookie = TRY(new_token("the key of the page"));
  session.key = TRY(new_token("the key of the page"));
  session.begun = now;
  session.id = sha256_hex(cookie).substr(0, digits_of_session);
  TRY(write_file(folder_ / (session.id + ".json"), write_json(value_of(session)), 0600));
  note_use(session, now);
  return cookie;
}

std::optional<PageSession> PageSessions::with_cookie(std::string_view cookie, Time now) const {
  return cookie.empty() ? std::nullopt
                        : with_id(sha256_hex(cookie).substr(0, digits_of_session), now);
}

std::optional<PageSession> PageSessions::with_id(const std::string& id, Time now) const {
  if (!is_session_id(id))
    return std::nullopt;
  const Result<std::string> text = read_file(folder_ / (id + ".json"));
  Result<PageSession> session = text ? session_of(*text) : Result<PageSession>(text.error());
  if (!session)
    return std::nullopt;
  const Time used = time_of_use(folder_, id + ".used").value_or(session->begun);
  if (now - used >= idle_session || now - session->begun >= longest_session)
    return std::nullopt;
  session->id = id;
  return *std::move(session);
}

void PageSessions::note_use(const PageSession& session, Time now) const {
  note_use_in(folder_, session.id + ".used", now);
}

void PageSessions::end(const std::string& id) const {
  if (!is_session_id(id))
    return;
  unlink((folder_ / (id + ".json")).c_str());
  unlink((folder_ / (id + ".used")).c_str());
}

void PageSessions::prune(Time now) const {
  std::vector<std::pair<Time, std::string>> living;
  std::error_code failure;
  for (const auto& each : std::filesystem::directory_iterator(folder_, failure)) {
    if (each.path().extension() != ".json")
      continue;
    const std::string id = each.path().stem().string();
    if (const std::optional<PageSession> session = with_id(id, now))
      living.emplace_back(session->begun, id);
    else
      end(id);
  }
  std::ranges::sort(living);
  for (size_t i = 0; i + most_sessions <= living.size(); ++i)
    end(living[i].second);
}

Result<Grant> grant_of_session(const PageSession& session, const ServeSettings& settings,
                               Time now) {
  if (!session.digest.empty())
    return token_book(settings.home).grant_of_digest(session.digest, settings.token, now);
  if (!settings.oidc || settings.oidc->issuer != session.named.issuer)
    return user_error("the server does not know your issuer any more: sign in again");
  return grant_by_groups(session.named, *settings.oidc);
}

}  // namespace fettle
