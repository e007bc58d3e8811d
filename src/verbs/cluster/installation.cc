#include "verbs/cluster/installation.h"

#include <algorithm>

#include "base/text.h"
#include "value/yaml.h"

namespace fettle {
namespace {

using kubernetes::ResourceType;

constexpr std::string_view main_file = "install.yaml";
/// As they stand in it.
constexpr std::string_view written_space = "kruise-system";
constexpr std::string_view written_image = "\"IMAGE\"";

/// The types of all objects that are installed.
const std::vector<ResourceType>& installed_types() {
  static const std::string rbac = "rbac.authorization.k8s.io";
  static const std::vector<ResourceType> all{
      kubernetes::types::definitions,
      {"", "v1", "namespaces", "Namespace", false},
      {"", "v1", "serviceaccounts", "ServiceAccount"},
      {rbac, "v1", "clusterroles", "ClusterRole", false},
      {rbac, "v1", "clusterrolebindings", "ClusterRoleBinding", false},
      {rbac, "v1", "roles", "Role"},
      {rbac, "v1", "rolebindings", "RoleBinding"},
      {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"},
      {"apps", "v1", "deployments", "Deployment"}};
  return all;
}

bool has_only(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || others.find(c) != others.npos;
  });
}

/// They become part of a text, so nothing in them may mean something to YAML.
Status check_request(const InstallationRequest& request) {
  const std::string& space = request.space;
  if (space.empty() || space.size() > 63 || !has_only(space, "-") || space.front() == '-' ||
      space.back() == '-')
    return user_error(cat("`", space,
                          "` cannot be a namespace: lower-case letters, digits and `-` make one, "
                          "at most 63"));
  if (!has_only(lower_case(request.image), "._/:@-"))
    return user_error(cat("`", request.image, "` cannot be an image"));
  return {};
}

/// By name, in the order in which they are applied: definitions first.
std::vector<std::pair<std::string, std::string>> installed_files() {
  std::vector<std::pair<std::string, std::string>> files;
  for (const InstallationPiece& piece : installation_pieces()) {
    if (files.empty() || files.back().first != piece.file)
      files.emplace_back(piece.file, "");
    files.back().second += piece.text;
  }
  std::ranges::stable_partition(files, [](const auto& each) { return each.first != main_file; });
  return files;
}

std::string filled(const std::string& file, std::string text, const InstallationRequest& request) {
  if (file != main_file)
    return text;
  const std::string image =
      request.image.empty() ? cat(installation_name, ":", request.version) : request.image;
  text = replace_all(text, written_space, request.space);
  return replace_all(text, written_image, cat("\"", image, "\""));
}

}  // namespace

Result<std::string> installation_text(const InstallationRequest& request) {
  TRY(check_request(request));
  std::string all;
  for (const auto& [file, text] : installed_files())
    all += cat(all.empty() ? "" : "---\n", filled(file, text, request));
  return all;
}

Result<std::vector<InstallationObject>> installation_objects(const InstallationRequest& request) {
  TRY(check_request(request));
  std::vector<InstallationObject> objects;
  for (const auto& [file, text] : installed_files())
    for (const Value& object :
         TRY(read_yaml_documents(filled(file, text, request), file, YamlSchema::core))) {
      const auto type = std::ranges::find_if(installed_types(), [&](const ResourceType& each) {
        return each.kind == object.text_at("kind") &&
               each.api_version() == object.text_at("apiVersion");
      });
      if (type == installed_types().end())
        return Error(Blame::bug, cat("`", file, "` has a `", object.text_at("kind"), "`"));
      const Value& metadata = object.at("metadata");
      objects.push_back(
          {*type,
           {std::string(metadata.text_at("namespace")), std::string(metadata.text_at("name"))},
           object});
    }
  return objects;
}

}  // namespace fettle
