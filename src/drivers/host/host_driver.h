#pragma once
/// The driver for everything that needs no engine: files, folders, links and commands of this
/// machine, files artifacts that are made here (uploaded, rendered, taken from a task or
/// downloaded), verifications and prints.

#include "base/file.h"
#include "base/http.h"
#include "core/driver.h"
#include "kinds/artifact.h"

namespace fettle {

class HostDriver : public Driver {
 public:
  /// `random` returns random bits, for names that nobody else has.
  HostDriver(HttpClient& http, Blobs& blobs, std::function<uint64_t()> random,
             WaitLimits limits = {})
      : http_(http), blobs_(blobs), random_(std::move(random)), limits_(limits) {}

  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token stop) override;
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override;
  /// Artifacts have no marks of an environment.
  Result<std::vector<Found>> list(const Name& environment, std::stop_token stop) override;

 private:
  using TaggedDigest = std::pair<std::string, std::string>;  ///< its digest, its tag
  /// `stored`: those contents of artifacts that are there.
  Result<Observation> look_at_artifact(const Subject& subject, const DigestSet& stored,
                                       std::stop_token stop);
  Result<Observation> look_at_address(const Resource& wanted, const Record& known,
                                      std::stop_token stop);
  static Result<Outcome> make_mark(const Act& act);
  Result<Outcome> artifact(const Act& act, std::stop_token stop);
  /// The answer of a server to a download, its body as a file. An error: nobody answered.
  Result<HttpResponse> ask(const Artifact& wanted, const Path& body, const std::string& etag,
                           std::stop_token stop);
  Result<TaggedDigest> download(const Artifact& wanted, std::stop_token stop);

  HttpClient& http_;
  Blobs& blobs_;
  std::function<uint64_t()> random_;
  WaitLimits limits_;
};

}  // namespace fettle
