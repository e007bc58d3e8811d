/// Who may do what at a server of commands: rights, tokens, and the record of what was done.

#include <fcntl.h>

#include "base/hash.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "remote/audit_log.h"
#include "remote/rights.h"
#include "remote/tokens.h"
#include "tests/fixtures/command_server_fixture.h"
#include "tests/fixtures/small_disk.h"

namespace fettle {
namespace {

const Time noon = Time(std::chrono::hours(24 * 20'000 + 12));

Token token_named(std::string name, Right right, std::vector<std::string> environments = {}) {
  Token token;
  token.grant = {std::move(name), right, std::move(environments)};
  token.created = noon;
  return token;
}

TEST(Rights, EachHasThoseBeforeItInIt) {
  for (const std::string_view has : right_names)
    for (const std::string_view needs : right_names) {
      const Grant grant{"t", *right_named(has), {}};
      EXPECT_EQ(!refusal_by_rights(grant, {*right_named(needs), Reach::server, {}, "fettle x"}),
                *right_named(has) >= *right_named(needs))
          << has << " " << needs;
    }
  const auto refusal =
      refusal_by_rights({"ci", Right::plan, {}}, {Right::act, Reach::unknown, {}, "fettle run"});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->blame, Blame::user);
  EXPECT_EQ(refusal->message,
            "`fettle run` needs the right `act`, and the token `ci` has `plan`: ask who keeps the "
            "server for a token made with `--right act`");
  const auto unknown = right_named("reed");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("did you mean `read`?"), std::string::npos);
}

TEST(Rights, OneForAnAgentIsGoodForThatAlone) {
  Grant grant{"b-token", Right::read, {}};
  grant.agent = "b";
  CommandNeeds needs{Right::admin, Reach::server, {}, "fettle agent --name b", {}, "b"};
  EXPECT_FALSE(refusal_by_rights(grant, needs));
  EXPECT_FALSE(refusal_by_rights({"keeper", Right::admin, {}}, needs));
  for (const Right right : {Right::read, Right::plan, Right::act})
    EXPECT_TRUE(refusal_by_rights({"other", right, {}}, needs));
  EXPECT_TRUE(refusal_by_rights({"limited", Right::admin, {"web"}}, needs));
  needs.agent = "c";
  EXPECT_TRUE(refusal_by_rights(grant, needs));
  for (const Right right : {Right::read, Right::plan, Right::act, Right::admin})
    for (const Reach reach : {Reach::named, Reach::shown, Reach::server, Reach::unknown})
      EXPECT_TRUE(refusal_by_rights(grant, {right, reach, {"web"}, "fettle x"}));
  grant.right = Right::admin;  // whatever else it says
  EXPECT_TRUE(refusal_by_rights(grant, {Right::read, Reach::shown, {}, "fettle x"}));
}

TEST(Rights, ALimitHoldsWhereverAnEnvironmentIsMeant) {
  const Grant grant{"t", Right::act, {"web-*", "shop"}};
  const auto refused = [&](Reach reach, std::vector<std::string> environments) {
    const auto refusal =
        refusal_by_rights(grant, {Right::act, reach, std::move(environments), "fettle x"});
    return refusal ? refusal->message : "";
  };
  EXPECT_EQ(refused(Reach::named, {"web-1"}), "");
  EXPECT_EQ(refused(Reach::named, {"shop", "web-2"}), "");
  EXPECT_EQ(refused(Reach::shown, {}), "");
  for (const char* const other : {"web", "shops", "Shop", "", "xweb-1"})
    EXPECT_NE(refused(Reach::named, {"shop", other}), "") << other;
  EXPECT_NE(refused(Reach::named, {}).find("-e NAME"), std::string::npos);
  EXPECT_NE(refused(Reach::unknown, {}).find("-e NAME"), std::string::npos);
  EXPECT_NE(refused(Reach::server, {"shop"}).find("as a whole"), std::string::npos);
  EXPECT_NE(refused(Reach::named, {"prod"}).find("`--environment prod`"), std::string::npos);
  EXPECT_NE(refused(Reach::named, {"b46d8279544f"}).find("a name counts here, and no uuid"),
            std::string::npos);
  EXPECT_NE(refused(Reach::named, {"prod"}).find("`web-*` and `shop` only"), std::string::npos);
}

class TokenBookTest : public testing::Test {
 protected:
  TokenBook book() const { return token_book(home_.path()); }
  Path file() const { return home_.path() / "tokens.json"; }
  std::string add(const Token& token) const {
    const Result<std::string> text = book().add(token);
    EXPECT_TRUE(text) << to_string(text.error());
    return text.value_or("");
  }
  /// The right that a text gives, or why it gives none.
  std::string right_of(std::string_view text, Time now = noon) const {
    const Result<Grant> grant = book().grant_of(text, "own", now);
    return grant ? std::string(to_string(grant->right)) : grant.error().message;
  }
  TemporaryDirectory home_ = *TemporaryDirectory::make();
};

TEST_F(TokenBookTest, ATextIsKnownUntilItExpiresOrIsTakenAway) {
  Token token = token_named("ci", Right::plan);
  token.expires = noon + 1h;
  const std::string text = add(token);
  const std::string other = add(token_named("team", Right::act, {"shop"}));
  EXPECT_EQ(text.size(), 64U);
  EXPECT_EQ(right_of(text), "plan");
  EXPECT_EQ(right_of(other), "act");
  EXPECT_EQ(book().grant_of(other, "own", noon)->environments, std::vector<std::string>{"shop"});
  EXPECT_EQ(right_of(text, noon + 59min), "plan");
  EXPECT_NE(right_of(text, noon + 1h).find("the token `ci` expired at "), std::string::npos);
  EXPECT_TRUE(book().remove("ci"));
  EXPECT_NE(right_of(text).find("does not know this token"), std::string::npos);
  EXPECT_EQ(right_of(other), "act");
  EXPECT_EQ(right_of("own"), "admin");
}

TEST_F(TokenBookTest, WhatWasReadBeforeDoesNotOutliveAChange) {
  const std::string text = add(token_named("ci", Right::plan));
  const std::string other = add(token_named("team", Right::act));
  const auto settle = [&] {
    usleep(1'200'000);
    EXPECT_EQ(right_of(text), "plan");
    EXPECT_EQ(right_of(text), "plan");
  };
  settle();
  // In place, with as many bytes, and the time that it had.
  const auto time = std::filesystem::last_write_time(file());
  const std::string kept = *read_file(file());
  std::string changed = kept;
  char& digit = changed[changed.find(sha256_hex(text))];
  digit = digit == '0' ? '1' : '0';
  const Descriptor open(::open(file().c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(pwrite(open.get(), changed.data(), changed.size(), 0),
            static_cast<ssize_t>(changed.size()));
  std::filesystem::last_write_time(file(), time);
  EXPECT_NE(right_of(text), "plan");
  ASSERT_EQ(pwrite(open.get(), kept.data(), kept.size(), 0), static_cast<ssize_t>(kept.size()));
  settle();
  std::filesystem::permissions(file(), std::filesystem::perms(0644));
  EXPECT_NE(right_of(text).find("cannot read its tokens"), std::string::npos);
  std::filesystem::permissions(file(), std::filesystem::perms(0600));
  settle();
  EXPECT_TRUE(book().remove("ci"));
  EXPECT_NE(right_of(text).find("does not know this token"), std::string::npos);
  EXPECT_EQ(right_of(other), "act");
  std::filesystem::remove(file());
  EXPECT_NE(right_of(other).find("does not know this token"), std::string::npos);
}

TEST_F(TokenBookTest, TheFileHasNoTextAndIsItsOwnersAlone) {
  const std::string text = add(token_named("ci", Right::read));
  const std::string kept = *read_file(file());
  EXPECT_EQ(kept.find(text), std::string::npos);
  EXPECT_NE(kept.find(sha256_hex(text)), std::string::npos);
  EXPECT_EQ(std::filesystem::status(file()).permissions(), std::filesystem::perms(0600));
  // The digest that is kept is no token.
  EXPECT_NE(right_of(sha256_hex(text)), "read");
}

TEST_F(TokenBookTest, OneForAnAgentKeepsItsName) {
  Token token = token_named("b-token", Right::read);
  token.grant.agent = "b";
  const std::string text = add(token);
  EXPECT_EQ(book().grant_of(text, "own", noon)->agent, "b");
  const std::string kept = *read_file(file());
  EXPECT_NE(kept.find(R"("right": "agent")"), std::string::npos) << "no right that others know";
  for (const char* const other : {"\"B\"", "\"../b\"", "\"\"", "null", "3"}) {
    ASSERT_TRUE(
        write_file(file(), replace_all(kept, R"("agent": "b")", cat("\"agent\": ", other)), 0600));
    EXPECT_NE(right_of(text).find("cannot read its tokens"), std::string::npos) << other;
  }
  token.grant.agent = "B";
  EXPECT_EQ(TokenBook(file() += "2", "/nowhere").add(token).error().blame, Blame::user);
}

TEST_F(TokenBookTest, ForgedOnesAreKnownToNobody) {
  const std::string text = add(token_named("ci", Right::read));
  std::string similar = text;
  similar.back() = similar.back() == '0' ? '1' : '0';
  for (const std::string& forged :
       {std::string(), similar, text + "0", text.substr(1), std::string(64, '0'), upper_case(text)})
    EXPECT_TRUE(forged == text || right_of(forged).find("does not know") != std::string::npos)
        << forged;
  EXPECT_NE(TokenBook("/nowhere/x", "/nowhere/y").grant_of("", "", noon).has_value(), true);
}

TEST_F(TokenBookTest, ADamagedFileLetsNobodyInButTheServersOwn) {
  const std::string text = add(token_named("ci", Right::admin));
  const std::string good = *read_file(file());
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("[]"), std::string("{\"tokens\": {}}"),
        good.substr(0, good.size() / 2), replace_all(good, "\"admin\"", "\"root\""),
        replace_all(good, "\"expires\": null", "\"expires\": \"soon\""),
        replace_all(good, "\"expires\"", "\"expired\""),
        replace_all(good, "\"environments\": []", "\"environments\": \"x\""),
        replace_all(good, sha256_hex(text), "")}) {
    ASSERT_TRUE(write_file(file(), bad, 0600));
    EXPECT_NE(right_of(text).find("cannot read its tokens"), std::string::npos) << bad;
    EXPECT_NE(right_of("").find("cannot read its tokens"), std::string::npos) << bad;
    EXPECT_EQ(right_of("own"), "admin");
    const auto listed = book().all();
    ASSERT_FALSE(listed) << bad;
    EXPECT_EQ(listed.error().blame, Blame::user);
    EXPECT_NE(listed.error().message.find("is damaged"), std::string::npos);
    EXPECT_FALSE(book().add(token_named("other", Right::read)));
    EXPECT_EQ(*read_file(file()), bad) << "it is for its owner to mend";
  }
  ASSERT_TRUE(write_file(file(), good, 0644));
  EXPECT_NE(book().all().error().message.find("chmod 600"), std::string::npos);
  EXPECT_NE(right_of(text), "admin");
  // One that cannot be read at all.
  ASSERT_TRUE(remove_tree(file()) && make_directories(file()));
  std::filesystem::permissions(file(), std::filesystem::perms(0700));
  EXPECT_FALSE(book().all());
  EXPECT_NE(right_of(text), "admin");
}

TEST_F(TokenBookTest, WrongWordsAreRefusedAndKeepTheFile) {
  const auto why = [&](const Token& token) {
    const auto added = book().add(token);
    return added ? "" : added.error().message;
  };
  for (const char* const name : {"", "serve", ".x", "-x", "a b", "a/b", "../a", "ä", "a\n"})
    EXPECT_NE(why(token_named(name, Right::read)).find("cannot be called"), std::string::npos)
        << name;
  EXPECT_NE(why(token_named("x", Right::admin, {"shop"})).find("cannot be limited"),
            std::string::npos);
  EXPECT_NE(why(token_named("x", Right::act, {""})).find("--environment"), std::string::npos);
  EXPECT_FALSE(file_exists(file()));
  add(token_named("team", Right::read));
  EXPECT_NE(why(token_named("team", Right::act)).find("already"), std::string::npos);
  EXPECT_EQ(book().all()->front().grant.right, Right::read);
  EXPECT_NE(book().remove("teem").error().message.find("did you mean `team`?"), std::string::npos);
  EXPECT_NE(book().remove("serve").error().message.find("ends with the server"), std::string::npos);
}

TEST_F(TokenBookTest, ThoseWhoMakeThemAtOnceLoseNothing) {
  constexpr int makers = 8, each = 5;
  std::vector<pid_t> children;
  for (int i = 0; i < makers; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      int made = 0;
      for (int k = 0; k < each; ++k)
        made += book().add(token_named(cat("t", i, "-", k), Right::read)) ? 1 : 0;
      _exit(made == each ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(book().all()->size(), size_t{makers * each});
}

TEST_F(TokenBookTest, KnowsWhenOneWasUsedLast) {
  add(token_named("ci", Right::read));
  EXPECT_FALSE(book().last_used("ci"));
  book().note_use("ci", noon);
  EXPECT_EQ(book().last_used("ci"), noon);
  book().note_use("ci", noon + 1h + 5ns);
  EXPECT_EQ(book().last_used("ci"), noon + 1h + 5ns);
  EXPECT_TRUE(book().remove("ci"));
  add(token_named("ci", Right::read));
  EXPECT_FALSE(book().last_used("ci")) << "that was another one";
}

TEST(Expiry, IsATimeToLiveOrAnEnd) {
  const Time first = *read_moment("2026-11-30T12:00:00Z");
  const auto asked = [&](std::string_view text) {
    const auto time = expiry_asked(text, first);
    return time ? write_moment(*time) : time.error().message;
  };
  EXPECT_EQ(asked("30d"), "2026-12-30T12:00:00Z");
  EXPECT_EQ(asked("1h30m"), "2026-11-30T13:30:00Z");
  EXPECT_EQ(asked("2026-12-31"), "2027-01-01T00:00:00Z") << "with that day";
  EXPECT_EQ(asked("2026-11-30"), "2026-12-01T00:00:00Z");
  EXPECT_EQ(asked("2026-12-31T10:00:00Z"), "2026-12-31T10:00:00Z");
  for (const char* const wrong : {"", "30", "d", "-1d", "0d", "0s", "-1h", "soon", "30 days",
                                  "2026-11-29", "2026-11-30T12:00:00Z", "2026-13-01", "99999999d"})
    EXPECT_NE(asked(wrong).find("expected how long the token lives"), std::string::npos) << wrong;
}

class AuditLogTest : public testing::Test {
 protected:
  static AuditEntry entry(std::string command) {
    return {"2026-11-30T12:00:00Z", "ci", "127.0.0.1:4000", std::move(command)};
  }
  TemporaryDirectory home_ = *TemporaryDirectory::make();
};

TEST_F(AuditLogTest, ACommandIsThereFromItsBeginningOn) {
  const AuditLog log(home_.path() / "audit");
  EXPECT_TRUE(log.all()->empty());
  AuditEntry run = entry("fettle run .");
  run.right = "act";
  run.run = 7;
  const std::string first = *log.begin(run), second = *log.begin(entry("fettle clean"));
  AuditEntry refused = entry("fettle token ls");
  refused.at = "2026-11-30T11:00:00Z";
  refused.refused = "no";
  log.refuse(refused);
  log.end(second, 3, *read_moment("2026-11-30T12:00:05Z"));
  const std::vector<AuditEntry> all = *log.all();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].refused, "no");
  EXPECT_EQ(all[1].command, "fettle run .");
  EXPECT_EQ(all[1].run, 7);
  EXPECT_EQ(all[1].right, "act");
  EXPECT_FALSE(all[1].code) << "nobody has said that it ended";
  EXPECT_EQ(all[2].code, 3);
  EXPECT_EQ(all[2].ended, "2026-11-30T12:00:05Z");
  log.end(first, 0, *read_moment("2026-11-30T12:00:06Z"));
  EXPECT_EQ((*log.all())[1].code, 0);
  for (const char* const name : {"acts.jsonl", "refused.jsonl"})
    EXPECT_EQ(std::filesystem::status(home_.path() / "audit" / name).permissions(),
              std::filesystem::perms(0600));
}

TEST_F(AuditLogTest, IsBoundedAndRefusalsPushNothingElseOut) {
  const AuditLog log(home_.path() / "audit", 2'000);
  ASSERT_TRUE(log.begin(entry("fettle run first")));
  for (int i = 0; i < 200; ++i)
    log.refuse(entry(cat("fettle run ", i)));
  std::vector<AuditEntry> all = *log.all();
  EXPECT_EQ(all.front().command, "fettle run first");
  EXPECT_EQ(all.back().command, "fettle run 199");
  EXPECT_LT(all.size(), 100U);
  uint64_t size = 0;
  for (const auto& file : std::filesystem::directory_iterator(home_.path() / "audit"))
    size += file.file_size();
  EXPECT_LT(size, 5 * 2'200U);
}

TEST_F(AuditLogTest, ALineThatWasCutOffSpoilsNoOther) {
  const AuditLog log(home_.path() / "audit");
  ASSERT_TRUE(log.begin(entry("fettle run a")));
  const Path file = home_.path() / "audit" / "acts.jsonl";
  const std::string whole = *read_file(file);
  ASSERT_TRUE(write_file(file, whole + whole.substr(0, 20), 0600));
  ASSERT_TRUE(log.begin(entry("fettle run b")));
  const std::vector<AuditEntry> all = *log.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].command, "fettle run b");
}

TEST_F(AuditLogTest, WithoutRoomNothingBegins) {
  const int code = on_a_small_disk(home_.path().string(), 256, [&] {
    const AuditLog log(home_.path() / "audit");
    const std::string filler = (home_.path() / "filler").string();
    if (!log.begin(entry("fettle run a")))
      return 1;
    {
      const Descriptor file(::open(filler.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      while (::write(file.get(), std::string(4'096, 'x').data(), 4'096) > 0) {
      }
    }
    int more = 0;
    while (log.begin(entry("fettle run " + std::string(400, 'b'))) && more < 1'000)
      ++more;
    if (more >= 1'000 || log.all()->size() != static_cast<size_t>(more) + 1)
      return 2;
    if (!remove_tree(filler) || !log.begin(entry("fettle run c")))
      return 3;
    return log.all()->back().command == "fettle run c" ? 0 : 4;
  });
  EXPECT_EQ(code, 0);
}

/// Tokens at a server, over real sockets.
class ServerRightsTest : public ServerOfCommandsTest {
 protected:
  void serve_until(Time expiry_clock = noon) {
    ASSERT_TRUE(write_file(clock_file(), std::to_string(seconds_of(expiry_clock))));
    ServeSettings settings;
    settings.clock = [file = clock_file()] {
      return Time(std::chrono::seconds(std::stoll(*read_file(file))));
    };
    serve(std::move(settings));
  }
  void set_clock(Time now) const {
    ASSERT_TRUE(write_file(clock_file(), std::to_string(seconds_of(now))));
  }
  std::string token(const std::string& name, Right right,
                    std::vector<std::string> environments = {}) const {
    return *token_book(home_.path()).add(token_named(name, right, std::move(environments)));
  }
  Report as(const std::string& text, std::vector<std::string> words, NamedFiles named = {}) {
    const std::string before = std::exchange(server_.token, text);
    Report report = told(std::move(words), std::move(named));
    server_.token = before;
    return report;
  }
  std::vector<AuditEntry> audit() const { return *audit_log(home_.path()).all(); }
  Path clock_file() const { return home_.path() / "clock"; }

 private:
  static int64_t seconds_of(Time time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  }
};

TEST_F(ServerRightsTest, EachRightAndACommandOfEachClass) {
  serve();
  const std::vector<std::string> words{"sees", "plans", "acts", "admins"};
  for (size_t has = 0; has < right_names.size(); ++has) {
    const std::string text = token(std::string(right_names[has]), static_cast<Right>(has));
    for (size_t needs = 0; needs < words.size(); ++needs) {
      const Report report = as(text, {words[needs]});
      EXPECT_EQ(report.code, needs <= has ? 0 : 2) << right_names[has] << " " << words[needs];
      EXPECT_EQ(report.output, needs <= has ? words[needs] + "\n" : "");
      if (needs > has) {
        EXPECT_EQ(report.errors,
                  cat("error: `", words[needs], "` needs the right `", right_names[needs],
                      "`, and the token `", right_names[has], "` has `", right_names[has],
                      "`: ask who keeps the server for a token made with `--right ",
                      right_names[needs], "`\n"));
      }
    }
  }
  EXPECT_EQ(told({"admins"}).code, 0) << "the server's own token may do everything";
}

TEST_F(ServerRightsTest, ALimitedTokenReachesItsEnvironments) {
  serve();
  const std::string text = token("web", Right::act, {"web-*"});
  EXPECT_EQ(as(text, {"acts", "in=web-1"}).code, 0);
  EXPECT_EQ(as(text, {"sees", "everywhere"}).code, 0);
  EXPECT_EQ(as(text, {"sees", "in=web-1", "in=web-2"}).code, 0);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"acts", "in=prod"},
                                                {"sees", "in=prod"},
                                                {"sees"},
                                                {"acts", "in=web-1", "in=prod"},
                                                {"sees", "server"}}) {
    const Report report = as(text, words);
    EXPECT_EQ(report.code, 2) << words.back();
    EXPECT_EQ(report.output, "");
    EXPECT_NE(report.errors.find("the token `web` is for `web-*` only"), std::string::npos);
  }
}

TEST_F(ServerRightsTest, NothingOfARefusedCommandIsSentOrKept) {
  serve();
  const TemporaryDirectory here = *TemporaryDirectory::make();
  ASSERT_TRUE(write_file(here.path() / "given", "text"));
  const Report report =
      as(token("ci", Right::read), {"acts"}, {{(here.path() / "given").string()}, {}});
  EXPECT_EQ(report.code, 2);
  EXPECT_FALSE(file_exists(home_.path() / "serve" / "mirrors" / "contents" / sha256_hex("text")));
  EXPECT_TRUE(runs().empty());
}

TEST_F(ServerRightsTest, AnExpiredOneIsRefusedAtItsNextRequest) {
  serve_until();
  Token made = token_named("ci", Right::act);
  made.expires = noon + 1h;
  const std::string text = *token_book(home_.path()).add(made);
  EXPECT_EQ(as(text, {"acts"}).code, 0);
  set_clock(noon + 1h);
  const Report late = as(text, {"acts"});
  EXPECT_EQ(late.code, 2);
  EXPECT_NE(late.errors.find("the token `ci` expired at 2024-10-04T13:00:00Z"), std::string::npos)
      << late.errors;
  EXPECT_EQ(audit().back().token, "ci");
  EXPECT_NE(audit().back().refused, "");
}

TEST_F(ServerRightsTest, AConnectionBeginsNothingMoreWithoutItsToken) {
  serve();
  server_.token = token("ci", Right::act);
  Line line = open_line();
  const auto asked = [&] {
    CommandRequest request;
    request.words = {"acts"};
    request.folder = "/";
    line.send(FrameType::command, write_json(value_of(request)));
    EXPECT_TRUE(line.push_all(20s));
    std::optional<Frame> frame;
    while ((frame = line.await(20s)) && frame->type != FrameType::end &&
           frame->type != FrameType::error) {
    }
    return frame ? cat(std::string(1, static_cast<char>(frame->type)), frame->payload) : "gone";
  };
  EXPECT_TRUE(asked().starts_with("x"));
  // Its right is taken down meanwhile, and then the token is taken away.
  const Path file = home_.path() / "tokens.json";
  ASSERT_TRUE(write_file(file, replace_all(*read_file(file), "\"act\"", "\"read\""), 0600));
  const std::string lower = asked();
  EXPECT_NE(lower.find("needs the right `act`"), std::string::npos) << lower;
  line = open_line();
  ASSERT_TRUE(token_book(home_.path()).remove("ci"));
  const std::string without = asked();
  EXPECT_NE(without.find("does not know this token"), std::string::npos) << without;
}

TEST_F(ServerRightsTest, VariablesAreTextForWhoMayNotAct) {
  serve();
  server_.token = token("ci", Right::plan);
  CommandRequest request;
  request.words = {"plans", "variables"};
  request.folder = "/";
  request.environment = {{"GIT_SSH_COMMAND", "mine"}, {"FETTLE_TAG", "v1"}};
  EXPECT_EQ(output_of(request), "mine unset unset v1\n");
}

TEST_F(ServerRightsTest, ARunningCommandEndsByItself) {
  serve();
  const std::string text = token("ci", Right::act);
  server_.token = text;
  Client client(command({"acts", flag(), "long"}));
  client.await("waiting\n");
  ASSERT_TRUE(token_book(home_.path()).remove("ci"));
  raise_flag();
  EXPECT_EQ(client.end().code, 5);
}

TEST_F(ServerRightsTest, DamagedTokensOpenItToNobody) {
  serve();
  const std::string text = token("ci", Right::admin);
  for (const char* const bad : {"", "{", "{\"tokens\": []"}) {
    ASSERT_TRUE(write_file(home_.path() / "tokens.json", bad, 0600));
    for (const std::string& one : {text, std::string("forged")}) {
      const Report report = as(one, {"sees"});
      EXPECT_EQ(report.code, 2);
      EXPECT_NE(report.errors.find("the server cannot read its tokens"), std::string::npos)
          << report.errors;
    }
    EXPECT_EQ(told({"sees"}).code, 0);
  }
}

TEST_F(ServerRightsTest, WhatNeedsMoreThanReadIsNoted) {
  serve();
  const std::string text = token("ci", Right::plan);
  as(text, {"sees"});
  as(text, {"plans", "in=shop"});
  as(text, {"acts"});
  as("forged", {"sees"});
  told({"hello"});
  const std::vector<AuditEntry> all = audit();
  ASSERT_EQ(all.size(), 4U);
  std::string told;
  for (const AuditEntry& one : all) {
    EXPECT_TRUE(one.from.starts_with("127.0.0.1:")) << one.from;
    told += cat(one.token, " ", one.command, " ", one.right, " ", one.run, " ",
                one.code ? cat(*one.code) : "none", one.refused.empty() ? "" : " refused", "\n");
  }
  std::vector<std::string> lines;
  for (const std::string_view line : split(told, '\n'))
    if (!line.empty())
      lines.emplace_back(line);
  std::ranges::sort(lines);  // what happens within a second has no order
  EXPECT_EQ(lines, (std::vector<std::string>{"   0 none refused", "ci acts act 0 none refused",
                                             "ci plans plan 2 0", "serve hello act 3 7"}));
  EXPECT_TRUE(token_book(home_.path()).last_used("ci"));
}

TEST_F(ServerRightsTest, WithoutARecordNothingIsDone) {
  serve();
  const Path audit_folder = home_.path() / "serve" / "audit";
  ASSERT_TRUE(make_directories(audit_folder.parent_path()));
  ASSERT_TRUE(write_file(audit_folder, "no folder"));
  const Report acts = told({"acts"});
  EXPECT_EQ(acts.code, 1);
  EXPECT_EQ(acts.output, "");
  EXPECT_NE(acts.errors.find("noting the command, without which it is not run"), std::string::npos)
      << acts.errors;
  EXPECT_EQ(told({"sees"}).output, "sees\n") << "what only reads needs none";
  EXPECT_FALSE(runs().back().is_running);
}

TEST_F(ServerRightsTest, AFullDiskRefusesWhatActs) {
  const int code = on_a_small_disk(home_.path().string(), 1'024, [&] {
    serve();
    if (told({"acts"}).code != 0)
      return 1;
    const std::string filler = (home_.path() / "filler").string();
    {
      const Descriptor file(::open(filler.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      while (::write(file.get(), std::string(512, 'x').data(), 512) > 0) {
      }
    }
    const Report refused = told({"acts"});
    if (refused.code != 1 || !refused.output.empty())
      return 2;
    if (!remove_tree(filler) || told({"acts"}).code != 0)
      return 3;
    stop(SIGKILL);
    return 0;
  });
  EXPECT_EQ(code, 0);
}

TEST_F(ServerRightsTest, RunsAreSeenAndStoppedByWhoMay) {
  serve();
  const std::string owner = token("owner", Right::act), other = token("other", Right::act),
                    reader = token("reader", Right::read),
                    limited = token("limited", Right::act, {"web-*"});
  server_.token = owner;
  Client client(command({"acts", flag(), "in=shop", "long"}));
  client.await("waiting\n");
  ASSERT_EQ(runs().size(), 1U);
  EXPECT_EQ(runs()[0].token, "owner");
  const ClientPlace place{"1.0", {}};
  const auto cancelled_by = [&](const std::string& text) {
    server_.token = text;
    const Result<RunView> run = cancel_run(server_, 1, place);
    return run ? "" : run.error().message;
  };
  EXPECT_NE(cancelled_by(reader).find("needs the right `admin`"), std::string::npos);
  const std::string why = cancelled_by(other);
  EXPECT_NE(why.find("`fettle cancel 1`, a run of the token `owner`, needs the right `admin`"),
            std::string::npos)
      << why;
  // To who is limited to other environments, there is no such run.
  EXPECT_NE(cancelled_by(limited).find("there is no run 1"), std::string::npos);
  EXPECT_TRUE(runs().empty());
  EXPECT_NE(as(limited, {"sees", "in=web-1"}).code, 2);
  // Who reads may look on, and Ctrl-C is his own affair.
  server_.token = reader;
  Client follower(attach(1));
  follower.await("waiting\n");
  const Report left = follower.end(SIGINT);
  EXPECT_EQ(left.code, 2);
  EXPECT_NE(left.errors.find("needs the right `admin`"), std::string::npos) << left.errors;
  EXPECT_FALSE(file_exists(flag() + ".stopped"));
  // A name may come again, but not its runs.
  ASSERT_TRUE(token_book(home_.path()).remove("owner"));
  const std::string late = cancelled_by(token("owner", Right::act));
  EXPECT_NE(late.find("a run of an earlier token `owner`, needs the right `admin`"),
            std::string::npos)
      << late;
  EXPECT_EQ(cancelled_by(token("keeper", Right::admin)), "");
  EXPECT_EQ(client.end().code, 130);
}

}  // namespace
}  // namespace fettle
