/// For `bench/differ compose`: reads lines {"folder", "files", "profiles", "variables"}, and answers
/// each with {"value"}, a project, or {"error"}.

#include <iostream>

#include "base/text.h"
#include "packages/compose/project_value.h"
#include "value/json.h"

namespace {

using fettle::Value;

std::vector<std::string> texts_at(const Value& asked, std::string_view key) {
  std::vector<std::string> texts;
  for (const Value& one : asked.at(key).items())
    texts.push_back(fettle::to_text(one));
  return texts;
}

fettle::Result<Value> answer_to(const Value& asked) {
  fettle::compose::ProjectRequest request;
  request.folder = fettle::ClosedFolder(std::string(asked.text_at("folder")));
  for (std::string& file : texts_at(asked, "files"))
    request.files.push_back({std::move(file), {}});
  request.profiles = texts_at(asked, "profiles");
  for (const fettle::Entry& one : asked.at("variables").entries())
    request.outside[one.key.str()] = fettle::to_text(one.value);
  fettle::compose::Notes notes;
  return fettle::compose::project_value(TRY(fettle::compose::read_project(request, notes)));
}

std::string answer(std::string_view line) {
  const auto asked = fettle::read_json(line);
  const auto made = asked ? answer_to(*asked) : fettle::Result<Value>(asked.error());
  return fettle::write_json(made
                                ? Value::dict({{"value", *made}})
                                : Value::dict({{"error", Value(fettle::to_string(made.error()))}}));
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(line) << "\n" << std::flush;
  return 0;
}
