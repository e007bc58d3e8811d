/// Any model with small limits: it ends, and the same way again.

#include <cstdint>

#include "base/text.h"
#include "model/compile.h"
#include "model/fuzz/fuzz.h"

namespace fettle::model {
namespace {

/// What a model prints and reports. Plugins that read the machine are left out of the models, for
/// the same reason as those that wait or draw random numbers.
std::string outcome_of(const std::string& text) {
  std::string seen;
  CompileOptions options;
  options.most_steps = 20'000;
  options.print = [&](std::string_view line) { seen += cat(line.substr(0, 1000), "\n"); };
  const Compiled compiled = compile("f.cf", text, options);
  for (const Error& error : compiled.errors) {
    require(!error.message.empty(), "the error has a message");
    seen += cat(to_string(error), "\n");
  }
  return cat(seen, compiled.instance_count);
}

bool is_outside(std::string_view text) {
  for (const std::string_view name :
       {"password", "env", "file", "source", "template", "list_", "open"})
    if (text.find(name) != std::string_view::npos)
      return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (size > 4096 || is_outside(text))
    return 0;
  require(outcome_of(text) == outcome_of(text), "the same outcome again");
  return 0;
}

}  // namespace fettle::model
