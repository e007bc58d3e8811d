#include "cli/commands/compile_limits.h"

#include "base/text.h"

namespace fettle {

std::vector<CommandOption> compile_limit_options() {
  return {{{"--steps"}, "N", "stop after this much work of a model or template"},
          {{"--memory"}, "BYTES", "stop when a model or template needs more memory"}};
}

Result<uint64_t> limit_asked(const Face& face, const std::string& name) {
  if (!face.parsed.has(name))
    return uint64_t{0};
  const int64_t limit = TRY(face.parsed.number(name, 0));
  if (limit < 1)
    return user_error(cat("`--", name, "` must be 1 or more, not ", limit));
  return static_cast<uint64_t>(limit);
}

Status read_limits(const Face& face, model::CompileOptions& options) {
  if (const uint64_t steps = TRY(limit_asked(face, "steps")); steps != 0)
    options.most_steps = steps;
  if (const uint64_t memory = TRY(limit_asked(face, "memory")); memory != 0)
    options.most_memory = memory;
  return {};
}

}  // namespace fettle
