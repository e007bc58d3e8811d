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

/// A budget is used up anywhere, also in the middle of a filter: that is an error, and nothing else
/// is.
TEST_P(Chunks, EndWhereABudgetEnds) {
  const Chunk& chunk = GetParam().chunk;
  uint64_t before = 0;
  bool has_ended = false;
  for (uint64_t steps = 1; steps < 3'000; steps += std::exchange(before, steps)) {
    const std::string result = result_of(chunk, {.steps = steps});
    has_ended = has_ended || result == chunk.expected;
    EXPECT_EQ(result == chunk.expected, has_ended) << steps << " steps: " << result;
    EXPECT_TRUE(has_ended || result.find("steps") != result.npos) << steps << ": " << result;
  }
  for (uint64_t memory = 1'000; memory < 1'000'000; memory *= 3) {
    const std::string result = result_of(chunk, {.memory = memory});
    EXPECT_TRUE(result == chunk.expected || result.find("memory") != result.npos) << result;
  }
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
  EXPECT_EQ(error_of("{{ 9 ** 99999 }}"), "OverflowError: the result has too many digits");
  EXPECT_EQ(error_of("{% set n = namespace(x=3) %}{% for i in range(99) %}{% set n.x = n.x * n.x %}"
                     "{% endfor %}"),
            "OverflowError: the result has too many digits");
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

// A value that doubles, a part that is shared again and again, work for one step: each ends with an
// error, and none takes more than is allowed.
TEST(Jinja, WhatGrowsEndsWithAnError) {
  const auto doubled = [](std::string_view start, std::string_view step, std::string_view use) {
    return cat("{% set ns = namespace(x=", start, ", y=", start, ") %}{% for i in range(60) %}",
               "{% set ns.x = ", step,
               " %}{% set ns.y = ", replace_all(std::string(step), "ns.x", "ns.y"),
               " %}{% endfor %}{{ ", use, " }}");
  };
  const auto again = [](std::string_view setup, std::string_view use) {
    return cat("{% set x = ", setup, " %}{% for i in range(100000) %}{% set y = ", use,
               " %}{% endfor %}");
  };
  const std::string texts[] = {
      doubled("'aaaaaaaaaaaaaaaa'", "ns.x ~ ns.x", "1"),
      doubled("'aaaaaaaaaaaaaaaa'", "ns.x + ns.x", "1"),
      doubled("'aaaaaaaaaaaaaaaa'", "[ns.x, ns.x] | join", "1"),
      doubled("'aaaaaaaaaaaaaaaa'", "ns.x | replace('a', 'aa')", "1"),
      doubled("'aaaaaaaaaaaaaaaa'", "'%s%s' % (ns.x, ns.x)", "1"),
      doubled("'aaaaaaaaaaaaaaaa'", "'{}{}'.format(ns.x, ns.x)", "1"),
      doubled("'aaaaaaaaaaaaaaaa'", "ns.x * 2", "1"),
      doubled("[1]", "ns.x + ns.x", "1"),
      doubled("[1]", "ns.x * 2", "1"),
      doubled("[1]", "[ns.x, ns.x]", "ns.x"),
      doubled("[1]", "[ns.x, ns.x]", "ns.x == ns.y"),
      doubled("[1]", "[ns.x, ns.x]", "ns.x < ns.y"),
      doubled("[1]", "[ns.x, ns.x]", "[1, ns.x].index(ns.y)"),
      doubled("[1]", "[ns.x, ns.x]", "ns.y in [ns.x]"),
      doubled("[1]", "[ns.x, ns.x]", "[ns.x, ns.y] | sort"),
      doubled("[1]", "[ns.x, ns.x]", "[ns.x, ns.y] | max"),
      doubled("[1]", "[ns.x, ns.x]", "[ns.x, ns.y] | unique | list"),
      doubled("[1]", "[ns.x, ns.x]", "ns.x ~ ''"),
      doubled("[1]", "[ns.x, ns.x]", "[ns.x] | join"),
      doubled("[1]", "[ns.x, ns.x]", "'%s' % [ns.x]"),
      doubled("[1]", "[ns.x, ns.x]", "ns.x | string"),
      doubled("[1]", "[ns.x, ns.x]", "ns.x | tojson"),
      doubled("[1]", "[ns.x, ns.x]", "ns.x | pprint"),
      doubled("[1]", "[ns.x, ns.x]", "ns.x | upper"),
      doubled("(1,)", "(ns.x, ns.x)", "{ns.x: 1}"),
      doubled("(1,)", "(ns.x, ns.x)", "ns.x in {}"),
      doubled("{}", "{'a': ns.x, 'b': ns.x}", "ns.x == ns.y"),
      doubled("{}", "{'a': ns.x, 'b': ns.x}", "ns.x"),
      doubled("{}", "{'a': ns.x, 'b': ns.x}", "ns.x | xmlattr"),
      doubled("{}", "{'a': ns.x, 'b': ns.x}", "ns.x | urlencode"),
      again("'a' * 10000000", "x ~ 'b'"),
      again("'a' * 10000000", "x | upper"),
      again("'a' * 10000000", "x | list"),
      again("'a' * 10000000", "x | length"),
      again("'a' * 10000000", "x | reverse"),
      again("'a' * 10000000", "x == x ~ 'b'"),
      again("'a' * 10000000", "x | replace('', 'bbbbbbbb')"),
      again("'a' * 10000000", "x | indent"),
      again("'a' * 10000000", "x[1:]"),
      again("[1] * 1000000", "x + x"),
      again("[1] * 1000000", "x[1:]"),
      again("[1] * 1000000", "x | list"),
      again("[1] * 1000000", "x | sort"),
      again("[1] * 1000000", "x | map('string') | list"),
      again("[1] * 1000000", "x | batch(2) | list"),
      again("[1] * 1000000", "x.index(2) if 2 in x else 1"),
      "{% set x = [] %}{% for i in range(100000) %}{% for j in range(100000) %}"
      "{% set _ = x.append(i) %}{% endfor %}{% endfor %}",
      "{% set x = {} %}{% for i in range(100000) %}{% for j in range(100000) %}"
      "{% set _ = x.update({i ~ '-' ~ j: 1}) %}{% endfor %}{% endfor %}",
  };
  for (const std::string& text : texts)
    EXPECT_NE(error_of(text, {.steps = 1'000'000, .memory = 60'000'000}), "") << text;
}

/// Whatever a step stands for, none is a long one.
TEST(Jinja, StepsAreInProportionToWork) {
  const auto too_many = [](std::string_view text, uint64_t steps) {
    return error_of(std::string(text), {.steps = steps}) ==
           "RuntimeError: the template takes too many steps";
  };
  EXPECT_TRUE(too_many("{% for i in range(100000) %}{% endfor %}", 1'000'000));
  EXPECT_TRUE(too_many("{% for i in range(100000) if false %}{% endfor %}", 1'000'000));
  EXPECT_TRUE(too_many("{% for i in range(10000) %}{{ i }}{% endfor %}", 200'000));
  const std::string doubled =
      "{% set ns = namespace(x=['a']) %}{% for i in range(16) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% endfor %}";
  EXPECT_TRUE(too_many(doubled + "{{ ns.x }}", 800'000));
  EXPECT_TRUE(too_many(doubled + "{{ ns.x | tojson }}", 800'000));
  EXPECT_TRUE(too_many(doubled + "{{ ns.x | string | length }}", 800'000));
  // What moves or renumbers the rest of a list or dict.
  EXPECT_TRUE(
      too_many("{% set x = range(100000) | list %}{% for i in range(100) %}{% set y = x.pop(0) %}"
               "{% endfor %}",
               1'000'000));
  EXPECT_TRUE(
      too_many("{% set x = {} %}{% for i in range(10000) %}{% set y = x.update({i: i}) %}"
               "{% endfor %}{% for i in range(1000) %}{% set y = x.pop(i) %}{% endfor %}",
               2'000'000));
  EXPECT_EQ(error_of("{% for i in range(100000) %}{{ i }}{% endfor %}"), "");
}

TEST(Jinja, DepthIsNoLimitOfItsOwn) {
  const std::string deep =
      "{% set ns = namespace(x=[], y=[]) %}{% for i in range(99999) %}"
      "{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}";
  Engine engine{Environment()};
  const auto given = [&](std::string_view use) {
    return engine.render_text("t", cat(deep, use), names_of(Value::dict())).value_or("an error");
  };
  EXPECT_EQ(given("{{ ns.x == ns.y }}"), "True");
  EXPECT_EQ(given("{{ ns.x == [ns.y] }}"), "False");
  EXPECT_EQ(given("{{ ns.x < ns.y }}"), "False");
  EXPECT_EQ(given("{{ ns.x | string | length }}"), "200000");
  EXPECT_EQ(given("{% set l = [1] %}{% set _ = l.append(l) %}{{ l }}"), "[1, [...]]");
  // The texts of objects call one another.
  EXPECT_EQ(given("{% set ns.x = 1 %}{% for i in range(50000) %}{% set ns.x = namespace(a=ns.x) %}"
                  "{% endfor %}{{ (ns.x | string | length) < 2000 }}"),
            "True");
}

/// Objects of every kind that hold one another are gone without recursion.
TEST(Jinja, WhatHoldsOneAnotherEndsAtAnyDepth) {
  Engine engine{Environment()};
  for (const std::string_view step :
       {"{% set ns.x = namespace(a=ns.x) %}", "{% set ns.x = cycler(ns.x) %}",
        "{% set ns.x = cycler(ns.x).next %}", "{% set ns.x = [ns.x].append %}",
        "{% set ns.x = {'a': (ns.x, 1)} %}", "{% set ns.x = dict(a=namespace(b=[ns.x])) %}",
        "{% set ns.x = made(ns.x) %}{% set ns.x = ns.inner %}"}) {
    const std::string text =
        cat("{% set ns = namespace(x=1, inner=1) %}{% macro made(before) %}"
            "{% macro inner() %}{% endmacro %}{% set ns.inner = inner %}{% endmacro %}"
            "{% for i in range(60000) %}",
            step, "{% endfor %}end");
    EXPECT_EQ(engine.render_text("t", text, names_of(Value::dict())).value_or("an error"), "end")
        << step;
  }
}

TEST(Jinja, EndsWhenItIsNoLongerWanted) {
  std::atomic<bool> cancelled{true};
  Environment environment;
  environment.cancelled = &cancelled;
  Engine engine(std::move(environment));
  EXPECT_FALSE(engine
                   .render_text("t", "{% for i in range(99999) %}{{ i }}{% endfor %}",
                                names_of(Value::dict()))
                   .has_value());
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
