/// Models as data: `tests/model/*.cf`. Models are separated by a line `---`. `#> text` is a line
/// that the model prints, in order; `### "regexp"` stands on the line of an error.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "base/file.h"
#include "base/text.h"
#include "model/compile.h"

namespace fettle::model {
namespace {

struct Chunk {
  std::string name;
  std::string text;
};

std::vector<Chunk> chunks() {
  std::vector<Chunk> found;
  const std::string folder = FETTLE_SOURCE_DIR "/tests/model";
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.insert(entry.path());
  for (const auto& path : files) {
    int number = 1;
    std::string text;
    const Result<std::string> content = read_file(path);
    for (const std::string_view line : split(content.value(), '\n')) {
      if (line == "---") {
        found.push_back({cat(path.stem().string(), "_", number++), std::move(text)});
        text.clear();
        continue;
      }
      text += cat(line, "\n");
    }
    found.push_back({cat(path.stem().string(), "_", number), std::move(text)});
  }
  return found;
}

class Chunks : public testing::TestWithParam<Chunk> {};

TEST_P(Chunks, DoWhatTheySay) {
  const std::string& text = GetParam().text;
  std::string expected;
  std::vector<std::pair<int, std::string>> errors;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.starts_with("#> "))
      expected += cat(line.substr(3), "\n");
    if (const size_t at = line.find("### \""); at != std::string_view::npos)
      errors.emplace_back(number, std::string(line.substr(at + 5, line.rfind('"') - at - 5)));
  }
  ASSERT_FALSE(expected.empty() && errors.empty()) << "this model expects nothing";
  std::string printed;
  CompileOptions options;
  options.print = [&](std::string_view line) { printed += cat(line, "\n"); };
  const Compiled compiled = compile("m.cf", text, options);
  EXPECT_EQ(printed, expected) << text;
  std::string seen;
  for (const Error& error : compiled.errors)
    seen += cat(to_string(error), "\n");
  ASSERT_EQ(compiled.errors.size(), errors.size()) << seen << text;
  for (const auto& [line, pattern] : errors) {
    bool found = false;
    for (const Error& error : compiled.errors)
      found |= error.where.line == line && std::regex_search(error.message, std::regex(pattern));
    EXPECT_TRUE(found) << "line " << line << ": " << pattern << "\n" << seen;
  }
}

INSTANTIATE_TEST_SUITE_P(Model, Chunks, testing::ValuesIn(chunks()),
                         [](const auto& chunk) { return chunk.param.name; });

}  // namespace
}  // namespace fettle::model
