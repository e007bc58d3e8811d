#pragma once
/// Acts on resources through users' handlers: reads what is there, compares it with what is wanted,
/// and lets the handler create, update or delete. After that, the handler is told of events.

#include "base/http.h"
#include "core/driver.h"
#include "drivers/handler/python_handler.h"
#include "programs/program.h"

namespace fettle {

class HandlerDriver : public Driver {
 public:
  /// `home`: where the code of handlers in Python is unpacked.
  HandlerDriver(HttpClient& http, Blobs& blobs, Path home)
      : http_(http), blobs_(blobs), python_(std::move(home)) {}

  /// Handlers look when they act.
  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token stop) override;
  /// Errors: the handler failed, crashed, took too long or gave a senseless answer; they have its
  /// name and its last lines. `Skipped`: it asked to be left out.
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override;
  Result<std::vector<Found>> list(const Name& environment, std::stop_token stop) override;

 private:
  HttpClient& http_;
  Blobs& blobs_;
  Programs programs_;
  PythonHandlers python_;
};

}  // namespace fettle
