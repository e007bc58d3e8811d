/// Lifetimes at the edges of a session: code of a module that failed, code that is gone.

#include <gtest/gtest.h>

#include "base/text.h"
#include "starlark/module_loader.h"
#include "starlark/starlark.h"

namespace fettle::starlark {
namespace {

/// Lines as at a prompt: each sees the names that earlier ones bound.
class Prompt {
 public:
  explicit Prompt(bool collect_always) {
    session_.collect_always = collect_always;
    thread_.emplace(session_);
  }

  /// The text of an expression; the message of an error; nothing of a statement.
  std::string line(std::string_view text) {
    std::vector<NamedValue> names;
    for (const auto& [name, kept] : kept_)
      names.push_back({name, kept->get()});
    if (const Result<Value> value = thread_->evaluate("<stdin>", text, names))
      return repr_of(*thread_, *value).value();
    else if (!session_.failed_before_running())
      return value.error().message;
    const auto globals = thread_->execute("<stdin>", text, names);
    if (!globals)
      return globals.error().message;
    for (const auto& [name, value] : *globals)
      kept_[name] = std::make_unique<Handle>(*thread_, value);
    return {};
  }
  uint64_t memory() const { return session_.memory(); }

 private:
  Session session_;
  std::optional<Thread> thread_;
  std::map<std::string, std::unique_ptr<Handle>> kept_;
};

TEST(Lifetimes, AFunctionOfAFailedTextStaysWhole) {
  for (const bool collect_always : {false, true}) {
    Prompt prompt(collect_always);
    EXPECT_EQ(prompt.line("l = []"), "");
    EXPECT_EQ(prompt.line("l.append(lambda: 'a text that is long'); fail('x')"), "fail: x");
    EXPECT_EQ(prompt.line("l"), "[<function lambda>]");
    EXPECT_EQ(prompt.line("[f() for f in l]"), "[\"a text that is long\"]");
    EXPECT_EQ(prompt.line("d = {}\ndef g(n = 'a default that is long'):\n  def h(): return [n]\n"
                          "  return h\nl.append(g())\n1 // 0\n"),
              "floored division by zero");
    EXPECT_EQ(prompt.line("[f() for f in l]"),
              "[\"a text that is long\", [\"a default that is long\"]]");
  }
}

TEST(Lifetimes, ATextThatFailedIsNoRootOfTheNextCollection) {
  Prompt prompt(true);
  EXPECT_EQ(prompt.line("1//0"), "floored division by zero");
  EXPECT_EQ(prompt.line("x = [1]"), "");
  EXPECT_EQ(prompt.line("1//0"), "floored division by zero");
  EXPECT_EQ(prompt.line("x + [2]"), "[1, 2]");
}

TEST(Lifetimes, WhatIsBoundAgainIsGivenBack) {
  Prompt prompt(false);
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(prompt.line(cat("x = ['a long text'] * 1000000; y = len(x) + ", i)), "");
  EXPECT_LE(prompt.memory(), 200'000'000u);
}

// The site of the call is in frozen code, which remembers how the arguments reached a function. The
// functions come and go with their sessions, and new ones may lie where old ones were.
TEST(Lifetimes, FreedCodeIsNeverTakenForAnother) {
  Session first;
  const ModulePtr shared = first.run("shared.star", "def call(f): return f(x=1, y=2)\n").value();
  size_t wrong = 0;
  for (int i = 0; i < 2'000; ++i) {
    Session session;
    session.load = [&](Thread&, std::string_view) { return shared; };
    const bool is_other = i % 2 == 1;
    const ModulePtr module =
        session
            .run("m.star",
                 cat("load('shared.star', 'call')\ndef f(", is_other ? "y, x" : "x, y",
                     "): return ", is_other ? "y * 10 + x" : "x * 10 + y", "\nr = call(f)\n"))
            .value();
    wrong += integer_of(module->get("r").value()) != (is_other ? 21 : 12);
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(Lifetimes, ModulesReadAheadShareOneLimit) {
  Limits limits;
  limits.memory = 512'000'000;
  for (int round = 0; round < 3; ++round) {
    Session session(Dialect::of(Profile::go), limits);
    ModuleLoader loader(session, [](const std::string& path) -> std::optional<std::string> {
      return path.starts_with("m")
                 ? std::optional<std::string>("x = 'a' * 200000000\ny = x + 'b'\n")
                 : std::nullopt;
    });
    session.load = [&](Thread& thread, std::string_view name) { return loader.load(thread, name); };
    const std::string text =
        "load('m0.star', a='x')\nload('m1.star', b='x')\nload('m2.star', c='x')\n";
    loader.prefetch("top.star", text, 4);
    EXPECT_LE(session.memory(), limits.memory);
    const Result<ModulePtr> result = session.run("top.star", text);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().message, "out of memory: the limit of this evaluation is reached");
    // Whichever was ahead, the error is that of the second module.
    EXPECT_EQ(to_string(result.error().where), "m1.star:1:9");
    EXPECT_LE(session.memory(), limits.memory);
  }
}

TEST(Lifetimes, OneFileIsOneModuleHoweverItIsCalled) {
  for (const unsigned threads : {1u, 4u}) {
    Session session;
    int printed = 0;
    session.print = [&](Thread&, std::string_view) { ++printed; };
    ModuleLoader loader(session, [](const std::string& path) -> std::optional<std::string> {
      return path == "n.star" || path == "a/m.star"
                 ? std::optional<std::string>(path == "n.star"
                                                  ? "print('n')\nx = []\n"
                                                  : "load('../n.star', y='x')\nx = y\n")
                 : std::nullopt;
    });
    session.load = [&](Thread& thread, std::string_view name) { return loader.load(thread, name); };
    const std::string text =
        "load('./n.star', 'x')\nload('n.star', y='x')\nload('a/./m.star', z='x')\n";
    loader.prefetch("top.star", text, threads);
    ASSERT_TRUE(session.run("top.star", text).has_value());
    EXPECT_EQ(printed, 1);
  }
}

}  // namespace
}  // namespace fettle::starlark
