#include "workloads/read/read.h"

#include <algorithm>
#include <set>

#include "base/base64.h"
#include "base/text.h"
#include "value/json_tree.h"
#include "value/yaml_tree.h"
#include "workloads/read/rule_document.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

constexpr std::string_view known_kinds[] = {
    "CloneSet",   "StatefulSet", "DaemonSet", "ImagePullJob", "ImageListPullJob",
    "SidecarSet", "Namespace",   "ConfigMap", "Secret",       "Service"};

/// Fields that are judged together with the stored object.
constexpr const char* judged_later[] = {"spec.selector",    "spec.volumeClaimTemplates",
                                        "spec.serviceName", "spec.podManagementPolicy",
                                        "spec.pullSecrets", "spec.containers"};

/// Namespaces and SidecarSets belong to no namespace.
bool is_of_fleet(std::string_view kind) { return kind == "Namespace" || kind == "SidecarSet"; }

bool is_dns_name(std::string_view name) {
  const auto is_letter = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
  };
  return !name.empty() && name.size() <= 253 && is_letter(name.front()) && is_letter(name.back()) &&
         std::ranges::all_of(name, [&](char letter) {
           return is_letter(letter) || letter == '-' || letter == '.';
         });
}

/// Turns annotations that were written as numbers or truth values into texts. A null stays: it
/// removes its annotation.
Value with_text_annotations(const Value& document) {
  const Value& metadata = document.at("metadata");
  const Value& annotations = metadata.at("annotations");
  if (!annotations.is_dict())
    return document;
  std::vector<Entry> texts;
  for (const Entry& entry : annotations.entries())
    texts.push_back({entry.key, entry.value.is_null() ? Value() : Value(to_text(entry.value))});
  return edited(document,
                {{"metadata", edited(metadata, {{"annotations", Value::dict(std::move(texts))}})}});
}

/// Null when nothing is left.
Value without(const Value& annotations, std::string_view key) {
  const Value left = edited_within(annotations, {{Name(key), Value()}});
  return left.entries().empty() ? Value() : left;
}

/// Drops what a cluster or a fleet adds when it shows an object, so that a shown object can be
/// applied.
Value without_added(const Value& document) {
  std::vector<Entry> gone;
  for (const char* field : {"namespace", "uid", "generation", "creationTimestamp",
                            "resourceVersion", "managedFields", "selfLink"})
    gone.push_back({field, Value()});
  Value metadata = edited(document.at("metadata"), std::move(gone));
  constexpr std::string_view last_applied = "kubectl.kubernetes.io/last-applied-configuration";
  if (metadata.at("annotations").is_dict() &&
      metadata.at("annotations").find(last_applied) != nullptr)
    metadata =
        edited(metadata, {{"annotations", without(metadata.at("annotations"), last_applied)}});
  return edited(document, {{"metadata", std::move(metadata)}, {"status", Value()}});
}

