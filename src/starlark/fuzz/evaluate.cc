/// Any program with small limits: it ends, the same way again, and the same way when garbage is
/// collected at every safe point. One that repeats a part has more steps, and is run but twice. The
/// last byte tells when the steps are used up.

#include <cstdint>

#include "starlark/fuzz/fuzz.h"

namespace fettle::starlark {
namespace {

struct Outcome {
  std::string printed;
  uint64_t steps = 0;
};

Outcome run(const RepeatedText& text, Profile profile, uint8_t end, bool collect_always) {
  Limits limits = small_limits();
  limits.steps = steps_of(text.is_repeated ? 400'000 : limits.steps, end);
  Session session(every_switch(profile), limits);
  session.collect_always = collect_always;
  Outcome outcome;
  session.print = [&](Thread&, std::string_view line) {
    outcome.printed.append(line).append("\n");
  };
  const Result<ModulePtr> result = session.run("f.star", text.text);
  if (result) {
    Thread thread(session);
    for (const auto& [name, value] : (*result)->globals())
      outcome.printed.append(name)
          .append(" = ")
          .append(repr_of(thread, value).value_or("?").substr(0, 1000))
          .append("\n");
  } else {
    INVARIANT(result.error().message != "internal error");
    outcome.printed += result.error().message;
  }
  outcome.steps = session.steps();
  return outcome;
}

}  // namespace
}  // namespace fettle::starlark

namespace fettle::starlark {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 4096)
    return 0;
  const auto profile = static_cast<Profile>(data[0] % 3);
  const RepeatedText text =
      repeated_text({reinterpret_cast<const char*>(data) + 1, size - 1}, data[0] / 3);
  const uint8_t end = data[size - 1];
  const Outcome first = run(text, profile, end, false);
  const Outcome again = run(text, profile, end, false);
  INVARIANT(first.printed == again.printed);
  INVARIANT(first.steps == again.steps);
  if (text.is_repeated)
    return 0;
  const Outcome collected = run(text, profile, end, true);
  const bool memory = first.printed.find("out of memory") != std::string::npos ||
                      collected.printed.find("out of memory") != std::string::npos;
  // A collection changes nothing that is seen.
  INVARIANT(memory || first.printed == collected.printed);
  return 0;
}

}  // namespace fettle::starlark
