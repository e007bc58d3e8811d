#pragma once
/// The values for a pod's containers and volumes: fields of the pod itself, values of ConfigMaps
/// and Secrets, and references to one another (`$(NAME)`). Pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "drivers/engine/pod_body.h"
#include "kinds/pod.h"

namespace fettle {

class PodValues {
 public:
  /// Both arguments must outlive it.
  PodValues(const Attributes& attributes, const PodPlace& place)
      : attributes_(attributes), place_(place) {}

  const Attributes& attributes() const { return attributes_; }
  /// `metadata.name`, `metadata.labels['KEY']`, `status.podIP` …; a missing key gives an empty
  /// text. Error: containers may not ask for this field.
  Result<std::string> field(std::string_view path) const;
  /// The texts of `ConfigMap/NAME` or `Secret/NAME`. Null: the pod was given none.
  const Value* config(std::string_view kind, std::string_view name) const;
  /// The environment of a container in the order in which it is written, with `$(NAME)` filled in.
  Result<std::vector<std::pair<std::string, std::string>>> environment(
      const Value& container) const;

 private:
  Result<std::optional<std::string>> from(const Value& container, std::string_view variable,
                                          const Value& source) const;
  Result<std::optional<std::string>> from_config(std::string_view kind, const Value& source,
                                                 std::string_view variable) const;
  Result<std::string> resource(const Value& container, const Value& source) const;

  const Attributes& attributes_;
  const Dict configs_ = read_one<&Pod::configs>(attributes_);
  const PodPlace& place_;
};

/// Replaces `$(NAME)` if the name is known, and `$$` by `$`.
std::string expanded(std::string_view text, const std::map<std::string, std::string>& variables);

/// The fields `metadata.labels['KEY']` and `metadata.annotations['KEY']` that the environment of a
/// container takes.
std::vector<std::string> metadata_taken(const Value& container);

}  // namespace fettle
