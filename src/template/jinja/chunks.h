#pragma once
/// Templates as data, `tests/jinja/*.j2`: chunks between lines `---`. A chunk is
///
///   <<< {"names": "as JSON"}        (may be missing)
///   the template
///   === other.j2                    (further templates that it may load)
///   its text
///   >>>
///   what it gives
///
/// or, instead of the last, `!!! main:3: UndefinedError: 'x' is undefined`.

#include "base/text.h"
#include "template/jinja/jinja.h"
#include "value/json.h"

namespace fettle::jinja {

struct Chunk {
  std::string names = "{}";
  std::map<std::string, std::string> templates;
  std::string expected;  ///< as `result_of` answers
};

inline std::vector<Chunk> read_chunks(std::string_view text) {
  std::vector<Chunk> chunks(1);
  std::string* part = &chunks.back().templates["main"];
  bool is_first = true;
  if (text.ends_with('\n'))
    text.remove_suffix(1);
  for (const std::string_view line : split(text, '\n')) {
    if (line == "---") {
      part = &chunks.emplace_back().templates["main"];
      is_first = true;
    } else if (line.starts_with("<<< ")) {
      chunks.back().names = line.substr(4);
    } else if (line.starts_with("=== ")) {
      part = &chunks.back().templates[std::string(line.substr(4))];
      is_first = true;
    } else if (line == ">>>") {
      part = &chunks.back().expected;
      is_first = true;
    } else if (line.starts_with("!!! ")) {
      chunks.back().expected = line;
    } else {
      *part += cat(std::exchange(is_first, false) ? "" : "\n", line);
    }
  }
  return chunks;
}

/// The text, or `!!! template:line: class: message`.
inline std::string result_of(const Chunk& chunk, const Limits& limits = {}) {
  Environment environment;
  environment.limits = limits;
  environment.syntax.has_loop_controls = true;
  environment.load = [&](const std::string& name) -> Result<std::optional<std::string>> {
    const auto found = chunk.templates.find(name);
    return found == chunk.templates.end() ? std::optional<std::string>()
                                          : std::optional(found->second);
  };
  const Result<fettle::Value> names = read_json(chunk.names);
  if (!names)
    return cat("!!! names: ", names.error().message);
  Engine engine(std::move(environment));
  const Result<std::string> made = engine.render("main", names_of(Value::of(*names)));
  if (made)
    return *made;
  return cat("!!! ", made.error().where.file, ":", made.error().where.line, ": ",
             replace_all(made.error().message, "jinja2.exceptions.", ""));
}

}  // namespace fettle::jinja
