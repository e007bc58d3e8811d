#include "verbs/cluster/installation.h"

#include <algorithm>

#include "base/text.h"
#include "value/yaml.h"
#include "workloads/read/gates.h"

namespace fettle {
namespace {

using kubernetes::ResourceType;

constexpr std::string_view main_file = "install.yaml", secrets_file = "pull_secrets.yaml",
                           copied_file = "copied_secrets.yaml", copies_file = "secret_copies.yaml";
/// A flag of the controller, with its line, and what comes behind it.
constexpr std::string_view last_flag = "        - --health-probe-addr=:8000\n",
                           copying_flag = "        - --copy-pull-secrets\n";
/// As they stand in it.
constexpr std::string_view written_space = "kruise-system";
constexpr std::string_view written_image = "\"IMAGE\"", written_secret_space = "\"PULLED\"";

/// The types of all objects that are installed.
const std::vector<ResourceType>& installed_types() {
  static const std::string rbac = "rbac.authorization.k8s.io",
                           admission = "admissionregistration.k8s.io";
  static const std::vector<ResourceType> all{
      kubernetes::types::definitions,
      {"", "v1", "namespaces", "Namespace", false},
      {"", "v1", "serviceaccounts", "ServiceAccount"},
      {rbac, "v1", "clusterroles", "ClusterRole", false},
      {rbac, "v1", "clusterrolebindings", "ClusterRoleBinding", false},
      {rbac, "v1", "roles", "Role"},
      {rbac, "v1", "rolebindings", "RoleBinding"},
      {admission, "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", false},
      {admission, "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding",
       false},
      {"apps", "v1", "daemonsets", "DaemonSet"},
      {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"},
      {"apps", "v1", "deployments", "Deployment"}};
  return all;
}

bool has_only(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || others.find(c) != others.npos;
  });
}

Status check_space(const std::string& space) {
  if (space.empty() || space.size() > 63 || !has_only(space, "-") || space.front() == '-' ||
      space.back() == '-')
    return user_error(cat("`", space,
                          "` cannot be a namespace: lower-case letters, digits and `-` make one, "
                          "at most 63"));
  return {};
}

/// They become part of a text, so nothing in them may mean something to YAML.
Status check_request(const InstallationRequest& request) {
  TRY(check_space(request.space));
  for (const std::string& space : request.secret_spaces)
    TRY(check_space(space));
  if (!has_only(lower_case(request.image), "._/:@-"))
    return user_error(cat("`", request.image, "` cannot be an image"));
  TRY(workloads::read_gates(request.gates));
  return {};
}

using TextOfFile = std::pair<std::string, std::string>;

/// By name, in the order in which they are applied: definitions first.
std::vector<TextOfFile> installed_files() {
  std::vector<TextOfFile> files;
  for (const InstallationPiece& piece : installation_pieces()) {
    if (files.empty() || files.back().first != piece.file)
      files.emplace_back(piece.file, "");
    files.back().second += piece.text;
  }
  std::ranges::stable_sort(files, {}, [](const TextOfFile& each) {
    return each.first.starts_with("crds/") ? 0 : each.first == main_file ? 1 : 2;
  });
  return files;
}

bool has_definition(std::string_view file) {
  return file != main_file && file != secrets_file && file != copied_file && file != copies_file;
}

/// For a request; one of them comes as often as there are namespaces.
std::vector<TextOfFile> filled_files(const InstallationRequest& request) {
  const std::string image =
      request.image.empty() ? cat(installation_name, ":", request.version) : request.image;
  const std::string gates =
      request.gates.empty() ? "" : cat("        - \"--feature-gates=", request.gates, "\"\n");
  const std::string flags = cat(last_flag, request.copies_secrets ? copying_flag : "", gates);
  std::vector<TextOfFile> filled;
  for (const auto& [file, text] : installed_files()) {
    const bool is_of_copies = file == copied_file || file == copies_file;
    if (is_of_copies && (!request.copies_secrets || request.secret_spaces.empty()))
      continue;
    if (file == main_file || file == copies_file) {
      const std::string with_space = replace_all(text, written_space, request.space);
      const std::string whole = replace_all(with_space, written_image, cat("\"", image, "\""));
      filled.emplace_back(file, replace_all(whole, last_flag, flags));
    } else if (has_definition(file)) {
      filled.emplace_back(file, text);
    } else {
      for (const std::string& space : request.secret_spaces)
        filled.emplace_back(file, replace_all(replace_all(text, written_space, request.space),
                                              written_secret_space, cat("\"", space, "\"")));
    }
  }
  return filled;
}

Status add_objects(const std::string& file, const std::string& text,
                   std::vector<InstallationObject>& objects) {
  for (const Value& object : TRY(read_yaml_documents(text, file, YamlSchema::core))) {
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
  return {};
}

/// They are the same for every request, and long.
Result<std::vector<InstallationObject>> definitions_of_files() {
  std::vector<InstallationObject> objects;
  for (const auto& [file, text] : installed_files())
    if (has_definition(file))
      TRY(add_objects(file, text, objects));
  return objects;
}

}  // namespace

bool is_of_daemons(const InstallationObject& part) {
  const Value& labels = part.object.at("metadata").at("labels");
  return labels.text_at("app.kubernetes.io/component") == "node-daemon";
}

Result<std::string> installation_text(const InstallationRequest& request) {
  TRY(check_request(request));
  std::string all;
  for (const auto& [file, text] : filled_files(request))
    all += cat(all.empty() ? "" : "---\n", text);
  return all;
}

Result<std::vector<InstallationObject>> installation_objects(const InstallationRequest& request) {
  TRY(check_request(request));
  static const Result<std::vector<InstallationObject>> definitions = definitions_of_files();
  if (!definitions)
    return definitions.error();
  std::vector<InstallationObject> objects = *definitions;
  for (const auto& [file, text] : filled_files(request))
    if (!has_definition(file))
      TRY(add_objects(file, text, objects));
  return objects;
}

}  // namespace fettle
