#pragma once
/// Users' code that looks after a type of resource: in Starlark (`starlark_handler.cc`), or as a
/// program that speaks JSON lines (`program_handler.cc`). `docs/handlers.md` is the contract.

#include <memory>
#include <string>
#include <vector>

#include "base/http.h"
#include "core/driver.h"
#include "kinds/handled.h"
#include "programs/program.h"

namespace fettle {

/// The answer of a handler's `read`.
struct HandlerAnswer {
  bool there = false;
  Value current;         ///< the fields that the handler reports; a dict
  bool reloads = false;  ///< it wants to be told of events
};

class Handler {
 public:
  virtual ~Handler() = default;
  virtual Result<HandlerAnswer> read() = 0;
  virtual Status create() = 0;
  /// `changes`: {field: {"current", "desired"}}.
  virtual Status update(const Value& changes) = 0;
  virtual Status remove() = 0;
  virtual Status reload() = 0;
  /// Why the code left the resource for another run, after a call that ended with an error. Empty:
  /// it did not.
  virtual std::string skipped() const = 0;
};

/// The things that a handler works with.
struct HandlerSite {
  HttpClient& http;
  Blobs& blobs;
  Programs& programs;
  const Act& act;
  HandledResource wanted;  ///< the attributes of the act
  HandlerCode code;        ///< that looks after it
  const ProgressSink& progress;
  std::stop_token stop;
  std::string name;                   ///< that of the handler, for messages
  Duration deadline;                  ///< for one call
  std::vector<std::string>& printed;  ///< what `tell` kept

  /// Shows people a line that the code printed, and keeps it if there are not many.
  void tell(std::string_view line) const;
};

Result<std::unique_ptr<Handler>> make_starlark_handler(const HandlerSite& site);
std::unique_ptr<Handler> make_program_handler(const HandlerSite& site);

}  // namespace fettle
