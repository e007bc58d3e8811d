#include "starlark/module_loader.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "starlark/scan.h"

namespace fettle::starlark {
namespace {

using Files = std::map<std::string, std::string>;

struct Outcome {
  std::string printed;
  std::string message;
  uint64_t steps = 0;
  std::map<std::string, int> reads;
};

/// Runs `main.star` of `files`; with one thread nothing is loaded ahead.
Outcome run(const Files& files, unsigned threads, Limits limits = {}) {
  Outcome outcome;
  Session session(Dialect::of(Profile::go), limits);
  session.print = [&](Thread&, std::string_view text) { outcome.printed += cat(text, "\n"); };
  ModuleLoader loader(session, [&](const std::string& path) -> std::optional<std::string> {
    ++outcome.reads[path];
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  });
  session.load = [&](Thread& thread, std::string_view name) { return loader.load(thread, name); };
  loader.prefetch("main.star", files.at("main.star"), threads);
  const Result<ModulePtr> result = session.run("main.star", files.at("main.star"));
  if (!result)
    outcome.message = result.error().message;
  outcome.steps = session.steps();
  return outcome;
}

Files wide() {
  Files files;
  std::string loads, sum;
  for (int i = 0; i < 20; ++i) {
    const std::string name = cat("m", i, ".star");
    files[name] = cat("load('base.star', 'twice')\nprint('module ", i,
                      "')\ndef work():\n  n = 0\n  for i in range(2000):\n    n += twice(i)\n"
                      "  return n\nx",
                      i, " = work() + ", i, "\n");
    loads += cat("load('", name, "', 'x", i, "')\n");
    sum += cat(i == 0 ? "" : " + ", "x", i);
  }
  files["base.star"] = "print('base')\ndef twice(x): return x + x\n";
  files["main.star"] = cat(loads, "print(", sum, ")\n");
  return files;
}

TEST(ModuleLoader, ThreadsChangeNothingThatIsSeen) {
  const Outcome one = run(wide(), 1);
  ASSERT_EQ(one.message, "");
  EXPECT_TRUE(one.printed.starts_with("base\nmodule 0\nmodule 1\n")) << one.printed;
  EXPECT_TRUE(one.printed.ends_with(cat(20 * 2000 * 1999 + 190, "\n"))) << one.printed;
  for (int round = 0; round < 20; ++round) {
    const Outcome many = run(wide(), 4);
    EXPECT_EQ(many.message, "");
    EXPECT_EQ(many.printed, one.printed);
    EXPECT_EQ(many.steps, one.steps);
    for (const auto& [path, count] : many.reads)
      EXPECT_EQ(count, 1) << path;
  }
}

TEST(ModuleLoader, StepsOfModulesCount) {
  Limits limits;
  limits.steps = run(wide(), 1).steps - 1;
  EXPECT_EQ(run(wide(), 4, limits).message, "Starlark computation cancelled: too many steps");
  ++limits.steps;
  EXPECT_EQ(run(wide(), 4, limits).message, "");
}

TEST(ModuleLoader, FailuresAreToldWhereTheModuleIsLoaded) {
  Files files = wide();
  files["m3.star"] = "print('about to fail')\nx3 = 1 // 0\n";
  const Outcome one = run(files, 1), many = run(files, 4);
  EXPECT_EQ(one.message, "floored division by zero");
  EXPECT_EQ(many.message, one.message);
  EXPECT_EQ(many.printed, one.printed);
  EXPECT_TRUE(many.printed.ends_with("module 2\nabout to fail\n")) << many.printed;
  files["m3.star"] = "x3 = = 1\n";
  EXPECT_EQ(run(files, 4).message, run(files, 1).message);
  files.erase("m3.star");
  EXPECT_EQ(run(files, 4).message, "cannot load m3.star: open m3.star: no such file or directory");
  EXPECT_EQ(run(files, 4).message, run(files, 1).message);
}

TEST(ModuleLoader, CyclesAreErrors) {
  Files files = wide();
  files["base.star"] = "load('m7.star', 'x7')\ndef twice(x): return x\n";
  const Outcome one = run(files, 1), many = run(files, 4);
  EXPECT_NE(one.message.find("cycle in load graph"), std::string::npos) << one.message;
  EXPECT_EQ(many.message, one.message);
}

TEST(ModuleLoader, PathsAreRelativeToTheFileThatLoads) {
  const Files files = {{"main.star",
                        "load('a/one.star', 'one')\nload('a/two.star', 'two')\n"
                        "load('json.star', 'json')\nprint(one, two, json.encode([1]))\n"},
                       {"a/one.star", "load('b/deep.star', 'deep')\none = deep + 1\n"},
                       {"a/two.star", "load('b/deep.star', 'deep')\ntwo = deep + 2\n"},
                       {"a/b/deep.star", "deep = 40\n"}};
  EXPECT_EQ(run(files, 4).printed, "41 42 [1]\n");
  EXPECT_EQ(run(files, 1).printed, "41 42 [1]\n");
}

TEST(ModuleLoader, LoadsAreReadFromTheText) {
  const Dialect dialect = Dialect::of(Profile::go);
  EXPECT_EQ(loads_of("load('a', 'b')\nx = 1\nload('c', d = 'e')\n", dialect),
            (std::vector<std::string>{"a", "c"}));
  // Only statements of the file itself, in any spelling.
  EXPECT_EQ(loads_of("'''load('a', 'b')\n'''\nload(\n  'c', # load('d')\n  'd'); load ('e', 'f')\n"
                     "def f():\n  load('g', 'h')\n  return payload('i')\nload('j', 'k')",
                     dialect),
            (std::vector<std::string>{"c", "e", "j"}));
  EXPECT_TRUE(loads_of("load('a', 'b')\nx = 'open\n", dialect).empty());
  EXPECT_TRUE(loads_of("load = 1\nload(x)\nload 'y'\n", dialect).empty());
}

TEST(ModuleLoader, UnfinishedTexts) {
  const Dialect dialect = Dialect::of(Profile::go);
  for (const char* text : {"x = [1,\n", "f(\n", "x = {'a': (\n", "x = '''a\n", "x = 1 + \\\n"})
    EXPECT_TRUE(is_unfinished(text, dialect)) << text;
  for (const char* text : {"x = [1]\n", "x = ')'\n", "x = 'a\n", "x = 1)\n", "# (\n", "\n", ""})
    EXPECT_FALSE(is_unfinished(text, dialect)) << text;
}

}  // namespace
}  // namespace fettle::starlark