/// A CloneSet of v1alpha1 in the shape of v1beta1: `type` said what to do with pods.
Value converted_clone_set(const Value& document) {
  const Value &spec = document.at("spec"), &strategy = spec.at("updateStrategy");
  std::vector<Entry> rolling;
  if (strategy.is_dict())
    for (const Entry& entry : strategy.entries())
      if (entry.key != "type")
        rolling.push_back(entry);
  const std::string_view type = strategy.text_at("type", "ReCreate");
  const bool is_on_delete = type == "OnDelete";
  if (!is_on_delete)
    rolling.push_back({"podUpdatePolicy", type == "RollingUpdate" ? "ReCreate" : type});
  const Value& scale = spec.at("scaleStrategy");
  const Value changed = edited(
      spec, {{"updateStrategy", Value::dict({{"type", is_on_delete ? "OnDelete" : "RollingUpdate"},
                                             {"rollingUpdate", Value::dict(std::move(rolling))}})},
             {"scaleStrategy", edited(scale, {{"enablePVCReuse", !scale.bool_at("disablePVCReuse")},
                                              {"disablePVCReuse", Value()}})}});
  return edited(document, {{"spec", changed}});
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view file, const ReadOptions& options,
         Manifests& manifests)
      : options_(options),
        file_(file),
        manifests_(manifests),
        checker_(text, file, manifests.errors) {}

  void read(const TreeNode& root) {
    if (root.is_null())
      return;
    const TreeNode* kind = root.is_dict() ? root.find("kind") : nullptr;
    if (kind == nullptr || !kind->is_text()) {
      checker_.refuse(root, "a manifest needs `apiVersion` and `kind`");
      return;
    }
    const TreeNode* items = root.find("items");
    if (kind->text() == "List" && items != nullptr && items->is_list()) {
      // Kubernetes has no list within a list.
      for (const TreeNode* item : items->items())
        read_object(*item);
      return;
    }
    read_object(root);
  }

 private:
  void read_object(const TreeNode& root) {
    const TreeNode* kind_node = root.is_dict() ? root.find("kind") : nullptr;
    const TreeNode* version_node = root.is_dict() ? root.find("apiVersion") : nullptr;
    if (kind_node == nullptr || !kind_node->is_text() || version_node == nullptr ||
        !version_node->is_text()) {
      checker_.refuse(root, "a manifest needs `apiVersion` and `kind`");
      return;
    }
    const Name kind = kind_node->text(), version = version_node->text();
    const bool is_workload = workload_sort(kind).has_value();
    const bool is_known = std::ranges::find(known_kinds, kind.view()) != std::end(known_kinds);
    const bool is_alpha = version == "apps.kruise.io/v1alpha1";
    const bool is_ours =
        is_workload ? is_alpha || version == "apps.kruise.io/v1beta1" : is_known && version == "v1";
    if (!is_ours) {
      refuse_kind(root, *(is_known ? version_node : kind_node), kind, version, is_workload);
      return;
    }
    const size_t before = checker_.count();
    Object object;
    object.kind = kind;
    object.is_of_cluster = options_.is_of_cluster;
    read_metadata(root, object);
    if (is_workload)
      check_fields(root, kind, is_alpha, checker_);
    if (is_workload) {
      check_pod_fields(root, kind, options_.is_of_cluster, checker_);
      refuse_masked(root);
    }
    checker_.end_structure();
    if (is_workload)
      check_rules({root, kind, is_alpha, options_.is_of_cluster, checker_});
    checker_.begin_structure();
    if (kind == "ConfigMap" || kind == "Secret")
      object.document = read_data(root, kind == "Secret");
    else
      object.document = with_text_annotations(value_of(root));
    if (checker_.count() != before)
      return;
    if (options_.keeps_written && is_workload)
      object.written = object.document;
    for (const char* path : judged_later)
      if (is_workload)
        object.places.push_back(checker_.place_of(root, path));
    if (is_alpha && kind == "CloneSet")
      object.document = converted_clone_set(object.document);
    object.document = without_added(object.document);
    if (is_workload)
      object.document = edited(object.document, {{"apiVersion", "apps.kruise.io/v1beta1"}});
    refuse_double(root, object);
    manifests_.objects.push_back(std::move(object));
  }

  void refuse_double(const TreeNode& root, const Object& object) {
    const auto [first, is_new] = owners().emplace(object.owner(), file_);
    if (!is_new)
      checker_.refuse(root,
                      cat("there are two of ", object.kind, " `", object.name, "`",
                          first->second == file_ ? "" : cat(", another one in ", first->second)));
  }

  void refuse_kind(const TreeNode& root, const TreeNode& at, const Name& kind, const Name& version,
                   bool is_workload) {
    if (options_.skip_unknown) {
      const TreeNode* name = Checker::find(root, "metadata.name");
      manifests_.skipped.push_back(
          cat(printable(kind), " ",
              name != nullptr && name->is_text() ? printable(name->text()) : std::string("?")));
      return;
    }
    std::vector<std::string> names;
    for (const std::string_view each : known_kinds)
      names.emplace_back(each);
    if (&at != root.find("kind")) {
      checker_.refuse(
          at, cat("`", kind, "` of `", printable(version), "` is unknown; use ",
                  is_workload ? "apps.kruise.io/v1beta1 or apps.kruise.io/v1alpha1" : "v1"));
      return;
    }
    checker_.refuse(at, cat("unknown kind `", clipped(printable(kind), 60), "`, expected one of ",
                            join(names, ", "), suggestion(kind, names)));
  }

  void read_metadata(const TreeNode& root, Object& object) {
    const TreeNode* name = Checker::find(root, "metadata.name");
    if (name == nullptr || !name->is_text()) {
      checker_.refuse_at(root, "metadata.name",
                         name == nullptr || name->is_null()
                             ? std::string("`metadata.name` is missing")
                             : no_text("metadata.name", *name));
      return;
    }
    if (!is_dns_name(name->text()))
      checker_.refuse(
          *name,
          cat("`metadata.name` must have only lower case letters, digits, `-` and `.`, not `",
              clipped(printable(name->text()), 60), "`"));
    object.name = name->text();
    check_texts(root, "metadata.labels");
    check_labels(root, "metadata.labels", checker_);
    check_annotation_keys(root, "metadata.annotations", checker_);
    check_annotation_values(root);
    if (is_of_fleet(object.kind))
      return;
    const TreeNode* space = Checker::find(root, "metadata.namespace");
    const bool is_named = space != nullptr && space->is_text();
    if (space != nullptr && !is_named && !space->is_null())
      checker_.refuse(*space, no_text("metadata.namespace", *space));
    if (is_named && !is_dns_name(space->text()))
      checker_.refuse(
          *space, "`metadata.namespace` must have only lower case letters, digits, `-` and `.`");
    if (is_named && !options_.space.empty() && space->text() != options_.space)
      checker_.refuse(*space, cat("namespace `", printable(space->text()),
                                  "` differs from the requested `", options_.space, "`"));
    object.space = is_named                 ? space->text()
                   : options_.space.empty() ? Name(options_.otherwise)
                                            : Name(options_.space);
  }

  /// The mask that was shown in place of a secret would become its value.
  void refuse_masked(const TreeNode& node) {
    if (node.is_text() && node.text() == masked)
      checker_.refuse(node, cat("`", masked,
                                "` was shown in place of a secret: write its value, or "
                                "let `get --show-secrets` show it"));
    if (node.is_list())
      for (const TreeNode* item : node.items())
        refuse_masked(*item);
    if (node.is_dict())
      for (const TreeMember& entry : node.entries())
        refuse_masked(*entry.value);
  }

  static std::string no_text(std::string_view path, const TreeNode& found) {
    return cat("`", path, "` must be a string, not ", found_text(found),
               found.is_scalar() ? ": put quotes around it" : "");
  }

  /// Numbers and truth values become texts, see `with_text_annotations`.
  void check_annotation_values(const TreeNode& root) {
    const TreeNode* annotations = Checker::find(root, "metadata.annotations");
    if (annotations == nullptr || annotations->is_null())
      return;
    if (!annotations->is_dict()) {
      checker_.refuse(*annotations, "`metadata.annotations` must be a dict");
      return;
    }
    for (const TreeMember& entry : annotations->entries())
      if (!entry.value->is_scalar())
        checker_.refuse(
            *entry.value,
            no_text(cat("metadata.annotations.", printable(entry.key->text())), *entry.value));
  }

  void check_texts(const TreeNode& root, std::string_view path) {
    const TreeNode* dict = Checker::find(root, path);
    if (dict == nullptr || dict->is_null())
      return;
    if (!dict->is_dict()) {
      checker_.refuse(*dict, cat("`", path, "` must be a dict"));
      return;
    }
    for (const TreeMember& entry : dict->entries())  // a null removes what is stored
      if (!entry.value->is_text() && !entry.value->is_null())
        checker_.refuse(*entry.value, cat("`", path, ".", printable(entry.key->text()),
                                          "` must be a string: put quotes around it"));
  }

  /// A field with another name would be data that nobody gets.
  void check_data_fields(const TreeNode& root, bool is_secret) {
    std::vector<std::string> known{"apiVersion", "kind", "metadata", "data", "immutable"};
    if (is_secret)
      known.insert(known.end(), {"stringData", "type"});
    else
      known.emplace_back("binaryData");
    for (const TreeMember& entry : root.entries()) {
      const std::string name = entry.key->text().str();
      if (std::ranges::find(known, name) == known.end())
        checker_.refuse(*entry.key,
                        cat("unknown field `", printable(name), "` of a ",
                            is_secret ? "Secret" : "ConfigMap", suggestion(name, known)));
    }
    const TreeNode* const type = root.find("type");
    if (is_secret && type != nullptr && !type->is_null() && !type->is_text())
      checker_.refuse(*type, no_text("type", *type));
  }

  /// {"metadata", "data": {key: text}}: `data` of a Secret and `binaryData` are decoded. Everything
  /// in a Secret is a secret.
  Value read_data(const TreeNode& root, bool is_secret) {
    check_data_fields(root, is_secret);
    std::vector<Entry> data;
    const auto add = [&](const char* part, bool is_encoded) {
      const TreeNode* dict = root.find(part);
      check_texts(root, part);
      if (dict == nullptr || !dict->is_dict())
        return;
      for (const TreeMember& entry : dict->entries()) {
        if (entry.value->is_null())
          data.push_back({entry.key->text(), Value()});
        if (!entry.value->is_text())
          continue;
        std::string text = entry.value->text().str();
        if (is_encoded) {
          Result<std::string> decoded = base64_decode_strictly(text);
          if (!decoded) {
            if (text == masked)
              refuse_masked(*entry.value);
            else
              checker_.refuse(*entry.value, cat("`", part, ".", printable(entry.key->text()),
                                                "` must be base64"));
            continue;
          }
          text = std::move(*decoded);
        }
        data.push_back({entry.key->text(), is_secret ? Value::secret(text) : Value(text)});
      }
    };
    add("data", is_secret);
    add(is_secret ? "stringData" : "binaryData", !is_secret);
    return edited(
        with_text_annotations(value_of(root)),
        {{"data", Value::dict(std::move(data))}, {"stringData", Value()}, {"binaryData", Value()}});
  }

  std::map<Name, std::string>& owners() {
    return options_.read_before == nullptr ? own_ : *options_.read_before;
  }

  const ReadOptions& options_;
  const std::string file_;
  Manifests& manifests_;
  Checker checker_;
  std::map<Name, std::string> own_;  ///< what was read, where nobody else has to know
};

}  // namespace

