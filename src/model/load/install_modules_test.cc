/// What `fettle project install` installs, and how.

#include "model/load/install_modules.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle::model {
namespace {

class InstallModules : public testing::Test {
 protected:
  void SetUp() override {
    const char* const before = std::getenv("VIRTUAL_ENV");
    before_ = before == nullptr ? "" : before;
    unsetenv("VIRTUAL_ENV");
    write("project.yml",
          "name: p\nmodulepath: libs\nrequires:\n  - net >= 1.0\n  - old\n"
          "pip:\n  index_url: https://packages.example\n");
    write("main.cf", "import std\nimport fs\nimport net::deep as n\nimport other_one\n");
  }
  void TearDown() override {
    if (!before_.empty())
      setenv("VIRTUAL_ENV", before_.c_str(), 1);
  }
  void write(const std::string& name, const std::string& text, unsigned mode = 0644) {
    const Path path = folder_.path() / name;
    ASSERT_TRUE(make_directories(path.parent_path()));
    ASSERT_TRUE(write_file(path, text, mode));
  }
  InstallPlan plan() {
    return plan_install(project_of((folder_.path() / "main.cf").string()).value());
  }
  std::string shown(const std::vector<std::string>& words) const {
    return replace_all(join(words, " "), folder_.path().string(), "P");
  }

  TemporaryDirectory folder_ = TemporaryDirectory::make().value();
  std::string before_;
};

TEST_F(InstallModules, RequirementsOfModulesAndModulesThatAreNowhere) {
  write("libs/old/module.yml", "name: old\nversion: 1.0.0\nlicense: x\n");
  write("libs/old/model/_init.cf", "");
  write("libs/old/requirements.txt", "netaddr\n");
  write("libs/new/setup.cfg", "[metadata]\nname = inmanta-module-new\n");
  write("libs/new/model/_init.cf", "");
  EXPECT_EQ(shown(plan().arguments),
            "P/libs/new -r P/libs/old/requirements.txt inmanta-module-net "
            "inmanta-module-other-one --index-url https://packages.example");
  EXPECT_EQ(shown(plan().constraints), "inmanta-module-net>= 1.0 inmanta-module-old");
  EXPECT_EQ(shown({plan().environment.string()}), "P/.env");
  EXPECT_NE(plan().creator, "");
}

TEST_F(InstallModules, PipOfTheEnvironmentRunsAndItsFailureIsTold) {
  write(".env/bin/python3",
        "#!/bin/sh\necho \"$@\" > \"$(dirname $0)/called\"\n"
        "cat \"$(echo \"$@\" | sed 's/.* -c //')\" > \"$(dirname $0)/limits\"\n",
        0755);
  InstallPlan made = plan();
  EXPECT_EQ(made.creator, "");
  const Status done = install_modules(made, {}, {});
  ASSERT_TRUE(done) << to_string(done.error());
  const std::string called = read_file(folder_.path() / ".env/bin/called").value();
  EXPECT_NE(called.find("-m pip install --disable-pip-version-check inmanta-module-net "),
            std::string::npos)
      << called;
  EXPECT_EQ(read_file(folder_.path() / ".env/bin/limits").value(),
            "inmanta-module-net>= 1.0\ninmanta-module-old\n");
  write(".env/bin/python3", "#!/bin/sh\necho 'no route' >&2\nexit 3\n", 0755);
  const Status failed = install_modules(made, {}, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(to_string(failed.error()).find("exited with code 3; its last lines:\nno route"),
            std::string::npos)
      << to_string(failed.error());
}

TEST_F(InstallModules, NothingToInstallRunsNothing) {
  write("project.yml", "name: p\nmodulepath: libs\n");
  write("main.cf", "import std\n");
  EXPECT_TRUE(plan().arguments.empty());
  EXPECT_TRUE(install_modules(plan(), {}, {}));
  EXPECT_FALSE(file_exists(folder_.path() / ".env"));
}

}  // namespace
}  // namespace fettle::model
