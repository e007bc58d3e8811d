#include "workloads/selector.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"

namespace fettle::workloads {
namespace {

bool selects(std::string_view text, std::string_view labels) {
  const auto selector = parse_selector(text);
  EXPECT_TRUE(selector) << to_string(selector.error());
  return selector && selector->matches(*read_json(labels));
}

TEST(Selector, IsReadAsKubectlReadsIt) {
  constexpr std::string_view labels = R"({"app":"web","tier":"front"})";
  for (const char* text :
       {"", "app=web", "app==web", " app = web , tier=front", "app in (web,db)", "app notin (db)",
        "app!=db", "other!=x", "tier", "!other", "app in ( web , db ),tier in (front)"})
    EXPECT_TRUE(selects(text, labels)) << text;
  for (const char* text : {"app=db", "app in (db)", "app notin (web,db)", "app!=web", "other",
                           "!app", "app=web,tier=back"})
    EXPECT_FALSE(selects(text, labels)) << text;
}

TEST(Selector, WhatIsNoneIsAnError) {
  for (const char* text : {"=web", ",", "app=web,", "app on (web)", "app in", "app in web)", "a b",
                           "!", "app=w b", "in (a)"}) {
    const auto selector = parse_selector(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().blame, Blame::user);
    EXPECT_NE(selector.error().message.find("does not select labels"), std::string::npos);
  }
}

}  // namespace
}  // namespace fettle::workloads