Manifests read_manifests(std::string_view text, std::string_view file, const ReadOptions& options) {
  Manifests manifests;
  Reader reader(text, file, options, manifests);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != text.npos && text[first] == '{') {
    const Result<Tree> tree = read_json_tree(text, file);
    if (tree) {
      reader.read(tree->root());
      return manifests;
    }
    // It may still be YAML in the style of JSON.
  }
  const YamlOptions reading{YamlSchema::go_yaml_v2, Duplicates::error, {}, {}};
  const Result<std::vector<Tree>> trees = read_yaml_trees(text, file, reading);
  if (!trees) {
    manifests.errors.push_back(trees.error());
    return manifests;
  }
  for (const Tree& tree : *trees)
    reader.read(tree.root());
  return manifests;
}

namespace {

Error refusal(const Object& object, std::string_view path, std::string message) {
  Error error = user_error(std::move(message));
  if (const auto place = std::ranges::find(object.places, path, &FieldPlace::path);
      place != object.places.end()) {
    error.where = place->where;
    error.excerpt = place->excerpt;
  }
  return error;
}

/// Claim templates without what has no meaning: defaults that were written out, and sizes if they
/// may change. Volumes of engines have no size.
Value meant_claims(const Value& claims, bool have_sizes) {
  std::vector<Value> meant;
  if (claims.is_list())
    for (const Value& claim : claims.items()) {
      const Value &metadata = claim.at("metadata"), &spec = claim.at("spec");
      meant.push_back(Value::list(
          {metadata.at("name"), edited(metadata.at("labels"), {}),
           edited(spec,
                  {{"volumeMode",
                    spec.text_at("volumeMode") == "Filesystem" ? Value() : spec.at("volumeMode")},
                   {"resources", have_sizes ? spec.at("resources") : Value()}})}));
    }
  return Value::list(std::move(meant));
}

Value text_or(const Value& spec, const char* field, std::string_view otherwise) {
  return spec.text_at(field, otherwise);
}

}  // namespace

