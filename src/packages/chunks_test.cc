/// Packages as data: `tests/packages/*.star`. Packages are separated by a line `---`; a line
/// `#file NAME` begins another file of the package (a chunk with a `kurtosis.yml` is a package,
/// else a single script). The rest are expectations:
///
///   #arguments TEXT       what the package is given; several are lines of one text
///   #instruction TEXT     the canonical text of each instruction, in order
///   #description TEXT     what people read of each, in order
///   #returns JSON         what `run` returned
///   #image NAME           what it needs, in order
///   #finding "regexp"     of the validation, in order
///   #warning "regexp"     in order
///   #error "regexp"       interpretation fails with this; with several, each has to be found
///
/// The id of a reference is 32 digits of a hash; in expectations it is the name of what is referred
/// to, as in `{{kurtosis:<service/db>:hostname.runtime_value}}`.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "packages/interpret.h"
#include "value/json.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

struct Chunk {
  std::string name;
  std::string text;
};

std::vector<Chunk> chunks() {
  std::vector<Chunk> found;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(FETTLE_SOURCE_DIR "/tests/packages"))
    if (entry.path().extension() == ".star")
      files.insert(entry.path());
  for (const fs::path& path : files) {
    int number = 1;
    std::string text;
    const Result<std::string> content = read_file(path);
    for (const std::string_view line : split(content.value(), '\n')) {
      if (line == "---") {
        found.push_back({cat(path.stem().string(), "_", number++), std::move(text)});
        text.clear();
      } else {
        text += cat(line, "\n");
      }
    }
    found.push_back({cat(path.stem().string(), "_", number), std::move(text)});
  }
  return found;
}

struct Expectation {
  std::map<std::string, std::string> files;
  std::string arguments;
  std::vector<std::string> instructions, descriptions, returns, images, findings, warnings, errors;
};

/// The text between the first and the last quote.
std::string pattern_of(std::string_view text) {
  const size_t begin = text.find('"'), end = text.rfind('"');
  return std::string(text.substr(begin + 1, end - begin - 1));
}

Expectation read_chunk(const std::string& text) {
  Expectation expected;
  std::string file = "main.star";
  const auto take = [&](std::string_view line, std::string_view word,
                        std::vector<std::string>& into) {
    if (!line.starts_with(word))
      return false;
    into.emplace_back(line.substr(word.size()));
    return true;
  };
  std::vector<std::string> names, arguments;
  for (const std::string_view line : split(trim(text), '\n')) {
    if (take(line, "#file ", names)) {
      file = names.back();
      expected.files[file];
    } else if (!take(line, "#arguments ", arguments) &&
               !take(line, "#instruction ", expected.instructions) &&
               !take(line, "#description ", expected.descriptions) &&
               !take(line, "#returns ", expected.returns) &&
               !take(line, "#image ", expected.images) &&
               !take(line, "#finding ", expected.findings) &&
               !take(line, "#warning ", expected.warnings) &&
               !take(line, "#error ", expected.errors)) {
      expected.files[file] += cat(line, "\n");
    }
  }
  expected.arguments = join(arguments, "\n");
  return expected;
}

class PackageFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "fettle-package-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result<Package> interpret(const Expectation& expected) {
    for (const auto& [name, text] : expected.files) {
      fs::create_directories(fs::path(folder_ + "/p/" + name).parent_path());
      std::ofstream(folder_ + "/p/" + name) << text;
    }
    Sources sources =
        TRY(expected.files.contains("kurtosis.yml") ? Sources::of_folder(folder_ + "/p")
                                                    : Sources::of_script(folder_ + "/p/main.star"));
    sources.set_mirror(FETTLE_SOURCE_DIR "/tests/packages/mirror");
    PackageOptions options;
    options.draft.environment = "e";
    options.draft.owner = sources.owner();
    options.draft.digest_of = [](const std::string& path) -> Result<std::string> {
      return "digest of " + path;
    };
    options.draft.packed = [](const BuildContext& context) -> Result<PackedContext> {
      return PackedContext{"digest of " + context.folder().string(), {}};
    };
    options.arguments = expected.arguments;
    return interpret_package(sources, options, {});
  }

  std::string folder_;
};

class PackageChunks : public PackageFolder, public testing::WithParamInterface<Chunk> {};

std::string lines_of(const std::vector<std::string>& lines) { return join(lines, "\n"); }

/// Ids of references replaced by the names of what they refer to.
std::string with_names(std::string text, const Intent& intent) {
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      text = replace_all(
          text, to_string(fingerprint(to_string(resource.key))),
          cat("<", resource.key.kind, "/", split(resource.key.name.view(), '#').front(), ">"));
  return text;
}

