/// Any bytes as a template, with a part that may be repeated: an answer or an error with a place,
/// within the limits. The last byte tells when the steps are used up.

#include <cstdlib>

#include "base/fuzz/repeated_text.h"
#include "template/jinja/jinja.h"
#include "value/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace jinja = fettle::jinja;
  if (size == 0)
    return 0;
  const auto [text, is_repeated] =
      fettle::repeated_text({reinterpret_cast<const char*>(data), size}, data[size - 1]);
  jinja::Environment environment;
  environment.limits = {.steps = fettle::steps_of(is_repeated ? 400'000 : 20'000, data[size - 1]),
                        .memory = 256 << 20,
                        .output = 1 << 16,
                        .range = 1000};
  environment.syntax.spacing = {size % 2 == 0, size % 3 == 0, size % 5 == 0};
  environment.syntax.has_loop_controls = size % 7 != 0;
  environment.load = [&](const std::string& name) -> fettle::Result<std::optional<std::string>> {
    return name.size() < 3 ? std::optional<std::string>()
                           : std::optional(std::string(text.substr(text.size() / 2)));
  };
  jinja::Engine engine(std::move(environment));
  const auto names =
      fettle::read_json(R"({"a": 1, "b": [1, 2, "x"], "c": {"k": 2.5}, "d": "text"})");
  const auto lookup = jinja::names_of(jinja::Value::of(*names));
  const auto made = engine.render_text("t", text, lookup);
  if (made ? made->size() > (1 << 22) : made.error().message.empty())
    std::abort();
  const auto traced = engine.trace_text("t", text, lookup);
  if (traced.has_value() != made.has_value() || (made && traced->text != *made))
    std::abort();
  for (size_t i = 0; traced && i < traced->origins.size(); ++i)
    if (const jinja::Origin& origin = traced->origins[i];
        origin.file >= traced->files.size() || origin.offset >= traced->text.size() ||
        (i > 0 && traced->origins[i - 1].offset >= origin.offset))
      std::abort();
  return 0;
}
