/// Any text through the lexer and the parser, with a part that may be repeated: a tree, or an error
/// with a place inside the text; twice the same.

#include <algorithm>
#include <cstdint>

#include "base/fuzz/repeated_text.h"
#include "base/fuzz/require.h"
#include "model/syntax/lexer.h"
#include "model/syntax/parser.h"

namespace fettle::model {
namespace {

struct Outcome {
  std::string error;
  size_t statements = 0;
  int warnings = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome read(std::string_view text) {
  Arena arena;
  Symbols symbols;
  Outcome outcome;
  const int lines = 2 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  const Warn warn = [&](Place at, const std::string& message) {
    require(!message.empty() && static_cast<int>(at.line) <= lines, "a warning inside the text");
    ++outcome.warnings;
  };
  const Result<Unit> unit = parse("f.cf", text, 0, arena, symbols, warn);
  if (unit) {
    outcome.statements = unit->body->statements.size();
  } else {
    require(!unit.error().message.empty(), "the error has a message");
    require(unit.error().where.line <= lines, "the error is inside the text");
    outcome.error = to_string(unit.error());
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0)
    return 0;
  const std::string text =
      repeated_text({reinterpret_cast<const char*>(data), size}, data[size - 1]).text;
  if (const Result<Tokens> tokens = read_tokens("f.cf", text, 0))
    require(!tokens->found.empty() && tokens->found.back().token == Token::end_of_file,
            "the end of the file");
  require(read(text) == read(text), "the same again");
  return 0;
}

}  // namespace fettle::model
