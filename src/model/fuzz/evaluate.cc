/// Any model with small limits: it ends, and the same way again. One that repeats a part has more
/// steps; how often it is repeated, and when the steps are used up, is told by the last byte.

#include <cstdint>

#include "base/fuzz/repeated_text.h"
#include "base/fuzz/require.h"
#include "base/text.h"
#include "model/compile.h"

namespace fettle::model {
namespace {

/// What a model prints and reports. Plugins that read the machine are left out of the models, for
/// the same reason as those that wait or draw random numbers.
std::string outcome_of(const RepeatedText& model, uint8_t end) {
  std::string seen;
  CompileOptions options;
  options.most_steps = steps_of(model.is_repeated ? 400'000 : 20'000, end);
  options.most_memory = 256 << 20;
  options.print = [&](std::string_view line) { seen += cat(line.substr(0, 1000), "\n"); };
  const CompileResult compiled = compile("f.cf", model.text, options);
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
  if (size == 0 || size > 4096)
    return 0;
  const RepeatedText model =
      repeated_text({reinterpret_cast<const char*>(data), size}, data[size - 1]);
  if (is_outside(model.text))
    return 0;
  const uint8_t end = data[size - 1];
  require(outcome_of(model, end) == outcome_of(model, end), "the same outcome again");
  return 0;
}

}  // namespace fettle::model
