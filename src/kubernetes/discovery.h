#pragma once
/// What an API server serves. Features are found here and never guessed from the server's version:
/// a distribution may have switched one on or off.

#include <set>
#include <string>
#include <vector>

#include "kubernetes/client.h"

namespace fettle::kubernetes {

struct ServedType {
  ResourceType type;
  std::set<std::string> verbs;
  std::set<std::string> subresources;  ///< `status`, `scale`, `resize`, …
};

class Discovery {
 public:
  /// One request for the core and one for all groups where the server aggregates, else one for each
  /// version of a group. A group whose server does not answer is left out.
  static ApiResult<Discovery> ask(Client& client, std::stop_token stop);

  /// Of a group, by plural or kind; the version that the server prefers. Null: it is not served.
  const ServedType* find(std::string_view group, std::string_view name) const;
  const ServedType* find(std::string_view group, std::string_view version,
                         std::string_view name) const;
  const std::vector<ServedType>& all() const { return types_; }

 private:
  void add_aggregated(const Value& groups);
  void add_plain(const Value& list, const std::string& group, const std::string& version);
  static ApiResult<Value> ask_for_groups(Client& client, std::string_view path,
                                         std::stop_token stop);
  std::vector<ServedType> types_;  ///< of one group, versions in the server's order
};

}  // namespace fettle::kubernetes
