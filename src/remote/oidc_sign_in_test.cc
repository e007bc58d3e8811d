/// Signing in at an issuer: one in a process of its own, and the browser's part over real sockets.

#include "remote/oidc_sign_in.h"

#include "base/hash.h"
#include "base/listener.h"
#include "remote/page_request.h"
#include "tests/fixtures/jwt_fixture.h"
#include "tests/fixtures/page_door_fixture.h"

namespace fettle {
namespace {

/// Answers each request with the file of its path's last part, and keeps what was sent by POST. A
/// file that is not there is status 400.
class CodeIssuer {
 public:
  CodeIssuer() : listener_(*listen_at({"127.0.0.1", "0"}, 16)), port_(port_of(listener_)) {
    std::fflush(nullptr);
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true)
        answer(Descriptor(::accept(listener_.get(), nullptr, nullptr)));
    }
    put("openid-configuration",
        write_json(Value::dict({{"issuer", url()},
                                {"jwks_uri", url() + "/keys"},
                                {"authorization_endpoint", url() + "/authorize"},
                                {"token_endpoint", url() + "/token"},
                                {"userinfo_endpoint", url() + "/userinfo"}})));
    put("keys", signer.key_set());
  }
  ~CodeIssuer() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  CodeIssuer(const CodeIssuer&) = delete;
  CodeIssuer& operator=(const CodeIssuer&) = delete;

  std::string url() const { return cat("http://127.0.0.1:", port_); }
  void put(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file(folder_.path() / name, text));
  }
  /// What it gives for the next code.
  void give(const Value& claims) const { give_text(signer.jwt(claims)); }
  void give_text(const std::string& id_token) const {
    put("token", write_json(Value::dict({{"access_token", "at"}, {"id_token", id_token}})));
  }
  std::string posted() const { return read_file(folder_.path() / "posted").value_or(""); }
  std::string asked_about() const { return read_file(folder_.path() / "asked").value_or(""); }

  JwtSigner signer{"k1", "P-256"};

 private:
  void answer(const Descriptor& socket) const {
    std::string text;
    std::array<char, 16'384> buffer{};
    const auto is_whole = [&] {
      const size_t end = text.find("\r\n\r\n"), at = text.find("Content-Length: ");
      const size_t size = at < end ? std::stoul(text.substr(at + 16)) : 0;
      return end != text.npos && text.size() >= end + 4 + size;
    };
    for (ssize_t count = 1; count > 0 && !is_whole();) {
      count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
      text.append(buffer.data(), count > 0 ? static_cast<size_t>(count) : 0);
    }
    const std::string target = text.substr(text.find(' ') + 1);
    const std::string path = target.substr(0, target.find(' '));
    const std::string name = path.substr(path.rfind('/') + 1);
    if (text.starts_with("POST "))
      put("posted", text);
    if (name == "userinfo")
      put("asked", text);
    const Result<std::string> body = read_file(folder_.path() / name);
    const std::string reply =
        closing_reply(body ? 200 : 400, json_type, body.value_or(R"({"error":"invalid_grant"})"));
    static_cast<void>(::send(socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL));
  }

  TemporaryDirectory folder_ = *TemporaryDirectory::make();
  Descriptor listener_;
  int port_;
  pid_t process_ = -1;
};

