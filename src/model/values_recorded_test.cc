/// Templates and calls of plugins over unknown, null, unset, references and instances, and what
/// Inmanta says of them: `tests/model/recorded/values.jsonl`, written by `bench/differ_values.py`.
/// The first line has the plugins. A row on which fettle says something else has that, too, and
/// why.

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/file.h"
#include "base/text.h"
#include "model/compile.h"
#include "value/json.h"

namespace fettle::model {
namespace {

constexpr const char* recorded = FETTLE_SOURCE_DIR "/tests/model/recorded/values.jsonl";

/// As `differ_values.py` compares outcomes.
std::string outcome_of(const Path& main) {
  std::vector<std::string> lines;
  CompileOptions options;
  options.print = [&](std::string_view text) {
    for (const std::string_view line : split(text, '\n'))
      lines.emplace_back(line);
  };
  const Result<Project> project = project_of(main.string());
  EXPECT_TRUE(project);
  if (!project || !compile(*project, options).errors.empty())
    return "error";
  static const std::regex instance("__config__::Node( \\w+| \\(instantiated at [^)]*\\))");
  for (std::string& line : lines)
    line = replace_all(std::regex_replace(line, instance, "Node"), "@", "");
  std::ranges::sort(lines);
  return std::ranges::find(lines, "unknown: True") != lines.end() ? "unknown" : join(lines, "\n");
}

TEST(ValuesRecorded, AreWhatTheOriginalSays) {
  const TemporaryDirectory folder = TemporaryDirectory::make().value();
  const auto write = [&](const char* name, std::string_view text) {
    const Path path = folder.path() / name;
    ASSERT_TRUE(make_directories(path.parent_path()));
    ASSERT_TRUE(write_file(path, text));
  };
  write("project.yml", "name: test\nmodulepath: libs\n");
  write("libs/v/module.yml", "name: v\nversion: 1.0.0\nlicense: x\n");
  write("libs/v/model/_init.cf", "");
  std::string head;
  size_t compared = 0, differing = 0;
  const std::string text = read_file(recorded).value();
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty())
      continue;
    const Value row = read_json(line).value();
    if (const Value* const plugins = row.find("plugins")) {
      write("libs/v/plugins/p.star", plugins->text().view());
      head = row.text_at("head");
      continue;
    }
    if (row.at("template").is_text())
      write("libs/v/templates/t.j2", row.text_at("template"));
    write("m.cf", cat(replace_all(head, "{size}", row.text_at("size")), row.text_at("model")));
    const bool differs = row.find("differs") != nullptr;
    EXPECT_EQ(outcome_of(folder.path() / "m.cf"), row.text_at(differs ? "here" : "says"))
        << row.text_at("differs") << row.text_at("template") << "\n"
        << row.text_at("model");
    ++compared;
    differing += differs;
  }
  EXPECT_GE(compared, 300u);
  EXPECT_LE(differing, compared / 20);
}

}  // namespace
}  // namespace fettle::model
