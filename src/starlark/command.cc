#include "starlark/command.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "starlark/eval/vm.h"
#include "starlark/module_loader.h"
#include "starlark/repl.h"
#include "starlark/starlark.h"
#include "starlark/syntax/spelling.h"

namespace fettle::starlark {
namespace {

constexpr const char* usage =
    "usage: fettle starlark [flags] FILE        (`-` is standard input)\n"
    "       fettle starlark [flags] -c PROGRAM\n"
    "       fettle starlark [flags] --repl\n"
    "\n"
    "  --profile spec|go|kurtosis  the dialect (go)\n"
    "  --recursion                 functions may call themselves; also allows `while`\n"
    "  --globalreassign            globals may be bound again; also allows control flow at top "
    "level\n"
    "  --set                       the type `set` exists\n"
    "  --steps N                   end the program after N steps (no limit)\n"
    "  --memory BYTES              end the program beyond that memory (1 GB)\n"
    "  --collect-always            collect garbage at every safe point (to test the interpreter)\n";

struct Settings {
  Dialect dialect = Dialect::of(Profile::go);
  Limits limits;
  std::string file;
  std::string program;
  bool has_program = false;
  bool repl = false;
  bool help = false;
  bool recursion = false;
  bool global_reassign = false;
  bool set = false;
  bool collect_always = false;
};

constexpr std::string_view flags[] = {"--profile", "--recursion",      "--globalreassign",
                                      "--set",     "--steps",          "--memory",
                                      "--repl",    "--collect-always", "--help"};

std::string unknown_flag(std::string_view flag) {
  const std::string_view near = nearest_name(flag, flags);
  return near.empty() ? cat("unknown flag `", flag, "`")
                      : cat("unknown flag `", flag, "` (did you mean ", near, "?)");
}

bool parse_number(const std::string& text, uint64_t& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size();
}

/// False: it has printed a message.
bool parse_arguments(std::span<const std::string> arguments, Settings& settings,
                     const CommandHooks& hooks) {
  const auto wrong = [&](const std::string& message) {
    if (hooks.failed) {
      hooks.failed(user_error(message));
      return false;
    }
    std::fprintf(stderr, "error: %s\ntry `fettle starlark --help`\n", message.c_str());
    return false;
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string flag = arguments[i];
    if (flag.size() < 2 || flag[0] != '-') {
      if (!settings.file.empty())
        return wrong("more than one file");
      settings.file = flag;
      continue;
    }
    if (flag[1] != '-')
      flag = cat('-', flag);  // one dash is as good as two
    std::string value;
    bool has_value = false;
    if (const size_t equal = flag.find('='); equal != std::string::npos) {
      value = flag.substr(equal + 1);
      flag.resize(equal);
      has_value = true;
    }
    const auto take_value = [&] {
      if (has_value)
        return true;
      if (i + 1 == arguments.size())
        return false;
      value = arguments[++i];
      return true;
    };
    if (flag == "--recursion") {
      settings.recursion = value != "false";
    } else if (flag == "--globalreassign") {
      settings.global_reassign = value != "false";
    } else if (flag == "--set") {
      settings.set = value != "false";
    } else if (flag == "--help" || flag == "--h") {
      settings.help = true;
    } else if (flag == "--repl") {
      settings.repl = true;
    } else if (flag == "--collect-always") {
      settings.collect_always = true;
    } else if (flag == "--c") {
      if (!take_value())
        return wrong("-c needs a program");
      settings.program = value;
      settings.has_program = true;
    } else if (flag == "--profile") {
      if (!take_value())
        return wrong("--profile needs a value");
      if (value == "spec")
        settings.dialect = Dialect::of(Profile::spec);
      else if (value == "go")
        settings.dialect = Dialect::of(Profile::go);
      else if (value == "kurtosis")
        settings.dialect = Dialect::of(Profile::kurtosis);
      else
        return wrong(cat("unknown profile `", value, "`: it is spec, go or kurtosis"));
    } else if (flag == "--steps") {
      if (!take_value() || !parse_number(value, settings.limits.steps))
        return wrong("--steps needs a number");
    } else if (flag == "--memory") {
      if (!take_value() || !parse_number(value, settings.limits.memory))
        return wrong("--memory needs a number of bytes");
    } else {
      return wrong(unknown_flag(arguments[i]));
    }
  }
  // The switches of starlark-go's command.
  Dialect& dialect = settings.dialect;
  dialect.set = dialect.set || settings.set;
  dialect.recursion = settings.recursion;
  dialect.global_reassign = settings.global_reassign;
  dialect.top_level_control = settings.global_reassign;
  dialect.while_loops = settings.global_reassign || settings.recursion;
  const int sources = !settings.file.empty() + settings.has_program + settings.repl;
  if (sources == 0 && !settings.help)
    return wrong("no file given");
  if (sources > 1)
    return wrong("only one of FILE, -c and --repl can be given");
  return true;
}

/// A line to stderr; the text may hold any bytes.
void tell(std::string line) {
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void report(const Error& error, bool before_running) {
  if (before_running) {
    if (error.trace.size() > 1) {
      for (const std::string& problem : error.trace)
        tell(problem);
    } else {
      tell(cat(to_string(error.where), ": ", error.message));
    }
    if (!error.excerpt.empty())
      tell(error.excerpt);
    return;
  }
  // A native function at the end is not a line of the trace; the error names it.
  constexpr std::string_view native = "<builtin>: in ";
  size_t innermost = 0;
  std::string in;
  if (!error.trace.empty() && error.trace[0].starts_with(native)) {
    in = cat(" in ", error.trace[0].substr(native.size()));
    innermost = 1;
  }
  if (error.trace.size() > innermost) {
    std::fputs("Traceback (most recent call last):\n", stderr);
    for (size_t i = error.trace.size(); i-- > innermost;)
      tell(cat("  ", error.trace[i]));
  }
  tell(cat("Error", in, ": ", error.message));
  if (!error.excerpt.empty())
    tell(error.excerpt);
}

/// The flag that allows more, for a program that a limit has ended.
std::string_view flag_that_allows_more(const Session& session) {
  const Budget& budget = *session.state().budget;
  return !budget.is_used_up()       ? ""
         : budget.steps_left() == 0 ? " (`--steps` allows more)"
                                    : " (`--memory` allows more)";
}

std::optional<std::string> read_source(const std::string& path) {
  Result<std::string> text = read_file(path);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

}  // namespace

int run_starlark_command(std::span<const std::string> arguments, const CommandHooks& hooks) {
  Settings settings;
  if (!parse_arguments(arguments, settings, hooks))
    return 2;
  if (settings.help) {
    std::fputs(usage, stdout);
    return 0;
  }
  Session session(settings.dialect, settings.limits);
  session.collect_always = settings.collect_always;
  ModuleLoader loader(session, read_source);
  session.load = [&](Thread& thread, std::string_view name) { return loader.load(thread, name); };
  if (hooks.print)
    session.print = [&](Thread&, std::string_view line) { hooks.print(line); };
  if (settings.dialect.profile != Profile::kurtosis)
    session.now = now_from_clock;
  if (settings.repl)
    return run_repl(session, report);
  const bool from_input = settings.file == "-";
  const std::string name = settings.has_program ? "cmdline"
                           : from_input         ? "<stdin>"
                                                : settings.file;
  const Result<std::string> text = settings.has_program
                                       ? settings.program
                                       : read_file(from_input ? "/dev/stdin" : settings.file);
  if (!text && hooks.failed) {
    hooks.failed(user_error(text.error().message));
    return 2;
  }
  if (!text) {
    std::fprintf(stderr, "error: %s\n", text.error().message.c_str());
    return 2;
  }
  loader.prefetch(name, *text, std::thread::hardware_concurrency());
  Result<ModulePtr> module = session.run(name, *text);
  if (module)
    return 0;
  module.error().message += flag_that_allows_more(session);
  const bool before_running = session.failed_before_running();
  if (hooks.failed)
    hooks.failed(module.error());
  else
    report(module.error(), before_running);
  return before_running ? 2 : 1;
}

}  // namespace fettle::starlark
