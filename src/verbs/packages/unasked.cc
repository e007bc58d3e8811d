#include "verbs/packages/unasked.h"

#include "base/text.h"
#include "kinds/artifact.h"
#include "kinds/kinds.h"

namespace fettle {

std::vector<std::string> unasked_downloads(const Intent& intent, const Seen& seen,
                                           const std::function<const Step*(const Key& key)>& step) {
  std::vector<std::string> warnings;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources) {
      const auto found = seen.find(resource.key);
      if (found == seen.end() || !found->second.state)
        continue;
      const Name why = read_one<&ArtifactSeen::unasked>(*found->second.state);
      if (const Step* const kept = why.empty() ? nullptr : step(resource.key);
          kept != nullptr && kept->verb == Verb::keep)
        warnings.push_back(cat(resource.origin, ": `", artifact_name(resource.key),
                               "` is used as it is stored: ", why));
    }
  return warnings;
}

}  // namespace fettle
