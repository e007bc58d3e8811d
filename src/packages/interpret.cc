#include "packages/interpret.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "packages/arguments.h"
#include "packages/canonical.h"
#include "packages/instructions/instruction.h"
#include "packages/service_config.h"
#include "packages/types.h"
#include "value/json.h"

namespace fettle {
namespace {

/// Why an argument has a name that nobody gave it.
std::string_view hint_of_yaml(std::string_view name) {
  return name == "true" || name == "false"
             ? " (in YAML an unquoted `y`, `n`, `yes`, `no`, `on` or `off` is true or false: put "
               "such a name in quotes)"
             : "";
}

constexpr std::string_view no_yaml =
    "; there is no `yaml` in packages: arguments in YAML arrive as values, and `json.decode` reads "
    "JSON";

/// A replacement for Python's `import` and for modules that are often imported.
std::string hint_of_import(const Error& error, const std::string& text) {
  const bool is_unknown_yaml = error.message.ends_with("undefined: yaml");
  if (is_unknown_yaml)
    return std::string(no_yaml);
  if (error.message.find("got illegal token") == std::string::npos || error.where.line < 1)
    return {};
  size_t begin = 0;
  for (int line = 1; line < error.where.line && begin != std::string::npos; ++line)
    begin = text.find('\n', begin) + 1;
  const std::string_view line =
      trim(std::string_view(text).substr(begin, text.find('\n', begin) - begin));
  if (!line.starts_with("import ") && !line.starts_with("from "))
    return {};
  if (line.find("yaml") != line.npos)
    return std::string(no_yaml);
  return "; Starlark has no `import`: a package takes in a file with "
         "`import_module(\"FILE.star\")`, "
         "and `json`, `math` and `time` are there";
}

std::string_view without_heading(std::string_view message) {
  constexpr std::string_view heading = "invalid JSON: ";
  return message.starts_with(heading) ? message.substr(heading.size()) : message;
}

using starlark::Call;
using starlark::NamedValue;

/// One interpretation: the session, its modules and the draft that they write.
class Interpreter {
 public:
  Interpreter(Sources& sources, const PackageOptions& options, const Known& known)
      : sources_(sources),
        options_(options),
        draft_(options.draft, known),
        session_(starlark::Dialect::of(starlark::Profile::kurtosis),
                 {.steps = options.steps, .memory = options.memory}),
        on_stop_(options.stop, [this] { session_.cancelled = true; }) {}

  Result<Package> run() {
    Result<Package> package = run_main();
    if (!package)
      tell_origin(package.error());
    return package;
  }

 private:
  Result<Package> run_main() {
    predeclare();
    const Locator main = sources_.root(options_.main_file);
    const Result<std::string> place = sources_.path(main);
    if (!place && !place.error().trace.empty())  // it is there and leads outside
      return place.error();
    if (!place)
      return user_error(cat("no `", options_.main_file, "` in `", sources_.folder(),
                            "`: a package needs one at its root", sources_.advice_without_main()));
    const starlark::ModulePtr module = TRY(load(main, nullptr));
    const std::optional<starlark::Value> function = module->get(options_.main_function);
    if (!function || starlark::type_of(*function) != starlark::Type::function)
      return user_error(cat("no function `", options_.main_function, "` in `", display(main),
                            "`, expected `def ", options_.main_function, "(plan, …):`"));
    starlark::Thread thread(session_);
    const starlark::Handle plan(thread, make_plan_object(thread));
    const starlark::Value returned = TRY(call_main(thread, *function, plan));
    return finish(thread, returned);
  }

  std::string display(const Locator& locator) {
    const Result<std::string> place = sources_.path(locator);
    if (!place)
      return locator.path;
    return sources_.shown(*place);
  }

  static std::string name_of(const Locator& locator) {
    return cat(locator.path, locator.ref.empty() ? "" : "@", locator.ref);
  }

