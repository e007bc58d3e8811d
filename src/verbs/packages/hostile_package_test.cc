// Packages of somebody else that try to read or write what is not theirs. `docs/trust.md` lists
// the tries.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/file.h"
#include "core/open_payload.h"
#include "tests/fixtures/package_fixture.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view secret = "TOP-SECRET";

/// A package that was fetched lies in `mirror`, and `secret` beside it.
class HostilePackage : public RunPackageTest {
 protected:
  void SetUp() override {
    RunPackageTest::SetUp();
    write("secret/key", std::string(secret));
    write("secret/lib.star", cat("TEXT = \"", secret, "\"\ndef run(plan):\n  plan.print(TEXT)\n"));
    write("secret/kurtosis.yml", "name: github.com/evil/p\n");
    write_package("");
    request_.package = "github.com/evil/p";
    request_.mirror = at("mirror");
  }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  std::string in_package(const std::string& name) const {
    return at("mirror/github.com/evil/p/" + name);
  }
  void write_package(const std::string& body, const std::string& rules = {}) {
    write("mirror/github.com/evil/p/kurtosis.yml", cat("name: github.com/evil/p\n", rules));
    write("mirror/github.com/evil/p/main.star", cat("def run(plan):\n  plan.print(\"x\")\n", body));
  }
  void link(const std::string& target, const std::string& name) {
    fs::create_directories(fs::path(in_package(name)).parent_path());
    fs::create_symlink(target, in_package(name));
  }
  /// Runs the package with a body; whatever it ends with, the secret is nowhere.
  std::string tried(const std::string& body, const std::string& rules = {}) {
    write_package(body, rules);
    const std::string said = run();
    EXPECT_EQ(said.find(secret), std::string::npos) << said;
    for (const std::string& line : results_)
      EXPECT_EQ(line.find(secret), std::string::npos) << line;
    fs::create_directories(home_.path("blobs"));
    for (const auto& entry : fs::recursive_directory_iterator(home_.path("blobs")))
      if (entry.is_regular_file() && entry.file_size() < 1 << 20) {
        EXPECT_EQ(read_file(entry.path())->find(secret), std::string::npos) << entry.path();
      }
    return said;
  }
  void expect_refused(const std::string& body, std::string_view why) {
    std::string said = tried(body);
    for (const std::string& line : results_)
      said += "\n" + line;
    EXPECT_NE(said.find(why), std::string::npos) << body << said;
  }
  std::string print_file(const std::string& path) {
    return cat("  plan.print(read_file(\"", path, "\"))\n");
  }
  std::string import(const std::string& path) {
    return cat("  plan.print(import_module(\"", path, "\").TEXT)\n");
  }
  std::string upload(const std::string& path) {
    return cat("  plan.upload_files(\"", path, "\", name = \"a\")\n");
  }
  /// The archive of what was uploaded as `a`.
  std::string uploaded() {
    const Known known = *home_.store().known("e");
    const auto found = known.find({"e", "artifact", "a"});
    if (found == known.end())
      return {};
    return *read_blob(home_.blobs(), dict_of(found->second->outputs).text_at("digest"),
                      size_t{1} << 30);
  }
};

TEST_F(HostilePackage, AFileIsNotReadThroughALink) {
  link(at("secret/key"), "absolute");
  link("../../../../secret/key", "relative");
  link("relative", "chain");
  link("../../../../secret", "folder");
  link("/proc/self/cwd/..", "magic");
  link("/dev/zero", "endless");
  for (const char* path : {"./absolute", "./relative", "./chain", "./folder/key", "/folder/key",
                           "./magic/secret/key", "./endless"})
    expect_refused(print_file(path), "leads outside");
}

TEST_F(HostilePackage, AFileIsNotReadByItsPath) {
  for (const char* path : {"../../../../secret/key", "/../../../../secret/key", "../p/../../../x"})
    expect_refused(print_file(path), "leads outside `github.com/evil/p`");
  expect_refused(print_file(at("secret/key")), "does not exist");
  expect_refused(print_file("file://" + at("secret/key")), "does not exist");
  expect_refused(print_file("~/secret"), "does not exist");
  expect_refused(print_file("./a\\x00../../secret/key"), "does not exist");
  expect_refused(print_file("./a\\x00b"), "invalid argument");
  // What is not there is one line, whatever its name says.
  expect_refused(print_file("./a\\nerror: all is lost"), "a\\nerror: all is lost` does not exist");
}

TEST_F(HostilePackage, AFileThatIsNoneHoldsNobody) {
  ASSERT_EQ(mkfifo(in_package("pipe").c_str(), 0600), 0);
  expect_refused(print_file("./pipe"), "is neither a file nor a folder");
  expect_refused(import("./pipe"), "is neither a file nor a folder");
  expect_refused(upload("./pipe"), "is neither a file nor a folder");
}

