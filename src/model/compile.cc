#include "model/compile.h"

#include <iostream>

#include "base/file.h"
#include "base/text.h"
#include "model/machine.h"

namespace fettle::model {
namespace {

constexpr std::string_view std_source = R"std(
typedef non_empty_string as string matching /.*\S.*$/
typedef positive_int as int matching self > 0
typedef negative_int as int matching self < 0
typedef positive_float as float matching self > 0
typedef negative_float as float matching self < 0
typedef alfanum as string matching /^[a-zA-Z0-9]+$/
typedef ascii_word as string matching /^[!-~]*$/
typedef printable_ascii as string matching /^[ -~]*$/
typedef port as int matching self >= 0 and self <= 65535
typedef hoststring as string matching /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/
typedef config_agent as string matching self != "internal"
entity Entity:
end
Entity.requires [0:] -- Entity.provides [0:]
implementation none for Entity:
end
entity Resource:
    bool send_event = true
    bool receive_events = true
    bool report_only = false
end
entity PurgeableResource extends Resource:
    bool purged = false
    bool purge_on_delete = false
end
entity ManagedResource extends Resource:
    bool managed = true
end
entity DiscoveryResource extends Resource:
end
entity ManagedDevice:
    string name
end
entity Dataclass:
end
entity ResourceSet:
    non_empty_string name
end
ResourceSet.resources [0:] -- Resource
index ResourceSet(name)
implement ResourceSet using none
entity AgentConfig extends PurgeableResource:
    string agentname
    bool autostart = false
    string agent = "internal"
    string uri = "local:"
end
index AgentConfig(agentname)
implement AgentConfig using none
entity OS:
    string name
    float version = 0.0
    string? family = null
end
entity Host extends ManagedDevice:
    string? ip = null
    string remote_agent = ""
    string remote_user = "root"
    int remote_port = 22
end
Host.os [1] -- OS
index Host(name)
implement OS using none
implement Host using none
entity MutableString:
    string? value
end
entity MutableInt:
    int? value
end
entity MutableFloat:
    float? value
end
entity MutableBool:
    bool? value
end
implement MutableString using none
implement MutableInt using none
implement MutableFloat using none
implement MutableBool using none
)std";

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
  add_source(program, "std", "std", std::string(std_source), options, failures);
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
