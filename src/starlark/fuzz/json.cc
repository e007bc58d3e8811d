/// Any text as JSON: what is read can be written, and reads back equal.

#include <cstdint>

#include "starlark/fuzz/fuzz.h"

namespace fettle::starlark {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Session session(Dialect::of(Profile::go), small_limits());
  Thread thread(session);
  const RepeatedText given = repeated_text({reinterpret_cast<const char*>(data), size}, size);
  const auto read = thread.heap().json(given.text);
  if (!read) {
    INVARIANT(!read.error().message.empty());
    return 0;
  }
  const auto text = to_json(thread, *read);
  INVARIANT(text.has_value() || given.is_repeated);  // it may be too much for the limits
  if (!text)
    return 0;
  const auto again = thread.heap().json(*text);
  INVARIANT(again.has_value() || given.is_repeated);
  if (!again)
    return 0;
  const auto written = to_json(thread, *again);
  INVARIANT(written.has_value() || given.is_repeated);
  INVARIANT(!written || *written == *text);
  return 0;
}

}  // namespace fettle::starlark
