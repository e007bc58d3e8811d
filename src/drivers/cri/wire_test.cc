#include "drivers/cri/wire.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle::cri {
namespace {

std::string bytes_of(std::initializer_list<int> numbers) {
  std::string bytes;
  for (const int number : numbers)
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(number)));
  return bytes;
}

/// `1=150 2="ab" 3#8 !why`: numbers, bytes, fixed ones by their size, and an error.
std::string told(std::string_view bytes) {
  std::string text;
  MessageReader reader(bytes);
  while (true) {
    const Result<std::optional<WireField>> field = reader.next();
    if (!field)
      return cat(text, "!", field.error().message);
    if (!*field)
      return text;
    text += cat((*field)->field);
    if ((*field)->type == WireType::varint)
      text += cat("=", (*field)->value, " ");
    else if ((*field)->type == WireType::bytes)
      text += cat("=\"", (*field)->bytes, "\" ");
    else
      text += cat("#", (*field)->bytes.size(), " ");
  }
}

TEST(Wire, IsAsProtobufSays) {
  MessageWriter writer;
  writer.number(1, 150);
  writer.text(2, "testing");
  MessageWriter inside;
  inside.number(1, 1);
  writer.message(3, inside);
  writer.entry(16, "k", "v");
  EXPECT_EQ(writer.bytes(), bytes_of({0x08, 0x96, 0x01}) + bytes_of({0x12, 0x07}) + "testing" +
                                bytes_of({0x1A, 0x02, 0x08, 0x01}) +
                                bytes_of({0x82, 0x01, 0x06, 0x0A, 0x01}) + "k" +
                                bytes_of({0x12, 0x01}) + "v");
  EXPECT_EQ(told(writer.bytes()),
            cat("1=150 2=\"testing\" 3=\"", bytes_of({0x08, 0x01}), "\" 16=\"",
                bytes_of({0x0A, 0x01}), "k", bytes_of({0x12, 0x01}), "v\" "));
}

TEST(Wire, WhatIsAbsentIsNotWrittenButAnEmptyMessageIs) {
  MessageWriter writer;
  writer.number(1, 0);
  writer.text(2, "");
  writer.message(3, {});
  EXPECT_EQ(writer.bytes(), bytes_of({0x1A, 0x00}));
}

TEST(Wire, NumbersOfAnySizeComeBack) {
  for (const uint64_t number :
       {uint64_t{1}, uint64_t{127}, uint64_t{128}, uint64_t{1} << 32, UINT64_MAX}) {
    MessageWriter writer;
    writer.number(7, number);
    EXPECT_EQ(told(writer.bytes()), cat("7=", number, " "));
  }
}

TEST(Wire, FieldsOfAllTypesArePassedOver) {
  EXPECT_EQ(told(bytes_of({0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4, 0x18, 0x05})),
            "1#8 2#4 3=5 ");
}

TEST(Wire, NumbersMayBeLongerThanTheyHaveToBe) {
  EXPECT_EQ(told(bytes_of({0x08, 0x85, 0x80, 0x80, 0x00})), "1=5 ");
}

TEST(Wire, HostileBytesAreErrors) {
  const auto why = [](std::initializer_list<int> bytes) {
    const std::string text = told(bytes_of(bytes));
    const std::string_view begin = "!the answer is no message of the runtime interface: ";
    EXPECT_TRUE(text.starts_with(begin)) << text;
    return text.substr(std::min(begin.size(), text.size()));
  };
  EXPECT_EQ(why({0x08}), "it is cut off in a number");
  EXPECT_EQ(why({0x88}), "it is cut off in a number");
  EXPECT_EQ(why({0x08, 0x80, 0x80}), "it is cut off in a number");
  EXPECT_EQ(why({0x0A}), "it is cut off in a number");
  EXPECT_EQ(why({0x0A, 0x05, 'a'}), "it is cut off: 5 bytes should follow and 1 do");
  EXPECT_EQ(why({0x09, 1, 2}), "it is cut off: 8 bytes should follow and 2 do");
  EXPECT_EQ(why({0x0D, 1, 2}), "it is cut off: 4 bytes should follow and 2 do");
  const char* const too_large = "a number has more than 64 bits";
  EXPECT_EQ(why({0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}),
            too_large);
  EXPECT_EQ(why({0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02}), too_large);
  EXPECT_EQ(why({0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 'a'}),
            "it is cut off: 18446744073709551615 bytes should follow and 1 do");
  EXPECT_EQ(why({0x00}), "there is no field 0");
  EXPECT_EQ(why({0x80, 0x80, 0x80, 0x80, 0x10, 0x00}), "there is no field 536870912");
  for (const int type : {3, 4, 6, 7})
    EXPECT_EQ(why({0x08 | type}), "field 1 is of an unknown type") << type;
}

TEST(Wire, AFieldIsReadAsWhatItIs) {
  const std::string bytes = bytes_of({0x08, 0x05, 0x12, 0x01, 0xFF});
  MessageReader reader(bytes);
  const WireField number = **reader.next(), text = **reader.next();
  EXPECT_EQ(number.number().value(), 5u);
  EXPECT_FALSE(number.text());
  EXPECT_FALSE(number.message());
  EXPECT_FALSE(text.number());
  EXPECT_EQ(text.message().value(), "\xFF");
  EXPECT_FALSE(text.text()) << "it is no UTF-8";
}

}  // namespace
}  // namespace fettle::cri
