#include "cli/commands/compile_limits.h"

#include "base/text.h"

namespace fettle {
namespace {

/// Reads the limit of a flag; without the flag, the limit stays.
Status read_limit(const Face& face, const std::string& name, uint64_t& limit) {
  if (!face.parsed.has(name))
    return {};
  const int64_t asked = TRY(face.parsed.number(name, 0));
  if (asked < 1)
    return user_error(cat("`--", name, "` must be 1 or more, not ", asked));
  limit = static_cast<uint64_t>(asked);
  return {};
}

}  // namespace

std::vector<CommandOption> compile_limit_options() {
  return {{{"--steps"}, "N", "stop after this much work of a model or template"},
          {{"--memory"}, "BYTES", "stop when a model or template needs more memory"}};
}

Status read_limits(const Face& face, model::CompileOptions& options) {
  TRY(read_limit(face, "steps", options.most_steps));
  return read_limit(face, "memory", options.most_memory);
}

}  // namespace fettle
