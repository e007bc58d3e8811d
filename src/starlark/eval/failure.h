#pragma once
/// The reason why an evaluation ends, in parts. Callers of the failed code add to it; nobody reads
/// its text.

#include <cstdint>
#include <string>

namespace fettle::starlark {

struct Failure {
  enum class Kind : uint8_t {
    program,   ///< the program is wrong
    limit,     ///< steps, memory or time are used up, or somebody cancelled
    no_order,  ///< two values that were compared have no order
  };
  Kind kind = Kind::program;
  std::string text;
  std::string hint;  ///< behind the text: what was meant, perhaps

  std::string message() const { return text + hint; }
};

}  // namespace fettle::starlark
