#include "drivers/engine/build_session.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string frame(int type, int flags, uint32_t stream, std::string_view bytes) {
  std::string made;
  for (const int shift : {16, 8, 0})
    made += static_cast<char>(bytes.size() >> shift & 0xff);
  made += static_cast<char>(type);
  made += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0})
    made += static_cast<char>(stream >> shift & 0xff);
  return cat(made, bytes);
}

using Secrets = std::map<std::string, std::string>;

/// A message in gRPC's frame.
std::string question(std::string_view message) {
  return cat(std::string(4, '\0'), std::string(1, static_cast<char>(message.size())), message);
}

std::string asks_for(std::string_view id) {
  return question(cat("\x0a", std::string(1, static_cast<char>(id.size())), id));
}

/// The frames of an answer: `type/flags@stream:size`, and the bytes of data.
std::string told(std::string_view bytes) {
  std::string text;
  while (bytes.size() >= 9) {
    const auto byte = [&](size_t at) {
      return static_cast<size_t>(static_cast<unsigned char>(bytes[at]));
    };
    const size_t size = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += cat(text.empty() ? "" : " ", byte(3), "/", byte(4), "@", byte(8), ":", size);
    bytes.remove_prefix(9 + size);
  }
  return text;
}

std::string after_greeting(SessionAnswers& answers, std::string_view bytes) {
  const Result<std::string> said = answers.take(cat(preface, bytes));
  return said ? *said : to_string(said.error());
}

TEST(BuildSession, GivesASecretByItsIdAndSaysThatItIsThere) {
  SessionAnswers answers(Secrets{{"token", "hush"}});
  const std::string health = after_greeting(
      answers, cat(frame(4, 0, 0, {}), frame(1, 4, 1, "unread"), frame(0, 1, 1, question(""))));
  EXPECT_EQ(told(health), "4/1@0:0 8/0@0:4 1/4@1:32 0/0@1:7 1/5@1:15");
  EXPECT_NE(health.find(question("\x08\x01")), std::string::npos);
  const auto secret = answers.take(cat(frame(1, 4, 3, "x"), frame(0, 1, 3, asks_for("token"))));
  ASSERT_TRUE(secret) << to_string(secret.error());
  EXPECT_NE(secret->find(question("\x0a\x04hush")), std::string::npos) << told(*secret);
  // What is not there, and what nobody can ask here, is told at once.
  const auto missing = answers.take(cat(frame(1, 4, 5, "x"), frame(0, 1, 5, asks_for("other"))));
  ASSERT_TRUE(missing);
  EXPECT_EQ(told(*missing), "8/0@0:4 1/5@5:48");
  EXPECT_NE(missing->find("\x0bgrpc-status\x02"
                          "12"),
            std::string::npos);
}

TEST(BuildSession, TakesBytesInAnyPieces) {
  const std::string all = cat(preface, frame(4, 0, 0, {}), frame(1, 4, 1, "x"),
                              frame(0, 9, 1, cat("\x02", asks_for("id"), "__")));
  SessionAnswers answers(Secrets{{"id", "word"}});
  std::string said;
  for (const char byte : all) {
    const auto more = answers.take({&byte, 1});
    ASSERT_TRUE(more) << to_string(more.error());
    said += *more;
  }
  EXPECT_NE(said.find("\x0a\x04word"), std::string::npos) << told(said);
}

TEST(BuildSession, SendsNoMoreThanTheOtherSideTakes) {
  SessionAnswers answers(Secrets{{"id", std::string(100'000, 'x')}});
  // Its streams take ten bytes at first.
  const std::string ten("\x00\x04\x00\x00\x00\x0a", 6);
  const std::string begun = after_greeting(
      answers, cat(frame(4, 0, 0, ten), frame(1, 4, 1, "x"), frame(0, 1, 1, asks_for("id"))));
  EXPECT_EQ(told(begun), "4/1@0:0 8/0@0:4 1/4@1:32 0/0@1:10");
  const std::string more("\x00\x7f\x00\x00", 4);
  const auto next = answers.take(frame(8, 0, 1, more));
  ASSERT_TRUE(next);
  EXPECT_EQ(told(*next), "0/0@1:16384 0/0@1:16384 0/0@1:16384 0/0@1:16373");  // 65,535 in all
  const auto rest = answers.take(frame(8, 0, 0, more));
  ASSERT_TRUE(rest);
  EXPECT_TRUE(told(*rest).ends_with(" 1/5@1:15")) << told(*rest);
}

TEST(BuildSession, PassesOverTheRestAndEnds) {
  SessionAnswers answers(Secrets{});
  EXPECT_EQ(
      told(after_greeting(answers, cat(frame(6, 0, 0, "12345678"), frame(6, 1, 0, "12345678"),
                                       frame(2, 0, 1, "12345"), frame(99, 7, 1, "x"),
                                       frame(1, 5, 1, "no message"), frame(3, 0, 1, "1234")))),
      "6/1@0:8 1/5@1:48");
  EXPECT_FALSE(answers.is_over());
  ASSERT_TRUE(answers.take(frame(7, 0, 0, "12345678")));
  EXPECT_TRUE(answers.is_over());
}

TEST(BuildSession, RefusesWhatIsNoHttp2) {
  const auto refused = [](std::string_view bytes) {
    SessionAnswers answers(Secrets{});
    const auto said = answers.take(bytes);
    return said ? cat("took ", told(*said)) : to_string(said.error());
  };
  EXPECT_EQ(refused("GET / HTTP/1.1\r\n"),
            "the builder's session is no HTTP/2: it begins otherwise");
  EXPECT_EQ(refused(cat(preface, std::string(9, '\xff'))),
            "the builder's session is no HTTP/2: a frame is too large");
  EXPECT_EQ(refused(cat(preface, frame(1, 4, 1, "x"), frame(0, 9, 1, "\x05xx"))),
            "the builder's session is no HTTP/2: there is more padding than data");
  EXPECT_EQ(refused(cat(preface, frame(8, 0, 0, "x"))),
            "the builder's session is no HTTP/2: a window has another size");
  std::string many(preface);
  for (uint32_t i = 1; i < 3'000; i += 2)
    many += frame(1, 4, i, "x");
  EXPECT_EQ(refused(many), "the builder's session is no HTTP/2: it asks too much at once");
}

}  // namespace
}  // namespace fettle
