/// Any text as JSON: what is read can be written, and reads back equal.

#include <cstdint>

#include "starlark/fuzz/fuzz.h"

namespace fettle::starlark {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Session session(Dialect::of(Profile::go), small_limits());
  Thread thread(session);
  const auto read = thread.heap().json({reinterpret_cast<const char*>(data), size});
  if (!read) {
    require(!read.error().message.empty(), "the error has a message");
    return 0;
  }
  const auto text = to_json(*read);
  require(text.has_value(), "what was read can be written");
  const auto again = thread.heap().json(*text);
  require(again.has_value(), "what was written can be read");
  require(to_json(*again).value() == *text, "it reads back equal");
  return 0;
}

}  // namespace fettle::starlark
