#include "model/compile.h"

#include "base/text.h"
#include "model/declare/declarer.h"
#include "model/declare/precedence.h"
#include "model/evaluate/machine.h"
#include "model/load/load.h"
#include "model/model.h"
#include "model/plugins/python.h"
#include "model/resolve/resolve.h"

namespace fettle::model {
namespace {

std::vector<Failure> in_order(std::vector<Failure> failures) {
  std::stable_sort(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) {
    const int first = a.order(), second = b.order();
    return std::tie(first, a.error.where.file, a.error.where.line) <
           std::tie(second, b.error.where.file, b.error.where.line);
  });
  return failures;
}

/// The message of each error is its whole trace; what helps stands below the excerpt.
std::vector<Error> traced(std::vector<Failure> failures) {
  failures = in_order(std::move(failures));
  std::vector<Error> errors;
  for (Failure& failure : failures) {
    failure.error.message = trace_of(failure, 0);
    if (!failure.meant.empty())
      failure.error.excerpt += cat("\n  did you mean `", failure.meant, "`?");
    if (!failure.explanation.empty())
      failure.error.excerpt += cat("\n  ", replace_all(failure.explanation, "\n", "\n  "));
    errors.push_back(std::move(failure.error));
  }
  return errors;
}

CompileResult compile_text(const std::string& name, const std::string& text, const Project* project,
                           const CompileOptions& options) {
  CompileResult compiled;
  compiled.model = std::make_shared<Model>();
  Program& program = compiled.model->program;
  program.budget = std::make_shared<Budget>(Budget::Limits{
      options.most_steps, options.most_memory == 0 ? Budget::default_bytes() : options.most_memory,
      options.cancelled});
  const Budget::Scope scope(*program.budget);
  program.facts = options.facts;
  program.environment =
      options.environment.empty() && project != nullptr ? project->name : options.environment;
  program.plugin_time_limit = options.plugin_time_limit;
  program.home = options.home;
  python_of(program).print_with(options.print);
  program.warn = options.warn;
  program.match_elsewhere = [&program](std::string_view pattern, std::string_view in) {
    return python_of(program).matches(pattern, in, program.plugin_time_limit);
  };
  if (project != nullptr)
    program.module_path = project->module_path;
  program.is_for_version = options.is_for_version;
  // The work of reading and declaring is in proportion to the text. Whether it was too much is
  // checked between the phases.
  const auto is_over = [&](std::vector<Failure>& told) {
    if (program.budget->is_over())
      told = {too_much(program)};
    return !told.empty();
  };
  std::vector<Failure> failures = load(program, name, text, project, options.warn);
  if (!is_over(failures))
    failures = declare(program);
  if (!is_over(failures))
    resolve_program(program, options.warn, failures);
  if (!is_over(failures) && project != nullptr)
    if (const Status ranked = rank_relations(program, *project); !ranked)
      failures.push_back({ranked.error(), Importance::first});
  compiled.model->machine =
      std::make_unique<Machine>(program, options.print ? options.print : [](std::string_view) {});
  if (!is_over(failures)) {
    failures = compiled.model->machine->run();
    compiled.instance_count = compiled.model->instances().size();
  }
  // If the compile has failed, they are called, too, but why it failed says more.
  for (const std::string& wrong : python_of(program).finalize(options.plugin_time_limit))
    if (failures.empty())
      failures.push_back({world_error(wrong), Importance::first});
  compiled.errors = traced(std::move(failures));
  return compiled;
}

}  // namespace

CompileResult compile(const std::string& file_name, const std::string& text,
                      const CompileOptions& options) {
  return compile_text(file_name, text, nullptr, options);
}

CompileResult compile(const Project& project, const CompileOptions& options) {
  const Result<std::string> text = read_file(project.main);
  if (text)
    return compile_text(project.main_name, *text, &project, options);
  CompileResult failed;
  failed.model = std::make_shared<Model>();
  failed.model->machine = std::make_unique<Machine>(failed.model->program, [](std::string_view) {});
  failed.errors.push_back(text.error());
  return failed;
}

}  // namespace fettle::model
