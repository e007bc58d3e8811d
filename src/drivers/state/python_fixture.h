#pragma once
/// For tests of plugins in Python: files of plugins, the real interpreter that serves them, and calls
/// of their functions.

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/http.h"
#include "base/process.h"
#include "base/text.h"
#include "drivers/state/plugins.h"
#include "drivers/state/python_package.h"
#include "value/json.h"

namespace fettle {

class PythonFixture : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const Path path = folder_->path() / name;
    ASSERT_TRUE(make_directories(path.parent_path()));
    ASSERT_TRUE(write_file(path, text));
  }
  Plugins& open() {
    plugins_.emplace(PluginOptions{.folders = {folder_->path() / "a", folder_->path() / "b"},
                                   .home = folder_->path() / "home",
                                   .functions = Value::dict({{"exec.test.ping", false},
                                                             {"exec.test.aping", true},
                                                             {"states.test.nop", true}}),
                                   .options = Value::dict({{"run_name", "web"}}),
                                   .looks_for_packages = looks_for_packages_},
                     http_);
    const Status status = plugins_->open({});
    EXPECT_TRUE(status) << to_string(status.error());
    return *plugins_;
  }
  static std::string shown(const Result<PluginAnswer>& answer) {
    if (!answer)
      return to_string(answer.error());
    static constexpr const char* names[] = {"", "not ready: ", "throttled: ", "skipped: "};
    return cat(names[static_cast<int>(answer->verdict)],
               answer->verdict == PluginAnswer::Verdict::answered ? write_json(answer->result)
                                                                  : answer->why);
  }
  std::string call(const std::string& path, const Value& arguments = Value::dict({}),
                   const Value& context = Value::dict({}), bool only_known = false) {
    return shown(plugins_->call({.path = path,
                                 .arguments = arguments,
                                 .context = context,
                                 .only_known = only_known,
                                 .time_limit = 60s,
                                 .on_log = [this](std::string_view text) { logged_ += text; },
                                 .on_ask = on_ask_},
                                {}));
  }
  /// What is wrong with files, a line each.
  std::string problems() const {
    std::string told;
    for (const Error& problem : plugins_->problems())
      told += cat(Path(problem.where.file).filename().string(), ": ", problem.message, "\n");
    return told;
  }
  /// The module of a path among those that were found.
  const Value& module(std::string_view path) const {
    static const Value none;
    for (const Value& one : plugins_->modules())
      if (one.text_at("path") == path)
        return one;
    return none;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  HttpClient http_;
  std::optional<Plugins> plugins_;
  std::function<Result<Value>(const Value&)> on_ask_ = [](const Value& asked) -> Result<Value> {
    return Value(cat("host: ", asked.text_at("call")));
  };
  std::string logged_;
  bool looks_for_packages_ = false;
};

}  // namespace fettle
