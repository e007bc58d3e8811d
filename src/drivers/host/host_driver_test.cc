#include "drivers/host/host_driver.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/archive.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "tests/fixtures/memory_blobs.h"

namespace fettle {
namespace {

class HostDriverTest : public testing::Test {
 protected:
  Result<Outcome> apply(std::string_view kind, Value attributes, RecordPointer known = nullptr) {
    Act act;
    act.key = {"e", kind, "x"};
    act.verb = Verb::run;
    act.attributes = std::move(attributes);
    act.known = std::move(known);
    return driver_.apply(act, [](const Progress&) {}, {});
  }
  /// The files of a blob, by path.
  std::map<std::string, std::string> files_of(const std::string& digest) {
    std::string bytes = blobs_.contents.at(digest);
    size_t at = 0;
    ArchiveReader reader([&](std::span<char> into) -> Result<size_t> {
      const size_t size = std::min(into.size(), bytes.size() - at);
      std::copy_n(bytes.data() + at, size, into.data());
      at += size;
      return size;
    });
    std::map<std::string, std::string> files;
    while (auto entry = *reader.next()) {
      std::string content(entry->size, '\0');
      for (size_t got = 0; got < content.size();)
        got += *reader.read(std::span(content).subspan(got));
      if (entry->type == ArchiveEntry::Type::file)
        files[entry->path] = content;
    }
    return files;
  }

  HttpClient http_;
  MemoryBlobs blobs_;
  HostDriver driver_{http_, blobs_, [n = uint64_t{7}]() mutable { return n++; }};
};

TEST_F(HostDriverTest, RendersTemplatesAndKeepsTheUuid) {
  const auto attributes = [](int x) {
    return Value::dict(
        {{"source", "render"},
         {"templates",
          Value::dict({{"/etc/a.conf", Value::dict({{"template", "x={{.x}}\n"},
                                                    {"data", Value::dict({{"x", x}})}})}})}});
  };
  const Done first = std::get<Done>(*apply("artifact", attributes(1)));
  EXPECT_EQ(files_of(first.remote_id),
            (std::map<std::string, std::string>{{"etc/a.conf", "x=1\n"}}));
  auto known = std::make_shared<Record>();
  known->outputs = first.outputs;
  const Done same = std::get<Done>(*apply("artifact", attributes(1), known));
  EXPECT_FALSE(same.changed);
  EXPECT_EQ(same.outputs, first.outputs);
  const Done other = std::get<Done>(*apply("artifact", attributes(2), known));
  EXPECT_TRUE(other.changed);
  EXPECT_EQ(dict_of(other.outputs).text_at("uuid"), dict_of(first.outputs).text_at("uuid"));
}

TEST_F(HostDriverTest, ATemplateThatIsWrongOrLeadsOutIsAnError) {
  const auto with = [](const char* path, const char* text) {
    return Value::dict(
        {{"source", "render"},
         {"templates",
          Value::dict({{path, Value::dict({{"template", text}, {"data", Value::dict({})}})}})}});
  };
  EXPECT_EQ(apply("artifact", with("a.conf", "{{.x")).error().message,
            "template: a.conf:1: unclosed action");
  EXPECT_FALSE(apply("artifact", with("../a.conf", "x")));
}

TEST_F(HostDriverTest, VerifiesAndPrints) {
  const auto verify = [&](Value value, const char* assertion, Value target) {
    return apply("verify", Value::dict({{"value", std::move(value)},
                                        {"assertion", assertion},
                                        {"target", std::move(target)}}));
  };
  EXPECT_TRUE(verify("a", "==", "a"));
  EXPECT_TRUE(verify(200, "IN", Value::list({200, 201})));
  EXPECT_EQ(verify("a", "!=", "a").error().message,
            "assertion failed: `\"a\"` != `\"a\"` does not hold");
  EXPECT_NE(verify("1", "==", 1).error().message.find("cannot be compared"), std::string::npos);
  EXPECT_EQ(dict_of(std::get<Done>(*apply("print", Value::dict({{"message", "hello"}}))).outputs)
                .text_at("message"),
            "hello");
}

TEST_F(HostDriverTest, AnArtifactIsSeenWhileItsBlobIsThere) {
  const Done made = std::get<Done>(
      *apply("artifact", Value::dict({{"source", "upload"}, {"digest", *blobs_.put("x")}})));
  auto known = std::make_shared<Record>();
  known->outputs = made.outputs;
  const Subject subject{{"e", "artifact", "x"}, nullptr, known};
  EXPECT_TRUE(driver_.observe(std::span(&subject, 1), {})->at(0).state);
  blobs_.contents.clear();
  EXPECT_FALSE(driver_.observe(std::span(&subject, 1), {})->at(0).state);
}

TEST_F(HostDriverTest, AFileThatIsNotAsWantedIsSeenWithItsContentUnlessThatMayBeSecret) {
  std::string pattern = "/tmp/fettle-host-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const std::string path = pattern + "/file";
  ASSERT_TRUE(write_file(path, "found"));
  const auto content_seen = [&](const Value& content, const std::string& text) {
    Resource wanted;
    wanted.attributes =
        Value::dict({{"path", path}, {"content", content}, {"digest", sha256_hex(text)}});
    const Subject subject{{"e", "file", "x"}, &wanted, nullptr};
    return dict_of(*driver_.observe(std::span(&subject, 1), {})->at(0).state).at("content");
  };
  EXPECT_EQ(content_seen("wanted", "wanted"), Value("found"));
  EXPECT_EQ(content_seen("found", "found"), Value()) << "it is as wanted";
  EXPECT_EQ(content_seen(Value::secret("wanted"), "wanted"), Value());
  EXPECT_EQ(content_seen(Value(), "wanted"), Value()) << "a content of a blob may be large";
  ASSERT_TRUE(write_file(path, "\xFF\xFE"));
  EXPECT_EQ(content_seen("wanted", "wanted"), Value()) << "it is no text";
  ASSERT_TRUE(write_file(path, std::string(100'000, 'x')));
  EXPECT_EQ(content_seen("wanted", "wanted"), Value());
  std::filesystem::remove_all(pattern);
}

}  // namespace
}  // namespace fettle
