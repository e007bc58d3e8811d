/// Jobs of CI at a server of commands: an issuer in a process of its own, and real sockets.

#include "remote/trusts.h"

#include "base/rfc3339.h"
#include "remote/audit_log.h"
#include "remote/tls_side.h"
#include "remote/tokens.h"
#include "tests/fixtures/command_server_fixture.h"
#include "tests/fixtures/jwt_fixture.h"

namespace fettle {
namespace {

const Time start_of_jobs = *read_moment("2026-01-01T12:00:00Z");

int64_t second_at(Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

class TrustBookTest : public testing::Test {
 protected:
  TrustBook book() const { return trust_book(home_.path()); }
  Path file() const { return home_.path() / "trusts.json"; }

  Trust trust(const std::string& name, Right right = Right::act) const {
    Trust made;
    made.grant = {name, right, {"shop-*"}};
    made.issuer = issuer_.url();
    made.audience = "fettle";
    made.claims = {{"repository", "acme/shop"}, {"ref", "refs/heads/*", true}};
    made.created = start_of_jobs;
    return made;
  }
  void add(const Trust& made) const {
    const Status added = book().add(made);
    EXPECT_TRUE(added) << added.error().message;
  }
  std::string refused(const Trust& made) const {
    const Status added = book().add(made);
    EXPECT_FALSE(added) << made.grant.token;
    if (!added) {
      EXPECT_EQ(added.error().blame, Blame::user);
    }
    return added ? "" : added.error().message;
  }
  std::vector<Entry> good_claims(Time now = start_of_jobs) const {
    return {{"iss", issuer_.url()},
            {"aud", "fettle"},
            {"sub", "repo:acme/shop:ref:refs/heads/main"},
            {"repository", "acme/shop"},
            {"ref", "refs/heads/main"},
            {"exp", second_at(now) + 300},
            {"iat", second_at(now)}};
  }
  /// Of several fields with one name the last one counts.
  Value claims(std::vector<Entry> more = {}, Time now = start_of_jobs) const {
    std::vector<Entry> fields = good_claims(now);
    fields.insert(fields.end(), more.begin(), more.end());
    return Value::dict(std::move(fields));
  }
  Value claims_without(std::string_view name) const {
    std::vector<Entry> fields = good_claims();
    std::erase_if(fields, [&](const Entry& one) { return one.key.view() == name; });
    return Value::dict(std::move(fields));
  }
  JwtVerdict verdict(const std::string& text, Time now = start_of_jobs) const {
    return book().verdict_of(text, now);
  }
  std::string noted(const std::string& text, Time now = start_of_jobs) const {
    return verdict(text, now).noted;
  }
  bool is_taken(const std::string& text, Time now = start_of_jobs) const {
    return verdict(text, now).grant.has_value();
  }

  TemporaryDirectory home_ = *TemporaryDirectory::make();
  TestIssuer issuer_;
  JwtSigner signer_{"k1", "P-256"};
};

TEST_F(TrustBookTest, AJobGetsWhatItsTrustSays) {
  issuer_.put("keys", signer_.key_set());
  add(trust("ci"));
  const JwtVerdict found = verdict(signer_.jwt(claims()));
  ASSERT_TRUE(found.grant) << found.noted;
  EXPECT_EQ(found.grant->token, "ci (repo:acme/shop:ref:refs/heads/main)");
  EXPECT_EQ(found.grant->trust, "ci");
  EXPECT_EQ(found.grant->right, Right::act);
  EXPECT_EQ(found.grant->environments, std::vector<std::string>{"shop-*"});
  EXPECT_EQ(found.grant->token_id.size(), 16U);
  const JwtVerdict other = verdict(signer_.jwt(claims({{"sub", "repo:acme/shop:pull_request"}})));
  EXPECT_NE(other.grant->token_id, found.grant->token_id) << "another subject is somebody else";
  // Of several, the one that may do more; a trust of a later time is another one.
  add(trust("a", Right::read));
  add(trust("z", Right::plan));
  EXPECT_EQ(verdict(signer_.jwt(claims())).grant->trust, "ci");
  ASSERT_TRUE(book().remove("ci"));
  EXPECT_EQ(verdict(signer_.jwt(claims())).grant->trust, "z");
  add(trust("ci"));
  EXPECT_NE(verdict(signer_.jwt(claims())).grant->token_id, found.grant->token_id);
  EXPECT_EQ(issuer_.questions(), 1U);
}

TEST_F(TrustBookTest, WhatDoesNotHoldIsNotedAndNotTold) {
  issuer_.put("keys", signer_.key_set());
  add(trust("ci"));
  const auto refused_as = [&](const Value& said, std::string_view why) {
    const JwtVerdict found = verdict(signer_.jwt(said));
    ASSERT_FALSE(found.grant) << why;
    EXPECT_EQ(found.noted, cat("a JWT: ", why));
    EXPECT_EQ(found.grant.error().blame, Blame::user);
    EXPECT_EQ(found.grant.error().message.find("acme"), std::string::npos);
    EXPECT_NE(found.grant.error().message.find("does not take this token"), std::string::npos);
  };
  refused_as(claims({{"aud", "other"}}), "trust `ci`: `aud` is `other`, not `fettle`");
  refused_as(claims({{"aud", Value::list({"a", "b"})}}),
             "trust `ci`: `aud` is another one, not `fettle`");
  refused_as(claims_without("aud"), "trust `ci`: `aud` is another one, not `fettle`");
  refused_as(claims({{"repository", "acme/shop2"}}),
             "trust `ci`: `repository` is `acme/shop2`, not `acme/shop`");
  refused_as(claims({{"repository", "ACME/shop"}}),
             "trust `ci`: `repository` is `ACME/shop`, not `acme/shop`");
  refused_as(claims({{"repository", Value::list({"acme/shop"})}}),
             "trust `ci`: `repository` is no text");
  refused_as(claims({{"repository", true}}), "trust `ci`: `repository` is no text");
  refused_as(claims({{"repository", Value()}}), "trust `ci`: `repository` is no text");
  refused_as(claims_without("repository"), "trust `ci`: there is no claim `repository`");
  refused_as(claims({{"ref", "refs/tags/v1"}}),
             "trust `ci`: `ref` is `refs/tags/v1`, not `refs/heads/*`");
  refused_as(claims({{"ref", std::string("refs/heads/main\0x", 17)}}),
             "trust `ci`: `ref` is `refs/heads/main\\x00x`, not `refs/heads/*`");
  refused_as(
      claims({{"ref", "refs/tags/" + std::string(300, 'x')}}),
      cat("trust `ci`: `ref` is `refs/tags/", std::string(190, 'x'), "…`, not `refs/heads/*`"));
  refused_as(claims_without("sub"), "trust `ci`: `sub` is no text");
  refused_as(claims_without("exp"), "trust `ci`: it has no `exp`");
  refused_as(claims({{"iss", "http://127.0.0.1:1"}}), "nobody trusts its issuer (`iss`)");
  refused_as(claims_without("iss"), "nobody trusts its issuer (`iss`)");
  refused_as(claims({{"iss", issuer_.url() + "/"}}), "nobody trusts its issuer (`iss`)");
  refused_as(claims({{"iss", Value::list({issuer_.url()})}}), "nobody trusts its issuer (`iss`)");

  const JwtVerdict late = verdict(signer_.jwt(claims()), start_of_jobs + 10min);
  EXPECT_EQ(late.grant.error().message,
            "the token of this job has expired: the job asks its forge for a new one");
  EXPECT_EQ(late.noted, "a JWT: trust `ci`: `exp`: it expired at 2026-01-01T12:05:00Z");
  // Whoever cannot sign is not told that another repository would do, nor that it is too late.
  const JwtSigner forger("k1", "P-256");
  EXPECT_EQ(noted(forger.jwt(claims()), start_of_jobs + 10min),
            "a JWT: trust `ci`: its signature is wrong");
  EXPECT_EQ(noted(forger.jwt(claims({{"repository", "x/y"}}))),
            "a JWT: trust `ci`: its signature is wrong");
  EXPECT_EQ(noted("eyJh.eyJh.x"), "a JWT: its header is no object of JSON, or has a field twice");
}

TEST_F(TrustBookTest, KeysAreAskedForAgainWhenTheyChangeAndSeldom) {
  issuer_.put("keys", signer_.key_set());
  add(trust("ci"));
  Time now = start_of_jobs;
  const auto fresh = [&](const JwtSigner& by) { return by.jwt(claims({}, now)); };
  EXPECT_TRUE(is_taken(fresh(signer_), now));
  EXPECT_EQ(issuer_.questions(), 1U);

  const JwtSigner next("k2", "P-384"), unknown("k9", "P-256");
  issuer_.put("keys", JwtSigner::key_set({signer_.jwk(), next.jwk()}));
  now += 59s;
  EXPECT_EQ(noted(fresh(next), now), "a JWT: trust `ci`: `kid` is none of the issuer's keys");
  EXPECT_EQ(issuer_.questions(), 1U) << "at most once a minute";
  now += 1s;
  EXPECT_TRUE(is_taken(fresh(next), now));
  EXPECT_TRUE(is_taken(fresh(signer_), now));
  EXPECT_EQ(issuer_.questions(), 2U);
  for (int i = 0; i < 50; ++i)
    EXPECT_FALSE(is_taken(JwtSigner(cat("x", i), "P-256").jwt(claims({}, now)), now));
  EXPECT_EQ(issuer_.questions(), 2U) << "nobody has us flood an issuer";
  now += 60s;
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(is_taken(fresh(unknown), now));
  EXPECT_EQ(issuer_.questions(), 3U);

  // A key that was taken away counts until the others are an hour old.
  issuer_.put("keys", next.key_set());
  now += 59min;
  EXPECT_TRUE(is_taken(fresh(signer_), now));
  EXPECT_EQ(issuer_.questions(), 3U);
  now += 1min;
  EXPECT_FALSE(is_taken(fresh(signer_), now));
  EXPECT_TRUE(is_taken(fresh(next), now));
  EXPECT_EQ(issuer_.questions(), 4U);
}

TEST_F(TrustBookTest, KeysCountForADayWhileTheIssuerIsAway) {
  issuer_.put("keys", signer_.key_set());
  add(trust("ci"));
  EXPECT_TRUE(is_taken(signer_.jwt(claims())));
  issuer_.take_away("keys");
  const Time later = start_of_jobs + 23h;
  EXPECT_TRUE(is_taken(signer_.jwt(claims({}, later)), later));
  EXPECT_EQ(issuer_.questions(), 2U);
  const Time over = start_of_jobs + 24h;
  const JwtVerdict found = verdict(signer_.jwt(claims({}, over)), over);
  ASSERT_FALSE(found.grant);
  EXPECT_EQ(found.grant.error().blame, Blame::world) << "it is worth another try";
  EXPECT_EQ(found.noted, cat("a JWT: trust `ci`: the keys of the issuer are not to be had: `",
                             issuer_.url(), "/keys` answers with status 404"));
  issuer_.put("keys", signer_.key_set());
  EXPECT_FALSE(is_taken(signer_.jwt(claims({}, over)), over + 30s)) << "it was asked a moment ago";
  EXPECT_TRUE(is_taken(signer_.jwt(claims({}, over)), over + 60s));
}

TEST_F(TrustBookTest, AnIssuerThatAnswersOtherwiseHasNoKeys) {
  add(trust("ci"));
  Time now = start_of_jobs;
  const auto fault = [&] {
    now += 61s;
    const std::string text = noted(signer_.jwt(claims({}, now)), now);
    const std::string_view begin = "a JWT: trust `ci`: the keys of the issuer are not to be had: ";
    EXPECT_TRUE(text.starts_with(begin)) << text;
    return replace_all(text.substr(std::min(begin.size(), text.size())), issuer_.url(), "ISSUER");
  };
  issuer_.put("keys", signer_.key_set());
  issuer_.configure(issuer_.url() + "/keys", "http://127.0.0.1:1");
  EXPECT_EQ(fault(),
            "`ISSUER/.well-known/openid-configuration` is of another issuer, `http://127.0.0.1:1`");
  for (const char* const other :
       {"http://example.com/keys", "file:///etc/passwd", "ftp://127.0.0.1/keys", "", "/keys",
        "http://127.0.0.1.example.com/keys", "http://user@127.0.0.1/keys"}) {
    issuer_.configure(other);
    EXPECT_EQ(fault(), "`jwks_uri` of `ISSUER/.well-known/openid-configuration` is no URL of https")
        << other;
  }
  issuer_.put("configuration", "<html>");
  EXPECT_EQ(fault(), "`ISSUER/.well-known/openid-configuration` is no JSON");
  issuer_.configure(issuer_.url() + "/keys");
  issuer_.put("keys", "{}");
  EXPECT_EQ(fault(), "`ISSUER/keys` has no keys: it has no list `keys`");
  issuer_.put("keys", std::string(largest_key_set + 1, ' '));
  EXPECT_NE(fault(), "");
  issuer_.put("keys", std::string(200'000, '['));
  EXPECT_NE(fault(), "");
  issuer_.put("keys", signer_.key_set());
  now += 61s;
  EXPECT_TRUE(is_taken(signer_.jwt(claims({}, now)), now));
}

TEST_F(TrustBookTest, GivenKeysAloneCount) {
  Trust made = trust("ci");
  made.issuer = "https://ci.example";  // which nobody asks
  made.keys = signer_.key_set();
  add(made);
  EXPECT_TRUE(is_taken(signer_.jwt(claims({{"iss", "https://ci.example"}}))));
  EXPECT_EQ(noted(JwtSigner("k2", "P-256").jwt(claims({{"iss", "https://ci.example"}}))),
            "a JWT: trust `ci`: `kid` is none of the issuer's keys");
  EXPECT_FALSE(file_exists(home_.path() / "serve" / "issuers"));
}

TEST_F(TrustBookTest, TrustsThatAreTooWideOrNoneAreRefused) {
  const auto with = [&](const std::function<void(Trust&)>& change) {
    Trust made = trust("x");
    change(made);
    return refused(made);
  };
  const auto has = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(with([](Trust& made) { made.grant.token = "a b"; }), "a trust cannot be called `a b`");
  has(with([](Trust& made) { made.audience = ""; }), "`--audience` says for whom");
  has(with([](Trust& made) { made.claims.clear(); }), "expected at least one");
  has(with([](Trust& made) { made.grant.right = Right::admin; }), "`act` can");
  has(with([](Trust& made) { made.keys = "{}"; }),
      "`--jwks` must be a file with the issuer's keys");
  for (const char* const url :
       {"", "ci.example", "http://ci.example", "https://", "https:///x", "https://u:p@ci.example",
        "https://ci.example?x", "https://ci.example#x", "https://ci example",
        "http://127.0.0.1@x.y", "http://localhost.example.com", "ftp://127.0.0.1",
        "https://ci.example\\@x"})
    has(with([&](Trust& made) { made.issuer = url; }), "`--issuer` must be a URL");
  // Everybody may have jobs there.
  const auto at_github = [&](std::vector<ClaimRule> claims) {
    Trust made = trust("g");
    made.issuer = "https://token.actions.githubusercontent.com";
    made.claims = std::move(claims);
    if (!book().add(made))
      return refused(made);
    EXPECT_TRUE(book().remove("g"));
    return std::string();
  };
  EXPECT_EQ(at_github({{"repository", "acme/shop"}}), "");
  EXPECT_EQ(at_github({{"repository", "acme/*", true}, {"ref", "refs/heads/main"}}), "");
  for (const ClaimRule& wide : std::vector<ClaimRule>{{"ref", "refs/heads/main"},
                                                      {"repository", "*", true},
                                                      {"repository", "?cme/shop", true},
                                                      {"sub", "[r]epo:*", true}})
    has(at_github({wide}), "everybody has jobs at");
  add(trust("ci"));
  has(refused(trust("ci")), "there is a trust `ci` already");
  const Status gone = book().remove("cj");
  has(gone.error().message, "did you mean `ci`?");

  EXPECT_EQ(to_string(*claim_rule_in("ref=a=b", false, "--claim")), "ref=a=b");
  EXPECT_EQ(to_string(*claim_rule_in("ref=a*", true, "--claim-like")), "ref~a*");
  for (const char* const wrong : {"", "=", "ref", "ref=", "=x", "aud=x", "iss=x", "exp=1"})
    EXPECT_EQ(claim_rule_in(wrong, false, "--claim").error().blame, Blame::user) << wrong;
}

TEST_F(TrustBookTest, ADamagedFileTrustsNobody) {
  issuer_.put("keys", signer_.key_set());
  add(trust("ci"));
  const std::string text = signer_.jwt(claims()), kept = *read_file(file());
  EXPECT_EQ(std::filesystem::status(file()).permissions(), std::filesystem::perms(0600));
  ASSERT_TRUE(is_taken(text));
  const auto closes = [&](const std::string& said, unsigned mode = 0600) {
    ASSERT_TRUE(write_file(file(), said, mode));
    const JwtVerdict found = verdict(text);
    ASSERT_FALSE(found.grant) << said;
    EXPECT_EQ(found.grant.error().blame, Blame::world);
    EXPECT_NE(found.noted.find("trusts.json"), std::string::npos) << found.noted;
  };
  closes(kept, 0640);
  closes("");
  closes("{}");
  closes(kept.substr(0, kept.size() / 2));
  for (const char* const field : {"\"audience\"", "\"claims\"", "\"environments\"", "\"pattern\"",
                                  "\"right\"", "\"issuer\"", "\"id\"", "\"keys\""})
    closes(replace_all(kept, field, "\"x\""));
  closes(replace_all(kept, "\"acme/shop\"", "7"));
  closes(replace_all(kept, "\"act\"", "\"root\""));
  closes(replace_all(kept, "\"shop-*\"", "\"\""));
  ASSERT_TRUE(write_file(file(), kept, 0600));
  EXPECT_TRUE(is_taken(text));
  // So does one of keys, until they are asked for again.
  for (const auto& each : std::filesystem::directory_iterator(home_.path() / "serve" / "issuers"))
    if (each.path().extension() == ".json") {
      ASSERT_TRUE(write_file(each.path(), "{", 0600));
    }
  EXPECT_TRUE(is_taken(text));
  EXPECT_EQ(issuer_.questions(), 2U);
}

/// At a server, over real sockets.
class JobsAtServerTest : public ServerOfCommandsTest {
 protected:
  void SetUp() override {
    issuer_.put("keys", signer_.key_set());
    Trust made;
    made.grant = {"ci", Right::act, {"shop-*"}};
    made.issuer = issuer_.url();
    made.audience = "fettle";
    made.claims = {{"repository", "acme/shop"}};
    ASSERT_TRUE(trust_book(home_.path()).add(made));
  }
  std::string jwt(std::vector<Entry> more = {}) const {
    const int64_t now = second_at(now_from_clock());
    std::vector<Entry> fields{{"iss", issuer_.url()},    {"aud", "fettle"},
                              {"sub", "repo:acme/shop"}, {"repository", "acme/shop"},
                              {"exp", now + 300},        {"iat", now}};
    fields.insert(fields.end(), more.begin(), more.end());
    return signer_.jwt(Value::dict(std::move(fields)));
  }
  Report as(const std::string& text, std::vector<std::string> words) {
    const std::string before = std::exchange(server_.token, text);
    Report report = told(std::move(words));
    server_.token = before;
    return report;
  }
  std::vector<AuditEntry> audit() const { return *audit_log(home_.path()).all(); }

  TestIssuer issuer_;
  JwtSigner signer_{"k1"};
};

TEST_F(JobsAtServerTest, AJobDoesWhatItMayUnderItsName) {
  serve();
  const std::string text = jwt();
  EXPECT_EQ(as(text, {"acts", "in=shop-1"}).output, "acts\n");
  const Report other = as(text, {"acts", "in=prod"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.errors.find("the token `ci (repo:acme/shop)` is for `shop-*` only"),
            std::string::npos)
      << other.errors;
  const Report more = as(text, {"admins", "server"});
  EXPECT_NE(more.errors.find("a trust added with `--right admin`"), std::string::npos)
      << more.errors;
  ASSERT_EQ(audit().size(), 3U);
  EXPECT_EQ(audit()[0].token, "ci (repo:acme/shop)");
  EXPECT_EQ(runs().back().token, "ci (repo:acme/shop)");
  EXPECT_TRUE(trust_book(home_.path()).last_used("ci"));
  // No text of it is left anywhere.
  EXPECT_EQ(as(jwt({{"aud", "x"}}), {"sees"}).code, 2);
  const std::string part = text.substr(0, text.rfind('.')).substr(text.find('.') + 1, 40);
  const std::string signature = text.substr(text.rfind('.') + 1, 40);
  for (const auto& each : std::filesystem::recursive_directory_iterator(home_.path()))
    if (each.is_regular_file()) {
      const std::string kept = *read_file(each.path());
      EXPECT_EQ(kept.find(part), std::string::npos) << each.path();
      EXPECT_EQ(kept.find(signature), std::string::npos) << each.path();
    }
}

TEST_F(JobsAtServerTest, OneThatIsRefusedHearsLittleAndTheAuditTheRule) {
  serve();
  const Report wrong = as(jwt({{"repository", "evil/shop"}}), {"acts", "in=shop-1"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.errors.find("the server does not take this token of a job"), std::string::npos)
      << wrong.errors;
  EXPECT_EQ(wrong.errors.find("acme"), std::string::npos);
  EXPECT_EQ(audit().back().refused,
            "a JWT: trust `ci`: `repository` is `evil/shop`, not `acme/shop`");
  EXPECT_EQ(audit().back().token, "");
  const int64_t now = second_at(now_from_clock());
  const Report late = as(jwt({{"exp", now - 100}}), {"sees"});
  EXPECT_NE(late.errors.find("has expired"), std::string::npos) << late.errors;
  EXPECT_TRUE(runs().empty());
}

TEST_F(JobsAtServerTest, AConnectionThatIsOpenEndsWithItsTrust) {
  serve();
  const std::string before = std::exchange(server_.token, jwt());
  Line line = open_line();
  server_.token = before;
  const auto asks = [&] {
    CommandRequest request;
    request.words = {"acts", "in=shop-1"};
    request.folder = "/";
    line.send(FrameType::command, write_json(value_of(request)));
    EXPECT_TRUE(line.push_all(20s));
    while (const std::optional<Frame> frame = line.await(20s))
      if (frame->type == FrameType::end || frame->type == FrameType::error)
        return frame->type;
    return FrameType::attach;
  };
  EXPECT_EQ(asks(), FrameType::end);
  ASSERT_TRUE(trust_book(home_.path()).remove("ci"));
  EXPECT_EQ(asks(), FrameType::error);
  EXPECT_EQ(audit().back().refused, "a JWT: nobody trusts its issuer (`iss`)");
}

TEST_F(JobsAtServerTest, AnIssuerThatIsAwayHoldsUpItsJobsAlone) {
  issuer_.take_away("keys");
  serve();
  const Report job = as(jwt(), {"acts", "in=shop-1"});
  EXPECT_EQ(job.code, 2);
  EXPECT_NE(job.errors.find("cannot have the keys of this token's issuer now"), std::string::npos)
      << job.errors;
  EXPECT_EQ(told({"acts"}).code, 0);
}

TEST_F(JobsAtServerTest, AnIssuerThatNeverAnswersIsGivenUp) {
  // It takes connections, and says nothing.
  const Descriptor silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(silent.get(), 8), 0);
  const std::string url = cat("http://127.0.0.1:", port_of(silent));
  Trust made;
  made.grant = {"silent", Right::read};
  made.issuer = url;
  made.audience = "fettle";
  made.claims = {{"repository", "acme/shop"}};
  ASSERT_TRUE(trust_book(home_.path()).add(made));
  ServeSettings settings;
  settings.header_limit = 2s;  // no limit of whoever has sent all
  serve(std::move(settings));
  const auto began = std::chrono::steady_clock::now();
  const Report job = as(jwt({{"iss", url}}), {"sees", "everywhere"});
  EXPECT_NE(job.errors.find("cannot have the keys"), std::string::npos) << job.errors;
  EXPECT_LT(std::chrono::steady_clock::now() - began, 14s);
  EXPECT_EQ(as(jwt(), {"acts", "in=shop-1"}).code, 0);
}

}  // namespace
}  // namespace fettle
