/// Prints errors as text, and has the compiler's command.

#include <charconv>
#include <iostream>
#include <optional>

#include "base/kept.h"
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

namespace {

/// Reads the number behind `--steps` or `--memory`.
bool read_limit(std::string_view text, uint64_t& limit) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), limit);
  return problem == std::errc() && end == text.data() + text.size() && limit > 0;
}

}  // namespace

int run_compile_command(std::span<const std::string> arguments) {
  CompileOptions options;
  std::optional<std::string> file;
  bool is_understood = arguments.size() % 2 == 0;
  for (size_t i = 0; i + 1 < arguments.size() && is_understood; i += 2) {
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "-f" && !file)
      file = value;
    else if (arguments[i] == "--steps")
      is_understood = read_limit(value, options.most_steps);
    else if (arguments[i] == "--memory")
      is_understood = read_limit(value, options.most_memory);
    else
      is_understood = false;
  }
  if (!is_understood) {
    std::cerr << "usage: fettle compile [-f FILE] [--steps N] [--memory BYTES]\n";
    return 2;
  }
  const Result<Project> project = file ? project_of(*file) : project_around(".");
  if (!project) {
    std::cerr << to_string(project.error()) << "\n";
    return 2;
  }
  options.print = [](std::string_view line) { std::cout << line << "\n"; };
  options.warn = [](const Error& warning) {
    std::cerr << "warning: " << to_string(warning) << "\n";
  };
  options.is_for_version = false;
  const CompileResult& compiled = kept_until_exit(compile(*project, options));
  std::cout.flush();
  if (compiled.errors.empty())
    return 0;
  std::cerr << report(compiled.errors);
  return 2;
}

}  // namespace fettle::model
