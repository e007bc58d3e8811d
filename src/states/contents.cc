/// Reads files that states take from the sources: `source` of `file.managed`.

#include "base/text.h"
#include "states/compilation.h"

namespace fettle::states {

void read_contents(Compilation& with, Sources& sources) {
  std::map<Name, std::shared_ptr<const SourceContent>> known;
  for (size_t i = 0; i < with.made.chunks.size(); ++i) {
    Chunk& chunk = with.made.chunks[i];
    if (chunk.state != "file" || chunk.function != "managed")
      continue;
    const Argument* source = nullptr;
    bool has_contents = false;
    for (const Argument& argument : with.bodies[i]->arguments) {
      source = argument.name == "source" && !argument.value->is_null() ? &argument : source;
      has_contents |= argument.name == "contents" && !argument.value->is_null();
    }
    if (source == nullptr)
      continue;
    const Position at = source->value_position();
    if (has_contents) {
      with.report.error(at, "`contents` and `source` exclude each other");
      continue;
    }
    if (!source->value->is_text()) {
      with.report.error(at, "`source` must be the path of a file in the sources");
      continue;
    }
    const Name path = source->value->text();
    if (const auto found = known.find(path); found != known.end()) {
      chunk.content = found->second;
      continue;
    }
    Result<std::shared_ptr<const SourceContent>> content = sources.content_at(path);
    if (!content)
      with.report.error(at, content.error().message);
    else if (*content == nullptr)
      with.fail(chunk, at, cat("there is no file `", path, "` in the sources"));
    else
      chunk.content = known.emplace(path, *std::move(content)).first->second;
  }
}

}  // namespace fettle::states