  Result<starlark::ModulePtr> load(const Locator& locator, starlark::Thread* from) {
    return modules_.get(name_of(locator), [&]() -> Result<starlark::ModulePtr> {
      std::string shown = display(locator);
      const std::string text = is_compose_path(locator.path)
                                   ? TRY(compose_text(locator, shown, from == nullptr))
                                   : TRY(sources_.read(locator));
      files_[shown] = locator;
      Result<starlark::ModulePtr> module = from == nullptr
                                               ? session_.run(std::move(shown), text)
                                               : session_.run(*from, std::move(shown), text);
      if (!module)
        module.error().message += hint_of_import(module.error(), text);
      return module;
    });
  }

  /// The program of a compose file. Its lines are those of no file, so each is shown as the part of
  /// the project that it stands for.
  Result<std::string> compose_text(const Locator& locator, const std::string& shown, bool is_main) {
    compose::ProjectRequest given = is_main ? options_.compose : compose::ProjectRequest();
    given.allows_privileged = options_.draft.allows_privileged;
    compose::Program program = TRY(sources_.compose(locator, std::move(given)));
    for (std::string& text : program.warnings)
      draft_.warning(std::move(text));
    for (std::string& text : program.hidden)
      draft_.hide(std::move(text));
    origins_[shown] = std::move(program.origins);
    return std::move(program.text);
  }

  Where origin_of(Where where) const {
    const auto found = origins_.find(where.file);
    const auto line = static_cast<size_t>(std::max(where.line, 1)) - 1;
    return found != origins_.end() && line < found->second.size() && found->second[line].line > 0
               ? found->second[line]
               : where;
  }

  void tell_origin(Error& error) const {
    if (!origins_.contains(error.where.file))
      return;
    const Where origin = origin_of(error.where);
    if (origin == error.where)
      return;
    error.where = origin;
    error.excerpt.clear();
    std::erase_if(error.trace, [&](const std::string& step) {
      return std::ranges::any_of(
          origins_, [&](const auto& one) { return step.starts_with(one.first + ":"); });
    });
  }

  /// The file that the innermost Starlark code stands in.
  const Locator& module_of(const starlark::Thread& thread) {
    static const Locator nowhere;
    const auto found = files_.find(thread.position().file);
    return found == files_.end() ? nowhere : found->second;
  }

  void predeclare() {
    types::predeclare(session_);
    const auto declare = [&](std::string_view name, starlark::NativeFunction function) {
      session_.predeclare(name, session_.native(name, std::move(function)));
    };
    declare("import_module", [this](Call& call) { return import_module(call); });
    declare("read_file", [this](Call& call) { return read_file(call); });
    declare("print", [](Call&) -> Result<starlark::Value> {
      return user_error("`print` is not available here, use `plan.print` instead");
    });
    session_.load = [](starlark::Thread&, std::string_view) -> Result<starlark::ModulePtr> {
      return user_error("`load` is not available here, use `import_module` instead");
    };
    session_.predeclare("kurtosis", session_.heap().module("kurtosis", {}));
  }

  Result<starlark::Value> import_module(Call& call) {
    static const starlark::Signature signature("import_module",
                                               {{"module_file", starlark::Want::text}});
    const std::vector<starlark::Value> given = TRY(signature.bind(call));
    const std::string text(starlark::text_of(given[0]));
    const Result<Locator> locator = sources_.resolve(text, module_of(call.thread));
    if (!locator)
      return user_error(cat("import_module: ", locator.error().message));
    // Large packages import the same few files hundreds of times.
    if (const std::string name = name_of(*locator); !imported_.contains(name)) {
      if (const Result<std::string> place = sources_.path(*locator); !place)
        return user_error(
            cat("import_module: cannot import `", text, "`: ", to_string(place.error())));
      imported_.insert(name);
    }
    const starlark::ModulePtr module = TRY(load(*locator, &call.thread));
    kept_.push_back(module);
    const auto globals = module->globals();
    std::vector<NamedValue> fields;
    for (const auto& [name, value] : globals)
      fields.push_back({name, value});
    return call.thread.heap().module(text, fields);
  }

