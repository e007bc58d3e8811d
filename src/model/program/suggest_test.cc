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
  const CompileResult compiled = compile("m.cf", host + end, {});
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

TEST(Suggest, NamesAReservedWordThatIsNear) {
  EXPECT_EQ(last_line("entiy A:\n  string name\nend"), "  did you mean `entity`?");
  EXPECT_EQ(last_line("entity A extend Host:\nend"), "  did you mean `extends`?");
  EXPECT_EQ(last_line("implemnt Host using std::none"), "  did you mean `implement`?");
  EXPECT_EQ(last_line("implement Host usin std::none"), "  did you mean `using`?");
  EXPECT_EQ(last_line("implementaton i for Host:\nend"), "  did you mean `implementation`?");
  EXPECT_EQ(last_line("typdef tcp as int matching self > 0"), "  did you mean `typedef`?");
  EXPECT_EQ(last_line("typedef tcp as int matchng self > 0"), "  did you mean `matching`?");
  EXPECT_EQ(last_line("fr i in [1, 2]:\n  std::print(i)\nend"), "  did you mean `for`?");
  EXPECT_EQ(last_line("if true:\n  a = 1\nesle:\n  b = 1\nend"), "  did you mean `else`?");
  EXPECT_EQ(last_line("for i in [1, 2]:\n  std::print(i)\nedn"), "  did you mean `end`?");
  EXPECT_EQ(last_line("imprt std"), "  did you mean `import`?");
  EXPECT_EQ(last_line("x = tru"), "  did you mean `true`?");
}

TEST(Suggest, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(last_line("form = = 1").find("did you mean"), std::string::npos);
  EXPECT_EQ(last_line("x = [fro = 1]").find("did you mean"), std::string::npos);
  EXPECT_EQ(last_line("x = Whale()").find("did you mean"), std::string::npos);
  EXPECT_EQ(last_line("x = whale").find("did you mean"), std::string::npos);
  EXPECT_EQ(last_line("x = home.whale").find("did you mean"), std::string::npos);
}

}  // namespace
}  // namespace fettle::model
