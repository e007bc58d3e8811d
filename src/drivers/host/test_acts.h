#pragma once
/// For tests of drivers: does what a run does with one act after another, and keeps the records.

#include <map>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/hash.h"
#include "core/driver.h"
#include "core/kind.h"

namespace fettle {

/// Blobs in memory, but for `path`, which is that of a file in a folder of the test.
class TestBlobs : public Blobs {
 public:
  Result<std::string> put_file(const std::string& path) override {
    return put(TRY(read_file(path)));
  }
  Result<std::string> put(std::string_view bytes) override {
    const std::string digest = sha256_hex(bytes);
    TRY(write_file(folder_->path() / digest, bytes));
    return digest;
  }
  Result<std::string> path(std::string_view digest) const override {
    const Path path = folder_->path() / digest;
    if (digest.empty() || !file_exists(path))
      return world_error("no such blob");
    return path.string();
  }

 private:
  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
};

class Acts {
 public:
  explicit Acts(Driver& driver) : driver_(driver) {}

  /// Carries out one act, pending or not, and keeps its record when it succeeds.
  Result<Done> apply(const Kind& kind, const Value& attributes, Verb verb = Verb::create,
                     std::vector<Key> events = {}, std::stop_token stop = {}) {
    Act act;
    act.verb = verb;
    act.key = {"e", kind.name(), "x"};
    act.attributes = TRY(kind.normalise(attributes));
    act.known = known;
    act.events = std::move(events);
    Outcome outcome = TRY(driver_.apply(
        act, [this](const Progress& progress) { said.push_back(progress.text); }, stop));
    if (const auto* left = std::get_if<Skipped>(&outcome)) {
      skipped = left->why;
      return world_error("it was skipped");
    }
    const Done done = std::get<Done>(outcome);
    auto record = std::make_shared<Record>();
    record->applied.emplace();
    record->applied->key = act.key;
    record->applied->attributes = act.attributes;
    record->outputs = done.outputs;
    known = record;
    return done;
  }

  /// What is seen of what was applied last, compared with it.
  Comparison drift(const Kind& kind) {
    const Subject subject{known->applied->key, &*known->applied, known};
    const auto seen = driver_.observe(std::span(&subject, 1), {});
    if (!seen)
      return {Verb::blocked, {}, to_string(seen.error())};
    return kind.compare(*known, seen->at(0), Presence::running);
  }

  RecordPointer known;
  std::vector<std::string> said;
  std::string skipped;  ///< why the last act that was left for another run was

 private:
  Driver& driver_;
};

}  // namespace fettle
