/// Commands that need no workplace.

#include <filesystem>

#include "base/file.h"
#include "base/kept.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/compile_limits.h"
#include "cli/kurtosis_forms.h"
#include "cli/print.h"
#include "documents/errors.h"
#include "documents/packages.h"
#include "model/compile.h"
#include "model/load/install_modules.h"
#include "packages/locator.h"
#include "packages/names.h"
#include "starlark/command.h"

namespace fettle {
namespace {

Result<int> version(Face& face) {
  const Build build = face.build();
  if (face.json)
    print_json(document_of(build));
  else if (face.is_kurtosis)
    print(kurtosis_version_text(build.version));
  else
    print(cat("fettle ", build.version));
  return 0;
}

Result<int> starlark_file(Face& face) {
  if (!face.json)
    return starlark::run_starlark_command(face.parsed.arguments);
  std::vector<Value> printed;
  std::optional<Error> failed;
  const int code = starlark::run_starlark_command(
      face.parsed.arguments, {[&](std::string_view line) { printed.emplace_back(line); },
                              [&](const Error& error) { failed = error; }});
  if (failed) {
    print_json(document_of(*failed));
    print_error(error_text(*failed, face.terminal));
  } else {
    print_json(printed_document(code == 0, std::move(printed)));
  }
  return code;
}

Result<int> compile(Face& face) {
  model::CompileOptions options;
  TRY(read_limits(face, options));
  const std::string file = face.parsed.text("file");
  const bool tells_json = face.json || face.json_lines;
  std::vector<Value> printed;
  options.print = [&](std::string_view line) {
    if (tells_json)
      printed.emplace_back(line);
    else
      print_as_it_is(line);
  };
  options.warn = [&](const Error& warning) { print_warning(face, to_string(warning)); };
  options.is_for_version = false;
  const model::Project project =
      file.empty() ? TRY(model::project_around(".")) : TRY(model::project_of(file));
  const Activity compiling(face.doing, "compiling");
  const model::CompileResult& compiled = kept_until_exit(model::compile(project, options));
  if (!compiled.errors.empty())
    return report_model_errors(face, compiled.errors);
  if (tells_json)
    print_json(printed_document(true, std::move(printed)));
  return 0;
}

CommandOption image_option() {
  return {{"--image"}, "IMAGE", "the image of its service, with a busybox (default: busybox:1)"};
}

/// The image of the service that a new package or project describes.
Result<std::string> image_of(const Face& face) {
  const std::string image = face.parsed.text("image", "busybox:1");
  if (image.empty() || image.find_first_of("\"\\\n") != image.npos)
    return user_error(cat("`", image, "` is not the name of an image"));
  return image;
}

Result<int> project_init(Face& face) {
  const std::string folder = face.parsed.argument(0, ".");
  std::filesystem::path name = std::filesystem::absolute(folder).lexically_normal();
  if (!name.has_filename())
    name = name.parent_path();
  TRY(model::make_project(folder, environment_name_from(name.string()), TRY(image_of(face))));
  if (face.json)
    print_json(folder_document(folder));
  else if (!face.quiet)
    print(cat("created a project in `", folder, "`; `fettle export --apply` in it deploys it"));
  return 0;
}

Result<int> project_install(Face& face) {
  const model::InstallPlan plan =
      model::plan_install(TRY(model::project_around(face.parsed.argument(0, "."))));
  const ByteSink show = [&](std::string_view bytes) -> Status {
    if (face.json)
      print_error(trim(bytes));
    else if (!face.quiet)
      print_part(bytes);
    return {};
  };
  TRY(model::install_modules(plan, show, {}));
  if (face.json)
    print_json(folder_document(plan.environment.string()));
  else if (plan.arguments.empty() && !face.quiet)
    print("the modules need nothing that is not here");
  return 0;
}

Result<int> package_init(Face& face) {
  namespace fs = std::filesystem;
  const std::string name = face.parsed.argument(0), folder = face.parsed.argument(1, ".");
  TRY(parse_locator(name));
  const std::string image = TRY(image_of(face));
  TRY(make_directories(folder));
  for (const char* file : {"/kurtosis.yml", "/main.star"})
    if (fs::exists(folder + file))
      return user_error(cat("`", folder, file, "` already exists"));
  TRY(write_file(folder + "/kurtosis.yml",
                 cat("name: ", name, "\ndescription: \"\"\nreplace: {}\n")));
  TRY(write_file(folder + "/main.star", cat(R"(def run(plan, greeting = "hello"):
    page = plan.render_templates(name = "page", config = {
        "index.html": struct(template = "{{ .Greeting }}, world\n", data = {"Greeting": greeting}),
    })
    plan.add_service("web", ServiceConfig(
        image = ")",
                                            image, R"(",
        cmd = ["httpd", "-f", "-p", "80", "-h", "/www"],
        ports = {"http": PortSpec(number = 80, application_protocol = "http")},
        files = {"/www": page},
    ))
)")));
  if (face.json)
    print_json(folder_document(folder, name));
  else if (!face.quiet)
    print(cat("created `", folder, "/kurtosis.yml` and `", folder, "/main.star`; `fettle run ",
              quoted_for_shell(folder), "` runs it"));
  return 0;
}

}  // namespace

Command starlark_command() {
  return CommandGroup{"packages", {}, CommandPlace::here}.reader(
      "starlark", "[FLAGS] FILE", 0, 999,
      "Runs a Starlark file, or starts a session with `--repl`.",
      {"fettle starlark hello.star", "fettle starlark --profile spec --steps 1000000 hello.star"},
      starlark_file, {}, true);
}
Command compile_command() {
  return CommandGroup{"models", compile_limit_options(), CommandPlace::here}.reader(
      "compile", "", 0, 0, "Compiles a model in the `.cf` language and shows its output.",
      {"fettle compile", "fettle compile -f main.cf",
       "fettle compile -f examples/networks/main.cf"},
      compile,
      {{{"-f", "--file"},
        "FILE",
        "the main file, - for standard input (default: main.cf of the project)"}});
}
Command project_init_command() {
  return CommandGroup{"models", {}, CommandPlace::here}.make(
      "project init", "[FOLDER]", 0, 1,
      "Creates a project for models: project.yml, main.cf and libs.\n"
      "It describes a file and a container that serves it.",
      {"fettle project init shop", "fettle project init"}, project_init, {image_option()});
}
Command project_install_command() {
  return CommandGroup{"models", {}, CommandPlace::here}.make(
      "project install", "[FOLDER]", 0, 1,
      "Installs what the modules of a project need in its Python environment.\n"
      "That is the active one, else `.env`, which it makes. It runs pip and is the only command\n"
      "that fetches modules.",
      {"fettle project install", "fettle project install shop"}, project_install, {});
}
Command version_command() {
  return CommandGroup{"help", {}, CommandPlace::here}.reader(
      "version", "", 0, 0, "Prints the version.",
      {"fettle version", "fettle version --output json"}, version);
}
Command package_init_command() {
  return CommandGroup{"packages", {}, CommandPlace::here}.make(
      "package init", "NAME [FOLDER]", 1, 2,
      "Creates a package with a service: kurtosis.yml and main.star.",
      {"fettle package init github.com/me/shop shop", "fettle package init github.com/me/shop"},
      package_init, {image_option()});
}

}  // namespace fettle
