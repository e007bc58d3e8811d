/// A server that stands still: the system of its machine goes on answering, and nothing else does.

#include <csignal>
#include <fstream>

#include "base/time.h"
#include "tests/fixtures/store_fixture.h"

namespace fettle {
namespace {

class SilentServerTest : public testing::Test, protected StoreWords {
 protected:
  ~SilentServerTest() override { signal_all(SIGCONT); }

  OpenedStore opened() const {
    auto store = open_store(server_.address("team"), place_.home(), nullptr, {.silence = 1s});
    EXPECT_TRUE(store) << to_string(store.error());
    return *std::move(store);
  }
  /// To the server's process of each connection.
  void signal_sessions(int signal) {
    for (const int session : sessions())
      sent_to_.insert(session);
    for (const int session : sent_to_)
      kill(session, signal);
  }
  /// To these and the server itself.
  void signal_all(int signal) {
    if (signal != SIGCONT)
      signal_sessions(signal);
    kill(server_.process(), signal);
    if (signal == SIGCONT)
      for (const int session : sent_to_)
        kill(session, signal);
  }
  std::vector<int> sessions() const {
    std::istringstream listed(
        server_.sql("SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE "
                    "application_name='fettle'"));
    std::vector<int> found;
    for (int session = 0; listed >> session;)
      found.push_back(session);
    return found;
  }
  static std::string message_of(const Status& status) {
    return status ? "" : status.error().message;
  }

  const StorePlace place_{StoreKind::file};
  PostgresServer server_;
  std::set<int> sent_to_;
};

constexpr const char* silent_words = "said nothing for 1s (`--silence-timeout`)";

TEST_F(SilentServerTest, ATransactionEndsWithWordsAfterTheLimit) {
  const OpenedStore kept = opened();
  const auto acting = edit(*kept.store);
  ASSERT_TRUE(acting->put_note("said", 1));
  const Instant began = instant_from_clock();
  const Status refused = kept.store->wish("e", [&](Wish& wish) -> Status {
    signal_sessions(SIGSTOP);
    TRY(wish.put_note("said", 2));
    return {};
  });
  EXPECT_NE(message_of(refused).find(silent_words), std::string::npos) << message_of(refused);
  EXPECT_LT(instant_from_clock() - began, 60s);
  signal_sessions(SIGCONT);
  // The server rolls back when it notices; until then it keeps others waiting.
  EXPECT_TRUE(acting->put_note("said", 3));
  EXPECT_EQ(**kept.store->note("e", "said"), Value(3));
}

TEST_F(SilentServerTest, AReadGoesOnOnAnotherConnectionIfThereIsOne) {
  const OpenedStore kept = opened();
  ASSERT_TRUE(edit(*kept.store)->put_note("said", 1));
  signal_sessions(SIGSTOP);
  const auto note = kept.store->note("e", "said");
  ASSERT_TRUE(note) << to_string(note.error());
  EXPECT_EQ(**note, Value(1));
}

TEST_F(SilentServerTest, OneThatAnswersNobodyIsToldSo) {
  const OpenedStore kept = opened();
  ASSERT_TRUE(edit(*kept.store)->put_note("said", 1));
  signal_all(SIGSTOP);
  const auto note = kept.store->note("e", "said");
  ASSERT_FALSE(note);
  EXPECT_NE(note.error().message.find("cannot be reached"), std::string::npos)
      << note.error().message;
  signal_all(SIGCONT);
  EXPECT_EQ(**kept.store->note("e", "said"), Value(1));
}

TEST_F(SilentServerTest, AMegabyteThatNobodyTakesEndsToo) {
  const OpenedStore kept = opened();
  const Status refused = kept.store->wish("e", [&](Wish& wish) -> Status {
    TRY(wish.put_note("before", 1));
    signal_sessions(SIGSTOP);
    for (int i = 0; i < 30; ++i)
      TRY(wish.put_note(cat("large ", i), std::string(1'000'000, 'x')));
    return {};
  });
  EXPECT_NE(message_of(refused).find(silent_words), std::string::npos) << message_of(refused);
}

TEST_F(SilentServerTest, ManyAnswersAreNoSilence) {
  const OpenedStore kept = opened();
  const auto acting = edit(*kept.store);
  std::vector<Change> many;
  for (int i = 0; i < 3'000; ++i)
    many.push_back(change({"e", "act", std::to_string(i)}, record()));
  EXPECT_TRUE(acting->write(many));
  EXPECT_EQ(kept.store->known("e")->size(), 3'000u);
}

}  // namespace
}  // namespace fettle
