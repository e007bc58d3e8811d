/// Who may come in before he has proved who he is, and that the others get in meanwhile.

#include "remote/strangers.h"

#include "remote/seats.h"
#include "tests/fixtures/command_server_fixture.h"

namespace fettle {
namespace {

using Moment = std::chrono::steady_clock::time_point;

TEST(Entrances, OneAddressGetsAPartAndWhoHasStoodLongestGoes) {
  const StrangerLimits limits{.inside = 4, .of_address = 2};
  const Moment start{};
  const auto said = [&](const std::vector<Stranger>& inside, const std::string& address, Moment now,
                        bool is_proxy = false) {
    const Entrance entrance = entrance_of(inside, address, is_proxy, limits, now);
    return !entrance.is_open ? "waits" : entrance.leaves ? cat(*entrance.leaves, " goes") : "in";
  };
  EXPECT_EQ(said({}, "a", start), "in");
  EXPECT_EQ(said({{"a", start}}, "a", start), "in");
  const std::vector<Stranger> two{{"b", start}, {"a", start + 1s}, {"a", start + 1s}};
  EXPECT_EQ(said(two, "a", start + 2s), "waits");
  EXPECT_EQ(said(two, "a", start + 2s, true), "in") << "that of many";
  EXPECT_EQ(said(two, "b", start + 2s), "in");
  EXPECT_EQ(said(two, "c", start + 2s), "in");
  EXPECT_EQ(said(two, "a", start + 3s), "1 goes") << "its own, not the oldest of all";
  const std::vector<Stranger> full{{"b", start}, {"a", start}, {"c", start + 1s}, {"d", start}};
  EXPECT_EQ(said(full, "e", start + 1s), "waits");
  EXPECT_EQ(said(full, "e", start + 2s), "0 goes");
  EXPECT_EQ(said(full, "e", start + 2s, true), "0 goes");
}

TEST(Entrances, AnAddressIsWhatStandsBeforeThePort) {
  EXPECT_EQ(address_without_port("10.0.0.1:40000"), "10.0.0.1");
  EXPECT_EQ(address_without_port("[2001:db8::1]:40000"), "2001:db8::1");
}

TEST(SeatsTest, ProcessesShareThemAndNoOneTooManySits) {
  Seats seats = *Seats::make(3);
  EXPECT_EQ(seats.take(Visitor::stranger), 0u);
  EXPECT_EQ(seats.take(Visitor::stranger), 1u);
  const pid_t session = fork();
  if (session == 0)
    _exit(seats.move(0, Visitor::client, 1) ? 0 : 1);
  int status = 0;
  waitpid(session, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(seats.at(0), Visitor::client);
  EXPECT_FALSE(seats.move(1, Visitor::client, 1));
  EXPECT_EQ(seats.at(1), Visitor::stranger);
  EXPECT_EQ(seats.take(Visitor::client), 2u);
  EXPECT_FALSE(seats.take(Visitor::stranger));
  seats.free(1);
  EXPECT_EQ(seats.count(Visitor::nobody), 1u);
  EXPECT_EQ(seats.take(Visitor::agent), 1u);
}

TEST_F(ServerOfCommandsTest, StrangersTakeNoPlaceOfACommand) {
  serve({.strangers = {.inside = 8, .of_address = 4, .patience = 200ms}});
  // More than there may be connections, and more than may wait for one address.
  std::vector<Descriptor> silent;
  for (int i = 0; i < 100; ++i)
    silent.push_back(connected());
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(told({"hello"}).code, 7);
  const std::string first = all_of(silent[0].get());
  EXPECT_EQ(first, "") << "it made room";
  // Nor do they keep somebody out who comes from elsewhere.
  const Descriptor elsewhere(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  ASSERT_EQ(bind(elsewhere.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(server_.address.port));
  ASSERT_EQ(::connect(elsewhere.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string hello = greeting();
  EXPECT_EQ(::send(elsewhere.get(), hello.data(), hello.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(hello.size()));
  std::array<char, 64> buffer{};
  const ssize_t count = read_soon(elsewhere.get(), buffer);
  ASSERT_GT(count, 0);
  EXPECT_TRUE(
      std::string_view(buffer.data(), static_cast<size_t>(count)).starts_with("HTTP/1.1 101 "));
}

}  // namespace
}  // namespace fettle
