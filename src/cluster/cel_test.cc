#include "cluster/cel.h"

#include <gtest/gtest.h>

#include "tests/kubernetes/json_text.h"

namespace fettle::cluster {
namespace {

std::string literal_of(std::string_view json) {
  const auto literal = cel_literal(kubernetes::json(json));
  return literal ? *literal : to_string(literal.error());
}

TEST(Cel, ATextNeverEndsItsLiteral) {
  EXPECT_EQ(cel_text("plain"), R"("plain")");
  EXPECT_EQ(cel_text(R"(" + authorizer + ")"), R"("\" + authorizer + \"")");
  EXPECT_EQ(cel_text(R"(a\)"), R"("a\\")");
  EXPECT_EQ(cel_text(R"(\" )"), R"("\\\" ")");
  EXPECT_EQ(cel_text("a\nb\tc\r"), R"("a\u000ab\u0009c\u000d")");
  EXPECT_EQ(cel_text(std::string_view("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
  EXPECT_EQ(cel_text("größe ☃ 🐟"), "\"größe ☃ 🐟\"");
  EXPECT_EQ(cel_text("${HOME} $(A) {{b}} '''"), "\"${HOME} $(A) {{b}} '''\"");
}

TEST(Cel, EachItemMayBeAnything) {
  EXPECT_EQ(literal_of("{}"), "{}");
  EXPECT_EQ(literal_of("[]"), "[]");
  EXPECT_EQ(literal_of(R"({"a":[1,"x",null,true,-2.5],"b":{"c\"":false}})"),
            R"({"a": dyn([dyn(1), dyn("x"), dyn(null), dyn(true), dyn(-2.5)]), )"
            R"("b": dyn({"c\"": dyn(false)})})");
}

TEST(Cel, ANumberThatWouldBeAnotherOneIsRefused) {
  EXPECT_EQ(literal_of("9007199254740992"), "9007199254740992");
  EXPECT_NE(literal_of("9007199254740993").find("9007199254740993"), std::string::npos);
  EXPECT_NE(literal_of("[-9007199254740993]").find("cannot pass on the number"), std::string::npos);
  EXPECT_NE(literal_of("123456789012345678901234567890").find("cannot pass on"), std::string::npos);
}

TEST(Cel, TheJsonOfATextIsMadeByTheServer) {
  EXPECT_TRUE(cel_json_text("each.name").starts_with(R"(("\"" + each.name.replace("\\", "\\\\"))"));
  EXPECT_TRUE(cel_json_text("each.name").ends_with(R"( + "\""))"));
}

TEST(Cel, AListOfTextsHasOneType) {
  EXPECT_EQ(cel_texts(std::vector<Name>{"a", "b\""}), R"(["a", "b\""])");
  EXPECT_EQ(cel_texts({}), "[]");
}

}  // namespace
}  // namespace fettle::cluster
