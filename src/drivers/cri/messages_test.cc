#include "drivers/cri/messages.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "drivers/cri/wire.h"

namespace fettle::cri {
namespace {

/// The bytes of digits in pairs; blanks are for readers.
std::string from_hex(std::string_view digits) {
  std::string bytes;
  int half = -1;
  for (const char digit : digits) {
    if (digit == ' ')
      continue;
    const int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
    if (half < 0) {
      half = value;
      continue;
    }
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(half * 16 + value)));
    half = -1;
  }
  return bytes;
}

/// Fields of a message, and of those inside, for comparison: `1{1"redis:7"} 3{}`.
std::string inside_of(std::string_view bytes, int depth) {
  std::string text;
  MessageReader reader(bytes);
  while (true) {
    const Result<std::optional<WireField>> field = reader.next();
    if (!field || !*field)
      return text;
    text += cat(text.empty() ? "" : " ", (*field)->field,
                depth == 0 ? cat("\"", (*field)->bytes, "\"")
                           : cat("{", inside_of((*field)->bytes, depth - 1), "}"));
  }
}

TEST(RuntimeMessages, RequestsHaveTheFieldsOfTheInterface) {
  EXPECT_EQ(version_request(), from_hex("0a 05 30 2e 31 2e 30"));
  EXPECT_EQ(image_status_request("redis:7"), from_hex("0a 09 0a 07 72 65 64 69 73 3a 37"));
}

TEST(RuntimeMessages, APullSaysWhoWeAreAndForWhom) {
  PullRequest request{.image = "r/a:1"};
  EXPECT_EQ(inside_of(pull_image_request(request), 1), "1{1\"r/a:1\"} 3{}");
  request.login = PullLogin{.username = "me", .password = "open"};
  request.labels = {{"app", "web"}};
  request.annotations = {{"a", "1"}, {"b", ""}};
  const std::string bytes = pull_image_request(request);
  EXPECT_EQ(inside_of(bytes, 1).substr(0, 33), "1{1\"r/a:1\"} 2{1\"me\" 2\"open\"} 3{6\"");
  EXPECT_NE(inside_of(bytes, 2).find("3{6{1\"app\" 2\"web\"} 7{1\"a\" 2\"1\"} 7{1\"b\"}}"),
            std::string::npos)
      << inside_of(bytes, 2);
}

/// As containerd 1.6 of Debian 12 answers.
TEST(RuntimeMessages, AVersionIsRead) {
  const auto version = read_version(
      from_hex("0a 05 302e312e30 12 0a 636f6e7461696e657264 1a 0a 312e362e32307e647331 "
               "22 02 7631"));
  ASSERT_TRUE(version) << to_string(version.error());
  EXPECT_EQ(version->name, "containerd");
  EXPECT_EQ(version->version, "1.6.20~ds1");
  EXPECT_EQ(version->api_version, "v1");
}

/// An image as a runtime tells of it, with fields that nobody reads here.
MessageWriter image_bytes() {
  MessageWriter image, uid, spec;
  image.text(1, "sha256:ab");
  image.text(2, "docker.io/library/redis:7");
  image.text(2, "docker.io/library/redis:latest");
  image.text(3, "docker.io/library/redis@sha256:cd");
  image.number(4, 12'345);
  uid.number(1, 999);
  image.message(5, uid);
  image.text(6, "redis");
  spec.entry(2, "k", "v");
  image.message(7, spec);
  image.number(8, 1);
  return image;
}

TEST(RuntimeMessages, AnImageIsRead) {
  MessageWriter answer;
  answer.message(1, image_bytes());
  answer.entry(2, "info", "{}");
  const auto image = read_image_status(answer.bytes());
  ASSERT_TRUE(image && *image);
  EXPECT_EQ((*image)->id, "sha256:ab");
  EXPECT_EQ(join((*image)->tags, " "), "docker.io/library/redis:7 docker.io/library/redis:latest");
  EXPECT_EQ(join((*image)->digests, " "), "docker.io/library/redis@sha256:cd");
  EXPECT_EQ((*image)->size, 12'345u);
  EXPECT_TRUE((*image)->is_pinned);
}

TEST(RuntimeMessages, AnImageThatIsNotThereIsNone) {
  const auto none = read_image_status("");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
  const auto empty = read_image_status(from_hex("0a 00"));
  ASSERT_TRUE(empty && *empty);
  EXPECT_EQ((*empty)->id, "");
}

TEST(RuntimeMessages, ListsAndFileSystemsAreRead) {
  MessageWriter images;
  images.message(1, image_bytes());
  images.message(1, {});
  const auto list = read_images(images.bytes());
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].id, "sha256:ab");
  MessageWriter folder, bytes, inodes, one, all;
  folder.text(1, "/var/lib/containerd");
  bytes.number(1, 4'096);
  inodes.number(1, 7);
  one.number(1, 1'700'000'000);
  one.message(2, folder);
  one.message(3, bytes);
  one.message(4, inodes);
  all.message(1, one);
  const auto filesystems = read_filesystems(all.bytes());
  ASSERT_TRUE(filesystems && filesystems->size() == 1);
  EXPECT_EQ((*filesystems)[0].mountpoint, "/var/lib/containerd");
  EXPECT_EQ((*filesystems)[0].used_bytes, 4'096u);
  EXPECT_EQ((*filesystems)[0].used_inodes, 7u);
  // As containerd answers that has pulled nothing yet.
  const auto fresh = read_filesystems(
      from_hex("0a 1e 08 94cfd7cc97fc98f618 12 0e 0a 0c 2f7661722f6c69622f666f6f 1a 00 22 00"));
  ASSERT_TRUE(fresh && fresh->size() == 1);
  EXPECT_EQ((*fresh)[0].mountpoint, "/var/lib/foo");
  EXPECT_EQ((*fresh)[0].used_bytes, 0u);
  MessageWriter pulled;
  pulled.text(1, "sha256:ef");
  EXPECT_EQ(read_pull_image(pulled.bytes()).value(), "sha256:ef");
  EXPECT_EQ(read_pull_image("").value(), "");
}

TEST(RuntimeMessages, FieldsOfOtherTypesAndBrokenOnesInsideAreErrors) {
  EXPECT_FALSE(read_version(from_hex("10 05"))) << "a number where a name is";
  EXPECT_FALSE(read_image_status(from_hex("08 05"))) << "a number where an image is";
  EXPECT_FALSE(read_image_status(from_hex("0a 02 0a 05"))) << "cut off inside";
  EXPECT_FALSE(read_images(from_hex("0a 03 22 01 05"))) << "a text where a size is";
  EXPECT_FALSE(read_filesystems(from_hex("0a 04 1a 02 0a 00"))) << "a text where a number is";
  EXPECT_FALSE(read_pull_image(from_hex("0a 01 ff"))) << "no UTF-8";
}

TEST(RuntimeMessages, AFewBytesCannotClaimTooMuch) {
  std::string images;
  for (size_t i = 0; i <= most_images; ++i)
    images += from_hex("0a00");
  const auto many = read_images(images);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message, "the runtime tells of too many images");
  MessageWriter image, answer;
  std::string names;
  for (size_t i = 0; i <= most_image_names; ++i)
    names += from_hex("1200");
  answer.text(1, names);
  const auto named = read_image_status(answer.bytes());
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().message, "the runtime tells of too many names of images");
}

}  // namespace
}  // namespace fettle::cri
