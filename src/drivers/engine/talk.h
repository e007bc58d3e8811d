#pragma once
/// A conversation with a command in a container: standard input, a terminal and its size.

#include "drivers/engine/exec.h"

namespace fettle {

/// See `ContainerEngine::talk`.
Result<int64_t> talk_inside(Engine& engine, const std::string& container,
                            const ExecOptions& options, const TalkEnds& ends,
                            const StreamSink& sink, std::stop_token stop);

}  // namespace fettle
