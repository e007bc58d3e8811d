#include "remote/tokens.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <mutex>

#include "base/hash.h"
#include "base/node_name.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "base/token.h"

namespace fettle {
namespace {

constexpr Duration one_day = 24h;
/// Two changes within the grain of its file system's clock look like one.
constexpr Duration settled_after = 1s;

Status check_token_name(const std::string& name) {
  if (name == own_token_name)
    return user_error(cat("a token cannot be called `", name,
                          "`: that is the one that `fettle serve` makes or reads"));
  return check_plain_name(name, "a token");
}

Value value_of(const Token& token) {
  std::vector<Value> patterns;
  for (const std::string& pattern : token.grant.environments)
    patterns.emplace_back(pattern);
  return Value::dict({{"name", token.grant.token},
                      {"right", right_text(token.grant)},
                      {"agent", token.grant.agent.empty() ? Value() : Value(token.grant.agent)},
                      {"environments", Value::list(std::move(patterns))},
                      {"created", write_moment(token.created)},
                      {"expires", token.expires ? Value(write_moment(*token.expires)) : Value()},
                      {"digest", token.digest}});
}

/// What tells a file from another one at its path. `changed`: its bytes, its mode or its place.
struct FileSight {
  Path path{};
  dev_t device = 0;
  ino_t number = 0;
  off_t size = 0;
  mode_t mode = 0;
  Time changed{};
  bool operator==(const FileSight&) const = default;
};

std::optional<FileSight> sight_of(const Path& path) {
  struct stat about{};
  if (stat(path.c_str(), &about) != 0)
    return std::nullopt;
  return FileSight{path,
                   about.st_dev,
                   about.st_ino,
                   about.st_size,
                   about.st_mode,
                   Time(std::chrono::seconds(about.st_ctim.tv_sec) +
                        std::chrono::nanoseconds(about.st_ctim.tv_nsec))};
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Whatever it does not say as it should gives no right.
Result<Token> token_of(const Value& value) {
  Token token;
  token.grant.token = value.text_at("name");
  TRY(check_token_name(token.grant.token));
  if (value.text_at("right") == right_of_agents) {
    token.grant.agent = value.text_at("agent");
    TRY(check_node_name(token.grant.agent, "an agent"));
  } else {
    token.grant.right = TRY(right_named(value.text_at("right")));
  }
  token.grant.environments = TRY(texts_in(value.at("environments"), "environments"));
  token.created = TRY(read_moment(value.text_at("created")));
  const Value* const expires = value.find("expires");
  if (expires == nullptr || (!expires->is_null() && !expires->is_text()))
    return user_error("`expires` must be a moment or null");
  if (expires->is_text())
    token.expires = TRY(read_moment(expires->text().view()));
  token.digest = value.text_at("digest");
  if (!is_digest(token.digest))
    return user_error("`digest` must be a SHA-256");
  return token;
}

}  // namespace

TokenBook token_book(const Path& home) { return {home / "tokens.json", home / "serve" / "used"}; }

Result<std::vector<Token>> TokenBook::read() const {
  std::vector<Token> tokens;
  for (const Value& item : TRY(list_.read())) {
    Result<Token> token = token_of(item);
    if (!token)
      return list_.damaged(cat("token ", tokens.size() + 1, ": ", token.error().message));
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

Result<std::shared_ptr<const std::vector<Token>>> TokenBook::read_again() const {
  static std::mutex turn;
  static FileSight last;
  static std::shared_ptr<const std::vector<Token>> tokens;
  const std::lock_guard lock(turn);
  const std::optional<FileSight> before = sight_of(list_.file);
  if (tokens != nullptr && before && *before == last)
    return tokens;
  auto read_now = std::make_shared<const std::vector<Token>>(TRY(read()));
  const bool is_settled =
      before && before == sight_of(list_.file) && now_from_clock() - before->changed > settled_after;
  tokens = is_settled ? read_now : nullptr;
  last = before.value_or(FileSight());
  return read_now;
}

Result<std::vector<Token>> TokenBook::all() const { return read(); }

Status TokenBook::change_all(const std::function<Status(std::vector<Token>&)>& change) const {
  return list_.change([&]() -> Result<std::vector<Value>> {
    std::vector<Token> tokens = TRY(read());
    TRY(change(tokens));
    std::ranges::sort(tokens, {}, [](const Token& token) { return token.grant.token; });
    std::vector<Value> values;
    for (const Token& token : tokens)
      values.push_back(value_of(token));
    return values;
  });
}

Result<std::string> TokenBook::add(Token token) const {
  const std::string name = token.grant.token;
  TRY(check_token_name(name));
  for (const std::string& pattern : token.grant.environments)
    if (pattern.empty())
      return user_error("`--environment` must name an environment, or a pattern such as `web-*`");
  if (!token.grant.agent.empty())
    TRY(check_node_name(token.grant.agent, "an agent"));
  if (token.grant.right == Right::admin && token.grant.is_limited())
    return user_error(
        "`admin` is about the server as a whole, so it cannot be limited to environments; "
        "`act` can");
  const std::string text = TRY(new_token("a token"));
  token.digest = sha256_hex(text);
  TRY(change_all([&](std::vector<Token>& tokens) -> Status {
    for (const Token& other : tokens)
      if (other.grant.token == name)
        return user_error(cat("there is a token `", name, "` already: `fettle token rm ", name,
                              "` takes it away, then another one may have the name"));
    tokens.push_back(token);
    return {};
  }));
  unlink((uses_ / name).c_str());  // of one that had the name before
  return text;
}

Status TokenBook::remove(const std::string& name) const {
  TRY(change_all([&](std::vector<Token>& tokens) -> Status {
    std::vector<std::string> names;
    for (const Token& token : tokens)
      names.push_back(token.grant.token);
    if (std::erase_if(tokens, [&](const Token& token) { return token.grant.token == name; }) > 0)
      return {};
    if (name == own_token_name)
      return user_error(
          "the token `serve` is the one that `fettle serve` made or read: it ends with the server");
    return user_error(cat("there is no token `", printable(name), "`", suggestion(name, names),
                          "; `fettle token ls` lists all"));
  }));
  unlink((uses_ / name).c_str());
  return {};
}

std::optional<Time> TokenBook::last_used(const std::string& name) const {
  return time_of_use(uses_, name);
}

Result<std::optional<Token>> TokenBook::find(std::string_view digest) const {
  // All of them are compared, so the time says nothing about which one it is.
  std::optional<Token> found;
  const auto all = TRY(read_again());
  for (const Token& token : *all)
    if (is_same_token(token.digest, digest))
      found = token;
  return found;
}

std::string TokenBook::name_of(std::string_view text) const {
  const Result<std::optional<Token>> found = find(sha256_hex(text));
  return found && *found ? (*found)->grant.token : std::string();
}

Result<Grant> TokenBook::grant_of(std::string_view text, std::string_view own, Time now) const {
  // An empty one is nobody's, and has a digest.
  return grant_of_digest(text.empty() ? std::string() : sha256_hex(text), own, now);
}

Result<Grant> TokenBook::grant_of_digest(std::string_view digest, std::string_view own,
                                         Time now) const {
  if (!own.empty() && is_same_token(digest, sha256_hex(own)))
    return Grant{std::string(own_token_name), Right::admin, {}};
  const Result<std::optional<Token>> found = find(digest);
  if (!found)
    return world_error(
        "the server cannot read its tokens; `fettle token ls` on its machine says why");
  if (!*found)
    return user_error(
        "the server does not know this token: it is what `fettle token create` or `fettle serve` "
        "printed there, or what the server's `--token-file` holds");
  const Token& token = **found;
  if (token.expires && *token.expires <= now)
    return user_error(cat("the token `", token.grant.token, "` expired at ",
                          write_moment(*token.expires),
                          ": ask who keeps the server for a new one"));
  constexpr size_t digits = 16;
  Grant grant = token.grant;
  grant.token_id = token.digest.substr(0, digits);
  return grant;
}

void TokenBook::note_use(const std::string& name, Time now) const { note_use_in(uses_, name, now); }

Result<Time> expiry_asked(std::string_view text, Time now) {
  const auto wrong = [&](std::string_view why) {
    return user_error(cat("`--expires` ", why,
                          ": expected how long the token lives, as `30d` or `12h`, or its end, as ",
                          "`2027-12-31` or `2027-12-31T12:00:00Z`"));
  };
  constexpr int most_days = 36'500;
  int days = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), days);
  if (failure == std::errc() && std::string_view(end, text.data() + text.size()) == "d") {
    if (days < 1 || days > most_days)
      return wrong(cat("must be from 1 to ", most_days, " days"));
    return now + days * one_day;
  }
  if (const Result<Duration> lasts = parse_duration(text)) {
    if (*lasts <= 0s)
      return wrong(cat("must be in the future, and `", printable(text), "` is not"));
    return now + *lasts;
  }
  Result<Time> at = read_moment(text);
  if (!at) {
    at = read_moment(cat(text, "T00:00:00Z"));
    if (!at)
      return wrong(cat("cannot be `", printable(text), "`"));
    *at += one_day;
  }
  if (*at <= now)
    return wrong(cat("must be in the future, and `", printable(text), "` is over"));
  return *at;
}

}  // namespace fettle
