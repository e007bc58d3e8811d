/// Browsers at a server of commands: signing in, sessions, and where their connections go. Over real
/// sockets; what serves a session says who it is.

#include "remote/page_door.h"

#include "base/tls.h"
#include "remote/page_request.h"
#include "tests/fixtures/certificates.h"
#include "tests/fixtures/page_door_fixture.h"

namespace fettle {
namespace {

TEST_F(PageDoorTest, NothingIsShownToWhoHasNotSignedIn) {
  begin();
  const BrowserReply entry = get("/");
  EXPECT_EQ(entry.status, 303);
  EXPECT_EQ(entry.field("Location"), "/sign-in");
  for (const char* const target : {"/api/environments", "/assets/main.js", "/api/stream", "/x"}) {
    const BrowserReply reply = get(target);
    EXPECT_EQ(reply.status, 401) << target;
    EXPECT_EQ(reply.field("Fettle-Sign-In"), "./sign-in");
  }
  EXPECT_EQ(get("/sign-in").status, 200);
  EXPECT_NE(get("/sign-in").field("Content-Security-Policy").find("default-src 'none'"),
            std::string::npos);
  EXPECT_EQ(get("/sign-in").body.find("sign-in/oidc"), std::string::npos);
  EXPECT_EQ(get("/sign-in/oidc").status, 404);
  EXPECT_EQ(get("/sign-in/callback?code=x&state=y").status, 404);
  const std::string good = token("a", Right::read);
  Token agent;
  agent.grant.token = "b";
  agent.grant.agent = "b";
  agent.created = start_of_sessions;
  const std::string for_agent = *token_book(home_.path()).add(agent);
  for (const std::string& wrong : {std::string(), std::string("forged"), good.substr(1), good + "0",
                                   std::string("eyJh.eyJh.x"), for_agent,
                                   token("over", Right::read, {}, start_of_sessions - 1s)}) {
    const BrowserReply reply = sign_in(wrong);
    EXPECT_TRUE(reply.status == 401 || reply.status == 403) << reply.status << wrong;
    EXPECT_EQ(reply.field("Set-Cookie"), "");
    EXPECT_NE(reply.body.find("role=\"alert\""), std::string::npos);
    if (wrong.size() > 1) {
      EXPECT_EQ(reply.body.find(wrong), std::string::npos);
    }
  }
  EXPECT_EQ(audit().back().token, "over");
  EXPECT_NE(audit().back().refused, "");
  for (const char* const forged : {"x", "../../tokens", "a%00"}) {
    cookie_ = cat("fettle-", server_.address.port, "=", forged);
    EXPECT_EQ(get("/api/x").status, 401) << forged;
  }
  // Clients are served as before.
  EXPECT_EQ(told({"hello"}).code, 7);
}

TEST_F(PageDoorTest, ASessionIsACookieThatNoScriptReads) {
  begin();
  const BrowserReply reply = sign_in(token("look", Right::read));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const std::string set = reply.field("Set-Cookie");
  EXPECT_TRUE(set.starts_with(cat("fettle-", server_.address.port, "="))) << set;
  EXPECT_TRUE(set.ends_with("; Path=/; HttpOnly; SameSite=Strict")) << set;
  EXPECT_EQ(key_.size(), 64U);
  const std::string first = echo("/");
  EXPECT_TRUE(first.ends_with(" / 200 ")) << first;
  EXPECT_TRUE(echo("/assets/main.js").ends_with(" /assets/main.js 200 "));
  EXPECT_TRUE(echo("/api/environments").ends_with(" /api/environments 200 "));
  const std::string process = first.substr(0, first.find(' '));
  EXPECT_TRUE(echo("/api/x").starts_with(process + " ")) << "one process serves a session";
  const std::string text = get("/sign-in").body;
  EXPECT_NE(text.find("You are signed in as look (read)"), std::string::npos) << text;
  EXPECT_EQ(audit().back().token, "look");
  EXPECT_EQ(audit().back().command, "sign in to the page");
  // What the files have lets nobody in.
  const std::string value = cookie_.substr(cookie_.find('=') + 1);
  for (const auto& each : std::filesystem::recursive_directory_iterator(home_.path()))
    if (each.is_regular_file()) {
      EXPECT_EQ(read_file(each.path())->find(value), std::string::npos) << each.path();
    }
  // Another session has another process, another key and another cookie.
  const std::string before = std::exchange(cookie_, ""), key = key_;
  ASSERT_EQ(sign_in(token("other", Right::read)).status, 200);
  EXPECT_NE(cookie_, before);
  EXPECT_NE(key_, key);
  EXPECT_FALSE(echo("/").starts_with(process + " "));
  cookie_ = before + "; " + cookie_;
  EXPECT_EQ(get("/api/x").status, 401) << "two of them could be read in two ways";
}

TEST_F(PageDoorTest, AnotherPageCannotAsk) {
  begin();
  const std::string text = token("act", Right::act);
  for (const std::string& fields :
       {std::string(), std::string("Origin: null\r\n"),
        std::string("Origin: http://evil.example\r\n"), cat("Origin: https://", host(), "\r\n"),
        cat("Origin: ", origin(), ".evil.example\r\n"), cat(own(), own()),
        cat(own(), "Sec-Fetch-Site: cross-site\r\n"), cat(own(), "Sec-Fetch-Site: same-site\r\n")})
    EXPECT_EQ(post("/sign-in", cat("token=", text), fields).status, 403) << fields;
  EXPECT_EQ(post("/sign-in", "token=" + text, own() + "Sec-Fetch-Site: same-origin\r\n").status,
            200);
  ASSERT_EQ(sign_in(text).status, 200);
  for (const char* const fields :
       {"Origin: http://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n"})
    EXPECT_EQ(get("/api/environments", fields).status, 403) << fields;
  EXPECT_EQ(get("/", "Sec-Fetch-Site: cross-site\r\n").status, 200) << "a link may lead here";
  EXPECT_EQ(get("/api/environments", own() + "Sec-Fetch-Site: same-origin\r\n").status, 200);
  for (const char* const other : {"evil.example", "127.0.0.1", "127.0.0.1:1", ""})
    EXPECT_EQ(reply_in(sent(cat("GET /api/x HTTP/1.1\r\nHost: ", other, "\r\nCookie: ", cookie_,
                                "\r\n\r\n")))
                  .status,
              421)
        << other;
  for (const char* const method : {"PUT", "DELETE", "POST", "OPTIONS", "HEAD"})
    EXPECT_EQ(reply_in(sent(cat(method, " /api/x HTTP/1.1\r\nHost: ", host(),
                                "\r\nCookie: ", cookie_, "\r\nContent-Length: 0\r\n\r\n")))
                  .status,
              405)
        << method;
  EXPECT_EQ(get("/api/x", "Content-Length: 1\r\n\r\nx").status, 400);
  EXPECT_EQ(post("/sign-in", std::string(20'000, 'x'), own()).status, 413);
  EXPECT_EQ(get("/api/x", cat("X: ", std::string(17'000, 'x'), "\r\n")).status, 431);
  EXPECT_EQ(get("/api/x", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n").status, 400);
}

TEST_F(PageDoorTest, ATerminalNeedsTheKeyTheOriginAndTheRight) {
  begin();
  ASSERT_EQ(sign_in(token("shop", Right::act, {"shop-*"})).status, 200);
  const auto asks = [&](const std::string& environment, const std::string& fields) {
    return get(cat("/api/environments/", environment, "/services/web/terminal"),
               cat("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                   fields));
  };
  const std::string offers = cat("Sec-WebSocket-Protocol: fettle.terminal, key.", key_, "\r\n");
  EXPECT_EQ(asks("shop-1", own()).status, 403);
  EXPECT_EQ(asks("shop-1", offers).status, 403) << "no origin";
  EXPECT_EQ(asks("shop-1", cat(own(), "Sec-WebSocket-Protocol: key.", std::string(64, '0'), "\r\n"))
                .status,
            403);
  EXPECT_EQ(asks("shop-1", cat("Origin: http://evil.example\r\n", offers)).status, 403);
  const size_t noted = audit().size();
  const BrowserReply good = asks("shop-1", own() + offers);
  EXPECT_NE(good.body.find("/terminal 200 "), std::string::npos) << good.body;
  ASSERT_EQ(audit().size(), noted + 1);
  EXPECT_EQ(audit().back().token, "shop");
  EXPECT_EQ(audit().back().right, "act");
  EXPECT_EQ(audit().back().command, "GET /api/environments/shop-1/services/web/terminal");
  EXPECT_TRUE(audit().back().from.starts_with("127.0.0.1:")) << audit().back().from;
  EXPECT_NE(asks("prod", own() + offers).body.find("403"), std::string::npos);
  EXPECT_NE(audit().back().refused.find("is for `shop-*` only"), std::string::npos);
  ASSERT_EQ(sign_in(token("look", Right::read)).status, 200);
  const std::string offer = cat("Sec-WebSocket-Protocol: fettle.terminal, key.", key_, "\r\n");
  EXPECT_NE(asks("shop-1", own() + offer).body.find("403"), std::string::npos);
  EXPECT_NE(audit().back().refused.find("needs the right `act`"), std::string::npos);
}

TEST_F(PageDoorTest, ASessionSeesWhatItsTokenMay) {
  begin();
  ASSERT_EQ(sign_in(token("web", Right::read, {"web-*"})).status, 200);
  EXPECT_NE(echo("/api/environments/web-1").find(" 200 "), std::string::npos);
  EXPECT_NE(echo("/api/environments/prod").find(" 403 "), std::string::npos);
  EXPECT_EQ(audit().back().token, "web");
  EXPECT_NE(audit().back().refused, "");
  EXPECT_NE(echo("/api/environments/web-1/plan").find("403"), std::string::npos)
      << "a command of the server's user would read all";
  ASSERT_EQ(sign_in(token("all", Right::act)).status, 200);
  EXPECT_NE(echo("/api/environments/web-1/plan").find(" 200 "), std::string::npos);
}

TEST_F(PageDoorTest, WhoMayLessIsServedByAProcessThatMayLess) {
  begin();
  ASSERT_EQ(sign_in(token("a", Right::act)).status, 200);
  const std::string before = echo("/api/x");
  EXPECT_NE(before.find(" 200 "), std::string::npos);
  const Path file = home_.path() / "tokens.json";
  ASSERT_TRUE(write_file(file, replace_all(*read_file(file), "\"act\"", "\"read\""), 0600));
  EXPECT_TRUE(comes([&] {
    const std::string after = echo("/api/x");
    EXPECT_FALSE(after.starts_with(before.substr(0, before.find(' ') + 1)) &&
                 after.find(" 200 ") != std::string::npos)
        << after;
    return after.find(" 200 ") != std::string::npos;
  }));
}

TEST_F(PageDoorTest, WhatIsTakenAwayCountsAtOnce) {
  begin();
  ASSERT_EQ(sign_in(token("a", Right::read, {}, start_of_sessions + 1h)).status, 200);
  EXPECT_EQ(get("/api/x").status, 200);
  set_clock(start_of_sessions + 1h);
  EXPECT_EQ(get("/api/x").status, 401);
  set_clock(start_of_sessions);
  EXPECT_EQ(get("/api/x").status, 401) << "a session that has ended begins no more";
  ASSERT_EQ(sign_in(token("b", Right::read)).status, 200);
  EXPECT_EQ(get("/api/x").status, 200);
  ASSERT_TRUE(token_book(home_.path()).remove("b"));
  EXPECT_EQ(get("/api/x").status, 401);
  ASSERT_EQ(sign_in(token("b", Right::read)).status, 200);
  ASSERT_TRUE(write_file(home_.path() / "tokens.json", "{", 0600));
  EXPECT_EQ(get("/api/x").status, 503);
}

TEST_F(PageDoorTest, ASessionHasACommandRunByItsRight) {
  begin();
  ASSERT_EQ(sign_in(token("shop", Right::act)).status, 200);
  const BrowserReply reply = act("/api/commands", R"({"words": ["acts"]})", keyed());
  ASSERT_EQ(reply.status, 200) << reply.body;
  const Value answer = *read_json(reply.body);
  EXPECT_EQ(answer.text_at("status"), "ended");
  ASSERT_EQ(runs().size(), 1U);
  EXPECT_EQ(answer.integer_at("run"), runs()[0].number);
  EXPECT_EQ(runs()[0].token, "shop");
  const AuditEntry noted = audit().back();
  EXPECT_EQ(noted.token, "shop");
  EXPECT_EQ(noted.command, "acts");
  EXPECT_EQ(noted.run, runs()[0].number);
  EXPECT_TRUE(noted.from.starts_with("127.0.0.1:")) << noted.from;
  EXPECT_TRUE(noted.from.ends_with(" at the page")) << noted.from;
  const Value session = *read_json(get("/api/session").body);
  EXPECT_EQ(session.text_at("name"), "shop");
  EXPECT_EQ(session.text_at("right"), "act");
  EXPECT_NE(session.text_at("sign_out"), key_);
  cookie_.clear();
  EXPECT_EQ(get("/api/session").status, 401);
}

TEST_F(PageDoorTest, ACommandNeedsTheKeyTheOriginAndTheRight) {
  begin();
  const std::string body = R"({"words": ["acts"]})", commands = "/api/commands";
  EXPECT_EQ(act(commands, body, own()).status, 401);
  ASSERT_EQ(sign_in(token("shop", Right::act)).status, 200);
  const std::string key = cat("Fettle-Key: ", key_, "\r\n");
  for (const std::string& fields :
       {std::string(), own(), key, cat(own(), "Fettle-Key: ", std::string(64, '0'), "\r\n"),
        cat(own(), "Fettle-Key: \r\n"), cat(own(), key, key), cat("Origin: null\r\n", key),
        cat("Origin: http://evil.example\r\n", key), cat(own(), own(), key),
        cat(own(), key, "Sec-Fetch-Site: cross-site\r\n"),
        cat(own(), key, "Sec-Fetch-Site: same-site\r\n")})
    for (const std::string& target : {commands, std::string("/api/runs/1/cancel")}) {
      const BrowserReply reply = act(target, body, fields);
      EXPECT_EQ(reply.status, 403) << fields << reply.body;
    }
  // What a form of another page could send has no such type, even with everything else.
  EXPECT_EQ(post(commands, body, keyed()).status, 415);
  EXPECT_EQ(act(commands, std::string(20'000, 'x'), keyed()).status, 413);
  EXPECT_EQ(act(commands, R"({"words": "acts"})", keyed()).status, 400);
  EXPECT_EQ(act("/api/environments", body, keyed()).status, 405);
  ASSERT_EQ(sign_in(token("look", Right::read)).status, 200);
  const BrowserReply refused = act(commands, body, keyed());
  EXPECT_EQ(refused.status, 403);
  EXPECT_NE(refused.body.find("needs the right `act`"), std::string::npos) << refused.body;
  EXPECT_EQ(audit().back().token, "look");
  EXPECT_EQ(audit().back().command, "acts");
  EXPECT_NE(audit().back().refused, "");
  EXPECT_TRUE(runs().empty());
}

TEST_F(PageDoorTest, BehindAPathOfAProxyACommandIsTheSame) {
  ServeSettings settings;
  settings.by_proxy = *parse_public_url("https://example.org:443/fettle");
  begin(std::move(settings));
  server_.address = *parse_server_url(cat("http://127.0.0.1:", port_));  // where the proxy asks
  ASSERT_EQ(sign_in(token("shop", Right::act)).status, 200);
  const std::string key = cat("Fettle-Key: ", key_, "\r\n"),
                    body = cat(R"({"words": ["waits", ")", flag(), R"("], "wait": 0})");
  EXPECT_EQ(
      act("/fettle/api/commands", body, cat("Origin: https://example.org:444\r\n", key)).status,
      403);
  EXPECT_EQ(act("/fettle/api/commands", body, cat("Origin: https://example.org\r\n", key)).status,
            202);
  EXPECT_EQ(
      act("/fettle/api/runs/1/cancel", "", cat("Origin: https://example.org\r\n", key)).status,
      200);
  EXPECT_TRUE(comes([&] { return runs()[0].code.has_value(); }));
}

TEST_F(PageDoorTest, ACommandIsRefusedWhenTheSessionIsOver) {
  begin();
  ASSERT_EQ(sign_in(token("shop", Right::act)).status, 200);
  const std::string body = R"({"words": ["acts"]})";
  EXPECT_EQ(act("/api/commands", body, keyed()).status, 200);
  set_clock(start_of_sessions + idle_session);
  const BrowserReply late = act("/api/commands", body, keyed());
  EXPECT_EQ(late.status, 401);
  EXPECT_EQ(late.field("Fettle-Sign-In"), "./sign-in");
  set_clock(start_of_sessions);
  ASSERT_EQ(sign_in(token("other", Right::act)).status, 200);
  ASSERT_TRUE(token_book(home_.path()).remove("other"));
  EXPECT_EQ(act("/api/commands", body, keyed()).status, 401);
  EXPECT_EQ(runs().size(), 1U);
}

TEST_F(PageDoorTest, ARunOfThePageIsCancelledByWhoBeganIt) {
  begin();
  ASSERT_EQ(sign_in(token("shop", Right::act)).status, 200);
  const BrowserReply begun =
      act("/api/commands", cat(R"({"words": ["waits", ")", flag(), R"("], "wait": 0})"), keyed());
  ASSERT_EQ(begun.status, 202) << begun.body;
  const std::string cancel = cat("/api/runs/", read_json(begun.body)->integer_at("run"), "/cancel");
  ASSERT_EQ(sign_in(token("other", Right::act)).status, 200);
  EXPECT_EQ(act(cancel, "", keyed()).status, 403) << "a run of somebody else";
  ASSERT_EQ(sign_in(token("lead", Right::admin)).status, 200);
  EXPECT_EQ(act(cancel, "", keyed()).status, 200);
  EXPECT_TRUE(comes([&] { return runs()[0].code.has_value(); }));
  EXPECT_EQ(runs()[0].code, 130);
}

std::string sign_out_key_in(const std::string& page) {
  const size_t at = page.find("value=\"");
  return at == std::string::npos ? "" : page.substr(at + 7, 64);
}

TEST_F(PageDoorTest, SigningOutNeedsItsKeyAndEndsAll) {
  begin();
  ASSERT_EQ(sign_in(token("a", Right::read)).status, 200);
  // A stream that is open: its connection ends with the process of the session.
  const Descriptor stream = connected();
  const std::string asked =
      cat("GET /api/stream HTTP/1.1\r\nHost: ", host(), "\r\nCookie: ", cookie_, "\r\n\r\n");
  ASSERT_EQ(::send(stream.get(), asked.data(), asked.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(asked.size()));
  std::array<char, 4'096> buffer{};
  ASSERT_GT(read_soon(stream.get(), buffer), 0);
  EXPECT_EQ(get("/sign-out").status, 405);
  EXPECT_EQ(post("/sign-out", "", own()).status, 403);
  EXPECT_EQ(post("/sign-out", cat("key=", std::string(64, '0')), own()).status, 403);
  EXPECT_EQ(post("/sign-out", cat("key=", key_), own()).status, 403);
  const std::string key = sign_out_key_in(get("/sign-in").body);
  EXPECT_EQ(post("/sign-out", cat("key=", key), "").status, 403);
  EXPECT_EQ(get("/sign-in").body.find(key_), std::string::npos)
      << "whoever has been sent the cookie gets no key for terminals";
  EXPECT_EQ(get("/api/x").status, 200);
  const BrowserReply out = post("/sign-out", cat("key=", key), own());
  EXPECT_EQ(out.status, 200);
  EXPECT_NE(out.field("Set-Cookie").find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(get("/api/x").status, 401);
  all_of(stream.get());  // comes to its end
}

TEST_F(PageDoorTest, SessionsEndWhenIdleAndAfterADay) {
  begin();
  ASSERT_EQ(sign_in("token-of-the-server-of-commands").status, 200);
  Time now = start_of_sessions;
  for (int i = 0; i < 2; ++i) {
    set_clock(now += idle_session - 1s);
    EXPECT_EQ(get("/api/x").status, 200);
  }
  set_clock(now += idle_session);
  EXPECT_EQ(get("/api/x").status, 401);
  ASSERT_EQ(sign_in("token-of-the-server-of-commands").status, 200);
  const Time begun = now;
  while ((now += 7h) < begun + longest_session) {
    set_clock(now);
    EXPECT_EQ(get("/api/x").status, 200);
  }
  set_clock(begun + longest_session);
  EXPECT_EQ(get("/api/x").status, 401);
}

TEST_F(PageDoorTest, AServerThatIsStartedAgainKnowsItsSessions) {
  begin();
  ASSERT_EQ(sign_in(token("a", Right::read)).status, 200);
  const std::string before = echo("/");
  EXPECT_EQ(stop(SIGTERM), 0) << "a page that is open holds nothing up";
  begin();
  const std::string after = echo("/");
  EXPECT_NE(after, before);
  EXPECT_TRUE(after.ends_with(" / 200 ")) << after;
  // One whose process dies gets another one.
  kill(std::stoi(after), SIGKILL);
  const std::string again = echo("/");
  EXPECT_NE(again, after);
  EXPECT_TRUE(again.ends_with(" / 200 ")) << again;
}

TEST_F(PageDoorTest, ManyFirstRequestsAreServedByOneProcess) {
  begin();
  ASSERT_EQ(sign_in(token("a", Right::read)).status, 200);
  std::vector<Descriptor> sockets;
  const std::string asked =
      cat("GET / HTTP/1.1\r\nHost: ", host(), "\r\nCookie: ", cookie_, "\r\n\r\n");
  for (int i = 0; i < 30; ++i) {
    sockets.push_back(connected());
    ASSERT_EQ(::send(sockets.back().get(), asked.data(), asked.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(asked.size()));
  }
  std::set<std::string> answers;
  for (const Descriptor& each : sockets)
    answers.insert(reply_in(all_of(each.get())).body);
  EXPECT_EQ(answers.size(), 1U) << *answers.begin();
  EXPECT_TRUE(answers.begin()->ends_with(" / 200 "));
}

TEST_F(PageDoorTest, PagesTakeNoPlaceOfCommandsAndAreBounded) {
  ServeSettings settings;
  settings.connections = 4;
  begin(std::move(settings));
  std::vector<std::string> cookies;
  for (size_t i = 0; i < most_pages; ++i) {
    cookie_.clear();
    ASSERT_EQ(sign_in("token-of-the-server-of-commands").status, 200);
    const std::string said = echo("/");
    EXPECT_TRUE(said.ends_with(" / 200 ")) << i << ": " << said;
    cookies.push_back(cookie_);
  }
  cookie_.clear();
  ASSERT_EQ(sign_in("token-of-the-server-of-commands").status, 200);
  EXPECT_EQ(get("/").status, 503);
  EXPECT_EQ(told({"hello"}).code, 7);
  const std::string last = std::exchange(cookie_, cookies[0]);
  const std::string key = sign_out_key_in(get("/sign-in").body);
  EXPECT_EQ(post("/sign-out", cat("key=", key), own()).status, 200);
  cookie_ = last;
  EXPECT_TRUE(comes([&] { return get("/").status == 200; }));
}

/// A browser's connection with TLS.
struct SecuredConnection {
  Descriptor socket;
  TlsStream tls;

  /// Sends this, and gives what comes first.
  BrowserReply first_reply(const std::string& request) {
    size_t count = 0;
    EXPECT_EQ(tls.write(request, count), TlsStep::done);
    EXPECT_EQ(count, request.size());
    std::array<char, 16'384> buffer{};
    TlsStep step = TlsStep::done;
    while ((step = tls.read(buffer, count)) != TlsStep::done && events_of(step) != 0)
      if (!await_events(socket.get(), events_of(step), 20s))
        break;
    return reply_in(std::string(buffer.data(), step == TlsStep::done ? count : 0));
  }
};

class SecuredPageDoorTest : public PageDoorTest {
 protected:
  void begin_secured(ServeSettings settings) {
    signal(SIGPIPE, SIG_IGN);
    settings.tls = TlsFiles{home_.path() / "cert.pem", home_.path() / "key.pem"};
    ASSERT_TRUE(write_file(settings.tls->certificate, identity_.certificate));
    ASSERT_TRUE(write_file(settings.tls->key, identity_.key, 0600));
    begin(std::move(settings));
    server_.authorities = identity_.certificate;
    const PageSessions sessions(home_.path() / "serve" / "sessions");
    PageSession session;
    session.digest = sha256_hex(server_.token);
    cookie_ = *sessions.begin(session, start_of_sessions);
    key_ = sessions.with_cookie(cookie_, start_of_sessions)->key;
  }
  SecuredConnection secured() const {
    Descriptor socket = connected();
    fcntl(socket.get(), F_SETFL, O_NONBLOCK);
    TlsStream tls = *TlsStream::connect(socket.get(), {"localhost", identity_.certificate});
    for (TlsStep step = tls.shake_hands(); step != TlsStep::done; step = tls.shake_hands())
      if (events_of(step) == 0 || !await_events(socket.get(), events_of(step), 20s)) {
        ADD_FAILURE() << tls.failure();
        break;
      }
    return {std::move(socket), std::move(tls)};
  }
  std::string request(const std::string& line, const std::string& body = {}) const {
    return cat(line, " HTTP/1.1\r\nHost: ", host(), "\r\nCookie: __Host-fettle=", cookie_,
               "\r\nOrigin: https://", host(), "\r\nFettle-Key: ", key_, "\r\n",
               body.empty() ? "" : "Content-Type: application/json\r\n",
               "Content-Length: ", body.size(), "\r\n\r\n", body);
  }

  const SelfSigned identity_{"localhost"};
};

TEST_F(SecuredPageDoorTest, OpenViewsHavePlacesOfTheirOwn) {
  ServeSettings settings;
  settings.connections = 2;
  settings.views = 4;
  begin_secured(std::move(settings));
  ASSERT_EQ(secured().first_reply(request("GET /")).status, 200);
  std::vector<SecuredConnection> streams;
  // Places of requests that have been answered become free a little later.
  const auto opens = [&] {
    SecuredConnection next = secured();
    const int status = next.first_reply(request("GET /api/stream")).status;
    if (status == 200)
      streams.push_back(std::move(next));
    return status == 200;
  };
  while (streams.size() < 4)
    ASSERT_TRUE(comes(opens)) << streams.size();
  const BrowserReply full = secured().first_reply(request("GET /api/stream"));
  EXPECT_EQ(full.status, 503);
  EXPECT_NE(full.body.find("the page has 4 connections already"), std::string::npos) << full.body;
  // Who acts, and other clients, have theirs.
  EXPECT_EQ(told({"hello"}).code, 7);
  EXPECT_EQ(secured().first_reply(request("POST /api/commands", R"({"words": ["acts"]})")).status,
            200);
  streams.pop_back();
  EXPECT_TRUE(comes(opens)) << "a view that is closed leaves its place";
}

TEST(PagePlaces, CookiesAreOfThisServerAlone) {
  const PagePlace clear = page_place({9'790, {}});
  EXPECT_EQ(clear.cookie, "fettle-9790");
  EXPECT_EQ(clear.attributes, "; Path=/; HttpOnly");
  const PagePlace secured = page_place({{}, {}});
  EXPECT_EQ(secured.cookie, "__Host-fettle");
  EXPECT_EQ(secured.attributes, "; Path=/; HttpOnly; Secure");
  const CalledAt proxied{9'790, *parse_public_url("https://example.org:443/fettle")};
  const PagePlace behind = page_place(proxied);
  EXPECT_EQ(behind.cookie, "__Secure-fettle");
  EXPECT_EQ(behind.attributes, "; Path=/fettle/; HttpOnly; Secure");
  EXPECT_EQ(behind.back, "https://example.org/fettle/sign-in/callback");
  EXPECT_EQ(page_place({9'790, *parse_public_url("https://example.org:8443")}).cookie,
            "__Host-fettle");
  EXPECT_TRUE(is_own_origin("https://example.org", "127.0.0.1:9790", proxied));
  EXPECT_TRUE(is_own_origin("http://127.0.0.1:9790", "127.0.0.1:9790", proxied));
  for (const char* const other : {"http://example.org", "https://example.org:444", "null", "",
                                  "https://example.org.evil", "http://evil.example"})
    EXPECT_FALSE(is_own_origin(other, "127.0.0.1:9790", proxied)) << other;
  EXPECT_FALSE(is_own_origin("http://evil.example", "evil.example", {9'790, {}}));
}

TEST(PageForms, AreReadInOneWay) {
  using Fields = std::map<std::string, std::string>;
  EXPECT_EQ(form_fields("a=1&b=x+y%2F%00&c"),
            (Fields{{"a", "1"}, {"b", std::string("x y/\0", 5)}, {"c", ""}}));
  for (const char* const none : {"", "a=1&a=2", "a=%", "a=%2", "a=%zz", "%=1"})
    EXPECT_EQ(form_fields(none), Fields{}) << none;
  EXPECT_EQ(cookie_in("a=1; fettle=x; b=2", "fettle"), "x");
  EXPECT_EQ(cookie_in("fettle=x; fettle=y", "fettle"), "");
  EXPECT_EQ(cookie_in("xfettle=x", "fettle"), "");
  EXPECT_EQ(cookie_in("", "fettle"), "");
}

TEST(HandOvers, AConnectionGoesWithItsBytesOrStays) {
  const TemporaryDirectory folder = *TemporaryDirectory::make();
  std::array<int, 2> pair{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const Descriptor ours(pair[0]);
  HandedConnection given{Descriptor(pair[1]), "10.0.0.7:1", "GET /\r\n"};
  EXPECT_FALSE(hand_to_page(folder.path(), "a", given)) << "nobody is there";
  const Descriptor door = *open_page_entrance(folder.path(), "a");
  const auto waiting = begin_page_handover(folder.path(), "a", given);
  ASSERT_TRUE(waiting);
  std::optional<HandedConnection> handed = take_for_page(door, 5s);
  ASSERT_TRUE(handed);
  EXPECT_EQ(handed->bytes, "GET /\r\n");
  EXPECT_EQ(handed->from, "10.0.0.7:1");
  EXPECT_EQ(::send(handed->socket.get(), "x", 1, 0), 1);
  char one = 0;
  EXPECT_EQ(::recv(ours.get(), &one, 1, 0), 1);
  EXPECT_FALSE(take_for_page(door, 1ms));
  given.bytes = std::string(most_handed_bytes, 'x');
  EXPECT_FALSE(begin_page_handover(folder.path(), "a", given));
  // What is no connection is passed over.
  given.bytes.clear();
  const auto empty = begin_page_handover(folder.path(), "a", given);
  EXPECT_FALSE(take_for_page(door, 1s));
}

}  // namespace
}  // namespace fettle
