/// Any text that is a program is laid out, or refused with a place; the result says the same, and
/// laid out again it is the same. The layout itself looks whether it is, and says so.

#include <cstdint>

#include "base/invariant.h"
#include "starlark/format/format.h"
#include "starlark/fuzz/fuzz.h"

namespace fettle::starlark {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text = repeated_text({reinterpret_cast<const char*>(data), size}, size).text;
  const Result<std::string> once = laid_out("f", text);
  if (!once) {
    INVARIANT(once.error().blame == Blame::user);
    return 0;
  }
  const Result<std::string> twice = laid_out("f", *once);
  INVARIANT(twice && *twice == *once);
  return 0;
}

}  // namespace fettle::starlark