class OidcSignInTest : public PageDoorTest {
 protected:
  void SetUp() override {
    ServeSettings settings;
    OidcSettings oidc;
    oidc.issuer = issuer_.url();
    oidc.client = "fettle client";
    oidc.secret = "hush:hush";
    oidc.groups = {*group_rule_in("ops=act"), *group_rule_in("dev=act:shop-*"),
                   *group_rule_in("all=read")};
    settings.oidc = oidc;
    settings.by_proxy = *parse_public_url("http://127.0.0.1:9");
    begin(settings);
    server_.address = *parse_server_url(cat("http://127.0.0.1:", port_));
    get_begun();
  }
  /// The browser goes to the issuer: what it is told there.
  void get_begun() {
    cookie_.clear();
    const BrowserReply reply = get("/sign-in/oidc");
    ASSERT_EQ(reply.status, 303) << reply.body;
    location_ = reply.field("Location");
    asked_ = form_fields(location_.substr(location_.find('?') + 1));
    cookie_ = cookie_set_by(reply);
    set_ = reply.field("Set-Cookie");
  }
  Value claims(std::vector<Entry> more = {}) {
    const int64_t now =
        std::chrono::duration_cast<std::chrono::seconds>(start_of_sessions.time_since_epoch())
            .count();
    std::vector<Entry> fields{{"iss", issuer_.url()},
                              {"aud", "fettle client"},
                              {"sub", "u1"},
                              {"preferred_username", "alice"},
                              {"nonce", asked_["nonce"]},
                              {"groups", Value::list({"dev", "x"})},
                              {"iat", now},
                              {"exp", now + 300}};
    fields.insert(fields.end(), more.begin(), more.end());
    return Value::dict(std::move(fields));
  }
  BrowserReply come_back(const std::string& fields = {}) {
    return get(cat("/sign-in/callback?",
                   fields.empty() ? cat("code=c%2F1&state=", asked_["state"]) : fields),
               "Sec-Fetch-Site: cross-site\r\n");
  }
  std::string refused() {
    const BrowserReply reply = come_back();
    EXPECT_NE(reply.status, 200);
    EXPECT_EQ(reply.field("Set-Cookie"), "");
    const size_t at = reply.body.find("role=\"alert\">") + 13;
    return reply.body.substr(at, reply.body.find("</p>", at) - at);
  }

  CodeIssuer issuer_;
  std::string location_, set_;
  std::map<std::string, std::string> asked_;
};

TEST_F(OidcSignInTest, ABrowserComesBackWithACodeAndHasTheRightsOfItsGroups) {
  EXPECT_TRUE(location_.starts_with(issuer_.url() + "/authorize?")) << location_;
  EXPECT_EQ(asked_["response_type"], "code");
  EXPECT_EQ(asked_["client_id"], "fettle client");
  EXPECT_EQ(asked_["redirect_uri"], "http://127.0.0.1:9/sign-in/callback");
  EXPECT_EQ(asked_["scope"], "openid profile email");
  EXPECT_EQ(asked_["code_challenge_method"], "S256");
  EXPECT_EQ(asked_["state"].size(), 64U);
  EXPECT_NE(set_.find("; HttpOnly; SameSite=Lax; Max-Age=600"), std::string::npos) << set_;
  issuer_.give(claims());
  const BrowserReply reply = come_back();
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_NE(reply.field("Set-Cookie").find("SameSite=Strict"), std::string::npos);

  const std::string posted = issuer_.posted();
  auto fields = form_fields(posted.substr(posted.find("\r\n\r\n") + 4));
  EXPECT_EQ(fields["grant_type"], "authorization_code");
  EXPECT_EQ(fields["code"], "c/1");
  EXPECT_EQ(fields["redirect_uri"], asked_["redirect_uri"]);
  EXPECT_NE(posted.find(
                cat("Authorization: Basic ", base64_encode("fettle%20client:hush%3Ahush"), "\r\n")),
            std::string::npos)
      << posted;
  // The challenge is the digest of what was kept back.
  constexpr std::string_view digits = "0123456789abcdef";
  std::string digest;
  const std::string challenge = *base64url_decode(asked_["code_challenge"]);
  for (const char c : challenge) {
    digest += digits[static_cast<unsigned char>(c) >> 4U];
    digest += digits[static_cast<unsigned char>(c) & 15U];
  }
  EXPECT_EQ(digest, sha256_hex(fields["code_verifier"]));
  EXPECT_EQ(location_.find(fields["code_verifier"]), std::string::npos);

  cookie_ = cookie_set_by(reply);
  EXPECT_NE(get("/sign-in").body.find("You are signed in as alice (oidc) (act)"),
            std::string::npos);
  EXPECT_NE(echo("/api/environments/shop-1").find(" 200 "), std::string::npos);
  EXPECT_NE(echo("/api/environments/prod").find(" 403 "), std::string::npos);
  EXPECT_EQ(audit().back().token, "alice (oidc)");
}

