/// Commands that need no workplace.

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "model/compile.h"
#include "packages/locator.h"
#include "starlark/command.h"

namespace fettle {
namespace {

Result<int> version(Face& face) {
  if (face.json)
    print_json(Value::dict({{"version", FETTLE_VERSION}}));
  else
    print(cat("fettle ", FETTLE_VERSION));
  return 0;
}

Result<int> starlark_file(Face& face) {
  return starlark::run_starlark_command(face.parsed.arguments);
}

Result<int> compile(Face& face) { return model::run_compile_command(face.parsed.arguments); }

Result<int> project_init(Face& face) {
  const std::string folder = face.parsed.argument(0, ".");
  std::filesystem::path name = std::filesystem::absolute(folder).lexically_normal();
  if (!name.has_filename())
    name = name.parent_path();
  TRY(model::make_project(folder, name.filename().string()));
  if (face.json)
    print_json(Value::dict({{"folder", folder}}));
  else
    print(cat("made a project in `", folder, "`; `fettle compile` compiles its `main.cf`"));
  return 0;
}

Result<int> package_init(Face& face) {
  namespace fs = std::filesystem;
  const std::string name = face.parsed.argument(0), folder = face.parsed.argument(1, ".");
  TRY(parse_locator(name));
  TRY(make_directories(folder));
  for (const char* file : {"/kurtosis.yml", "/main.star"})
    if (fs::exists(folder + file))
      return user_error(cat("`", folder, file, "` exists already"));
  TRY(write_file(folder + "/kurtosis.yml",
                 cat("name: ", name, "\ndescription: \"\"\nreplace: {}\n")));
  TRY(write_file(folder + "/main.star",
                 "def run(plan, name = \"world\"):\n    plan.print(\"hello \" + name)\n"));
  if (face.json)
    print_json(Value::dict({{"folder", folder}, {"name", name}}));
  else
    print(cat("made `", folder, "/kurtosis.yml` and `", folder, "/main.star`; `fettle run ", folder,
              "` runs it"));
  return 0;
}

}  // namespace

Command starlark_command() {
  return CommandGroup{"engine", {}}.make(
      "starlark", "[FLAGS] FILE", 0, 999, "Runs one Starlark file, or reads lines with `--repl`.",
      {"fettle starlark hello.star", "fettle starlark --profile spec --steps 1000000 hello.star"},
      starlark_file, {}, true);
}
Command compile_command() {
  return CommandGroup{"models", {}}.make(
      "compile", "[-f FILE]", 0, 99,
      "Compiles a model in the `.cf` language and prints what it prints.",
      {"fettle compile", "fettle compile -f main.cf",
       "fettle compile -f examples/networks/main.cf"},
      compile, {}, true);
}
Command project_init_command() {
  return CommandGroup{"models", {}}.make(
      "project init", "[FOLDER]", 0, 1,
      "Makes a project for models: project.yml, main.cf and libs.",
      {"fettle project init shop", "fettle project init"}, project_init);
}
Command version_command() {
  return CommandGroup{"engine", {}}.make("version", "", 0, 0, "Prints the version.",
                                         {"fettle version", "fettle version --output json"},
                                         version);
}
Command package_init_command() {
  return CommandGroup{"packages", {}}.make(
      "package init", "NAME [FOLDER]", 1, 2, "Makes a package: kurtosis.yml and main.star.",
      {"fettle package init github.com/me/shop shop", "fettle package init github.com/me/shop"},
      package_init);
}

}  // namespace fettle
