/// Which Python runs users' code.

#include "programs/python.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "programs/python_package.h"

namespace fettle {
namespace {

/// Sets a variable until the end of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    const char* const before = std::getenv(name);
    before_ = before == nullptr ? "" : before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

class PythonEnvironments : public testing::Test {
 protected:
  Path environment(const std::string& name) {
    const Path made = folder_.path() / name;
    EXPECT_TRUE(make_directories(made / "bin"));
    EXPECT_TRUE(make_directories(made / "lib/python3.11/site-packages"));
    EXPECT_TRUE(write_file(made / "bin/python3", "#!/bin/sh\n", 0755));
    return made;
  }
  TemporaryDirectory folder_ = TemporaryDirectory::make().value();
};

TEST_F(PythonEnvironments, TheActiveOneThenThatOfTheProjectThenTheNewest) {
  const Path project = folder_.path() / "project";
  const Path own = environment("project/.env"), active = environment("active");
  {
    const Variable none("VIRTUAL_ENV", "");
    EXPECT_EQ(python_environment(project).interpreter, (own / "bin/python3").string());
    const std::string newest = python_environment(folder_.path()).interpreter;
    EXPECT_NE(newest.find("python3"), std::string::npos) << newest;
  }
  const Variable is_active("VIRTUAL_ENV", active.string());
  const PythonEnvironment found = python_environment(project);
  EXPECT_EQ(found.interpreter, (active / "bin/python3").string());
  ASSERT_EQ(found.packages.size(), 2u);
  EXPECT_EQ(found.packages[0], active / "lib/python3.11/site-packages");
  EXPECT_EQ(found.packages[1], own / "lib/python3.11/site-packages");
}

TEST_F(PythonEnvironments, OfSeveralVersionsTheNewestCountsAndScriptsDoNot) {
  const Path bin = folder_.path() / "bin";
  ASSERT_TRUE(make_directories(bin));
  ASSERT_TRUE(write_file(bin / "python3.97",
                         "\x7f"
                         "ELF",
                         0755));
  ASSERT_TRUE(write_file(bin / "python3.98",
                         "\x7f"
                         "ELF",
                         0644));
  ASSERT_TRUE(write_file(bin / "python3.99", "#!/bin/sh\n", 0755));
  ASSERT_TRUE(write_file(bin / "python3.100-config",
                         "\x7f"
                         "ELF",
                         0755));
  const Variable none("VIRTUAL_ENV", "");
  const Variable path("PATH", bin.string());
  EXPECT_EQ(python_environment(folder_.path()).interpreter, (bin / "python3.97").string());
}

TEST_F(PythonEnvironments, AFileOfOurOwnThatWasCutIsWrittenAnew) {
  const Path package = unpack_python(folder_.path()).value();
  for (const PythonFile& file : python_package()) {
    if (!file.path.ends_with("hub.py"))
      continue;
    const Path path = package / file.path;
    std::filesystem::resize_file(path, 0);
    EXPECT_EQ(unpack_python(folder_.path()).value(), package);
    EXPECT_EQ(read_file(path).value(), file.text);
    std::filesystem::remove(path);
    EXPECT_EQ(unpack_python(folder_.path()).value(), package);
    EXPECT_EQ(read_file(path).value(), file.text);
  }
}

TEST_F(PythonEnvironments, TheProgramThatServesModelsAnswers) {
  const Path package = unpack_python(folder_.path()).value();
  ASSERT_TRUE(make_directories(folder_.path() / "net"));
  ASSERT_TRUE(write_file(folder_.path() / "net/__init__.py",
                         "from inmanta.plugins import plugin\n"
                         "@plugin\ndef twice(n: 'int') -> 'int':\n    return 2 * n\n"));
  const Variable none("VIRTUAL_ENV", "");
  Invocation how = serve_models(
      python_environment(folder_.path()), package, folder_.path(),
      Value::dict({{"modules", Value::dict({{"net", (folder_.path() / "net").string()}})}}));
  how.input = "{\"load\": [\"net\"]}\n{\"calls\": [{\"plugin\": \"net::twice\", \"args\": [4]}]}\n";
  const Result<ProcessResult> made = run_process(how, {});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->output,
            "{\"modules\":{\"net\":{\"plugins\":[{\"name\":\"net::twice\",\"allow_unknown\":false,"
            "\"parameters\":[{\"name\":\"n\",\"type\":\"int\",\"default\":false,\"kind\":\"any\"}],"
            "\"returns\":\"int\"}]}}}\n{\"results\":[{\"result\":8}]}\n")
      << made->errors;
}

}  // namespace
}  // namespace fettle
