#pragma once
/// A cluster for tests: an API server in the process, or the one of the kubeconfig file that
/// `$FETTLE_TEST_KUBECONFIG` names. Each test has a namespace of its own.

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/prng.h"
#include "base/text.h"
#include "kubernetes/config.h"
#include "tests/kubernetes/api_server_face.h"
#include "value/json.h"

namespace fettle::kubernetes {

inline const ResourceType config_maps{"", "v1", "configmaps", "ConfigMap"};

/// An error that a test makes up.
inline ApiError failed_with(ApiReason reason) {
  ApiError error(world_error("on purpose"));
  error.reason = reason;
  return error;
}

class Cluster {
 public:
  explicit Cluster(ClientSettings settings = {.qps = 0}) {
    if (const char* const file = std::getenv("FETTLE_TEST_KUBECONFIG"))
      real_ = *read_kubeconfig({file}, "");
    else
      own_ = std::make_unique<ApiServerFace>();
    client_ = make_client(settings);
    space_ = cat("test-", Prng(static_cast<uint64_t>(now_from_clock().time_since_epoch().count()))
                              .below(1'000'000'000'000));
    const auto space = made(
        "v1", "namespaces", "Namespace", false,
        cat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", space_, R"("}})"));
    EXPECT_TRUE(space) << to_string(space.error());
  }
  ~Cluster() {
    for (const auto& [type, name] : made_)
      std::ignore = client_->remove(type, name, {}, {});
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  bool is_real() const { return real_.has_value(); }
  Client& client() { return *client_; }
  ApiServerFace& own() { return *own_; }
  const std::string& space() const { return space_; }
  ObjectName name(std::string name) const { return {space_, std::move(name)}; }
  Config config() const { return real_ ? *real_ : own_->config(); }
  std::unique_ptr<Client> make_client(const ClientSettings& settings) const {
    return std::make_unique<Client>(std::make_unique<HttpTransport>(config()), settings);
  }
  /// An object without a namespace, removed at the end of the test.
  ApiResult<Value> made(std::string version, std::string plural, std::string kind,
                        bool is_namespaced, std::string_view json, std::string group = {}) {
    const ResourceType type{std::move(group), std::move(version), std::move(plural),
                            std::move(kind), is_namespaced};
    const Value object = *read_json(json);
    made_.insert(made_.begin(), {type, {"", std::string(object.at("metadata").text_at("name"))}});
    return client_->create(type, {}, object, {}, {});
  }

 private:
  std::optional<Config> real_;
  std::unique_ptr<ApiServerFace> own_;
  std::unique_ptr<Client> client_;
  std::string space_;
  std::vector<std::pair<ResourceType, ObjectName>> made_;
};

}  // namespace fettle::kubernetes
