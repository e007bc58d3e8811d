/// Sets of files of states, applied two or three times, and what both fettle and Idem 25 say of them:
/// `tests/states/recorded/sets.jsonl`, written by `bench/differ states=COUNT --record FILE`. The first
/// line has the modules. Where a row of the table in `docs/states.md` says why Idem differs, it is what
/// fettle says.

#include <set>

#include "tests/fixtures/sanitized.h"
#include "tests/fixtures/states_fixture.h"
#include "value/with.h"

namespace fettle {
namespace {

/// With a sanitizer one of so many sets: most of the time goes by in Python, which has none.
constexpr int one_in = is_sanitized ? 4 : 1;

constexpr const char* recorded = FETTLE_SOURCE_DIR "/tests/states/recorded/sets.jsonl";

std::string text_of(const Value& comment) {
  if (!comment.is_list())
    return to_text(comment);
  std::vector<std::string> lines;
  for (const Value& line : comment.items())
    lines.push_back(to_text(line));
  return join(lines, "\n");
}

/// A result as `differ_states.py` compares it.
Value told_of(const Value& entry) {
  std::vector<Entry> kept;
  for (const Entry& field : entry.entries())
    if (field.key != "start_time" && field.key != "total_seconds" && field.key != "re_runs_count" &&
        field.key != "require_re_run")
      kept.push_back(field);
  Value told = Value::dict(std::move(kept));
  const std::string text = text_of(entry.at("comment"));
  if (text.find("ValueError: broken") != text.npos)
    return with(told, "comment", Value(replace_all(text.substr(0, text.find('\n')), "`", "")));
  if (!text.starts_with("Result of require ") && !text.starts_with("Changes from "))
    return told;
  std::set<std::string> lines;
  for (const std::string_view line : split(text, '\n'))
    lines.emplace(line);
  return with(told, "comment", Value(join(std::vector(lines.begin(), lines.end()), "\n")));
}

class StatesRecordedTest : public StatesTest {
 protected:
  /// What a run says, as JSON by tag.
  std::string run(const Value& asked) {
    const auto has_word = [&](const char* word) {
      return std::ranges::find(asked.at("words").items(), Value(word)) !=
             asked.at("words").items().end();
    };
    request_.is_test = has_word("--test");
    request_.compile.is_inverted = has_word("--invert");
    const StatesReport report = apply(asked.text_at("text"));
    EXPECT_TRUE(report.errors.empty()) << to_string(report.errors[0]);
    std::vector<Entry> entries;
    for (const StateResult& one : report.results)
      entries.push_back({one.tag, told_of(one.entry)});
    return write_json(Value::dict(std::move(entries)), {.indent = 1});
  }
};

TEST_F(StatesRecordedTest, SaysWhatIdemSays) {
  request_.reconciler = "none";
  const std::string text = read_file(recorded).value();
  int sets = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty())
      continue;
    const Value row = read_json(line).value();
    if (row.at("module").is_text()) {
      put("states/differ.py", row.text_at("module"));
      put("exec/differ.py", row.text_at("exec"));
      continue;
    }
    if (++sets % one_in != 0)
      continue;
    environment_ = cat("set", sets);
    for (const Value& asked : row.at("runs").items())
      ASSERT_EQ(run(asked), write_json(asked.at("says"), {.indent = 1})) << "set " << sets << "\n"
                                                                         << asked.text_at("text");
  }
  EXPECT_GE(sets, 20);
}

}  // namespace
}  // namespace fettle