std::vector<Error> check_change(const Object& before, const Object& after) {
  std::vector<Error> errors;
  const Value &was = before.document.at("spec"), &is = after.document.at("spec");
  const auto refuse = [&](const char* field, std::string_view advice) {
    const std::string path = cat("spec.", field);
    errors.push_back(
        refusal(after, path,
                cat("`", path, "` of ", after.kind, " `", after.name, "` cannot change", advice)));
  };
  const bool has_pods =
      after.kind == "CloneSet" || after.kind == "StatefulSet" || after.kind == "DaemonSet";
  if (has_pods &&
      to_string(selector_of(was.at("selector"))) != to_string(selector_of(is.at("selector"))))
    refuse("selector", ": delete it and create it again");
  if (after.kind == "StatefulSet") {
    const bool have_sizes = !is.at("volumeClaimUpdateStrategy").is_dict();
    const Value &claims = was.at("volumeClaimTemplates"), &now = is.at("volumeClaimTemplates");
    if (meant_claims(claims, have_sizes) != meant_claims(now, have_sizes))
      refuse("volumeClaimTemplates", meant_claims(claims, false) == meant_claims(now, false)
                                         ? "; with `volumeClaimUpdateStrategy` sizes may"
                                         : "");
    if (text_or(was, "serviceName", "") != text_or(is, "serviceName", ""))
      refuse("serviceName", "");
    if (text_or(was, "podManagementPolicy", "OrderedReady") !=
        text_or(is, "podManagementPolicy", "OrderedReady"))
      refuse("podManagementPolicy", "");
  }
  if (after.kind == "ImagePullJob" && was.at("pullSecrets") != is.at("pullSecrets"))
    refuse("pullSecrets", "");
  return errors;
}

