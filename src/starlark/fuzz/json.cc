/// Any text as JSON: what is read can be written, and reads back equal.

#include <cstdint>

#include "starlark/fuzz/fuzz.h"

namespace fettle::starlark {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Session session(Dialect::of(Profile::go), small_limits());
  Thread thread(session);
  const auto read = thread.heap().json({reinterpret_cast<const char*>(data), size});
  if (!read) {
    INVARIANT(!read.error().message.empty());
    return 0;
  }
  const auto text = to_json(thread, *read);
  INVARIANT(text.has_value());
  const auto again = thread.heap().json(*text);
  INVARIANT(again.has_value());
  INVARIANT(to_json(thread, *again).value() == *text);
  return 0;
}

}  // namespace fettle::starlark
