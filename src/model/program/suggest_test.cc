#include "model/program/suggest.h"

#include <gtest/gtest.h>

#include "model/compile.h"

namespace fettle::model {
namespace {

/// The last line of what a wrong model prints: the suggestion, or the caret when there is none.
std::string last_line(const std::string& end) {
  const std::string host =
      "typedef port as int matching self > 0\n"
      "entity Host:\n  string address\n  port number = 1\nend\n"
      "implement Host using std::none\nindex Host(address)\nhome = Host(address=\"a\")\n";
  const Compiled compiled = compile("m.cf", host + end, {});
  EXPECT_EQ(compiled.errors.size(), 1U);
  std::string said = report(compiled.errors);
  said.pop_back();
  return said.substr(said.rfind('\n') + 1);
}

TEST(Suggest, NamesATypeThatIsNear) {
  EXPECT_EQ(last_line("x = Hots(address=\"b\")"), "  did you mean `Host`?");
  EXPECT_EQ(last_line("x = Hosst[address=\"b\"]"), "  did you mean `Host`?");
  EXPECT_EQ(last_line("entity A:\n  strin name\nend"), "  did you mean `string`?");
  EXPECT_EQ(last_line("entity A:\n  prot name\nend"), "  did you mean `port`?");
  EXPECT_EQ(last_line("entity A extends Hos:\nend"), "  did you mean `Host`?");
  EXPECT_EQ(last_line("x = std::Resorce()"), "  did you mean `std::Resource`?");
}

TEST(Suggest, NamesAPluginThatIsNear) {
  EXPECT_EQ(last_line("x = std::replce(\"a\", \"b\", \"c\")"), "  did you mean `std::replace`?");
}

TEST(Suggest, NamesAnAttributeThatIsNear) {
  EXPECT_EQ(last_line("x = Host(adress=\"b\")"), "  did you mean `address`?");
  EXPECT_EQ(last_line("x = home.adress"), "  did you mean `address`?");
  EXPECT_EQ(last_line("home.adress = \"c\""), "  did you mean `address`?");
}

TEST(Suggest, NamesAVariableThatIsNear) {
  EXPECT_EQ(last_line("x = hom"), "  did you mean `home`?");
  EXPECT_EQ(last_line("x = \"{{ hme.address }}\""), "  did you mean `home`?");
}

TEST(Suggest, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(last_line("x = Whale()").find("did you mean"), std::string::npos);
  EXPECT_EQ(last_line("x = whale").find("did you mean"), std::string::npos);
  EXPECT_EQ(last_line("x = home.whale").find("did you mean"), std::string::npos);
}

}  // namespace
}  // namespace fettle::model
