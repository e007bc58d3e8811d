/// Prints the result of a compile, for comparisons: `states_main [OPTIONS] FILES…` prints the
/// document of `validate` and all errors, and with `--ranks` the tags in the order in which states
/// run one after another.

#include <algorithm>
#include <iostream>

#include "base/text.h"
#include "states/validate.h"
#include "value/json.h"

namespace {

using fettle::states::CompileOptions;

/// Whether the word is an option. It may take the next word.
bool take_option(const std::string& word, const char* next, CompileOptions& options, bool& takes) {
  takes = true;
  const std::string value = next == nullptr ? "" : next;
  if (word == "--sls-sources")
    options.sources.push_back(value);
  else if (word == "--render")
    options.pipe = value;
  else if (word == "--target")
    options.target = value;
  else {
    takes = false;
    options.is_inverted |= word == "--invert";
    options.is_lenient |= word == "--lenient";
    return word.starts_with("--") && word != "--ranks";
  }
  return true;
}

void print_ranks(const fettle::states::CompiledStates& compiled) {
  std::vector<const fettle::states::Chunk*> chunks;
  for (const fettle::states::Chunk& chunk : compiled.chunks)
    chunks.push_back(&chunk);
  std::sort(chunks.begin(), chunks.end(),
            [](const auto* a, const auto* b) { return a->rank < b->rank; });
  for (const fettle::states::Chunk* chunk : chunks)
    std::cout << tag_of(*chunk) << "\n";
}

}  // namespace

int main(int count, char** arguments) {
  CompileOptions options;
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) {
    bool takes = false;
    if (!take_option(arguments[i], i + 1 < count ? arguments[i + 1] : nullptr, options, takes))
      words.emplace_back(arguments[i]);
    i += takes ? 1 : 0;
  }
  const auto files = fettle::states::disk_files();
  if (std::find(words.begin(), words.end(), "--ranks") != words.end()) {
    std::erase(words, "--ranks");
    const auto compiled = fettle::states::compile(words, *files, options);
    for (const fettle::Error& error : compiled.errors)
      std::cerr << fettle::to_string(error) << "\n";
    print_ranks(compiled);
    return compiled.errors.empty() ? 0 : 2;
  }
  const auto validation = fettle::states::validate(words, *files, options);
  for (const fettle::Error& warning : validation.warnings)
    std::cerr << "warning: " << fettle::to_string(warning) << "\n";
  for (const fettle::Error& error : validation.errors)
    std::cerr << fettle::to_string(error) << "\n"
              << error.excerpt << (error.excerpt.empty() ? "" : "\n");
  std::cout << fettle::write_json(validation.document, {.indent = 2}) << "\n";
  return validation.errors.empty() ? 0 : 2;
}
