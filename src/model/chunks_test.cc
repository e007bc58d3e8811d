/// Models as data: `tests/model/*.cf`. Models are separated by a line `---`. In a model
///
///   #> text                      is a line that it prints, in order;
///   #| text                      is a line of what the compiler reports, which then must be all of
///                                it but places and excerpts;
///   #^ line:column               is the place of the first error;
///   #! text                      is a warning, in order;
///   ### "regexp"                 stands on the line of an error;
///   #@ libs/a/model/_init.cf     starts another file of a project with `modulepath: libs`.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "base/file.h"
#include "base/text.h"
#include "model/compile.h"

namespace fettle::model {
namespace {

struct Chunk {
  std::string name;
  std::string text;
};

std::vector<Chunk> chunks() {
  std::vector<Chunk> found;
  const std::string folder = FETTLE_SOURCE_DIR "/tests/model";
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cf")
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

class Chunks : public testing::TestWithParam<Chunk> {};

/// The compile of a chunk; with several files as a project in a folder of its own.
CompileResult compiled_chunk(const std::string& text, const CompileOptions& options) {
  if (text.find("#@ ") == std::string::npos)
    return compile("m.cf", text, options);
  std::map<std::string, std::string> files{{"project.yml", "name: test\nmodulepath: libs\n"}};
  std::string file = "m.cf";
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("#@ "))
      files[file = line.substr(3)];
    else
      files[file] += cat(line, "\n");
  }
  // A module needs a description, which hardly a model is about.
  std::map<std::string, std::string> described;
  for (const auto& [name, content] : files)
    if (const size_t end = name.find("/model/_init.cf"); end != name.npos)
      described[cat(name.substr(0, end), "/module.yml")] = "name: m\nversion: 1.0.0\nlicense: x\n";
  files.merge(described);
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  for (const auto& [name, content] : files) {
    const Path path = folder->path() / name;
    EXPECT_TRUE(make_directories(path.parent_path()));
    EXPECT_TRUE(write_file(path, content));
  }
  Result<Project> project = project_of((folder->path() / "m.cf").string());
  if (!project) {
    CompileResult failed;
    failed.errors.push_back(project.error());
    return failed;
  }
  project->main_name = "m.cf";
  return compile(*project, options);
}

TEST_P(Chunks, DoWhatTheySay) {
  const std::string& text = GetParam().text;
  std::string report_wanted;
  std::string place_wanted;
  std::string expected;
  std::string warnings_wanted;
  std::vector<std::pair<int, std::string>> errors;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.starts_with("#> "))
      expected += cat(line.substr(3), "\n");
    if (line.starts_with("#! "))
      warnings_wanted += cat(line.substr(3), "\n");
    if (line.starts_with("#| "))
      report_wanted += cat(line.substr(3), "\n");
    if (line.starts_with("#^ "))
      place_wanted = line.substr(3);
    if (const size_t at = line.find("### \""); at != std::string_view::npos)
      errors.emplace_back(number, std::string(line.substr(at + 5, line.rfind('"') - at - 5)));
  }
  ASSERT_FALSE(expected.empty() && errors.empty() && report_wanted.empty() &&
               warnings_wanted.empty())
      << "this model expects nothing";
  std::string printed;
  std::string warned;
  CompileOptions options;
  options.warn = [&](const Error& warning) { warned += cat(warning.message, "\n"); };
  options.print = [&](std::string_view line) { printed += cat(line, "\n"); };
  const CompileResult compiled = compiled_chunk(text, options);
  EXPECT_EQ(printed, expected) << text;
  EXPECT_TRUE(warnings_wanted.empty() || warned == warnings_wanted) << warned << text;
  std::string seen;
  for (const Error& error : compiled.errors)
    seen += cat(to_string(error), "\n");
  if (!place_wanted.empty()) {
    ASSERT_FALSE(compiled.errors.empty()) << text;
    const Where& where = compiled.errors.front().where;
    EXPECT_EQ(cat(where.line, ":", where.column), place_wanted) << seen << text;
  }
  if (!report_wanted.empty()) {
    EXPECT_EQ(trace_of(compiled.errors), report_wanted) << text;
    return;
  }
  ASSERT_EQ(compiled.errors.size(), errors.size()) << seen << text;
  for (const auto& [line, pattern] : errors) {
    bool found = false;
    for (const Error& error : compiled.errors)
      found |= error.where.line == line && std::regex_search(error.message, std::regex(pattern));
    EXPECT_TRUE(found) << "line " << line << ": " << pattern << "\n" << seen;
  }
}

/// A budget is used up anywhere, also in the middle of a plugin: that is an error, and nothing else
/// is. When two budgets were enough, so are all larger ones.
TEST_P(Chunks, EndWhereABudgetEnds) {
  const std::string& text = GetParam().text;
  CompileOptions options;
  options.print = [](std::string_view) {};
  const std::vector<Error> all = compiled_chunk(text, options).errors;
  int ended = 0;
  uint64_t before = 0;
  for (uint64_t steps = 1; steps < 10'000 && ended < 2; steps += std::exchange(before, steps)) {
    options.most_steps = steps;
    const std::vector<Error> errors = compiled_chunk(text, options).errors;
    const bool ends = std::ranges::equal(errors, all, {}, &Error::message, &Error::message);
    EXPECT_FALSE(!ends && ended > 0 && all.empty()) << steps << " steps, and fewer do: " << text;
    ended += ends ? 1 : 0;
    for (const Error& error : errors)
      EXPECT_TRUE(!all.empty() || error.message.find("steps") != error.message.npos)
          << steps << ": " << error.message << "\n"
          << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Model, Chunks, testing::ValuesIn(chunks()),
                         [](const auto& chunk) { return chunk.param.name; });

}  // namespace
}  // namespace fettle::model
