#pragma once
/// Credentials of registries as Secrets of Kubernetes carry them: `.dockerconfigjson`, the older
/// `.dockercfg`, or a dict of registries.

#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace fettle {

/// Our login at a registry.
struct RegistryLogin {
  std::string username, password;
  bool is_token = false;  ///< the password is an identity token, and the user nobody
};

/// The logins that the data of a Secret has for a registry such as `docker.io` or `host:5000`,
/// revealed. Data that cannot be read has none, and a name of a registry may be a pattern:
/// `*.test`.
std::vector<RegistryLogin> logins_in(const Value& data, std::string_view registry);

}  // namespace fettle
