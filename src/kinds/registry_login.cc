#include "kinds/registry_login.h"

#include <algorithm>

#include "base/base64.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

/// `https://index.docker.io/v1/` means `docker.io`.
std::string registry_named(std::string_view name) {
  for (const std::string_view scheme : {"https://", "http://"})
    if (name.starts_with(scheme))
      name.remove_prefix(scheme.size());
  const std::string host = lower_case(name.substr(0, name.find('/')));
  return host == "index.docker.io" || host == "registry-1.docker.io" ? "docker.io" : host;
}

/// `*.test` of `r.test`, as Kubernetes reads it: a part of a name between points may have `*`.
bool is_pattern_of(std::string_view pattern, std::string_view registry) {
  const std::vector<std::string_view> wanted = split(pattern, '.'), parts = split(registry, '.');
  return wanted.size() == parts.size() &&
         std::ranges::equal(wanted, parts, [](std::string_view part, std::string_view name) {
           const size_t star = part.find('*');
           if (star == part.npos)
             return part == name;
           const std::string_view after = part.substr(star + 1);
           return name.size() + 1 >= part.size() && name.starts_with(part.substr(0, star)) &&
                  name.ends_with(after);
         });
}

void add_login(const Value& said, std::vector<RegistryLogin>& logins) {
  RegistryLogin login{std::string(said.text_at("username")), std::string(said.text_at("password"))};
  if (login.username.empty())
    if (const Result<std::string> pair = base64_decode(said.text_at("auth"));
        pair && pair->find(':') != std::string::npos) {
      login.username = pair->substr(0, pair->find(':'));
      login.password = pair->substr(pair->find(':') + 1);
    }
  if (const std::string_view token = said.text_at("identitytoken"); !token.empty()) {
    login.password = token;
    login.is_token = true;
  }
  if (!login.username.empty() || login.is_token)
    logins.push_back(std::move(login));
}

void add_logins(const Value& auths, std::string_view registry, std::vector<RegistryLogin>& logins) {
  if (!auths.is_dict())
    return;
  for (const Entry& entry : auths.entries())
    if (entry.value.is_dict() && is_pattern_of(registry_named(entry.key.view()), registry))
      add_login(entry.value, logins);
}

}  // namespace

std::vector<RegistryLogin> logins_in(const Value& data, std::string_view registry) {
  std::vector<RegistryLogin> logins;
  for (const char* key : {".dockerconfigjson", ".dockercfg"}) {
    const std::string_view text = data.text_at(key);
    if (text.empty())
      continue;
    const Result<Value> config = read_json(text);
    if (config)
      add_logins(config->at("auths").is_dict() ? config->at("auths") : *config, registry, logins);
  }
  add_logins(data, registry, logins);
  return logins;
}

}  // namespace fettle