namespace {

/// Whether a pod could match both. Only values that exclude each other show that none can.
bool may_overlap(const Selector& a, const Selector& b) {
  using Operator = Requirement::Operator;
  for (const Requirement& one : a.requirements)
    for (const Requirement& other : b.requirements) {
      if (one.key != other.key)
        continue;
      const auto is_among = [&](const Name& value) {
        return std::ranges::find(other.values, value) != other.values.end();
      };
      if (one.op == Operator::in && other.op == Operator::in &&
          std::ranges::none_of(one.values, is_among))
        return false;
      if (one.op == Operator::in && other.op == Operator::not_in &&
          std::ranges::all_of(one.values, is_among))
        return false;
      if ((one.op == Operator::in || one.op == Operator::exists) &&
          other.op == Operator::does_not_exist)
        return false;
    }
  return true;
}

std::set<Name> container_names(const Value& spec) {
  std::set<Name> names;
  for (const char* part : {"containers", "initContainers"})
    if (const Value& containers = spec.at(part); containers.is_list())
      for (const Value& container : containers.items())
        names.insert(container.text_at("name"));
  return names;
}

}  // namespace

std::vector<Error> check_beside(const Object& other, const Object& object) {
  if (object.kind != "SidecarSet" || other.kind != "SidecarSet")
    return {};
  const Value &theirs = other.document.at("spec"), &ours = object.document.at("spec");
  const Value &space = theirs.at("namespace"), &own_space = ours.at("namespace");
  const Selector a = selector_of(theirs.at("selector")), b = selector_of(ours.at("selector"));
  if ((space.is_text() && own_space.is_text() && space != own_space) || !may_overlap(a, b) ||
      !may_overlap(b, a))
    return {};
  std::vector<Error> errors;
  const std::set<Name> names = container_names(ours);
  for (const Name& name : container_names(theirs))
    if (names.contains(name))
      errors.push_back(refusal(
          object, "spec.containers",
          cat("container `", name, "` of SidecarSet `", object.name, "` is also in SidecarSet `",
              other.name, "`, which may select the same pods")));
  return errors;
}

}  // namespace fettle::workloads
