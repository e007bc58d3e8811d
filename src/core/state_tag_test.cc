#include "core/state_tag.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(StateTag, TheThirdPartIsTheIdUnlessItComesFromNames) {
  const StateTag plain{"cloud.vm", "web", {}, "present"};
  EXPECT_EQ(plain.key(), "cloud.vm_|-web_|-web");
  EXPECT_EQ(plain.memory(), "cloud.vm_|-web_|-web_|-");
  EXPECT_EQ(plain.tag(), "cloud.vm_|-web_|-web_|-present");
  const StateTag named{"cloud.vm", "web", "left"};
  EXPECT_EQ(named.key(), "cloud.vm_|-web_|-left");
  EXPECT_EQ(named.beside("look"), "cloud.vm_|-web_|-left_|-look");
}

TEST(StateTag, WhatIsWrittenIsRead) {
  for (const StateTag& one : {StateTag{"a.b", "c", {}, "d"}, StateTag{"a", "b", "c", "d"}}) {
    EXPECT_EQ(StateTag::parse(one.tag()), one);
    const StateTag without{one.state, one.id, one.entry, {}};
    EXPECT_EQ(StateTag::parse(one.key()), without);
    EXPECT_EQ(StateTag::parse(one.memory()), without);
  }
}

TEST(StateTag, WhatIsNoneIsNotRead) {
  for (const char* text : {"", "a", "a_|-b", "_|-a_|-a_|-", "a_|-b_|-c_|-d_|-e", "a_|b_|c"})
    EXPECT_FALSE(StateTag::parse(text)) << text;
  EXPECT_TRUE(StateTag::parse("a_|-_|-")) << "an ID may be empty";
  EXPECT_FALSE(is_tag_part("a_|-b"));
  EXPECT_TRUE(is_tag_part("a_|b"));
}

TEST(StateTag, TheReferenceOfATagIsItsStateAndFunction) {
  EXPECT_EQ(StateTag::reference_in("cloud.vm_|-web_|-web_|-present"), "cloud.vm.present");
  EXPECT_EQ(StateTag::reference_in("cloud.vm_|-web_|-web_|-"), "cloud.vm.");
  EXPECT_EQ(StateTag::reference_in("cloud.vm_|-web"), ".");
}

}  // namespace
}  // namespace fettle