TEST_F(OidcSignInTest, WhatDoesNotFitIsRefused) {
  const std::string other = "does not fit what this browser";
  const auto given = [&](std::vector<Entry> more) {
    issuer_.give(claims(std::move(more)));
    return refused();
  };
  const auto has = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(given({{"nonce", std::string(64, '0')}}), other);
  has(given({{"nonce", Value()}}), other);
  has(given({{"aud", "somebody else"}}), other);
  has(given({{"aud", Value::list({"fettle client", "somebody else"})}}), other);
  has(given({{"iss", "http://127.0.0.1:1"}}), other);
  has(given({{"sub", ""}}), other);
  has(given({{"exp", 1}}), "`exp`: it expired");
  has(given({{"groups", Value::list({"x"})}}), "`alice` is in no group that may do something here");
  has(given({{"groups", 7}}), "is in no group");
  issuer_.give_text(JwtSigner("k1", "P-256").jwt(claims()));
  has(refused(), "its signature is wrong");
  issuer_.give_text("x");
  has(refused(), "it has not three parts");
  issuer_.put("token", "{}");
  has(refused(), "gives no `id_token`");
  issuer_.give(claims({{"preferred_username", "<b>x</b>"}, {"groups", "x"}}));
  has(refused(), "`&lt;b&gt;x&lt;/b&gt;` is in no group");

  issuer_.give(claims());
  for (const std::string& wrong :
       {cat("code=c&state=", std::string(64, '0')), std::string("code=c"),
        cat("state=", asked_["state"]), cat("error=access_denied&state=", asked_["state"]),
        cat("code=c&iss=http://127.0.0.1:1&state=", asked_["state"]),
        cat("code=c&code=d&state=", asked_["state"])}) {
    const BrowserReply reply = come_back(wrong);
    EXPECT_EQ(reply.status, 403) << wrong;
    EXPECT_EQ(reply.field("Set-Cookie"), "");
  }
  // Another browser has another cookie, or none; one that is too old counts no more.
  const std::string own_cookie = cookie_;
  const auto asked = asked_;
  get_begun();
  asked_ = asked;
  issuer_.give(claims());
  has(refused(), other);
  cookie_.clear();
  has(refused(), "has not begun to sign in here");
  cookie_ = own_cookie.substr(0, own_cookie.size() - 2) + "AA";
  has(refused(), "has not begun to sign in here");
  cookie_ = own_cookie;
  set_clock(start_of_sessions + sign_in_limit);
  has(refused(), "more than ten minutes ago");
  set_clock(start_of_sessions);
  EXPECT_EQ(come_back().status, 200);
  EXPECT_GE(audit().size(), 20U);
}

TEST_F(OidcSignInTest, GroupsMayBeSaidByTheUserinfo) {
  std::vector<Entry> without;
  const Value all = claims();
  for (const Entry& one : all.entries())
    if (one.key.view() != "groups" && one.key.view() != "preferred_username")
      without.push_back(one);
  issuer_.give(Value::dict(without));
  issuer_.put("userinfo", R"({"sub":"u2","groups":["ops"],"preferred_username":"mallory"})");
  EXPECT_NE(refused().find("is of another one"), std::string::npos);
  issuer_.put("userinfo", R"({"sub":"u1","groups":["ops","dev"],"preferred_username":"alice"})");
  const BrowserReply reply = come_back();
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_NE(issuer_.asked_about().find("Authorization: Bearer at\r\n"), std::string::npos);
  cookie_ = cookie_set_by(reply);
  EXPECT_NE(echo("/api/environments/prod").find(" 200 "), std::string::npos);
}

TEST(GroupRules, SayWhoMayDoWhat) {
  const auto grant = [](std::vector<std::string> groups) {
    OidcSettings settings;
    settings.groups = {*group_rule_in("a=read"), *group_rule_in("b=act:x-*"),
                       *group_rule_in("c=act:y"), *group_rule_in("d=act"),
                       *group_rule_in("k=v=plan:z")};
    const Result<Grant> found = grant_by_groups({"i", "s", "n", std::move(groups)}, settings);
    return found ? cat(to_string(found->right), " ", join(found->environments, ",")) : "none";
  };
  EXPECT_EQ(grant({}), "none");
  EXPECT_EQ(grant({"A", "x"}), "none");
  EXPECT_EQ(grant({"a"}), "read ");
  EXPECT_EQ(grant({"a", "b"}), "act x-*");
  EXPECT_EQ(grant({"c", "b"}), "act x-*,y");
  EXPECT_EQ(grant({"b", "d"}), "act ");
  EXPECT_EQ(grant({"k=v"}), "plan z");
  for (const char* const wrong : {"", "a", "=act", "a=", "a=acts", "a=act:", "a=admin:x"})
    EXPECT_EQ(group_rule_in(wrong).error().blame, Blame::user) << wrong;
}

}  // namespace
}  // namespace fettle
