/// Runs the programs of `tests/starlark/*.star`. A file holds programs between lines `---`.
/// Comments of a program say how it runs:
///
///   # profile: go spec kurtosis     in each of these (go)
///   # option: recursion set …       with these switches
///
/// `### "regexp"` marks a line on which an error is expected: that error, and no other, must come.
/// Every program runs again with a collection at every safe point: nothing may change.
///
/// Programs see `assert_eq(x, y)`, `assert_ne`, `assert_true(x)` and `assert_fails(f, regexp)`,
/// which end the program if they do not hold, and `freeze(x)`.

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/text.h"
#include "starlark/starlark.h"

namespace fettle::starlark {
namespace {

struct Chunk {
  std::string file;
  int line = 1;  ///< of its first line in the file
  std::string text;
  std::vector<std::string> profiles;
  std::vector<std::string> options;
  std::map<int, std::string> expected;  ///< by line of the file
};

std::vector<std::string> words_behind(std::string_view text, std::string_view mark) {
  std::vector<std::string> words;
  const size_t at = text.find(mark);
  if (at == std::string_view::npos)
    return words;
  std::string_view line = text.substr(at + mark.size());
  line = line.substr(0, line.find('\n'));
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty())
      words.emplace_back(word);
  }
  return words;
}

void find_expected(Chunk& chunk) {
  int line = chunk.line;
  for (const std::string_view text : split(chunk.text, '\n')) {
    if (const size_t at = text.find("### \""); at != std::string_view::npos) {
      std::string pattern(text.substr(at + 5));
      pattern.resize(pattern.rfind('"'));
      chunk.expected[line] = pattern;
    }
    ++line;
  }
}

std::vector<Chunk> read_chunks(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<Chunk> chunks;
  Chunk chunk;
  int line = 1;
  const auto finish = [&] {
    chunk.file = path.filename().string();
    chunk.profiles = words_behind(chunk.text, "# profile:");
    if (chunk.profiles.empty())
      chunk.profiles = {"go"};
    chunk.options = words_behind(chunk.text, "# option:");
    find_expected(chunk);
    chunks.push_back(std::move(chunk));
    chunk = Chunk();
    chunk.line = line + 1;
  };
  for (const std::string_view each : split(text, '\n')) {
    if (each == "---") {
      finish();
    } else {
      chunk.text += each;
      chunk.text += '\n';
    }
    ++line;
  }
  finish();
  return chunks;
}

Dialect dialect_of(const Chunk& chunk, std::string_view profile) {
  Dialect dialect = Dialect::of(profile == "spec"       ? Profile::spec
                                : profile == "kurtosis" ? Profile::kurtosis
                                                        : Profile::go);
  for (const std::string& option : chunk.options) {
    if (option == "recursion")
      dialect.recursion = true;
    else if (option == "set")
      dialect.set = true;
    else if (option == "while")
      dialect.while_loops = true;
    else if (option == "toplevel")
      dialect.top_level_control = true;
    else if (option == "globalreassign")
      dialect.global_reassign = true;
    else if (option == "loadbinds")
      dialect.load_binds_globally = true;
    else
      ADD_FAILURE() << chunk.file << ": unknown option " << option;
  }
  return dialect;
}

void add_asserts(Session& session) {
  const auto compare = [](Call& call, bool wanted) -> Result<Value> {
    if (call.positional.size() != 2)
      return user_error(cat(call.function, " needs two values"));
    const std::string a = TRY(repr_of(call.thread, call.positional[0]));
    const std::string b = TRY(repr_of(call.thread, call.positional[1]));
    const bool same = TRY(equal(call.thread, call.positional[0], call.positional[1])) &&
                      type_of(call.positional[0]) == type_of(call.positional[1]);
    if (same != wanted)
      return user_error(cat("assertion failed: ", a, wanted ? " != " : " == ", b));
    return Value::none();
  };
  session.predeclare("assert_eq",
                     session.native("assert_eq", [=](Call& call) { return compare(call, true); }));
  session.predeclare("assert_ne",
                     session.native("assert_ne", [=](Call& call) { return compare(call, false); }));
  session.predeclare("assert_true", session.native("assert_true", [](Call& call) -> Result<Value> {
    if (call.positional.size() != 1 || !truth_of(call.positional[0]))
      return user_error("assertion failed: not true");
    return Value::none();
  }));
  session.predeclare("assert_fails",
                     session.native("assert_fails", [](Call& call) -> Result<Value> {
                       const std::string pattern = text_of(call.positional[1]);
                       const Result<Value> result = call.thread.call(call.positional[0], {});
                       if (result)
                         return user_error(cat("assertion failed: no error, want ", pattern));
                       if (!RE2::PartialMatch(result.error().message, RE2(pattern)))
                         return user_error(cat("assertion failed: error `", result.error().message,
                                               "` does not match ", pattern));
                       return Value::none();
                     }));
  session.predeclare("freeze", session.native("freeze", [](Call& call) -> Result<Value> {
    freeze(call.positional[0]);
    return call.positional[0];
  }));
}

