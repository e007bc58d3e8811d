/// Other calls of `fettle web` find the server of their home.

#include "server/own_server.h"

#include <gtest/gtest.h>

#include "tests/fixtures/server_fixture.h"

namespace fettle {
namespace {

class OwnServerTest : public ServerTest {
 protected:
  std::optional<OwnServerNote> note() {
    auto left = OwnServerNote::leave(folder_, server_->address_of_another(""));
    EXPECT_TRUE(left) << to_string(left.error());
    return left ? *std::move(left) : std::nullopt;
  }
  std::optional<std::string> found(const OwnServerWish& wish = {}) const {
    return address_of_own_server(folder_, wish, {});
  }
  Path folder_ = home_.path("own");
};

TEST_F(OwnServerTest, GivesAnAddressThatCountsOnceAndOpensWhereItIsAsked) {
  std::filesystem::create_directories(folder_);
  serve();
  EXPECT_EQ(found(), std::nullopt);
  const auto left = note();
  ASSERT_TRUE(left);
  EXPECT_EQ(note(), std::nullopt);
  const auto mode = std::filesystem::status(folder_ / "web.note").permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const std::optional<std::string> address = found({.port = 0, .landing = "/env/e"});
  ASSERT_TRUE(address);
  EXPECT_NE(*address, server_->address());
  const std::string target = address->substr(address->find("/?key="));
  const std::string reply = sent(request(target));
  EXPECT_EQ(status_of(reply), "200");
  EXPECT_NE(reply.find("/env/e\">"), std::string::npos) << reply;
  EXPECT_EQ(status_of(sent(request(target))), "403");
  enter();  // the first address still counts
  EXPECT_TRUE(found({.port = server_->port(), .landing = {}}));
  EXPECT_EQ(found({.port = server_->port() + 1, .landing = {}}), std::nullopt);
}

TEST_F(OwnServerTest, OneThatHasEndedIsNotFound) {
  std::filesystem::create_directories(folder_);
  serve();
  std::string text;
  {
    const auto left = note();
    text = *read_file(folder_ / "web.note");
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "web.note"));
  // It was killed: the note is there, and nobody has the lock.
  ASSERT_TRUE(write_file(folder_ / "web.note", text));
  EXPECT_EQ(found(), std::nullopt);
  // It does not answer.
  const auto left = note();
  stop();
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(OwnServerTest, NobodyElseIsGivenOne) {
  serve();
  const std::string where = server_->address_of_another("");
  const std::string target = where.substr(where.find("/?another="));
  std::string guessed = target;
  guessed.back() = guessed.back() == '0' ? '1' : '0';
  EXPECT_EQ(status_of(sent(request(guessed))), "403");
  EXPECT_EQ(status_of(sent(request("/?another="))), "403");
  EXPECT_EQ(status_of(sent(request(target, "Sec-Fetch-Site: none\r\n"))), "403");
  EXPECT_EQ(status_of(sent(request(cat(target, "&at=/\"><script>")))), "403");
  EXPECT_EQ(status_of(sent(request(cat(target, "&at=/env/e")))), "200");
}

}  // namespace
}  // namespace fettle
