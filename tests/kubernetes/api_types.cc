#include "tests/kubernetes/api_types.h"

#include "base/text.h"
#include "tests/kubernetes/patches.h"
#include "value/with.h"

namespace fettle::kubernetes {
namespace {

TypeRules row(ResourceType type, std::string singular, bool has_status, bool has_generation,
              std::vector<std::string> fields = {}) {
  std::string list = type.kind + "List";
  return {.type = std::move(type),
          .singular = std::move(singular),
          .list_kind = std::move(list),
          .has_status = has_status,
          .has_generation = has_generation,
          .fields = std::move(fields)};
}

bool is_type(const Value& value, std::string_view type) {
  return type.empty() || (type == "object" && value.is_dict()) ||
         (type == "array" && value.is_list()) || (type == "string" && value.is_text()) ||
         (type == "integer" && value.is_integer()) || (type == "boolean" && value.is_bool()) ||
         (type == "number" && (value.is_integer() || value.is_real()));
}

struct Checker {
  const KnownRules& known;
  std::vector<Cause>& causes;

  Value check(const Value& value, const Value& schema, const std::string& path) const {
    if (!schema.is_dict())
      return value;
    if (!is_type(value, schema.text_at("type"))) {
      causes.push_back({path, cat("Invalid value: must be of type ", schema.text_at("type"))});
      return value;
    }
    constexpr int64_t none = INT64_MIN;
    if (const int64_t least = schema.integer_at("minimum", none);
        value.is_integer() && value.integer().value_or(0) < least)
      causes.push_back({path, cat("should be greater than or equal to ", least)});
    for (const Value& rule : items_of(schema.at("x-kubernetes-validations"))) {
      const auto found = known.find(std::string(rule.text_at("rule")));
      if (found == known.end())
        causes.push_back(
            {path, cat("this server does not know the rule `", rule.text_at("rule"), "`")});
      else if (!found->second(value))
        causes.push_back({path, std::string(rule.text_at("message"))});
    }
    for (const Value& name : items_of(schema.at("required")))
      if (value.find(name.text()) == nullptr)
        causes.push_back({cat(path, ".", std::string_view(name.text())), "Required value"});
    return value.is_dict()   ? members(value, schema, path)
           : value.is_list() ? items(value, schema, path)
                             : value;
  }

  Value members(const Value& value, const Value& schema, const std::string& path) const {
    const Value& rows = schema.at("properties");
    const Value& others = schema.at("additionalProperties");
    const bool keeps = schema.bool_at("x-kubernetes-preserve-unknown-fields");
    std::vector<Entry> kept;
    for (const auto& [key, inside] : value.entries()) {
      const Value* const row = rows.find(key);
      if (row != nullptr || others.is_dict())
        kept.push_back(
            {key, check(inside, row != nullptr ? *row : others,
                        path.empty() ? std::string(key) : path + "." + std::string(key))});
      else if (keeps)
        kept.push_back({key, inside});
    }
    return Value::dict(std::move(kept));
  }
  Value items(const Value& value, const Value& schema, const std::string& path) const {
    std::vector<Value> kept;
    for (const Value& item : value.items())
      kept.push_back(check(item, schema.at("items"), cat(path, "[", kept.size(), "]")));
    return Value::list(std::move(kept));
  }
};

/// `a in (x, y)`: the words between the parentheses.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ','))
    words.emplace_back(trim(word));
  return words;
}

Result<bool> holds(std::string_view term, const Value& labels) {
  const auto value_of = [&](std::string_view key) { return labels.find(trim(key)); };
  const auto parts = [&](std::string_view sign) {
    const size_t at = term.find(sign);
    return std::pair(trim(term.substr(0, at)), trim(term.substr(at + sign.size())));
  };
  if (const size_t open = term.find('('); open != term.npos) {
    const bool is_not = term.find(" notin ") != term.npos;
    const auto [key, list] = parts(is_not ? " notin " : " in ");
    const std::vector<std::string> words = words_in(list.substr(1, list.size() - 2));
    const Value* const found = value_of(key);
    const bool is_in =
        found != nullptr && std::ranges::find(words, std::string(found->text())) != words.end();
    return is_in != is_not;
  }
  if (term.find("!=") != term.npos) {
    const auto [key, value] = parts("!=");
    const Value* const found = value_of(key);
    return found == nullptr || found->text() != value;
  }
  if (term.find('=') != term.npos) {
    const auto [key, value] = parts(term.find("==") != term.npos ? "==" : "=");
    const Value* const found = value_of(key);
    return found != nullptr && found->text() == value;
  }
  if (term.find_first_of(" \t@#") != term.npos)
    return user_error("unable to parse requirement");
  return term.starts_with('!') ? value_of(term.substr(1)) == nullptr : value_of(term) != nullptr;
}

/// The terms of a selector: commas outside parentheses divide them.
std::vector<std::string> terms_of(std::string_view selector) {
  std::vector<std::string> terms(1);
  int depth = 0;
  for (const char c : selector) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0)
      terms.emplace_back();
    else
      terms.back() += c;
  }
  return terms;
}

}  // namespace

