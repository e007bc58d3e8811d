#include "drivers/engine/build_output.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/text.h"
#include "drivers/cri/wire.h"
#include "value/json.h"

namespace fettle {
namespace {

Value line(std::string_view text) {
  const Result<Value> value = read_json(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(Value());
}

Value trace(const cri::MessageWriter& status) {
  return Value::dict({{"id", "moby.buildkit.trace"}, {"aux", base64_encode(status.bytes())}});
}

Value vertex(std::string_view key, std::string_view name, std::string_view error = {}) {
  cri::MessageWriter one, status;
  one.text(1, key);
  one.text(3, name);
  one.text(7, error);
  status.message(1, one);
  return trace(status);
}

Value log_of(std::string_view key, std::string_view text) {
  cri::MessageWriter one, status;
  one.text(1, key);
  one.text(4, text);
  status.message(3, one);
  return trace(status);
}

TEST(BuildOutput, TellsTheStepsOfPodman) {
  BuildOutput output("mine");
  ASSERT_TRUE(output.take(line(R"({"stream":"[1/2] STEP 1/2: FROM a AS first\n"})")));
  EXPECT_EQ(output.news(), "[1/2] STEP 1/2: FROM a AS first");
  EXPECT_EQ(output.news(), "");
  ASSERT_TRUE(output.take(line(R"({"stream":"[1/2] STEP 2/2: RUN false\n"})")));
  ASSERT_TRUE(output.take(line(R"({"stream":"half of "})")));
  ASSERT_TRUE(output.take(line(R"({"stream":"a line\nmore\n"})")));
  EXPECT_EQ(output.news(), "[1/2] STEP 2/2: RUN false: more");
  const Status failed = output.take(line(R"({"error":"exit status 1\n"})"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message,
            "cannot build `mine`: step `[1/2] STEP 2/2: RUN false` failed: exit status 1\n"
            "  half of a line\n  more");
}

TEST(BuildOutput, TellsTheGraphOfBuildKit) {
  BuildOutput output("mine");
  ASSERT_TRUE(output.take(vertex("k0", "[internal] load remote build context")));
  EXPECT_EQ(output.news(), "");
  ASSERT_TRUE(output.take(vertex("k1", "[2/3] RUN one")));
  ASSERT_TRUE(output.take(vertex("k2", "[3/3] RUN two")));
  ASSERT_TRUE(output.take(log_of("k1", "from one\n")));
  EXPECT_EQ(output.news(), "[2/3] RUN one: from one");
  ASSERT_TRUE(output.take(log_of("k2", "from two\nSTEP 1/2: is no step\n")));
  ASSERT_TRUE(output.take(vertex("k1", "[2/3] RUN one", "context canceled")));
  ASSERT_TRUE(output.take(vertex("k2", "[3/3] RUN two", "exit code: 1")));
  const Status failed = output.take(line(R"({"error":"failed: exit code: 1"})"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message,
            "cannot build `mine`: step `[3/3] RUN two` failed: failed: exit code: 1\n"
            "  from two\n  STEP 1/2: is no step");
}

TEST(BuildOutput, KnowsTheImage) {
  BuildOutput output("mine");
  ASSERT_TRUE(output.take(line(R"({"id":"moby.image.id","aux":{"ID":"sha256:ab"}})")));
  EXPECT_EQ(output.id(), "sha256:ab");
}

TEST(BuildOutput, KeepsOnlyTheLastLines) {
  BuildOutput output("mine");
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(output.take(Value::dict({{"stream", cat("line ", i, "\n")}})));
  ASSERT_TRUE(output.take(Value::dict({{"stream", std::string(100'000, 'x')}})));
  const Status failed = output.take(line(R"({"error":"no"})"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message.find("line 89\n"), std::string::npos);
  EXPECT_NE(failed.error().message.find("no\n  line 90\n"), std::string::npos);
  EXPECT_TRUE(failed.error().message.ends_with("line 99"));
}

TEST(BuildOutput, PassesOverWhatIsNoTrace) {
  BuildOutput output("mine");
  for (const char* aux : {"!", "////", "CgE="})
    EXPECT_TRUE(output.take(Value::dict({{"id", "moby.buildkit.trace"}, {"aux", aux}})));
  EXPECT_EQ(output.news(), "");
}

}  // namespace
}  // namespace fettle
