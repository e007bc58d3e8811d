#include "cli/man.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

Command some() {
  return CommandGroup{"things", {}}.make(
      "thing do", "NAME", 1, 1, "Does a `thing`.\n.dangerous line", {"fettle thing do -x a\\b"},
      [](Face&) -> Result<int> { return 0; }, {{{"-x", "--extra"}, "FILE", "'more of it"}});
}

TEST(Man, APageSaysWhatHelpSays) {
  const std::string page = man_page(some(), "1.2");
  EXPECT_EQ(man_name(some()), "fettle-thing-do");
  EXPECT_TRUE(page.starts_with(".TH \"FETTLE\\-THING\\-DO\" 1 \"\" \"fettle 1.2\" \"fettle\"\n"));
  EXPECT_NE(page.find("fettle\\-thing\\-do \\- Does a thing.\n"), std::string::npos);
  EXPECT_NE(page.find("\\fB\\-x\\fR, \\fB\\-\\-extra\\fR \\fIFILE\\fR\n"), std::string::npos);
  EXPECT_NE(page.find("\\fB\\-q\\fR, \\fB\\-\\-quiet\\fR"), std::string::npos);
}

TEST(Man, NoWordOfOursIsARequest) {
  const std::string page = man_page(some(), "1.2");
  EXPECT_NE(page.find("\n\\&.dangerous line"), std::string::npos);
  EXPECT_NE(page.find("\n\\&'more of it"), std::string::npos);
  EXPECT_NE(page.find("a\\eb"), std::string::npos);
}

TEST(Man, TheFirstPageHasEachCommandInItsGroup) {
  const std::string page = man_page(std::vector<Command>{some()}, "1.2");
  EXPECT_NE(page.find(".SS things\n.TP\n\\fBfettle\\-thing\\-do\\fR(1)\nDoes a thing.\n"),
            std::string::npos);
  EXPECT_NE(page.find(".SH EXIT STATUS"), std::string::npos);
}

}  // namespace
}  // namespace fettle