std::vector<TypeRules> built_in_types() {
  const std::string rbac = "rbac.authorization.k8s.io", hooks = "admissionregistration.k8s.io";
  return {
      row({"", "v1", "namespaces", "Namespace", false}, "namespace", true, false),
      row({"", "v1", "pods", "Pod"}, "pod", true, true, {"spec.nodeName", "status.phase"}),
      row({"", "v1", "nodes", "Node", false}, "node", true, false),
      row({"", "v1", "configmaps", "ConfigMap"}, "configmap", false, false),
      row({"", "v1", "secrets", "Secret"}, "secret", false, false, {"type"}),
      row({"", "v1", "events", "Event"}, "event", false, false,
          {"involvedObject.kind", "involvedObject.name", "involvedObject.uid"}),
      row({"", "v1", "services", "Service"}, "service", true, false),
      row({"", "v1", "serviceaccounts", "ServiceAccount"}, "serviceaccount", false, false),
      row({"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"}, "persistentvolumeclaim",
          true, false),
      row({"apps", "v1", "controllerrevisions", "ControllerRevision"}, "controllerrevision", false,
          false),
      row({"apps", "v1", "deployments", "Deployment"}, "deployment", true, true),
      row({"apps", "v1", "daemonsets", "DaemonSet"}, "daemonset", true, true),
      row({"apps", "v1", "statefulsets", "StatefulSet"}, "statefulset", true, true),
      row({"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"}, "poddisruptionbudget",
          true, true),
      row({rbac, "v1", "clusterroles", "ClusterRole", false}, "clusterrole", false, false),
      row({rbac, "v1", "clusterrolebindings", "ClusterRoleBinding", false}, "clusterrolebinding",
          false, false),
      row({rbac, "v1", "roles", "Role"}, "role", false, false),
      row({rbac, "v1", "rolebindings", "RoleBinding"}, "rolebinding", false, false),
      row({hooks, "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false},
          "mutatingwebhookconfiguration", false, true),
      row({hooks, "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false},
          "validatingwebhookconfiguration", false, true),
      row({hooks, "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", false},
          "validatingadmissionpolicy", true, true),
      row({hooks, "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding",
           false},
          "validatingadmissionpolicybinding", false, true),
      row({"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview",
           false},
          "selfsubjectaccessreview", false, false),
      row({"coordination.k8s.io", "v1", "leases", "Lease"}, "lease", false, false),
      row({"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
           false},
          "customresourcedefinition", true, true),
  };
}

std::vector<TypeRules> types_of_definition(const Value& definition) {
  std::vector<TypeRules> made;
  const Value& spec = definition.at("spec");
  const Value& names = spec.at("names");
  for (const Value& version : items_of(spec.at("versions"))) {
    if (!version.bool_at("served"))
      continue;
    const Value& subresources = version.at("subresources");
    made.push_back({.type = {.group = std::string(spec.text_at("group")),
                             .version = std::string(version.text_at("name")),
                             .plural = std::string(names.text_at("plural")),
                             .kind = std::string(names.text_at("kind")),
                             .is_namespaced = spec.text_at("scope") == "Namespaced"},
                    .singular = std::string(names.text_at("singular")),
                    .list_kind = cat(names.text_at("kind"), "List"),
                    .has_status = subresources.find("status") != nullptr,
                    .has_generation = true,
                    .is_custom = true,
                    .scale = subresources.at("scale"),
                    .schema = at_path(version, {"schema", "openAPIV3Schema"})});
  }
  return made;
}

Value pruned(const Value& object, const TypeRules& rules, const KnownRules& known,
             std::vector<Cause>& causes) {
  if (!rules.schema.is_dict())
    return object;
  Value result = Checker{known, causes}.check(object, rules.schema, "");
  for (const char* key : {"apiVersion", "kind", "metadata"})
    result = with(result, key, object.at(key));
  return result;
}

Result<bool> selects_labels(std::string_view selector, const Value& object) {
  if (trim(selector).empty())
    return true;
  bool all = true;
  for (const std::string& term : terms_of(selector))
    all = TRY(holds(trim(term), object.at("metadata").at("labels"))) && all;
  return all;
}

Result<bool> selects_fields(std::string_view selector, const Value& object,
                            const TypeRules& rules) {
  if (selector.empty())
    return true;
  bool all = true;
  for (const std::string_view term : split(selector, ',')) {
    const bool is_not = term.find("!=") != term.npos;
    const size_t sign = term.find(is_not ? '!' : '=');
    if (sign == term.npos)
      return user_error(cat("invalid selector: '", term, "'"));
    const std::string field(term.substr(0, sign));
    const std::string_view value = term.substr(term.find_last_of('=') + 1);
    if (field != "metadata.name" && field != "metadata.namespace" &&
        std::ranges::find(rules.fields, field) == rules.fields.end())
      return user_error(cat("field label not supported: ", field));
    const Value* const found = follow(object, field);
    all = all && ((found != nullptr && found->is_text() ? std::string_view(found->text()) : "") ==
                  value) != is_not;
  }
  return all;
}

}  // namespace fettle::kubernetes
