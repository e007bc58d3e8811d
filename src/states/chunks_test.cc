/// Files of states as data: `tests/states/*.sls`. Runs are separated by a line `---`. In a run
///
///   #> text            is a line of what it comes to, in the order of low data;
///   #$ --option word   is an option of the compile, as on the command line;
///   #w text            is a warning, in order;
///   #^ line:column     is the place of the first error;
///   ### "regexp"       stands on the line of an error, `#e LINE "regexp"` somewhere else; an error
///                      without a place may stand anywhere;
///   #@ other.sls       starts another file, `#@ other.sls json` one in which comments are no part.
///
/// What it comes to is a line for each chunk: its rank, its function, its ID with `[name]` where
/// the name is another one, its arguments, and what it needs.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "base/file.h"
#include "base/text.h"
#include "states/compile.h"
#include "value/json.h"

namespace fettle::states {
namespace {

struct Run {
  std::string name;
  std::string text;
};

std::vector<Run> runs() {
  std::vector<Run> found;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FETTLE_SOURCE_DIR "/tests/states"))
    if (entry.path().extension() == ".sls")
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

/// What `hub.exec` knows here.
Result<Value> test_exec(std::string_view path, std::span<const Value> positional,
                        std::span<const Entry> named) {
  if (path == "test.ping")
    return Value::dict({{"result", true}, {"ret", true}, {"comment", ""}});
  if (path == "test.echo")
    return Value::dict({{"result", true},
                        {"ret", Value::list({positional.begin(), positional.end()})},
                        {"comment", Value::dict({named.begin(), named.end()})}});
  if (path == "test.plain")
    return Value(1);
  return user_error(cat("'exec' has no attribute '", path, "'"));
}

/// `#$ --ran ID={json}` says that a state has run and what it left.
class PastOutcomes : public Outcomes {
 public:
  std::map<std::string, Value, std::less<>> states;
  bool has_run(std::string_view id) const override { return states.contains(id); }
  std::optional<Value> new_state(std::string_view, std::string_view id,
                                 std::string_view) const override {
    const auto found = states.find(id);
    return found == states.end() ? std::nullopt : std::optional(found->second);
  }
};

/// `#$ --remembers KEY` says what a former run left.
class ChunkMemory : public Memory {
 public:
  std::vector<std::string> keys;
  std::vector<Name> find(const Name& state, const Name& target) const override {
    std::vector<Name> found;
    for (const std::string& key : keys)
      if (key.starts_with(cat(state, "_|-", target, "_|-")))
        found.emplace_back(key);
    return found;
  }
};

struct Question {
  std::map<std::string, std::string> files;
  std::vector<std::string> words;
  CompileOptions options;
  PastOutcomes ran;
  ChunkMemory remembered;
  std::string expected, warnings, place;
  std::vector<std::pair<std::string, std::string>> errors;  ///< `file:line` and pattern
};

void read_option(std::string_view line, Question& asked) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string_view option = line.substr(0, space);
  const std::string word(trim(line.substr(space)));
  if (option == "--target")
    asked.options.target = word;
  else if (option == "--invert")
    asked.options.is_inverted = true;
  else if (option == "--lenient")
    asked.options.is_lenient = true;
  else if (option == "--render")
    asked.options.pipe = word;
  else if (option == "--params")
    asked.options.params.push_back(word);
  else if (option == "--param-sources")
    asked.options.param_sources.push_back(word);
  else if (option == "--sls-sources")
    asked.options.sources.push_back(word);
  else if (option == "--sls")
    asked.words.push_back(word);
  else if (option == "--ran")
    asked.ran.states[word.substr(0, word.find('='))] = *read_json(word.substr(word.find('=') + 1));
  else if (option == "--remembers")
    asked.remembered.keys.push_back(word);
  else
    ADD_FAILURE() << "unknown option " << option;
}

Question read_run(const std::string& text) {
  Question asked;
  std::string file = "main.sls";
  bool drops_comments = false;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.starts_with("#@ ")) {
      file = line.substr(3);
      drops_comments = file.ends_with(" json");
      file = file.substr(0, file.find(' '));
      number = 0;
      continue;
    }
    if (line.starts_with("#> "))
      asked.expected += cat(line.substr(3), "\n");
    else if (line.starts_with("#$ "))
      read_option(line.substr(3), asked);
    else if (line.starts_with("#w "))
      asked.warnings += cat(line.substr(3), "\n");
    else if (line.starts_with("#^ "))
      asked.place = line.substr(3);
    else if (line.starts_with("#e "))
      asked.errors.emplace_back(
          cat(file, ":", line.substr(3, line.find('"') - 4)),
          line.substr(line.find('"') + 1, line.rfind('"') - line.find('"') - 1));
    if (const size_t at = line.find("### \""); at != std::string_view::npos)
      asked.errors.emplace_back(cat(file, ":", number),
                                line.substr(at + 5, line.rfind('"') - at - 5));
    if (!drops_comments || !line.starts_with("#"))
      asked.files[file] += cat(line, "\n");
  }
  if (asked.words.empty())
    asked.words.push_back("main.sls");
  asked.options.outcomes = asked.ran.states.empty() ? nullptr : &asked.ran;
  asked.options.memory = &asked.remembered;
  asked.options.host.exec = test_exec;
  asked.options.host.draw = [] { return uint64_t{0}; };
  return asked;
}

/// Holes as `<key:path>`.
std::string shown(const Value& value) {
  std::vector<Value> kept;
  kept.reserve(100);
  const Value filled = fill_holes(value, [&](const Output& hole) {
    kept.emplace_back(cat("<", hole.name, ":", hole.path, ">"));
    return &kept.back();
  });
  return write_json(filled);
}

