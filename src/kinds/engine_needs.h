#pragma once
/// The needs of services on their engine: a network and their images.

#include <map>
#include <vector>

#include "core/kind.h"
#include "core/resource.h"

namespace fettle {

/// The network that all services of an environment share, in every language.
inline constexpr std::string_view environment_network = "default";

/// The need of what runs in the network of an environment.
Need network_need(const Name& environment);

/// The hole that an image's id fills.
Value image_id_hole(const Name& image);

/// Collects the needs of the services of one environment.
class EngineNeeds {
 public:
  explicit EngineNeeds(Name environment) : environment_(std::move(environment)) {}

  /// Sets the image of a service (`Service`) and its needs. `image` names the image as a resource;
  /// `reference` may be a hole.
  void add(Resource& service, const Name& image, const Value& reference);
  /// The network and the images. Empty: there are no services.
  std::vector<Resource> resources() const;

 private:
  Resource made(const Kind& kind, std::string_view name, const Value& attributes) const;

  Name environment_;
  std::map<Name, Value> references_;  ///< by image
};

}  // namespace fettle
