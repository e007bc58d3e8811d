/// Any text as a project: files after lines `#@ NAME`, compiled in every way. It comes to the same
/// again; and without errors every requisite names chunks that are there and come before.

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/fuzz/repeated_text.h"
#include "base/fuzz/require.h"
#include "base/text.h"
#include "states/intent.h"
#include "states/validate.h"
#include "value/json.h"

namespace fettle::states {
namespace {

std::map<std::string, std::string> files_in(std::string_view text) {
  std::map<std::string, std::string> files;
  std::string name = "main.sls";
  files[name];
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("#@ "))
      files[name = line.substr(3)];
    else
      files[name] += cat(line, "\n");
  return files;
}

void check(const CompiledStates& compiled) {
  std::set<uint32_t> ranks;
  std::set<std::string> tags;
  for (const Chunk& chunk : compiled.chunks) {
    require(ranks.insert(chunk.rank).second, "every chunk has a rank of its own");
    require(tags.insert(tag_of(chunk)).second, "every chunk has a tag of its own");
    require(!chunk.failure.empty() || !chunk.function.empty(), "what can run has a function");
    for (const Need& need : chunk.needs) {
      require(need.begin + need.count <= compiled.targets.size(), "the targets are there");
      for (uint32_t i = need.begin; i < need.begin + need.count; ++i) {
        require(compiled.targets[i] < compiled.chunks.size(), "the target is there");
        const Chunk& target = compiled.chunks[compiled.targets[i]];
        const bool orders = need.requisite != Requisite::prereq;
        require(!orders || target.rank < chunk.rank, "what it needs comes before");
      }
    }
  }
  const StatesIntent made = intent_of(compiled, {.environment = "e"});
  require(made.keys.size() == compiled.chunks.size(), "every chunk has a key");
  if (!made.errors.empty())
    return;
  std::set<Key> keys;
  for (const Resource& resource : made.intent->resources.at(states_set))
    require(keys.insert(resource.key).second, "every resource has a key of its own");
}

std::string outcome_of(const std::map<std::string, std::string>& texts,
                       const CompileOptions& options) {
  const auto files = files_of(texts);
  const std::vector<std::string> words{"main.sls"};
  const CompiledStates compiled = compile(words, *files, options);
  std::string seen;
  for (const Error& error : compiled.errors) {
    require(!error.message.empty(), "the error has a message");
    seen += cat(to_string(error), "\n");
  }
  if (compiled.errors.empty())
    check(compiled);
  for (const Chunk& chunk : compiled.chunks)
    seen += cat(tag_of(chunk), " ", chunk.rank, "\n");
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096)
    return 0;
  const auto texts = files_in({reinterpret_cast<const char*>(data), size});
  CompileOptions options;
  options.host.limits = {
      .steps = steps_of(20'000, size == 0 ? 0 : data[size - 1]), .output = 1 << 14, .range = 100};
  options.is_lenient = size % 2 == 0;
  require(outcome_of(texts, options) == outcome_of(texts, options), "the same again");
  options.is_inverted = true;
  outcome_of(texts, options);
  options.is_inverted = false;
  options.target = "a";
  outcome_of(texts, options);
  options.target.clear();
  const auto files = files_of(texts);
  const std::vector<std::string> words{"main.sls"};
  const Validation validation = validate(words, *files, options);
  require(validation.document.find("low") != nullptr, "the document has low data");
  return 0;
}

}  // namespace fettle::states
