#include "cli/pretty.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle {
namespace {

std::string pretty(std::string_view json) { return pretty_text(*read_json(json)); }

TEST(Pretty, ValuesAreWrittenAsPythonWritesThem) {
  EXPECT_EQ(python_text(*read_json(R"({"b":[true,null,1.0,"it's"],"a":{"x":-5}})")),
            R"({'a': {'x': -5}, 'b': [True, None, 1.0, "it's"]})");
}

// What Python 3 prints of the same.
TEST(Pretty, WhatIsTooLongForALineIsLaidOutAsByPprint) {
  EXPECT_EQ(pretty("{}"), "{}");
  EXPECT_EQ(pretty(R"({"a":1})"), "{'a': 1}");
  EXPECT_EQ(pretty(R"({"test_|-a_|-a_|-nop":{"result":true,"comment":"Success!","changes":{},
                       "__run_num":1,"list":["aaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbbbbbbbbb"]}})"),
            "{'test_|-a_|-a_|-nop': {'__run_num': 1,\n"
            "                        'changes': {},\n"
            "                        'comment': 'Success!',\n"
            "                        'list': ['aaaaaaaaaaaaaaaaaaaa',\n"
            "                                 'bbbbbbbbbbbbbbbbbbbbbbbbbbb'],\n"
            "                        'result': True}}");
  EXPECT_EQ(pretty(R"(["one two three four five six seven eight nine ten eleven twelve thirteen"
                      ,"x\ny aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"])"),
            "['one two three four five six seven eight nine ten eleven twelve thirteen',\n"
            " 'x\\n'\n"
            " 'y aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa '\n"
            " 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb']");
}

}  // namespace
}  // namespace fettle