  Result<starlark::Value> read_file(Call& call) {
    static const starlark::Signature signature("read_file", {{"src", starlark::Want::text}});
    const std::vector<starlark::Value> given = TRY(signature.bind(call));
    const Result<Locator> locator =
        sources_.resolve(starlark::text_of(given[0]), module_of(call.thread));
    if (!locator)
      return user_error(cat("read_file: ", locator.error().message));
    const Result<std::string> text = sources_.read(*locator);
    if (!text)
      return user_error(cat("read_file: ", to_string(text.error())));
    return call.thread.heap().text(*text);
  }

  starlark::Value make_plan_object(starlark::Thread& thread) {
    std::vector<std::string> names;
    for (const Instruction& instruction : instructions())
      names.push_back(instruction.name);
    plan_type_.name = "plan";
    plan_type_.fields = names;
    std::vector<NamedValue> methods;
    for (const Instruction& instruction : instructions()) {
      std::vector<starlark::Parameter> parameters = instruction.parameters;
      parameters.push_back({"description?", starlark::Want::text});
      for (starlark::Parameter& parameter : parameters)
        parameter = types::may_be_none(parameter);
      const auto signature =
          std::make_shared<const starlark::Signature>(instruction.name, std::move(parameters));
      methods.push_back(
          {instruction.name,
           session_.native(instruction.name, [this, signature, &instruction](Call& call) {
             return interpret(instruction, *signature, call);
           })});
    }
    return thread.heap().record(plan_type_, methods);
  }

