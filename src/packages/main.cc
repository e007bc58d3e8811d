/// For `bench/differ arguments`: reads lines {"text"}, and answers each with {"value"} or
/// {"error"}.

#include <iostream>

#include "base/text.h"
#include "packages/arguments.h"
#include "value/json.h"

namespace {

std::string answer(std::string_view line) {
  const auto asked = fettle::read_json(line);
  const auto json = asked ? fettle::arguments_as_json(asked->text_at("text"), "")
                          : fettle::Result<std::string>(asked.error());
  // Line breaks of a JSON text mean nothing.
  if (json)
    return fettle::cat(R"({"value":)",
                       fettle::replace_all(fettle::replace_all(*json, "\n", " "), "\r", " "), "}");
  return fettle::write_json(fettle::Value::dict({{"error", fettle::to_string(json.error())}}));
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(line) << "\n" << std::flush;
  return 0;
}
