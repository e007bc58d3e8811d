#include "value/codec.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/prng.h"
#include "value/json.h"

namespace fettle {
namespace {

Value sample() {
  return Value::dict(
      {{"null", Value()},
       {"list", Value::list({true, -5, 2.5, "x", Value::big_integer("-99999999999999999999")})},
       {"hole", Value::deferred({Part("a"), Part(Output{"exec", "e", "output"})})},
       {"python", Value::deferred({Part("a"), Part(Output{"state", "e", "x"})}, TextForm::python)},
       {"secret", Value::secret(Value::list({"pw"}))},
       {"unknown", Value::unknown()}});
}

TEST(Codec, ReadsBackWhatItWrote) {
  Writer writer;
  writer.number(300);
  writer.value(sample());
  writer.text("end");
  const std::string bytes = writer.take();
  Reader reader(bytes);
  EXPECT_EQ(reader.number(), 300u);
  EXPECT_EQ(reader.value(), sample());
  EXPECT_EQ(reader.text(), "end");
  EXPECT_TRUE(reader.at_end() && !reader.broken());
}

TEST(Codec, ATextThatTellsAVariableWithASecretIsSealed) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  const Result<Seal> seal = Seal::from_file(folder->path() / "key");
  ASSERT_TRUE(seal) << to_string(seal.error());
  const Mask nothing_else;
  const Value value =
      Value::dict({{"env", Value::dict({{"API_KEY", "hunter2hunter2"}})},
                   {"text", R"(add_service(env_vars={"API_KEY": "hunter2hunter2"}))"},
                   {"other", R"(add_service(env_vars={"PORT": "plain"}))"}});
  Writer writer({.seal = &*seal, .secrets = &nothing_else});
  writer.value(value);
  const std::string bytes = writer.take();
  EXPECT_EQ(bytes.find("hunter2"), bytes.npos);
  EXPECT_NE(bytes.find("plain"), bytes.npos);
  Reader reader(bytes, &*seal);
  EXPECT_EQ(reader.value(), value);
}

TEST(Codec, WhatIsCutOffOrChangedIsBrokenAndNeverACrash) {
  Writer writer;
  writer.value(sample());
  const std::string bytes = writer.take();
  for (size_t size = 0; size < bytes.size(); ++size) {
    Reader reader(std::string_view(bytes).substr(0, size));
    static_cast<void>(reader.value());
    EXPECT_TRUE(reader.broken()) << size;
  }
  Prng prng(1);
  for (int i = 0; i < 5'000; ++i) {
    std::string changed = bytes;
    changed[prng.below(changed.size())] = static_cast<char>(prng.next());
    Reader reader(changed);
    static_cast<void>(reader.value());
  }
  const std::string nested(100'000, '\x09');
  Reader deep(nested);
  static_cast<void>(deep.value());
  EXPECT_TRUE(deep.broken());
}

}  // namespace
}  // namespace fettle