std::string shown(const CompiledStates& compiled, const Need& need) {
  std::string text =
      cat(" ", to_string(need.requisite), need.any ? "_any" : "", need.is_implied ? "+" : "");
  if (need.is_remembered)
    text += cat(" ~", need.memory);
  for (uint32_t i = need.begin; i < need.begin + need.count; ++i) {
    const Chunk& target = compiled.chunks[compiled.targets[i]];
    text += cat(" ", target.id, target.name == target.id ? "" : cat("[", target.name, "]"));
  }
  return text;
}

std::string shown(const Settings& settings) {
  std::string text;
  const auto add = [&](std::string_view name, const auto& items) {
    if (!items.empty())
      text += cat(" ", name);
    for (const auto& item : items)
      text += cat(" ", shown(Value(item)));
  };
  add("sensitive", settings.sensitive);
  add("ignore_changes", settings.ignore_changes);
  add("unset", settings.unset);
  add("unless", settings.unless);
  add("onlyif", settings.onlyif);
  add("check_cmd", settings.check_cmd);
  if (settings.create_before_destroy)
    text += cat(" recreate", *settings.create_before_destroy ? " first" : "");
  text += settings.recreate_if_deleted ? " if_deleted" : "";
  text += settings.failhard ? " failhard" : "";
  if (settings.retry)
    text += cat(" retry ", settings.retry->attempts, settings.retry->until ? "" : " false", " ",
                static_cast<int>(settings.retry->interval), "+",
                static_cast<int>(settings.retry->splay));
  if (settings.wait)
    text += cat(" wait ", static_cast<int>(settings.wait->algorithm), " ",
                static_cast<int>(settings.wait->seconds * 1000), " ",
                static_cast<int>(settings.wait->multiplier * 1000), " ", settings.wait->shortest,
                "-", settings.wait->longest, settings.wait->cap ? " cap" : "", " ",
                static_cast<int>(settings.wait->jitter));
  if (settings.attempt)
    text += cat(" attempt ", fettle::to_string(*settings.attempt));
  if (settings.deadline)
    text += cat(" deadline ", fettle::to_string(*settings.deadline));
  if (!settings.acct_profile.empty())
    text += cat(" profile ", settings.acct_profile);
  return text;
}

std::string shown(const CompiledStates& compiled) {
  std::string text;
  for (const Chunk& chunk : compiled.chunks) {
    text += cat(chunk.rank, " ", chunk.state, ".", chunk.function, " ", chunk.id,
                chunk.name == chunk.id ? "" : cat("[", chunk.name, "]"));
    if (!chunk.bound_name.is_null())
      text += cat(" name ", shown(chunk.bound_name));
    std::vector<Entry> arguments;
    for (const auto& [name, value] : chunk.arguments)
      arguments.push_back({name, value});
    if (!arguments.empty())
      text += cat(" ", shown(Value::dict(std::move(arguments))));
    for (const Need& need : chunk.needs)
      text += shown(compiled, need);
    if (chunk.settings != nullptr)
      text += shown(*chunk.settings);
    text += chunk.pool.empty() ? "" : cat(" pool ", chunk.pool);
    text += chunk.is_listener ? " listener" : "";
    text += chunk.is_delayed ? " delayed" : "";
    text += chunk.failure.empty() ? "" : cat(" fails ", replace_all(chunk.failure, "\n", " / "));
    text += "\n";
  }
  for (const DelayedBlock& delayed : compiled.delayed) {
    text += cat("block of ", delayed.ref, " waits for");
    for (const DelayedBlock::AwaitedState& awaited : delayed.awaited)
      text += cat(" ", awaited.id);
    text += "\n";
  }
  for (const auto& [ref, meta] : compiled.file_metas)
    text += cat("meta ", ref, " ", write_json(meta), "\n");
  for (const auto& [id, meta] : compiled.id_metas)
    text += cat("meta ", id, " ", write_json(meta), "\n");
  return text;
}

class Chunks : public testing::TestWithParam<Run> {};

TEST_P(Chunks, DoWhatTheySay) {
  const std::string& text = GetParam().text;
  Question asked = read_run(text);
  ASSERT_FALSE(asked.expected.empty() && asked.errors.empty() && asked.warnings.empty())
      << "this run expects nothing";
  const auto files = files_of(asked.files);
  const CompiledStates compiled = compile(asked.words, *files, asked.options);
  std::string seen, warned;
  for (const Error& error : compiled.errors)
    seen += cat(to_string(error), "\n");
  for (const Error& warning : compiled.warnings)
    warned += cat(warning.message, "\n");
  if (!asked.warnings.empty()) {
    EXPECT_EQ(warned, asked.warnings) << text;
  }
  ASSERT_EQ(compiled.errors.size(), asked.errors.size()) << seen << text;
  if (!asked.place.empty()) {
    ASSERT_FALSE(compiled.errors.empty()) << text;
    const Where& where = compiled.errors.front().where;
    EXPECT_EQ(cat(where.line, ":", where.column), asked.place) << seen << text;
  }
  for (const auto& [place, pattern] : asked.errors) {
    bool found = false;
    for (const Error& error : compiled.errors)
      found |=
          (cat(error.where.file, ":", error.where.line) == place || error.where.file.empty()) &&
          std::regex_search(error.message, std::regex(pattern));
    EXPECT_TRUE(found) << place << ": " << pattern << "\n" << seen << text;
  }
  if (asked.errors.empty()) {
    EXPECT_EQ(shown(compiled), asked.expected) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(States, Chunks, testing::ValuesIn(runs()),
                         [](const auto& chunk) { return chunk.param.name; });

}  // namespace
}  // namespace fettle::states
