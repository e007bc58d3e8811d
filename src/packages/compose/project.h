#pragma once
/// A compose project as structs: the services that its profiles enable, in the order in which they
/// are added, and what they share.

#include "packages/compose/service.h"

namespace fettle::compose {

/// A config or a secret of the project.
struct Content {
  enum class Source : uint8_t { file, text, outside };
  Source source = Source::outside;
  std::string file{}, text{};
  Where where{};
};

struct Project {
  std::vector<Service> services{};               ///< those that others need come first
  std::map<std::string, std::string> volumes{};  ///< the name of each by its key
  std::map<std::string, Content> configs{}, secrets{};
};

/// Errors have file, line and column. Besides those of reading: a service without an image; a
/// dependency, volume, config or secret that is not there; services that need each other.
Result<Project> read_project(const ProjectRequest& request, Notes& notes);

/// A name by RFC 1035, as Kurtosis makes it: lower case, and `-` for everything else.
std::string plain_name(std::string_view name);
/// The name of the service in an environment.
std::string environment_name(const Service& service);

}  // namespace fettle::compose
