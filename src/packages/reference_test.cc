#include "packages/reference.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle {
namespace {

const Key exec{"e", "exec", "web#1"};

TEST(Reference, IsTheSameInEveryRunAndNamesTheResource) {
  References a, b;
  const std::string text = a.to(exec, "output");
  EXPECT_EQ(text, b.to(exec, "output"));
  EXPECT_EQ(text.size(), std::string("{{kurtosis::output.runtime_value}}").size() + 32);
  EXPECT_EQ(a.keys_in("x " + text), std::vector<Key>{exec});
}

TEST(Reference, AloneOrEmbeddedItBecomesAHole) {
  References references;
  const std::string code = references.to(exec, "code"),
                    field = references.to(exec, "extract.a.b-c");
  EXPECT_EQ(references.with_holes(code), Value::deferred({Part(Output{"exec", "web#1", "code"})}));
  const Value value =
      references.with_holes(Value::dict({{"k", Value::list({"a" + code + "b" + field, 1})}}));
  EXPECT_EQ(write_json(value), R"({"k":["a{{exec/web#1.code}}b{{exec/web#1.extract.a.b-c}}",1]})");
}

TEST(Reference, WhatNobodyGaveOutStaysText) {
  References references;
  for (const char* text : {"{{kurtosis:0123456789abcdef0123456789abcdef:code.runtime_value}}",
                           "{{kurtosis:", "{{kurtosis:12:code.runtime_value}}", "plain",
                           "{{kurtosis:0123456789abcdef0123456789abcdef:code",
                           "{{kurtosis:0123456789abcdef0123456789abcdef:.runtime_value}}"})
    EXPECT_EQ(references.with_holes(text), Value(text));
}

// Each beginning looked for the one end.
TEST(Reference, ThousandsOfBeginningsHaveOneEnd) {
  References references;
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text += "{{kurtosis:0123456789abcdef0123456789abcdef:}";
  const std::string code = references.to(exec, "code");
  EXPECT_EQ(references.with_holes(text + code),
            Value::deferred({Part(Name(text)), Part(Output{"exec", "web#1", "code"})}));
}

TEST(Reference, AHostNameIsTheNameOfItsService) {
  References references;
  const Key web{"e", "service", "web"};
  const std::string host = references.to(web, "hostname"),
                    address = references.to(web, "ip_address");
  EXPECT_EQ(references.with_host_names(host), "web");
  EXPECT_EQ(references.with_host_names("no-" + host + "-" + host), "no-web-web");
  EXPECT_EQ(references.with_host_names(address), address);
  EXPECT_EQ(references.with_host_names("plain"), "plain");
  EXPECT_EQ(references.shown("'" + host + "' " + address + " " + references.to(exec, "output")),
            "'web' <web.ip_address> <exec.output>");
}

TEST(References, WhatBecameNoHoleIsFoundWithItsPlace) {
  References references;
  const std::string output = references.to({"e", "exec", "a"}, "output");
  const auto left = [&](const Value& value) {
    const std::optional<References::Placeholder> found = references.placeholder_in(value);
    return found ? found->where + "=" + found->shown : "nothing";
  };
  const Value inner = Value::dict({{"b", Value::list({"x", "y" + output})}});
  EXPECT_EQ(left(Value::dict({{"a", inner}})), "a.b=y<exec.output>");
  EXPECT_EQ(left(Value::dict({{"a", Value::dict({{Name(output), "x"}})}})), "a=<exec.output>");
  EXPECT_EQ(left(references.with_holes(Value::dict({{"a", inner}}))), "nothing");
  EXPECT_EQ(left("{{kurtosis:00000000000000000000000000000000:output.runtime_value}}"), "nothing");
}

}  // namespace
}  // namespace fettle