void expect_matches(const std::vector<std::string>& seen, const std::vector<std::string>& patterns,
                    const std::string& what) {
  ASSERT_EQ(seen.size(), patterns.size()) << what << "s:\n" << lines_of(seen);
  for (size_t i = 0; i < seen.size(); ++i)
    EXPECT_TRUE(std::regex_search(seen[i], std::regex(pattern_of(patterns[i]))))
        << what << ": " << seen[i] << "\nexpected: " << patterns[i];
}

TEST_P(PackageChunks, DoWhatTheySay) {
  const Expectation expected = read_chunk(GetParam().text);
  const Result<Package> package = interpret(expected);
  if (!package) {
    const std::string message =
        replace_all(cat(to_string(package.error().where), ": ", package.error().message, "\n",
                        package.error().excerpt, "\n", lines_of(package.error().trace)),
                    folder_ + "/", "");
    ASSERT_FALSE(expected.errors.empty()) << message << "\n" << GetParam().text;
    for (const std::string& pattern : expected.errors)
      EXPECT_TRUE(std::regex_search(message, std::regex(pattern_of(pattern))))
          << message << "\nexpected: " << pattern;
    return;
  }
  ASSERT_TRUE(expected.errors.empty()) << "no error in\n" << GetParam().text;
  std::vector<std::string> instructions, descriptions, findings;
  for (const Statement& statement : *package->statements) {
    instructions.push_back(with_names(statement.text.str(), *package->intent));
    descriptions.push_back(description_of(statement));
  }
  for (const Error& finding : package->findings)
    findings.push_back(replace_all(to_string(finding), folder_ + "/", ""));
  EXPECT_EQ(lines_of(instructions), lines_of(expected.instructions)) << GetParam().text;
  if (!expected.descriptions.empty()) {
    EXPECT_EQ(lines_of(descriptions), lines_of(expected.descriptions)) << GetParam().text;
  }
  EXPECT_EQ(
      package->has_output ? with_names(write_json(package->plain_output), *package->intent) : "",
      lines_of(expected.returns));
  if (!expected.images.empty()) {
    EXPECT_EQ(lines_of(package->images), lines_of(expected.images)) << GetParam().text;
  }
  expect_matches(findings, expected.findings, "finding");
  expect_matches(package->warnings, expected.warnings, "warning");
}

TEST_F(PackageFolder, BuildsOfOneFileRunOneAfterAnother) {
  Expectation wanted;
  wanted.files["web/Dockerfile"] = "FROM a AS one\nFROM one\n";
  wanted.files["other/Dockerfile"] = "FROM a\n";
  wanted.files["main.star"] =
      "def run(plan):\n"
      "  for name, folder, stage in [(\"x\", \"./web\", \"one\"), (\"y\", \"./web\", \"\"), "
      "(\"z\", \"./other\", \"\")]:\n"
      "    plan.run_sh(\"ls\", image = ImageBuildSpec(image_name = name, "
      "build_context_dir = folder, target_stage = stage))\n";
  const Result<Package> package = interpret(wanted);
  ASSERT_TRUE(package) << to_string(package.error());
  std::map<std::string, Name> pools;
  for (const auto& [set, resources] : package->intent->resources)
    for (const Resource& resource : resources)
      if (resource.key.kind == "build")
        pools[resource.key.name.str()] = resource.pool;
  ASSERT_EQ(pools.size(), 3u);
  EXPECT_EQ(pools["x"], pools["y"]);
  EXPECT_NE(pools["x"], pools["z"]);
  EXPECT_EQ(package->intent->pools.at(pools["x"]), 1);
}

TEST_F(PackageFolder, AFlakeNeedsNixAndItsFile) {
  Expectation wanted;
  wanted.files["web/page"] = "x";
  wanted.files["main.star"] =
      "def run(plan):\n"
      "  plan.run_sh(\"ls\", image = NixBuildSpec(image_name = \"made\", build_context_dir = "
      "\"./web\", "
      "flake_location_dir = \".\"))\n";
  const Result<Package> package = interpret(wanted);
  ASSERT_TRUE(package) << to_string(package.error());
  ASSERT_EQ(package->findings.size(), 1u);
  const std::string said = to_string(package->findings[0]);
  EXPECT_NE(said.find("main.star:2:14: cannot build `made`: "), std::string::npos) << said;
  const bool has_nix = !find_program("nix").empty();
  EXPECT_NE(said.find(has_nix ? "`flake.nix`" : "install it, or build the image beforehand"),
            std::string::npos)
      << said;
}

INSTANTIATE_TEST_SUITE_P(Packages, PackageChunks, testing::ValuesIn(chunks()),
                         [](const auto& chunk) { return chunk.param.name; });

}  // namespace
}  // namespace fettle
