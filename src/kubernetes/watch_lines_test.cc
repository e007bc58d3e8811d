#include "kubernetes/watch_lines.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle::kubernetes {
namespace {

std::string line(std::string_view type, std::string_view version) {
  return cat(R"({"type":")", type, R"(","object":{"metadata":{"resourceVersion":")", version,
             R"("}}})", "\n");
}

/// Versions of what was told, and the reason of the end.
std::string told(const std::vector<std::string>& pieces, size_t longest = 1 << 20) {
  WatchLines lines(longest);
  std::string all;
  for (const std::string& piece : pieces) {
    const auto fed = lines.feed(piece, [&](const WatchEvent& event) {
      all += cat(static_cast<int>(event.type),
                 event.object.at("metadata").text_at("resourceVersion"), " ");
    });
    if (!fed)
      return all + std::string(to_string(fed.error().reason));
  }
  return all;
}

TEST(WatchLines, PiecesMayBeCutAnywhere) {
  const std::string text = line("ADDED", "a") + "\n" + line("MODIFIED", "b") + "\r\n" +
                           line("DELETED", "c") + line("BOOKMARK", "d");
  EXPECT_EQ(told({text}), "0a 1b 2c 3d ");
  for (size_t cut = 0; cut < text.size(); ++cut)
    EXPECT_EQ(told({text.substr(0, cut), text.substr(cut)}), "0a 1b 2c 3d ") << cut;
  std::vector<std::string> bytes;
  for (const char c : text)
    bytes.emplace_back(1, c);
  EXPECT_EQ(told(bytes), "0a 1b 2c 3d ");
}

TEST(WatchLines, AnErrorEndsThem) {
  EXPECT_EQ(told({line("ADDED", "a") +
                  R"({"type":"ERROR","object":{"kind":"Status","reason":"Expired","code":410}})"
                  "\n"}),
            "0a expired");
}

TEST(WatchLines, WhatIsNoEventIsAnError) {
  for (const std::string& bad :
       {std::string("garbage\n"), std::string("5\n"), std::string("{}\n"), line("GUESSED", "a"),
        line("ADDED", ""), std::string(5'000, '[') + "\n", std::string("{\"a\":\"\xff\"}\n")})
    EXPECT_EQ(told({bad}), "unreadable") << bad.substr(0, 40);
  EXPECT_EQ(told({std::string(60, ' '), std::string(60, ' ')}, 100), "unreadable")
      << "a line without an end";
}

}  // namespace
}  // namespace fettle::kubernetes