  /// Interprets one instruction: its arguments, its canonical text and place, and its meaning.
  Result<starlark::Value> interpret(const Instruction& instruction,
                                    const starlark::Signature& signature, Call& call) {
    const std::vector<starlark::Value> given = TRY(signature.bind(call));
    TRY(weigh(call.thread, given));
    const Where where = origin_of(call.thread.position());
    std::vector<Entry> arguments;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].is_unset())
        continue;
      std::string_view name = signature.parameters()[i].name;
      while (name.ends_with('?'))
        name.remove_suffix(1);
      // An argument without a plain form is shown. A limit that is reached ends the text, too.
      const Result<Value> plain = starlark::to_value(call.thread, given[i]);
      arguments.push_back(
          {name, plain ? *plain : Value(TRY(starlark::repr_of(call.thread, given[i])))});
    }
    const Value plain_arguments = Value::dict(std::move(arguments));
    draft_.begin(instruction.name,
                 TRY(canonical_text(call.thread, instruction.name, signature, given)),
                 to_string(where), path_of(call.thread), plain_arguments);
    InstructionCall context{draft_, call.thread, sources_, module_of(call.thread), given};
    Result<starlark::Value> result = instruction.interpret(context);
    if (!result) {
      draft_.abandon();
      return Error(result.error().blame, cat(instruction.name, ": ", to_string(result.error())));
    }
    const std::string_view description = plain_arguments.text_at("description");
    draft_.finish(draft_.references.shown(
        description.empty() ? instruction.describe(draft_.with_artifact_name(plain_arguments))
                            : std::string(description)));
    return result;
  }

  /// Wanted values live outside the interpreter's memory, so they have a limit of their own.
  Status weigh(starlark::Thread& thread, const std::vector<starlark::Value>& given) {
    constexpr uint64_t of_an_instruction = 1024;
    weight_ += of_an_instruction;
    for (const starlark::Value value : given)
      if (!value.is_unset())
        weight_ +=
            TRY(weight_of(thread, value, options_.memory - std::min(options_.memory, weight_)));
    if (weight_ > options_.memory)
      return user_error(
          cat("the plan is larger than ", options_.memory >> 20, " MB, the limit for a package"));
    thread.charge(of_an_instruction / 16);
    return {};
  }

  /// Modules and functions on the way to an instruction: what tells equal ones apart. Lines do not,
  /// nor where the package lies or is looked at from.
  std::string path_of(const starlark::Thread& thread) const {
    std::string path;
    for (const starlark::Frame& frame : thread.stack()) {
      const auto module = files_.find(frame.where.file);
      path += cat(module == files_.end() ? std::string() : module->second.path, ":", frame.function,
                  "/");
    }
    return path;
  }

  Result<starlark::Value> call_main(starlark::Thread& thread, starlark::Value function,
                                    starlark::Value plan) {
    const std::vector<starlark::ParameterInfo> parameters = starlark::parameters_of(function);
    tell_defaults(thread, parameters);
    const std::string json = TRY(arguments_as_json(options_.arguments, options_.arguments_file));
    // Kurtosis: a `run()` that plans nothing is no error.
    if (parameters.empty() && json == "{}")
      return thread.call(function, std::span<const starlark::Value>());
    if (parameters.empty() || parameters[0].name != "plan" || parameters[0].rest ||
        parameters[0].named_rest)
      return user_error(cat("the first parameter of `", options_.main_function,
                            "` must be called `plan`, it is ",
                            parameters.empty() ? "missing" : cat("`", parameters[0].name, "`")));
    const Result<starlark::Value> decoded = thread.heap().json(json);
    if (!decoded)
      return user_error(cat("the arguments cannot be used: ", decoded.error().message),
                        {options_.arguments_file, 0, 0});
    const starlark::Handle arguments(thread, *decoded);
    // Kurtosis: `run(plan, args)` is given everything as one dict.
    if (parameters.size() == 2 && parameters[1].name == "args" && !parameters[1].rest &&
        !parameters[1].named_rest) {
      return thread.call(function, {plan, as_asked(thread, arguments.get())});
    }
    TRY(check_arguments(parameters, arguments));
    std::vector<std::string> names;
    std::vector<starlark::Value> values;
    for (const auto& [key, value] : starlark::entries_of(arguments)) {
      if (starlark::text_of(key) == parser_key)
        continue;
      names.emplace_back(starlark::text_of(key));
      values.push_back(as_asked(thread, value));
    }
    std::vector<NamedValue> named;
    for (size_t i = 0; i < names.size(); ++i)
      named.push_back({names[i], values[i]});
    return thread.call(function, std::vector<starlark::Value>{plan}, named);
  }

  void tell_defaults(starlark::Thread& thread,
                     const std::vector<starlark::ParameterInfo>& parameters) const {
    if (!options_.on_defaults)
      return;
    std::vector<Entry> defaults;
    for (const starlark::ParameterInfo& parameter : parameters)
      if (parameter.otherwise)
        if (auto value = starlark::to_value(thread, *parameter.otherwise))
          defaults.push_back({parameter.name, std::move(*value)});
    options_.on_defaults(Value::dict(std::move(defaults)));
  }

  /// Kurtosis: the key `_kurtosis_parser` of a dict, wherever it stands, asks for it and what is in
  /// it as structs ("struct") or dicts ("dict").
  static starlark::Value as_asked(starlark::Thread& thread, starlark::Value value,
                                  bool as_structures = false) {
    if (starlark::type_of(value) == starlark::Type::list) {
      std::vector<starlark::Value> items;
      for (size_t i = 0; i < starlark::length_of(value); ++i)
        items.push_back(as_asked(thread, starlark::item_of(value, i), as_structures));
      return thread.heap().list(items);
    }
    if (starlark::type_of(value) != starlark::Type::dict)
      return value;
    if (const auto parser = starlark::find_in(value, parser_key))
      as_structures = starlark::type_of(*parser) == starlark::Type::text &&
                      starlark::text_of(*parser) == "struct";
    return as_structures ? structure_of(thread, value) : dict_of(thread, value);
  }

  static starlark::Value dict_of(starlark::Thread& thread, starlark::Value dict) {
    starlark::HeapAccess heap = thread.heap();
    const starlark::Value made = heap.dict();
    for (const auto& [key, value] : starlark::entries_of(dict))
      if (starlark::text_of(key) != parser_key)
        heap.insert(made, key, as_asked(thread, value));
    return made;
  }

  static starlark::Value structure_of(starlark::Thread& thread, starlark::Value dict) {
    std::vector<std::string> names;
    std::vector<starlark::Value> values;
    for (const auto& [key, value] : starlark::entries_of(dict))
      if (starlark::text_of(key) != parser_key) {
        names.emplace_back(starlark::text_of(key));
        values.push_back(as_asked(thread, value, true));
      }
    std::vector<NamedValue> fields;
    for (size_t i = 0; i < names.size(); ++i)
      fields.push_back({names[i], values[i]});
    return thread.heap().structure(fields);
  }

  Status check_arguments(const std::vector<starlark::ParameterInfo>& parameters,
                         starlark::Value arguments) const {
    std::vector<std::string> known, missing;
    bool takes_any = false;
    for (size_t i = 1; i < parameters.size(); ++i) {
      const starlark::ParameterInfo& parameter = parameters[i];
      takes_any |= parameter.named_rest;
      if (parameter.rest || parameter.named_rest)
        continue;
      known.push_back(parameter.name);
      if (!parameter.has_default && !starlark::find_in(arguments, parameter.name))
        missing.push_back(cat("`", parameter.name, "`"));
    }
    if (!missing.empty())
      return user_error(
          cat(missing.size() == 1 ? "the argument " : "the arguments ", join(missing, ", "),
              missing.size() == 1 ? " is missing: `" : " are missing: `", options_.main_function,
              missing.size() == 1 ? "` needs it" : "` needs them"),
          {options_.arguments_file, 0, 0});
    for (const auto& [key, value] : starlark::entries_of(arguments)) {
      const std::string name = starlark::text_of(key);
      if (!takes_any && name != parser_key &&
          std::find(known.begin(), known.end(), name) == known.end())
        return user_error(
            cat("the argument `", name, "` is unknown", hint_of_yaml(name),
                known.empty()                     ? "; the package takes none"
                : suggestion(name, known).empty() ? "; the package takes " + join(known, ", ")
                                                  : suggestion(name, known)),
            {options_.arguments_file, 0, 0});
    }
    return {};
  }

  Result<Package> finish(starlark::Thread& thread, starlark::Value returned) {
    Package package;
    package.has_output = starlark::type_of(returned) != starlark::Type::none;
    if (package.has_output) {
      const std::string json =
          TRY(starlark::to_json(thread, returned).context("what the package returns"));
      const Result<Value> output = read_json(json, {}, Duplicates::last_wins);
      if (!output)
        return user_error(cat("the return value of the package cannot be written as JSON: ",
                              without_heading(output.error().message)));
      package.plain_output = *output;
      package.output = draft_.references.with_holes(package.plain_output);
    }
    for (const Resource& resource : draft_.intent().resources.begin()->second)
      if (resource.key.kind == "image")
        package.images.push_back(resource.key.name.str());
    package.dependencies.assign(sources_.dependencies().begin(), sources_.dependencies().end());
    if (draft_.has_to_repeat())
      package.additions = draft_.additions();
    package.findings = draft_.findings();
    package.warnings = sources_.warnings();
    package.warnings.insert(package.warnings.end(), draft_.warnings().begin(),
                            draft_.warnings().end());
    package.hidden = draft_.hidden();
    package.uploads = std::move(draft_.uploads);
    package.intent = std::make_shared<const Intent>(std::move(draft_.intent()));
    package.statements =
        std::make_shared<const std::vector<Statement>>(std::move(draft_.statements()));
    return package;
  }

  static constexpr std::string_view parser_key = "_kurtosis_parser";

  Sources& sources_;
  const PackageOptions& options_;
  Draft draft_;
  starlark::RecordType plan_type_;
  starlark::Session session_;
  starlark::ModuleCache modules_;
  std::set<std::string> imported_;  ///< what was found, by the names of modules
  std::vector<starlark::ModulePtr> kept_;
  std::map<std::string, Locator> files_;
  std::map<std::string, std::vector<Where>> origins_;  ///< of the lines of compose files
  uint64_t weight_ = 0;                                ///< of all instructions so far
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace

Result<Package> interpret_package(Sources& sources, const PackageOptions& options,
                                  const Known& known) {
  Result<Package> package = Interpreter(sources, options, known).run();
  if (package && !package->additions.empty()) {
    PackageOptions again = options;
    again.draft.additions = package->additions;
    package = Interpreter(sources, again, known).run();
  }
  if (!package && options.stop.stop_requested())
    return cancelled_error();
  // The outermost frame is the call from here, which tells a reader nothing.
  if (!package)
    std::erase(package.error().trace, "<builtin>: in ");
  return package;
}

}  // namespace fettle
