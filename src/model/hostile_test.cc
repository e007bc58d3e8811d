/// Models that mean harm: each ends within its limits, in a process of its own, so that a crash is
/// told with its model, and memory is the process's.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"
#include "model/compile.h"
#include "tests/fixtures/sanitized.h"

namespace fettle::model {
namespace {

constexpr uint64_t most_steps = 50'000'000;

/// What a model of so many parts may use: more than what is written there, so that it is what comes
/// of it that ends at the limit. Memory that is filled is most of the time of these tests.
constexpr uint64_t memory_of(size_t parts) { return 64'000'000 + 2'000 * uint64_t{parts}; }

/// The room that a limit may take: blocks are not filled to the end, and the process has some itself.
constexpr int64_t room_of(uint64_t memory) {
  return static_cast<int64_t>(memory / 10 * 13) + 8'000'000;
}

// Shadow memory and quarantine of a sanitizer are no memory of the model.
constexpr bool counts_all_memory = !is_sanitized;

/// How often parts are repeated: more than fits the stack, and more than 16 bits count. A sanitizer
/// takes minutes for the most.
std::vector<size_t> counts_of(size_t few, size_t many) {
  if (is_sanitized)
    return {few, many};
  return {few, 5'000, 66'000};
}

std::vector<std::vector<std::string>> rows_of(const std::string& name, size_t columns) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream file(FETTLE_SOURCE_DIR "/tests/model/hostile/" + name);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#'))
      continue;
    std::vector<std::string> parts;
    for (size_t at = 0; at <= line.size();) {
      const size_t bar = std::min(line.find(" | ", at), line.size());
      parts.push_back(replace_all(line.substr(at, bar - at), "\\n", "\n"));
      at = bar + 3;
    }
    parts.resize(columns);
    rows.push_back(std::move(parts));
  }
  return rows;
}

/// A text with marks for numbers, cut up once: it is put together a hundred thousand times.
class Pattern {
 public:
  Pattern(std::string_view text, std::string_view marks) {
    for (size_t at = 0; at <= text.size();) {
      const size_t mark = std::min(text.find_first_of(marks, at), text.size());
      pieces_.emplace_back(text.substr(at, mark - at));
      if (mark < text.size())
        numbers_.push_back(marks.find(text[mark]));
      at = mark + 1;
    }
  }
  /// The numbers of the marks, in their order.
  void add_to(std::string& made, const std::vector<std::string>& numbers) const {
    for (size_t i = 0; i < pieces_.size(); ++i) {
      made += pieces_[i];
      if (i < numbers_.size())
        made += numbers[numbers_[i]];
    }
  }

 private:
  std::vector<std::string> pieces_;
  std::vector<size_t> numbers_;
};

/// Parts are set apart by a space, but not at a new line, nor before `&`.
std::string repeated(const std::vector<std::string>& parts, size_t count) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_glued = parts[i].starts_with('&'), is_repeated = i % 2 == 1;
    const Pattern pattern(std::string_view(parts[i]).substr(is_glued ? 1 : 0),
                          is_repeated ? "@" : "");
    for (size_t n = 0; !parts[i].empty() && n < (is_repeated ? count : 1); ++n) {
      if (!is_glued && !text.empty() && text.back() != '\n' && parts[i].front() != '\n')
        text += ' ';
      pattern.add_to(text, {std::to_string(n)});
    }
  }
  return text + "\n";
}

std::string chained(const std::vector<std::string>& parts, size_t count) {
  std::string text = parts[0] + "\n";
  const Pattern next(parts[1] + "\n", "$%"), last(parts[2] + "\n", "^");
  for (size_t n = 1; n <= count; ++n)
    next.add_to(text, {std::to_string(n), std::to_string(n - 1)});
  last.add_to(text, {std::to_string(count)});
  return text;
}

