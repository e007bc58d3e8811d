#include "drivers/engine/archives.h"

#include "base/text.h"

namespace fettle {

Status put_archive(Engine& engine, const std::string& container, const std::string& folder,
                   ByteSource tar, std::stop_token stop) {
  EngineCall call{.method = "PUT",
                  .path = cat("/containers/", container, "/archive"),
                  .query = {{"path", folder}}};
  call.source = std::move(tar);
  const EngineAnswer answer = TRY(engine.ask(std::move(call), stop));
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

Result<bool> get_archive(Engine& engine, const std::string& container, const std::string& path,
                         const ByteSink& sink, std::stop_token stop) {
  EngineCall call{.path = cat("/containers/", container, "/archive"), .query = {{"path", path}}};
  call.sink = sink;
  const EngineAnswer answer = TRY(engine.ask(std::move(call), stop));
  if (answer.ok())
    return true;
  // Docker answers 404 for the path as for the container; Podman 404 or 500 with these words.
  if (answer.status == 404 && answer.message().find("No such container") == std::string::npos &&
      answer.message().find("no container with") == std::string::npos)
    return false;
  return engine_error(answer);
}

}  // namespace fettle
