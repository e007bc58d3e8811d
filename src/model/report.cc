/// The face of the compiler: errors as text, and the command.

#include <iostream>

#include "base/text.h"
#include "model/compile.h"

namespace fettle::model {
namespace {

std::string place_and_excerpt(const Error& error) {
  return cat(to_string(error.where), "\n", error.excerpt, error.excerpt.empty() ? "" : "\n");
}

}  // namespace

std::string trace_of(std::span<const Error> errors) {
  if (errors.size() == 1)
    return cat(errors[0].message, "\n");
  std::string made;
  if (!errors.empty())
    made = cat("Reported ", errors.size(), " errors\n");
  for (size_t i = 0; i < errors.size(); ++i)
    made += cat("error ", i, ":\n  ", replace_all(errors[i].message, "\n", "\n  "), "\n");
  return made;
}

std::string report(std::span<const Error> errors) {
  if (errors.size() == 1)
    return cat(to_string(errors[0]), "\n", errors[0].excerpt,
               errors[0].excerpt.empty() ? "" : "\n");
  std::string made = trace_of(errors);
  for (const Error& error : errors)
    made += place_and_excerpt(error);
  return made;
}

int run_compile_command(std::span<const std::string> arguments) {
  if (!arguments.empty() && (arguments.size() != 2 || arguments[0] != "-f")) {
    std::cerr << "usage: fettle compile [-f FILE]\n";
    return 2;
  }
  const Result<Project> project =
      arguments.empty() ? project_around(".") : project_of(arguments[1]);
  if (!project) {
    std::cerr << to_string(project.error()) << "\n";
    return 2;
  }
  CompileOptions options;
  options.print = [](std::string_view line) { std::cout << line << "\n"; };
  options.warn = [](const Error& warning) {
    std::cerr << "warning: " << to_string(warning) << "\n";
  };
  options.is_for_version = false;
  // The process ends next: nobody waits until a large model is taken apart.
  static const Compiled& compiled = *new Compiled(compile(*project, options));
  std::cout.flush();
  if (compiled.errors.empty())
    return 0;
  std::cerr << report(compiled.errors);
  return 2;
}

}  // namespace fettle::model
