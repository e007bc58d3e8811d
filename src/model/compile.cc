#include "model/compile.h"

#include <iostream>

#include "base/file.h"
#include "base/text.h"
#include "model/machine.h"
#include "model/std/source.h"

namespace fettle::model {
namespace {

void add_source(Program& program, std::string_view space, std::string name, std::string text,
                const CompileOptions& options, std::vector<Failure>& failures) {
  SourceFile& file = program.files.emplace_back(SourceFile{std::move(name), std::move(text)});
  Space& made = program.spaces.emplace_back();
  made.name = space;
  made.id = static_cast<uint32_t>(program.spaces.size() - 1);
  const Warn warn = [&](Place at, const std::string& message) {
    if (options.warn)
      options.warn(program.error_at(at, message));
  };
  Result<Unit> unit = parse(file.name, file.text, static_cast<uint32_t>(program.files.size() - 1),
                            program.arena, program.symbols, warn);
  if (unit)
    made.unit = *unit;
  else
    failures.push_back({unit.error(), 0});
}

std::vector<Error> in_order(std::vector<Failure> failures) {
  std::stable_sort(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) {
    return std::tie(a.rank, a.error.where.file, a.error.where.line) <
           std::tie(b.rank, b.error.where.file, b.error.where.line);
  });
  std::vector<Error> errors;
  for (Failure& failure : failures)
    errors.push_back(std::move(failure.error));
  return errors;
}

}  // namespace

Compiled compile(const std::string& file_name, const std::string& text,
                 const CompileOptions& options) {
  Compiled compiled;
  Program program;
  std::vector<Failure> failures;
  add_source(program, "std", "std", std::string(std_source()), options, failures);
  add_source(program, "__config__", file_name, text, options, failures);
  if (failures.empty())
    failures = declare(program);
  if (failures.empty())
    resolve_program(program, failures);
  if (failures.empty()) {
    Machine machine(program, options.print ? options.print : [](std::string_view) {});
    failures = machine.run();
    compiled.instance_count = machine.instance_count();
  }
  compiled.errors = in_order(std::move(failures));
  return compiled;
}

int run_compile_command(std::span<const std::string> arguments) {
  if (arguments.size() != 2 || arguments[0] != "-f") {
    std::cerr << "usage: fettle compile -f FILE\n";
    return 2;
  }
  const Result<std::string> text = read_file(arguments[1]);
  if (!text) {
    std::cerr << to_string(text.error()) << "\n";
    return 2;
  }
  CompileOptions options;
  options.print = [](std::string_view line) { std::cout << line << "\n"; };
  options.warn = [](const Error& warning) {
    std::cerr << "warning: " << to_string(warning) << "\n";
  };
  const Compiled compiled = compile(arguments[1], *text, options);
  std::cout.flush();
  if (compiled.errors.size() > 1)
    std::cerr << "Reported " << compiled.errors.size() << " errors\n";
  for (const Error& error : compiled.errors)
    std::cerr << to_string(error) << "\n" << error.excerpt << (error.excerpt.empty() ? "" : "\n");
  return compiled.errors.empty() ? 0 : 2;
}

}  // namespace fettle::model
