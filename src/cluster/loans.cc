#include "cluster/loans.h"

#include "base/text.h"
#include "cluster/cel.h"
#include "kinds/pod_change.h"

namespace fettle::cluster {
namespace {

/// Each container gets it from the server.
constexpr std::string_view token_path = "/var/run/secrets/kubernetes.io/serviceaccount";

struct JsonField {
  std::string_view name;
  bool is_text = true;
};

std::vector<Name> texts_at(const Value& list, std::string_view key) {
  std::vector<Name> texts;
  for (const Value& item : items_of(list))
    texts.emplace_back(item.text_at(key));
  return texts;
}

/// `,"KEY":` and the value of a field, or nothing where it is missing.
std::string optional_json(std::string_view dict, const JsonField& field) {
  const std::string path = cat(dict, ".", field.name);
  return cat("(has(", path, ") ? ", cel_text(cat(",\"", field.name, "\":")), " + ",
             field.is_text ? cel_json_text(path) : cat("string(", path, ")"), R"( : ""))");
}

/// The JSON of a dict that has `first`.
std::string dict_json(std::string_view dict, std::string_view first,
                      std::initializer_list<JsonField> fields) {
  std::vector<std::string> parts{cel_text(cat("{\"", first, "\":")),
                                 cel_json_text(cat(dict, ".", first))};
  for (const JsonField& field : fields)
    parts.push_back(optional_json(dict, field));
  parts.push_back(cel_text("}"));
  return cat("[", join(parts, ", "), R"(].join(""))");
}

/// `"KEY":` and the JSON of a reference of a variable, or nothing.
std::string reference_json(std::string_view key, std::string_view first,
                           std::initializer_list<JsonField> fields) {
  const std::string path = cat("each.valueFrom.", key);
  return cat("(has(", path, ") ? ", cel_text(cat("\"", key, "\":")), " + ",
             dict_json(path, first, fields), R"( : ""))");
}

std::string mount_json() {
  return dict_json("each", "mountPath",
                   {{"name"},
                    {"subPath"},
                    {"subPathExpr"},
                    {"mountPropagation"},
                    {"recursiveReadOnly"},
                    {"readOnly", false}});
}

std::string variable_json() {
  const std::vector<std::string> references{
      reference_json("fieldRef", "fieldPath", {}),
      reference_json("resourceFieldRef", "resource", {{"containerName"}, {"divisor"}}),
      reference_json("configMapKeyRef", "key", {{"name"}, {"optional", false}}),
      reference_json("secretKeyRef", "key", {{"name"}, {"optional", false}}),
      reference_json("fileKeyRef", "key", {{"path"}, {"volumeName"}, {"optional", false}})};
  const std::string source =
      cat(R"((has(each.valueFrom) ? ",\"valueFrom\":{" + [)", join(references, ", "),
          R"(].filter(text, text != "").join(",") + "}" : ""))");
  return cat(R"(["{\"name\":", )", cel_json_text("each.name"), ", ",
             optional_json("each", {"value"}), ", ", source, R"(, "}"].join(""))");
}

/// Keeps the first of those whose `key` is the same.
std::string first_of_each(std::string_view list, std::string_view key) {
  return cat(list, ".transformList(index, each, !", list,
             ".exists(other_index, other, other_index < index && other.", key, " == each.", key,
             "), each)");
}

/// The name of the container that lends variables.
std::string source_expression(const Value& transfer) {
  const Value& from = transfer.at("sourceContainerNameFrom").at("fieldRef");
  if (!from.is_dict())
    return cel_text(transfer.text_at("sourceContainerName"));
  const std::string reference = metadata_reference(from.text_at("fieldPath"));
  const size_t slash = reference.find('/');
  if (slash == reference.npos)
    return cel_text("");
  return cat("object.metadata.?", reference.substr(0, slash), "[?",
             cel_text(reference.substr(slash + 1)), R"(].orValue(""))");
}

/// The variables that one row of `transferEnv` asks for.
std::string transferred(const Value& transfer) {
  std::vector<Name> names;
  if (const std::string_view name = transfer.text_at("envName"); !name.empty())
    names.emplace_back(name);
  for (const Value& name : items_of(transfer.at("envNames")))
    if (name.is_text())
      names.push_back(name.text());
  return cat("variables.own.filter(c, c.name == ", source_expression(transfer),
             ").map(c, c.?env.orValue([])).flatten().filter(e, e.name in ", cel_texts(names), ")");
}

bool is_shared(const Value& sidecar, std::string_view policy) {
  return sidecar.at(policy).text_at("type") == "enabled";
}

}  // namespace

std::vector<Loan> loans_of(const Value& sidecar, const Value& known, std::string_view name) {
  std::vector<Loan> loans;
  const auto not_known = [&](std::string_view list, std::string_view key, const Value& items) {
    return cat(list, ".filter(each, !(each.", key, " in ", cel_texts(texts_at(items, key)), "))");
  };
  std::vector<std::string> lists;
  for (const Value& transfer : items_of(sidecar.at("transferEnv")))
    lists.push_back(transferred(transfer));
  if (is_shared(sidecar, "shareVolumePolicy")) {
    loans.push_back({"volumeMounts",
                     {{cat("mounts_", name),
                       not_known("variables.mounts", "mountPath", known.at("volumeMounts"))}},
                     mount_json()});
    lists.emplace_back("variables.path_variables");
  }
  if (is_shared(sidecar, "shareVolumeDevicePolicy"))
    loans.push_back({"volumeDevices",
                     {{cat("devices_", name),
                       not_known("variables.devices", "devicePath", known.at("volumeDevices"))}},
                     dict_json("each", "devicePath", {{"name"}})});
  if (!lists.empty())
    loans.push_back({"env",
                     {{cat("all_env_", name),
                       not_known(cat("(", join(lists, " + "), ")"), "name", known.at("env"))},
                      {cat("env_", name), first_of_each(cat("variables.all_env_", name), "name")}},
                     variable_json()});
  return loans;
}

std::vector<PolicyVariable> variables_for_loans() {
  return {
      {"all_mounts", cat("variables.own.map(c, c.?volumeMounts.orValue([])).flatten()"
                         ".filter(m, m.mountPath != ",
                         cel_text(token_path), ")")},
      {"mounts", first_of_each("variables.all_mounts", "mountPath")},
      {"all_devices", "variables.own.map(c, c.?volumeDevices.orValue([])).flatten()"},
      {"devices", first_of_each("variables.all_devices", "devicePath")},
      // A path of a lent volume may name variables of its container.
      {"path_variables",
       R"cel(variables.own.map(c, c.?env.orValue([]).filter(e, c.?volumeMounts.orValue([]))cel"
       R"cel(.exists(m, m.?subPathExpr.orValue("").contains("$(" + e.name + ")")))).flatten())cel"}};
}

}  // namespace fettle::cluster
