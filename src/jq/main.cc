/// Reads JSON lines `{"expression", "input"}` and answers each with `{"value"}` or `{"error"}`: for
/// comparisons with other implementations.

#include <iostream>

#include "base/text.h"
#include "jq/extract.h"
#include "value/json.h"

namespace {

fettle::Value answer(const std::string& line) {
  const auto asked = fettle::read_json(line);
  if (!asked)
    return fettle::Value::dict({{"error", asked.error().message}});
  const std::string program(asked->text_at("expression")), input(asked->text_at("input"));
  const fettle::Budget::Limits limits{.steps = 20'000'000, .bytes = 256'000'000};
  const auto value = fettle::jq::extract(program, input, fettle::jq::Input::json, limits);
  if (value)
    return fettle::Value::dict({{"value", *value}});
  const bool is_refused = value.error().blame == fettle::Blame::user;
  return fettle::Value::dict(
      {{"error", fettle::cat(is_refused ? "refused: " : "", value.error().message)}});
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << fettle::write_json(answer(line)) << "\n" << std::flush;
  return 0;
}
