/// The files of states that the manual shows.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "states/compile.h"

namespace fettle::states {
namespace {

/// What stands between the marks of a block of YAML.
std::vector<std::string> blocks_of_page(const char* page) {
  std::vector<std::string> blocks;
  const std::string text = read_file(cat(FETTLE_SOURCE_DIR, "/docs/", page)).value();
  bool inside = false;
  for (const std::string_view line : split(text, '\n')) {
    if (line == "```yaml")
      blocks.emplace_back();
    else if (inside && line != "```")
      blocks.back() += cat(line, "\n");
    inside = line == "```yaml" || (inside && line != "```");
  }
  return blocks;
}

TEST(Manual, ItsFilesOfStatesCompile) {
  size_t states = 0;
  for (const char* page : {"states.md", "state-modules.md"})
    for (const std::string& block : blocks_of_page(page)) {
      if (block.find("s3cret") != block.npos)  // credentials
        continue;
      const auto files = files_of(
          {{"main.sls", block}, {"base.sls", "old: test.nop\n"}, {"other.sls", "o: test.nop\n"}});
      const std::vector<std::string> words{"main.sls"};
      const CompiledStates compiled = compile(words, *files, {});
      std::string wrong;
      for (const auto* list : {&compiled.errors, &compiled.warnings})
        for (const Error& error : *list)
          wrong += cat(to_string(error), "\n");
      EXPECT_EQ(wrong, "") << block;
      states += compiled.chunks.size();
    }
  EXPECT_GT(states, 25u);
}

}  // namespace
}  // namespace fettle::states