TEST_F(HostilePackage, AHugeFileIsNotRead) {
  const Descriptor file(::open(in_package("huge").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(ftruncate(file.get(), off_t{1} << 40), 0);  // takes no space
  expect_refused(print_file("./huge"), "is larger than 64 MB");
  expect_refused(import("./huge"), "is larger than 64 MB");
}

TEST_F(HostilePackage, AHugeFolderIsNotUploaded) {
  fs::create_directories(in_package("folder"));
  const Descriptor file(
      ::open(in_package("folder/huge").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(ftruncate(file.get(), off_t{1} << 40), 0);
  expect_refused(upload("./folder"), "holds more than 64 GB");
}

TEST_F(HostilePackage, AModuleIsNotImportedFromOutside) {
  link(at("secret/lib.star"), "absolute.star");
  link("../../../../secret", "folder");
  for (const char* path : {"./absolute.star", "./folder/lib.star"})
    expect_refused(import(path), "leads outside");
  expect_refused(import("../../../../secret/lib.star"), "leads outside `github.com/evil/p`");
}

TEST_F(HostilePackage, NoFileOfThePackageItselfIsALinkToTheOutside) {
  fs::remove(in_package("main.star"));
  link(at("secret/lib.star"), "main.star");
  EXPECT_NE(run().find("leads outside"), std::string::npos);
  fs::remove(in_package("kurtosis.yml"));
  link(at("secret/kurtosis.yml"), "kurtosis.yml");
  EXPECT_NE(run().find("`kurtosis.yml` leads outside"), std::string::npos);
}

TEST_F(HostilePackage, NothingIsUploadedThroughALink) {
  link(at("secret/key"), "file");
  link(at("secret"), "folder");
  link("../../../../secret/key", "relative");
  for (const char* path : {"./file", "./folder", "./folder/key", "./relative"})
    expect_refused(upload(path), "leads outside");
  expect_refused(upload("../../../../secret"), "leads outside `github.com/evil/p`");
  expect_refused(upload("file://" + at("secret/key")), "does not exist");
}

TEST_F(HostilePackage, NothingIsBuiltFromOutside) {
  const auto build = [](const std::string& folder, const std::string& file) {
    return cat(
        "  plan.add_service(\"s\", ServiceConfig(image = ImageBuildSpec(image_name = \"i\", "
        "build_context_dir = \"",
        folder, "\", build_file = \"", file, "\")))\n");
  };
  write("secret/Dockerfile", cat("FROM ", secret, "\n"));
  write("mirror/github.com/evil/p/own/Dockerfile", "FROM a\n");
  link(at("secret"), "folder");
  link(at("secret/Dockerfile"), "own/linked");
  link("/dev/zero", "endless/Dockerfile");
  expect_refused(build("./folder", "Dockerfile"), "leads outside");
  expect_refused(build("../../../../secret", "Dockerfile"), "leads outside `github.com/evil/p`");
  expect_refused(build("./own", "linked"), "leads outside");
  expect_refused(build("./own", "../../../../../secret/Dockerfile"), "leads outside");
  expect_refused(build("./own", at("secret/Dockerfile")), "is absolute");
  expect_refused(build("./endless", "Dockerfile"), "leads outside");
  expect_refused(build("./own/Dockerfile", "Dockerfile"), "`build_context_dir` is no folder");
  link(at("secret/key"), "own/.dockerignore");
  EXPECT_EQ(tried(build("./own", "Dockerfile")).find("no pattern"), std::string::npos);
}

TEST_F(HostilePackage, LinksInWhatIsUploadedStayLinks) {
  write("mirror/github.com/evil/p/folder/plain", "plain");
  link(at("secret/key"), "folder/absolute");
  link("../../../../../secret/key", "folder/relative");
  link(at("secret"), "folder/deep/all");
  EXPECT_EQ(tried(upload("./folder")), "RR");
  std::map<std::string, std::string> targets;
  ArchiveReader reader(source_of(uploaded()), {.links_may_leave = true});
  while (const auto entry = *reader.next())
    targets[entry->path] = entry->target;
  EXPECT_EQ(targets,
            (std::map<std::string, std::string>{{"absolute", at("secret/key")},
                                                {"deep", ""},
                                                {"deep/all", at("secret")},
                                                {"plain", ""},
                                                {"relative", "../../../../../secret/key"}}));
  // And when it is written to this machine again, such a link is refused.
  const auto target = TemporaryDirectory::make();
  EXPECT_FALSE(unpack(source_of(uploaded()), target->path()));
}

TEST_F(HostilePackage, PipesAndSocketsInWhatIsUploadedAreRefused) {
  fs::create_directories(in_package("folder"));
  ASSERT_EQ(mkfifo(in_package("folder/pipe").c_str(), 0600), 0);
  expect_refused(upload("./folder"), "is neither file, folder nor link");
}

TEST_F(HostilePackage, NamesWithNewlinesAreUploadedAsTheyAre) {
  write("mirror/github.com/evil/p/folder/a\nb -> ..", "plain");
  EXPECT_EQ(tried(upload("./folder")), "RR");
  ArchiveReader reader(source_of(uploaded()));
  EXPECT_EQ((*reader.next())->path, "a\nb -> ..");
}

TEST_F(HostilePackage, ARuleDoesNotReplaceARepositoryByAFolderOfOurs) {
  write("mirror/github.com/x/y/lib.star", "TEXT = \"theirs\"\n");
  const auto with_rule = [&](const std::string& folder) {
    return tried(import("github.com/x/y/lib.star"),
                 cat("replace:\n  github.com/x/y: ", folder, "\n"));
  };
  EXPECT_EQ(with_rule(at("secret")), "RR");
  EXPECT_EQ(results_.back(), "theirs");
  EXPECT_EQ(with_rule("../../../../secret"), "SS") << "the same is printed";
  // Nor does one of a package that is imported.
  write("mirror/github.com/x/z/kurtosis.yml",
        cat("name: github.com/x/z\nreplace:\n  github.com/x/y: ", at("secret"), "\n"));
  write("mirror/github.com/x/z/lib.star",
        "TEXT = import_module(\"github.com/x/y/lib.star\").TEXT\n");
  EXPECT_EQ(tried(import("github.com/x/z/lib.star")), "SS");
}

TEST_F(HostilePackage, ALocatorNamesNothingButARepository) {
  for (const char* locator :
       {"github.com/../../secret/lib.star", "github.com/x/../../../secret/lib.star",
        "github.com/--upload-pack=touch /x/lib.star", "github.com/x/y@--upload-pack=touch/lib.star",
        "github.com/x/y@../../../secret/lib.star", "github.com/x%2f../y/lib.star",
        "github.com/x\\ny/z/lib.star"})
    EXPECT_EQ(tried(import(locator)).find("RR"), std::string::npos) << locator;
}

TEST_F(HostilePackage, TemplatesWriteAndReadNothingOutside) {
  const auto render = [](const std::string& path, const std::string& text) {
    return cat("  plan.render_templates({\"", path, "\": struct(template = \"", text,
               "\", data = {})}, name = \"a\")\n");
  };
  for (const char* path : {"../x", "/../x", "a/../../x", "a/b/../../../x"})
    expect_refused(render(path, ""), "leads outside the files artifact");
  expect_refused(render("x", "{{template \\\"/etc/passwd\\\"}}"), "/etc/passwd");
  expect_refused(render("x", "{{readFile \\\"/etc/passwd\\\"}}"), "readFile");
  expect_refused(render("x", "{{env \\\"HOME\\\"}}"), "env");
}

TEST_F(HostilePackage, NamesDoNotLeadOutOfTheStore) {
  for (const char* name : {"../../x", "/etc/x", "a/b", ".x", "-x", "a\\nb", ""})
    EXPECT_EQ(
        tried(cat("  plan.render_templates({\"f\": struct(template = \"\", data = {})}, name = \"",
                  name, "\")\n"))
            .find("RR"),
        std::string::npos)
        << name;
  for (const char* name : {"../x", "a/../../x", "A", "a\\nb", "a b"})
    expect_refused(cat("  plan.add_service(\"", name, "\", ServiceConfig(image = \"i\"))\n"),
                   "must follow RFC 1035");
  for (const char* key : {"../x", "/x", "a/b"})
    expect_refused(cat("  plan.add_service(\"s\", ServiceConfig(image = \"i\", files = {\"/x\": "
                       "Directory(persistent_key = \"",
                       key, "\")}))\n"),
                   "is invalid");
}

TEST_F(HostilePackage, WhatReachesBeyondTheContainerHasToBeAllowed) {
  for (const char* wish :
       {"privileged = True", "bind_mounts = {\"/var/run/docker.sock\": \"/s\"}",
        "host_pid_namespace = True", "devices = [\"/dev/sda\"]", "capabilities = [\"SYS_ADMIN\"]"})
    expect_refused(cat("  plan.add_service(\"s\", ServiceConfig(image = \"i\", ", wish, "))\n"),
                   "allow it with `--privileged`");
  request_.allows_privileged = true;
  expect_refused(
      "  plan.add_service(\"s\", ServiceConfig(image = \"i\", bind_mounts = {\"/etc\": "
      "\"/e\"}))\n",
      "requests a mount of `/etc` of this machine");
}

TEST_F(HostilePackage, AStoredPathIsOneOfTheContainer) {
  // What is outside of a container has no path in it; this one is refused before it is asked for.
  for (const char* path : {"relative/x", "../../etc/shadow"})
    EXPECT_NE(tried(cat("  plan.add_service(\"s\", ServiceConfig(image = \"i\"))\n",
                        "  plan.store_service_files(\"s\", \"", path, "\", name = \"a\")\n"))
                  .find("is not absolute"),
              std::string::npos)
        << path;
}

}  // namespace
}  // namespace fettle
