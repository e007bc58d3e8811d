#pragma once
/// Objects of others that are kept whole while something else stands in their place.
///
/// They are stored in the cluster, for whoever takes over and whoever hands back need not be the same
/// machine: in ConfigMaps, since a definition has more than an annotation may hold and one may have
/// more than an object may hold. A copy in several ConfigMaps counts only if all of them are there
/// and together have the digest that each names; one that was written halfway is none, and then what
/// it is of still stands.
///
/// They do not have the label of an installation, so that nothing that removes one removes them, and
/// the namespace stays as long as they are there.

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubernetes/client.h"

namespace fettle {

class PutAside {
 public:
  /// Whether anything is put aside in a namespace. What must not be looked at counts as absent.
  static Result<bool> is_there(kubernetes::Client& client, const std::string& space,
                               const std::stop_token& stop);
  /// The copies in a namespace.
  static Result<PutAside> read(kubernetes::Client& client, std::string space, std::stop_token stop);

  /// Null: there is none that is whole.
  Value find(std::string_view kind, std::string_view name) const;
  /// Not even a part of a copy is there.
  bool is_empty() const { return names_.empty(); }
  /// In place of a copy that is there. Without its status and what a server keeps for itself.
  Status store(const Value& object);
  /// The namespace need not be there.
  Status remove_all();

 private:
  PutAside(kubernetes::Client& client, std::string space, std::stop_token stop)
      : client_(&client), space_(std::move(space)), stop_(std::move(stop)) {}
  Status read_all();
  Status remove_copies_from(std::string_view name, size_t part);
  Status remove(const std::string& copy);

  kubernetes::Client* client_;
  std::string space_;
  std::stop_token stop_;
  std::vector<Value> objects_;
  std::vector<std::string> names_;  ///< of all ConfigMaps
};

}  // namespace fettle
