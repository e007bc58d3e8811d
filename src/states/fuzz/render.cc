/// Any text as a file of states, split into blocks and rendered, with given parameters and with
/// those that are asked for: documents whose places lie in the sources, or errors with one.

#include <algorithm>
#include <cstdint>

#include "base/fuzz/repeated_text.h"
#include "base/fuzz/require.h"
#include "base/text.h"
#include "states/render.h"
#include "value/json.h"

namespace fettle::states {
namespace {

class PastOutcomes : public Outcomes {
 public:
  bool has_run(std::string_view id) const override { return id.size() % 2 == 0; }
  std::optional<Value> new_state(std::string_view, std::string_view id,
                                 std::string_view) const override {
    return id.empty() ? std::nullopt : std::optional(Value::dict({{"x", Value::list({1, "y"})}}));
  }
};

void check_places(const Document& document, const Texts& texts) {
  std::vector<const TreeNode*> open{&document.tree.root()};
  size_t seen = 0;
  while (!open.empty() && ++seen < 10'000) {
    const TreeNode* node = open.back();
    open.pop_back();
    const Position position = document.position(*node);
    require(position.file < texts.names().size(), "the file is known");
    require(position.line < (1u << 30) && position.column < (1u << 30), "the place is sound");
    open.insert(open.end(), node->items().begin(), node->items().end());
    for (const TreeMember& entry : node->entries())
      open.push_back(entry.value);
  }
}

std::string rendered(const std::string& text, const Params& params, uint8_t end) {
  const auto files = files_of({{"main.sls", text}, {"other.sls", text.substr(text.size() / 2)}});
  const std::vector<std::string> words{"main.sls"};
  Result<Sources> sources = Sources::make({}, words, *files);
  require(sources.has_value(), "the file is found");
  Texts texts;
  Host host;
  host.limits = {.steps = steps_of(20'000, end), .output = 1 << 16, .range = 1000};
  host.draw = [] { return uint64_t{5}; };
  host.exec = [](std::string_view path, std::span<const Value> positional,
                 std::span<const Entry>) -> Result<Value> {
    return Value::dict({{"result", true},
                        {"ret", Value::list({positional.begin(), positional.end()})},
                        {"comment", path}});
  };
  const PastOutcomes ran;
  BlockRenderer rendering(*sources, texts, params, host, &ran);
  const SourceFile file = **sources->root("main.sls");
  const Result<std::vector<Block>> blocks =
      blocks_of(file.text, *parse_pipe("jinja|yaml|replacements"));
  if (!blocks)
    return to_string(blocks.error());
  std::string seen;
  for (const Block& block : *blocks) {
    const Result<Document> document = rendering.document(file, block);
    if (document) {
      check_places(*document, texts);
      seen += write_json(value_of(document->tree.root()));
    } else {
      require(!document.error().message.empty(), "the error has a message");
      seen += to_string(document.error());
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096)
    return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Params given =
      Params::of(*read_json(R"({"a": 1, "b": [1, "x"], "c": {"k": null}, "d": null})"));
  const uint8_t end = size == 0 ? 0 : data[size - 1];
  require(rendered(text, given, end) == rendered(text, given, end), "the same again");
  const Params asking = Params::asking();
  rendered(text, asking, end);
  return 0;
}

}  // namespace fettle::states