int64_t resident() {
  long pages = 0;
  if (FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*s %ld", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  return int64_t{pages} * getpagesize();
}

void expect_end(const std::string& text, std::string_view name, uint64_t most_memory) {
  const int64_t before = resident();
  const pid_t child = fork();
  if (child == 0) {
    CompileOptions options;
    options.most_memory = most_memory;
    options.most_steps = most_steps;
    const CompileResult compiled = compile("m.cf", text, options);
    const bool is_told = compiled.errors.empty() || !compiled.errors[0].message.empty();
    _exit(is_told ? 0 : 1);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << name;
  if (counts_all_memory) {
    EXPECT_LE(int64_t{usage.ru_maxrss} * 1024 - before, room_of(most_memory)) << name;
  }
}

TEST(HostileModels, DepthAndWidthEnd) {
  size_t count = 0;
  for (const std::vector<std::string>& row : rows_of("repeats.txt", 5))
    for (const size_t times : counts_of(300, 66'000)) {
      expect_end(repeated(row, times), cat(times, " times ", join(row, " | ")), memory_of(times));
      ++count;
    }
  EXPECT_GE(count, is_sanitized ? 125u : 190u);
}

TEST(HostileModels, WhatIsBuiltOnOneAnotherEnds) {
  size_t count = 0;
  for (const std::vector<std::string>& row : rows_of("chains.txt", 3))
    for (const size_t times : counts_of(40, 20'000)) {
      expect_end(chained(row, times), cat(times, " times ", join(row, " | ")), memory_of(times));
      ++count;
    }
  EXPECT_GE(count, is_sanitized ? 50u : 85u);
}

/// Whatever a plugin makes of large values counts: texts of 8 MB, lists of a million, a dict whose
/// parts are shared 40 levels deep.
TEST(HostileModels, PluginsOverLargeValuesEnd) {
  std::string text = "t0 = \"abcdefgh\"\n", nested = "s0 = {\"k\": 1}\nb0 = [{\"k\": 1}]\n";
  for (int n = 1; n <= 40; ++n) {
    const std::string before = std::to_string(n - 1);
    if (n <= 20)
      text += cat("t", n, " = t", before, " + t", before, "\n");
    nested += cat("s", n, " = {\"x\": s", before, ", \"y\": s", before, "}\nb", n, " = [{\"x\": b",
                  before, "}, {\"x\": b", before, "}]\n");
  }
  const std::vector<std::pair<std::string, std::string>> values{
      {"big_text", text + "big_text = t20\n"},
      {"million", "million = std::sequence(1000000)\n"},
      {"shared", nested + "shared = s40\n"},
      {"boxes", nested + "boxes = b40\n"}};
  for (const char* call : {"std::length(big_text)",
                           "std::capitalize(big_text)",
                           "std::limit(big_text, 5)",
                           "std::limit(big_text, -5)",
                           "std::upper(big_text)",
                           "std::replace(big_text, \"a\", \"bbbbbbbbbbbbbbbbbbbbbbbb\")",
                           "std::replace(big_text, \"\", \"x\")",
                           "std::split(big_text, \"a\")",
                           "std::format(\"{}{}{}{}{}{}{}{}\", big_text, big_text, big_text, "
                           "big_text, big_text, big_text, big_text, big_text)",
                           "std::flatten([big_text])",
                           "std::at([big_text], 0)",
                           "std::item([big_text], 1)",
                           "std::json_dumps(big_text)",
                           "std::json_loads(big_text)",
                           "std::unique([big_text, big_text])",
                           "std::validate_type(\"pydantic.Base64Str\", big_text)",
                           "std::unique(million)",
                           "std::flatten([million, million])",
                           "std::count(million)",
                           "std::json_dumps(million)",
                           "std::key_sort(million, \"n\")",
                           "std::select(million, \"n\")",
                           "std::equals(million, million)",
                           "std::equals(shared, shared)",
                           "std::json_dumps(shared)",
                           "std::type(shared)",
                           "std::dict_keys(shared)",
                           "std::format(\"{}\", shared)",
                           "std::validate_type(\"pydantic.JsonValue\", shared)",
                           "std::flatten([boxes])",
                           "std::unique([shared])",
                           "E(n=1, l=[shared])",
                           "std::count(boxes)"}) {
    std::string model = "entity E:\n  int n\n  list l = []\nend\nimplement E using std::none\n";
    for (const auto& [name, made] : values)
      if (std::string_view(call).find(name) != std::string_view::npos)
        model += made;
    expect_end(cat(model, "r = ", call, "\n"), call, 128'000'000);
  }
}

/// Without a limit that somebody set, a model ends all the same, and says which flag allows more.
TEST(HostileModels, EndsByItself) {
  std::string doubled = "a0 = {\"k\": 1}\n";
  for (int n = 1; n <= 40; ++n)
    doubled += cat("a", n, " = {\"x\": a", n - 1, ", \"y\": a", n - 1, "}\n");
  const CompileResult compiled = compile("m.cf", doubled + "std::print(a40)\n", {});
  ASSERT_EQ(compiled.errors.size(), 1U);
  EXPECT_EQ(compiled.errors[0].message, cat("the model cannot be compiled: it takes more than ",
                                            default_steps, " steps; `--steps` allows more"));
  CompileOptions small;
  small.most_memory = 1'000'000;
  std::string text = "a0 = \"abcdefgh\"\n";
  for (int n = 1; n <= 40; ++n)
    text += cat("a", n, " = a", n - 1, " + a", n - 1, "\n");
  const CompileResult refused = compile("m.cf", text, small);
  ASSERT_EQ(refused.errors.size(), 1U);
  EXPECT_EQ(refused.errors[0].message,
            "the model cannot be compiled: it takes more than 1 MB of memory; `--memory` allows "
            "more");
}

TEST(HostileModels, EndsWhenItIsNoLongerWanted) {
  std::atomic<bool> cancelled{true};
  CompileOptions options;
  options.cancelled = &cancelled;
  const CompileResult compiled =
      compile("m.cf", "for i in std::sequence(1000000):\n std::print(i)\nend\n", options);
  ASSERT_FALSE(compiled.errors.empty());
  EXPECT_EQ(compiled.errors[0].message, "the model cannot be compiled: it was cancelled");
}

}  // namespace
}  // namespace fettle::model
