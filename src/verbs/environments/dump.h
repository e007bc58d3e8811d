#pragma once
/// Writes what is known of an environment into a folder, for somebody who looks at it later or
/// elsewhere.
///
///   web--UUID/spec.json    a service, as the face tells it
///   web--UUID/output.log   what it has printed, as it was printed
///   files/ARTIFACT/        a files artifact, unpacked
///   plan.json, why.txt, …  what the face tells beside them
///   missing.txt            what could not be had, and why; only if there is any
///
/// A part that cannot be read, or for which there is no room, is named, and the others are written
/// all the same: a dump is most wanted where something is broken. Names of services and artifacts
/// are one component of a path, whatever is in them.

#include <functional>
#include <map>

#include "base/file.h"
#include "verbs/environments/environments.h"

namespace fettle {

/// What a face tells, as text that may be shown.
struct DumpTexts {
  std::function<Result<std::string>(const ServiceView& service)> spec;
  std::map<std::string, std::function<Result<std::string>()>> beside;  ///< by name of the file
};

struct DumpReport {
  std::string environment;
  std::string folder;  ///< its name when it is finished
  size_t services = 0, artifacts = 0;
  std::vector<std::string> missing;  ///< `web--UUID/output.log: the engine does not answer`
};

/// A name as one component of a path: `a%2Fb` for `a/b`, `%2E.` for `..`.
std::string component_of(std::string_view name);
/// `NAME--UUID`, as Kurtosis calls dumps and the folders in them. Without a uuid, `NAME`.
std::string dump_name(std::string_view name, std::string_view uuid);

/// Writes into the folder, which is made. Errors (`Blame::world`): not even what is missing could
/// be written, or a stop was asked for; the folder is then not whole.
Result<DumpReport> dump_environment(const Workplace& place, const Environment& environment,
                                    const Path& into, const DumpTexts& texts,
                                    const std::stop_token& stop);

}  // namespace fettle
