#pragma once
/// The Python of a project's modules, in one process: plugins, and what else modules define.
///
/// The process is started when something is asked of it for the first time, in the environment of
/// the project, and kept until the compile ends. It loads a module when a call names one of its
/// plugins. If it ends, an error says so, and the next request starts another one, which loads what
/// it needs again.
///
/// `python/fettle_models/values.py` has the form of values; `python/fettle_models/serve.py` has the
/// table of requests.

#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "model/evaluate/plugin.h"
#include "programs/program.h"
#include "programs/python.h"

namespace fettle::model {

class Python {
 public:
  /// Nothing is started yet.
  explicit Python(Program& program);
  Program& program() const { return program_; }
  ~Python();

  /// Whether a module has files of Python.
  static bool is_in(const Path& plugins);

  using Responder = std::function<Result<Value>(const Value& asked)>;
  using Printer = std::function<void(std::string_view line)>;
  /// Who gets what is printed for a request that names nobody.
  void print_with(Printer print) { print_ = std::move(print); }
  void print(std::string_view line) const {
    if (print_)
      print_(line);
  }
  /// The answer to a request, a dict. Errors (`Blame::world`): there is no interpreter, the process
  /// ended or took too long, or it answered `error`, with its trace as the excerpt.
  Result<Value> ask(Value request, Duration time_limit, Responder on_ask = {},
                    Printer on_print = {});

  /// Whether a pattern matches from the start of a text.
  Result<bool> matches(std::string_view pattern, std::string_view text, Duration time_limit);

  /// Calls what modules have registered for the end of the compile. Returns what went wrong.
  std::vector<std::string> finalize(Duration time_limit);

  /// The environment of the process. Empty until something was asked.
  const PythonEnvironment& environment() const { return environment_; }

  /// What a module has: `plugins`, and `problem` if it cannot be loaded. Asked once.
  const Result<Value>& module(const std::string& name, Duration time_limit);

  /// The entity of a full name. Null: there is none.
  Entity* entity(std::string_view full_name);

  /// The attributes that calls of a plugin have asked for: later calls get them at once.
  std::vector<Symbol>& wanted(const Plugin& plugin) { return wanted_[&plugin]; }
  const std::string& name(Symbol symbol) const { return program_.symbols.name(symbol); }
  /// Notes that a value is sent to the process, which gets each only once. False: it has it
  /// already.
  bool tell(const Instance& instance, uint32_t slot);

  /// References that were passed to the process, by their numbers.
  size_t number_of(const Datum& reference);
  const Datum* reference(size_t number) const;

 private:
  Status start();

  Program& program_;
  Printer print_;
  PythonEnvironment environment_;
  std::unique_ptr<TemporaryDirectory> unpacked_;  ///< without a folder that is kept
  std::unique_ptr<fettle::Program> process_;
  std::map<std::string, Result<Value>> modules_;
  std::vector<Datum> references_;
  std::unordered_map<const Reference*, size_t> numbers_;  ///< of references
  std::unordered_map<std::string_view, Entity*> entities_;
  std::unordered_map<const Plugin*, std::vector<Symbol>> wanted_;
  std::unordered_set<uint64_t> told_;
};

/// The Python of a program, which is made when it is asked for.
Python& python_of(Program& program);

/// An error that Python reported, with the lines that led to it.
std::string with_trace(const Value& told, std::string_view key);

/// The plugin of a namespace's module that is written in Python. Null: there is none by that name.
std::shared_ptr<Plugin> find_python_plugin(Program& program, Space& space, const Path& folder,
                                           std::string_view name);

/// Gives a plugin whose signature is known a body in Python.
void run_in_python(Plugin& plugin);

}  // namespace fettle::model
