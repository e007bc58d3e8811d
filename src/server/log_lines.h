#pragma once
/// Collects what a service has written as lines for a document: of a log with times, in whatever
/// pieces it comes.

#include <array>
#include <utility>

#include "core/container_engine.h"
#include "value/value.h"

namespace fettle {

class LogLines {
 public:
  explicit LogLines(std::string service) : service_(std::move(service)) {}

  /// Of an endless line, the rest is left out.
  Status take(OutputStream stream, std::string_view bytes);
  /// The lines that have ended since this was called.
  std::vector<Value> ended() { return std::exchange(lines_, {}); }
  /// The others, also the last ones without an end.
  std::vector<Value> finish();

 private:
  void add(OutputStream stream, std::string_view line);

  const std::string service_;
  std::array<std::string, 2> rests_;  ///< of each stream, what has no end yet
  std::vector<Value> lines_;
};

}  // namespace fettle
