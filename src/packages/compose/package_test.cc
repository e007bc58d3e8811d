/// Compose files as packages: found, imported, and told by their own lines.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "packages/interpret.h"

namespace fettle {
namespace {

class ComposePackage : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const Path path = folder_->path() / name;
    ASSERT_TRUE(make_directories(path.parent_path()));
    ASSERT_TRUE(write_file(path.string(), text));
  }
  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }

  Result<Package> interpret(Result<Sources> sources, compose::ProjectRequest given = {}) {
    if (!sources)
      return sources.error();
    PackageOptions options;
    options.draft.environment = "e";
    options.draft.owner = sources->owner();
    options.draft.digest_of = [](const std::string& path) -> Result<std::string> {
      return "digest of " + path;
    };
    options.main_file = sources->main_file();
    options.compose = std::move(given);
    return interpret_package(*sources, options, {});
  }

  /// Each statement with its place in a file of the folder.
  std::string told(const Result<Package>& package) const {
    if (!package)
      return replace_all(to_string(package.error()), folder_->path().string() + "/", "");
    std::string text;
    for (const Statement& statement : *package->statements)
      text += cat(statement.name, " ",
                  replace_all(statement.origin.view(), folder_->path().string() + "/", ""), "\n");
    for (const Error& finding : package->findings)
      text += cat(replace_all(to_string(finding), folder_->path().string() + "/", ""), "\n");
    return text;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
};

TEST_F(ComposePackage, AFolderWithAComposeFileIsOne) {
  write("p/compose.yml", "services:\n  b: {image: b, volumes: ['./x:/x']}\n  a: {image: a}\n");
  write("p/x/y", "y");
  EXPECT_EQ(told(interpret(Sources::of_folder(at("p")))),
            "add_service p/compose.yml:3:3\nupload_files p/compose.yml:2:3\n"
            "add_service p/compose.yml:2:3\n");
}

TEST_F(ComposePackage, APackageFileCountsBeforeIt) {
  write("p/compose.yml", "services: {a: {image: a}}\n");
  write("p/kurtosis.yml", "name: github.com/a/b\n");
  write("p/main.star", "def run(plan):\n    plan.print(\"main\")\n");
  EXPECT_EQ(told(interpret(Sources::of_folder(at("p")))), "print p/main.star:2:15\n");
}

TEST_F(ComposePackage, TheOverrideBesideItCounts) {
  write("p/docker-compose.yml", "services: {a: {image: a}}\n");
  write("p/docker-compose.override.yml", "services:\n  b: {image: b}\n");
  compose::ProjectRequest given;
  given.takes_override = true;
  EXPECT_EQ(told(interpret(Sources::of_folder(at("p")), given)),
            "add_service p/docker-compose.yml:1:12\n"
            "add_service p/docker-compose.override.yml:2:3\n");
}

TEST_F(ComposePackage, OneIsImportedLikeAModule) {
  write("p/kurtosis.yml", "name: github.com/a/b\n");
  write("p/main.star",
        "stack = import_module(\"./stack/compose.yml\")\n\ndef run(plan):\n    stack.run(plan)\n");
  write("p/stack/compose.yml", "services:\n  a: {image: a, volumes: ['./f:/f']}\n");
  write("p/stack/f/g", "g");
  const Result<Package> package = interpret(Sources::of_folder(at("p")));
  EXPECT_EQ(told(package),
            "upload_files p/stack/compose.yml:2:3\nadd_service p/stack/compose.yml:2:3\n");
  ASSERT_TRUE(package);
  EXPECT_EQ(package->uploads.begin()->second, at("p/stack/f"));
}

TEST_F(ComposePackage, FindingsStandAtTheirService) {
  write("p/compose.yml", "services:\n\n  1st: {image: a}\n");
  EXPECT_TRUE(told(interpret(Sources::of_folder(at("p"))))
                  .ends_with("p/compose.yml:3:3: service name `1st` is invalid: it must follow RFC "
                             "1035: lower case letters, digits and `-`, a letter first, a letter "
                             "or digit last, at most 63 characters\n"));
  write("p/compose.yml",
        "services:\n  a:\n    image: a\n    deploy: {resources: {limits: "
        "{cpus: '1'}, reservations: {cpus: '2'}}}\n");
  EXPECT_NE(told(interpret(Sources::of_folder(at("p")))).find("p/compose.yml:2:3: "),
            std::string::npos);
}

TEST_F(ComposePackage, OneOfSomebodyElseIsReadFromItsRepositoryAlone) {
  write("mirror/github.com/a/b/sub/compose.yml",
        "services:\n  a: {image: 'a:${TAG:-none}', volumes: ['../shared:/x', '../../out:/y']}\n");
  write("mirror/github.com/a/b/shared/x", "x");
  write("mirror/github.com/a/out/x", "x");
  const Result<Package> package =
      interpret(Sources::of_locator("github.com/a/b/sub", at("mirror"), {}));
  ASSERT_TRUE(package) << to_string(package.error());
  ASSERT_EQ(package->images.size(), 1u);
  EXPECT_EQ(package->images[0], "a:none");
  ASSERT_EQ(package->uploads.size(), 1u);
  EXPECT_EQ(package->uploads.begin()->second, at("mirror/github.com/a/b/shared"));
  ASSERT_EQ(package->warnings.size(), 1u);
  EXPECT_NE(package->warnings[0].find("`../../out` is not mounted"), std::string::npos);
}

}  // namespace
}  // namespace fettle
