#pragma once
/// Compiles the text of a model into instances. `std` is built in; other modules are found in the
/// project (`project/project.h`).

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/project/project.h"

namespace fettle::model {

class Model;  // model.h

/// 150 times what an export of 16,000 networks of five parts takes, and a few seconds of work.
inline constexpr uint64_t default_steps = 300'000'000;

struct CompileOptions {
  std::function<void(std::string_view line)> print;  ///< a line of `std::print`
  std::function<void(const Error& warning)> warn;    ///< legal and probably not meant
  std::string environment{};         ///< for `std::environment()`; empty: the project's name
  Duration plugin_time_limit = 30s;  ///< of each call of a plugin outside of the program
  /// {id of a resource: {name: text}}: what handlers have found out, null if that is nothing. Asked
  /// when a model wants to know.
  std::function<Result<Value>()> facts{};
  Path home{};  ///< where fettle's part in Python is unpacked; empty: the user's cache
  bool is_for_version = true;           ///< remember who constructs, repeats and reads what
  uint64_t most_steps = default_steps;  ///< of statements and work on values; 0: no limit
  uint64_t most_memory = 0;             ///< in bytes; 0: `Budget::default_bytes()`
  const std::atomic<bool>* cancelled = nullptr;  ///< set by another thread
};

struct CompileResult {
  std::shared_ptr<Model> model;  ///< what was built, as far as it came
  size_t instance_count = 0;
  /// The most important first. Empty: the model is good. The message of an error may have several
  /// lines: the error that caused it stands below `caused by:`.
  std::vector<Error> errors;
};

/// Compiles the text of one file, namespace `__config__`, without any module but `std`.
CompileResult compile(const std::string& file_name, const std::string& text,
                      const CompileOptions& options);

/// Compiles a project's main file and the modules that it imports.
CompileResult compile(const Project& project, const CompileOptions& options);

/// All errors in the original's words: the message, or a count and each error below `error N:`.
std::string trace_of(std::span<const Error> errors);

/// All errors as the command prints them. A single error has its place, message and excerpt;
/// several have the trace, then the places.
std::string report(std::span<const Error> errors);

/// `fettle compile [-f FILE]`: returns 0, or 2 for a wrong model or call. Without `-f`, it takes
/// the project around the current folder.
int run_compile_command(std::span<const std::string> arguments);

}  // namespace fettle::model
