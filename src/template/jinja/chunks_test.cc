/// `tests/jinja/*.j2`; see `chunks.h` for their form.

#include "template/jinja/chunks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/file.h"

namespace fettle::jinja {
namespace {

struct Case {
  std::string name;
  Chunk chunk;
};

std::vector<Case> cases() {
  std::vector<Case> found;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FETTLE_SOURCE_DIR "/tests/jinja"))
    files.insert(entry.path());
  for (const auto& path : files) {
    int number = 1;
    for (Chunk& chunk : read_chunks(read_file(path).value()))
      found.push_back({cat(path.stem().string(), "_", number++), std::move(chunk)});
  }
  return found;
}

class Chunks : public testing::TestWithParam<Case> {};

TEST_P(Chunks, GiveWhatTheySay) {
  EXPECT_EQ(result_of(GetParam().chunk), GetParam().chunk.expected)
      << GetParam().chunk.templates.at("main");
}

INSTANTIATE_TEST_SUITE_P(Jinja, Chunks, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

std::string error_of(std::string text, Limits limits = {}) {
  Environment environment;
  environment.limits = limits;
  Engine engine(std::move(environment));
  const Result<std::string> made = engine.render_text("t", text, names_of(Value::dict()));
  return made ? "" : made.error().message;
}

std::string repeated(std::string_view piece, int count) {
  std::string made;
  for (int i = 0; i < count; ++i)
    made += piece;
  return made;
}

TEST(Jinja, EndsHostileTemplatesWithAnError) {
  EXPECT_NE(error_of(cat("{{ ", repeated("(", 5000), "1", repeated(")", 5000), " }}")), "");
  EXPECT_NE(error_of(cat("{{ ", repeated("not ", 5000), "1 }}")), "");
  EXPECT_NE(error_of(cat("{{ ", repeated("-", 5000), "1 }}")), "");
  EXPECT_NE(error_of(repeated("{% if 1 %}", 5000)), "");
  for (const std::string link :
       {"+1", "|abs", ".b", " or 1", " and 1", "()", "**2", "[0]", " if 1"}) {
    const std::string chain = cat("{{ 1", repeated(link, 300'000), " }}");
    EXPECT_NE(error_of(chain).find("the expression is nested too deeply"), std::string::npos)
        << link;
  }
  EXPECT_EQ(error_of(repeated("{{ 1 + 1 + 1 }}{% set a = 1 | abs | abs %}", 2000)), "");
  EXPECT_EQ(error_of("{{ 'a' * 99999999999 }}"), "MemoryError: the result is too long");
  EXPECT_EQ(error_of("{{ 9 ** 99 }}"), "OverflowError: the result has more than 64 bits");
  EXPECT_EQ(error_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
            "RecursionError: maximum recursion depth exceeded");
  EXPECT_EQ(error_of("{% for i in range(100) %}{{ i }}{% endfor %}", {.steps = 50}),
            "RuntimeError: the template takes too many steps");
  EXPECT_EQ(error_of("{% for i in range(100) %}{{ 'aaaaaaaaaa' }}{% endfor %}", {.output = 99}),
            "RuntimeError: the output of the template is too long");
  EXPECT_EQ(
      error_of("{{ range(100001) | length }}"),
      "OverflowError: Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
}

TEST(Jinja, ReleasesWhatIsNestedDeeplyWithoutRecursion) {
  EXPECT_EQ(error_of("{% set ns = namespace(x=[]) %}{% for i in range(99999) %}"
                     "{% set ns.x = [ns.x] %}{% endfor %}"),
            "");
  EXPECT_EQ(error_of("{% set l = [] %}{% set _ = l.append(l) %}{{ l | length }}"), "");
  EXPECT_EQ(error_of("{% set d = {} %}{% set _ = d.update(d=[d]) %}{{ d | length }}"), "");
  EXPECT_EQ(
      error_of("{% set ns = namespace() %}{% for i in [1] %}{% set ns.l = loop %}{% endfor %}"
               "{% set ns.s = self %}{% macro m() %}{% set ns.m = m %}{% endmacro %}{{ m() }}"),
      "");
}

TEST(Jinja, TakesFiltersFunctionsAndObjectsOfTheHost) {
  Environment environment;
  environment.find_filter = [](const std::string& name) -> Function {
    if (name != "net.twice")
      return nullptr;
    return [](Arguments& given) { return operate("*", given.positional[0], Value(2)); };
  };
  environment.globals["answer"] =
      function_value("answer", [](Arguments&) -> Result<Value> { return Value(42); });
  Engine engine(std::move(environment));
  EXPECT_EQ(engine.render_text("t", "{{ answer() | net.twice }}", names_of(Value::dict())).value(),
            "84");
}

}  // namespace
}  // namespace fettle::jinja
