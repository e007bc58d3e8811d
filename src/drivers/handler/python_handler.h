#pragma once
/// Handlers in Python: classes of modules, as Inmanta has them. A version keeps the texts of the
/// modules as one content; they are unpacked below the home, and a process that has loaded them
/// answers call by call.
///
/// Such a handler is not asked to read first and to act then, as the others are: `execute` looks,
/// compares in its own way and acts, and tells what it found. A look is the same call as a dry run.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/file.h"
#include "drivers/handler/handler.h"

namespace fettle {

/// The processes, by interpreter, code and environment. May be used from any thread.
class PythonHandlers {
 public:
  explicit PythonHandlers(Path home) : home_(std::move(home)) {}

  /// Looks after the resource of a site. `Skipped`, `Failed`: as the handler says.
  Result<Outcome> look_after(const HandlerSite& site);

 private:
  Result<Program*> program(const HandlerSite& site);

  Path home_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Program>> known_;
};

}  // namespace fettle
