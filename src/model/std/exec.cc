/// The plugins of the module `exec`.

#include "model/std/groups.h"

namespace fettle::model {
namespace {

/// A word of a command, quoted as in the original: between double quotes if it has blanks.
std::string quoted_word(std::string_view word) {
  const bool needs_quotes = word.empty() || word.find_first_of(" \t") != word.npos;
  std::string made(needs_quotes ? "\"" : "");
  size_t backslashes = 0;
  for (const char c : word) {
    if (c == '"')
      made.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    made += c;
  }
  if (needs_quotes)
    made.append(backslashes, '\\').push_back('"');
  return made;
}

bool in_shell(PluginCall& call) { return call.give_text("sh -c " + quoted_word(call.text(0))); }

constexpr std::array exec_rows{PluginRow{"in_shell", "(command: string) -> string", in_shell}};

}  // namespace

std::span<const PluginRow> exec_plugins() { return exec_rows; }

}  // namespace fettle::model
