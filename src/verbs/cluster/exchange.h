#pragma once
/// What taking a cluster over from OpenKruise and handing it back have in common. Each step may be
/// the last one of a process that dies: whatever does it again finds what is done, and goes on.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cluster/versions.h"
#include "kubernetes/client.h"
#include "verbs/cluster/install.h"

namespace fettle {

/// A right that a step needs. An empty namespace: in all, or the type has none.
struct NeededRight {
  std::string verb;
  kubernetes::ResourceType type;
  std::string space{};
};
/// What is said of those that are missing.
Result<std::vector<std::string>> missing_rights(kubernetes::Client& client,
                                                const std::vector<NeededRight>& needed,
                                                const std::stop_token& stop);

/// The version in which a definition stores objects.
std::string stored_version(const Value& definition);
/// The kind of workload that a definition is of, in the version in which it stores them. None: no
/// kind whose versions differ.
std::optional<kubernetes::ResourceType> versioned_type(const Value& definition);

using RewriteObject = std::function<std::optional<cluster::VersionedObject>(const Value& object)>;

class Exchange {
 public:
  Exchange(kubernetes::Client& client, const ClusterPatience& patience, InstallationReport& report,
           std::stop_token stop)
      : client_(client), patience_(patience), report_(report), stop_(std::move(stop)) {}

  void tell(const kubernetes::ResourceType& type, const kubernetes::ObjectName& name,
            std::string status, std::string why = {}) {
    report_.objects.push_back(
        {type.kind, name.space, name.name, std::move(status), std::move(why)});
  }

  /// Until the pods that a Deployment selects are gone.
  Status await_no_pods(const Value& deployment);

  using ForEach = std::function<Status(const Value& object)>;
  /// The objects of a type in all namespaces, page by page; one may come twice.
  Status for_each(const kubernetes::ResourceType& type, const ForEach& act);
  /// Puts another text in place of an object where it has to be another one, and waits for a server
  /// that does not know the new definition yet. `may_stay`: what the server refuses stays as it is,
  /// with a warning.
  Status rewrite(const kubernetes::ResourceType& type, const Value& object,
                 const RewriteObject& rewritten, bool may_stay);

  /// Writes a definition. Its line says `status`, or `unchanged`.
  Status put_definition(const Value& before, const Value& wanted, std::string status);

  kubernetes::Client& client() { return client_; }
  const ClusterPatience& patience() const { return patience_; }
  const std::stop_token& stop() const { return stop_; }

 private:
  /// Whether it is done; else the error is gone, and it is worth another try.
  Result<bool> is_settled(const kubernetes::ResourceType& type, const kubernetes::ObjectName& name,
                          const kubernetes::ApiError& error, bool may_stay);
  Status keep_owners(const kubernetes::ResourceType& type, const Value& before, const Value& after);

  kubernetes::Client& client_;
  const ClusterPatience& patience_;
  InstallationReport& report_;
  const std::stop_token stop_;
};

}  // namespace fettle
