#pragma once
/// From the text of a model to what it builds. `std` is built in.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace fettle::model {

struct CompileOptions {
  std::function<void(std::string_view line)> print;  ///< a line of `std::print`
  std::function<void(const Error& warning)> warn;    ///< legal and probably not meant
};

struct Compiled {
  size_t instance_count = 0;
  std::vector<Error> errors;  ///< the most important first; empty when the model is good
};

/// Compiles the text of one file, namespace `__config__`.
Compiled compile(const std::string& file_name, const std::string& text,
                 const CompileOptions& options);

/// `fettle compile -f FILE`: 0, or 2 for a wrong model or call.
int run_compile_command(std::span<const std::string> arguments);

}  // namespace fettle::model