/// The output of a run: text of the errors, and printed lines.
std::string run(const Chunk& chunk, std::string_view profile, bool collect_always) {
  Limits limits;
  limits.steps = 50'000'000;
  limits.memory = 512 << 20;
  Session session(dialect_of(chunk, profile), limits);
  session.collect_always = collect_always;
  std::string printed;
  session.print = [&](Thread&, std::string_view text) { printed += cat(text, "\n"); };
  add_asserts(session);
  const std::string padded = std::string(size_t(chunk.line - 1), '\n') + chunk.text;
  const Result<ModulePtr> result = session.run(chunk.file, padded);
  std::map<int, std::string> errors;
  if (!result) {
    const Error& error = result.error();
    if (session.failed_before_running() && error.trace.size() > 1) {
      for (const std::string& each : error.trace) {
        // file:line:column: message
        const size_t line_at = each.find(':') + 1;
        const size_t column_at = each.find(':', line_at) + 1;
        errors[std::stoi(each.substr(line_at))] += each.substr(each.find(':', column_at) + 2);
      }
    } else {
      errors[error.where.line] = error.message;
    }
  }
  const std::string where = cat(chunk.file, ":", chunk.line, " (", profile, ")");
  for (const auto& [line, message] : errors) {
    const auto expected = chunk.expected.find(line);
    if (expected == chunk.expected.end())
      ADD_FAILURE() << where << ": line " << line << ": " << message;
    else if (!RE2::PartialMatch(message, RE2(expected->second)))
      ADD_FAILURE() << where << ": line " << line << ": `" << message << "` does not match "
                    << expected->second;
    printed += message;
  }
  for (const auto& [line, pattern] : chunk.expected) {
    if (!errors.contains(line))
      ADD_FAILURE() << where << ": line " << line << ": no error, want " << pattern;
  }
  return printed;
}

std::vector<Chunk> all_chunks() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(FETTLE_SOURCE_DIR "/tests/starlark")) {
    if (entry.path().extension() == ".star")
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Chunk> chunks;
  for (const std::filesystem::path& path : files)
    std::ranges::move(read_chunks(path), std::back_inserter(chunks));
  return chunks;
}

TEST(StarlarkChunks, BehaveAsWritten) {
  const std::vector<Chunk> chunks = all_chunks();
  for (const Chunk& chunk : chunks)
    for (const std::string& profile : chunk.profiles) {
      const std::string plain = run(chunk, profile, false);
      EXPECT_EQ(plain, run(chunk, profile, true)) << chunk.file << ":" << chunk.line;
    }
  EXPECT_GE(chunks.size(), 1'500u);
}

/// Runs a chunk within limits, and returns whether it came to its end; `limits` returns its use.
bool ends_within(const Chunk& chunk, std::string_view profile, Limits& limits) {
  Session session(dialect_of(chunk, profile), limits);
  session.print = [](Thread&, std::string_view) {};
  add_asserts(session);
  const Result<ModulePtr> result = session.run(chunk.file, chunk.text);
  limits.steps = session.steps();
  limits.memory = session.memory();
  return result.has_value();
}

/// A budget runs out anywhere, also in the middle of a built-in: that is an error, and nothing else
/// is. Each chunk has eight limits of steps and two of memory, different ones in each.
TEST(StarlarkChunks, EndWhereABudgetEnds) {
  size_t seen = 0;
  for (const Chunk& chunk : all_chunks())
    for (const std::string& profile : chunk.profiles) {
      Limits whole{.steps = 50'000'000, .memory = 512 << 20};
      if (!ends_within(chunk, profile, whole))
        continue;
      for (uint64_t part = 0; part < 10; ++part) {
        const uint64_t share = (++seen * 7'919) % 1'000;
        Limits less{.steps = 50'000'000, .memory = 512 << 20};
        if (part < 8)
          less.steps = 1 + whole.steps * share / 1'000;
        else
          less.memory = 1 + whole.memory * share / 1'000;
        const bool is_half = share < 500 && whole.steps > 100;
        // A test of an error may take the budget's error for another one.
        EXPECT_FALSE(ends_within(chunk, profile, less) && is_half && part < 8)
            << chunk.file << ":" << chunk.line << " within " << share << " of 1,000 steps";
      }
    }
  EXPECT_GE(seen, 10'000u);
}

}  // namespace
}  // namespace fettle::starlark
