#include "value/codec.h"

#include <gtest/gtest.h>

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
