#include "cluster/objects.h"

#include <gtest/gtest.h>

#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/patches.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

TEST(PatchBetween, NamesWhatDiffersAndNothingElse) {
  struct Row {
    const char *before, *after, *patch;
  };
  for (const Row& row : std::vector<Row>{
           {R"({"a":1})", R"({"a":1})", "null"},
           {R"({"a":1,"b":2})", R"({"a":1,"b":3})", R"({"b":3})"},
           {R"({"a":1,"b":2})", R"({"a":1})", R"({"b":null})"},
           {R"({"a":{"b":{"c":1,"d":2}}})", R"({"a":{"b":{"c":1}}})", R"({"a":{"b":{"d":null}}})"},
           {R"({"a":[1,2]})", R"({"a":[1]})", R"({"a":[1]})"},
           {R"({"a":[1]})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
           {R"({"a":{"b":1}})", R"({"a":7})", R"({"a":7})"},
           {R"({})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"}}) {
    const Value before = json(row.before), after = json(row.after);
    const Value patch = patch_between(before, after);
    EXPECT_EQ(patch, json(row.patch)) << row.before << " -> " << row.after;
    if (!patch.is_null()) {
      EXPECT_EQ(kubernetes::merge_patch(before, patch), after);
    }
  }
}

}  // namespace
}  // namespace fettle::cluster
