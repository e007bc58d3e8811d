/// Any text, perhaps with a part that is repeated, parsed and resolved in every profile; what is
/// wrong with it has a place inside it.

#include <algorithm>
#include <cstdint>

#include "starlark/fuzz/fuzz.h"
#include "starlark/resolve/resolve.h"
#include "starlark/syntax/parser.h"

namespace fettle::starlark {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text = repeated_text({reinterpret_cast<const char*>(data), size}, size).text;
  for (const Profile profile : {Profile::spec, Profile::go, Profile::kurtosis}) {
    Arena arena;
    Symbols symbols(arena);
    const ParsedFile parsed = parse_file(text, arena, symbols, {profile != Profile::spec});
    if (parsed.error) {
      INVARIANT(parsed.error->at <= text.size());
      INVARIANT(!parsed.error->message.empty());
      continue;
    }
    const Dialect dialect = Dialect::of(profile);
    const ResolveInput input{dialect, "f", text,
                             [](std::string_view name) -> std::optional<Outside> {
                               if (name.size() % 2 == 0)
                                 return Outside{Value::none(), true};
                               return std::nullopt;
                             },
                             [] { return std::vector<std::string>{"print"}; }};
    const ResolveResult resolved = resolve(parsed.file, arena, input);
    INVARIANT(std::ranges::is_sorted(resolved.errors, {}, &SyntaxError::at));
  }
  return 0;
}

}  // namespace fettle::starlark
