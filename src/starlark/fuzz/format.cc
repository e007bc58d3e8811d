/// Any text as the format of `%` and of `format`: an error or a text, and `%%`, `{{`, `}}` are
/// undone by a second look.

#include <cstdint>

#include "base/text.h"
#include "starlark/fuzz/fuzz.h"

namespace fettle::starlark {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Session session(Dialect::of(Profile::go), small_limits());
  Thread thread(session);
  const Handle format(thread, thread.heap().text(text));
  const std::string escaped = fettle::replace_all(text, "%", "%%");
  const Handle plain(thread, thread.heap().text(escaped));
  std::string braces = fettle::replace_all(text, "{", "{{");
  braces = fettle::replace_all(braces, "}", "}}");
  const Handle doubled(thread, thread.heap().text(braces));
  const std::vector<NamedValue> names = {{"f", format}, {"p", plain}, {"d", doubled}};
  for (const char* expression : {"f % (1, 'a', 2.5, [None], {'k': 1})", "f % 7", "f % {'k': 'v'}",
                                 "f.format(1, 'a', 2.5, k = [1])", "f.format()"}) {
    const auto result = thread.evaluate("<f>", expression, names);
    INVARIANT(result.has_value() ? type_of(*result) == Type::text
                                 : !result.error().message.empty());
  }
  const auto same = thread.evaluate("<f>", "p % ()", names);
  INVARIANT(same.has_value() && text_of(*same) == text);
  const auto also = thread.evaluate("<f>", "d.format()", names);
  INVARIANT(also.has_value() && text_of(*also) == text);
  return 0;
}

}  // namespace fettle::starlark
