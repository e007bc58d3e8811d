#include "cluster/admission_policy.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/cel.h"
#include "cluster/loans.h"
#include "cluster/names.h"
#include "cluster/sidecars.h"
#include "cluster/types.h"
#include "value/json.h"
#include "value/with.h"
#include "workloads/names.h"
#include "workloads/pods/sidecar_parts.h"

namespace fettle::cluster {
namespace {

using workloads::Object;
using workloads::Revision;
using workloads::Workload;

constexpr std::string_view policy_prefix = "fettle-sidecarset-";
constexpr size_t longest_policy_name = 253;
/// CEL's parser reads no more code points.
constexpr size_t longest_expression = 100'000;
/// A server stores objects of 1.5 MiB at most, and one grows by its fields' owners.
constexpr size_t largest_policy = 1'000'000;

constexpr std::string_view is_marked =
    R"(c.?env.orValue([]).exists(e, e.name == "IS_INJECTED" && e.?value.orValue("") == "true"))";

std::string annotation_expression(std::string_view key) {
  return cat("object.metadata.?annotations[?", cel_text(key), R"(].orValue(""))");
}

std::string patch(std::string_view path, std::string_view value) {
  return cat(R"(JSONPatch{op: "add", path: )", path, ", value: ", value, "}");
}

/// A list of one patch that makes a list or dict where the pod has none.
std::string patch_if_missing(std::string_view field, std::string_view path,
                             std::string_view value) {
  return cat("(has(", field, ") ? [] : [", patch(cel_text(path), value), "])");
}

/// The path of an annotation in a patch, as a literal.
std::string annotation_path(std::string_view key) {
  std::string path = "/metadata/annotations/";
  for (const char letter : key)
    if (letter == '~')
      path += "~0";
    else if (letter == '/')
      path += "~1";
    else
      path += letter;
  return cel_text(path);
}

/// JSON of which a server makes parts.
class PartlyKnownJson {
 public:
  void add(std::string_view text) { known_ += text; }
  void add_expression(std::string expression) {
    end_known();
    parts_.push_back(std::move(expression));
  }
  std::string expression() {
    end_known();
    return parts_.size() == 1 ? parts_[0] : cat("[", join(parts_, ", "), R"(].join(""))");
  }

 private:
  void end_known() {
    if (!known_.empty())
      parts_.push_back(cel_text(std::exchange(known_, {})));
  }
  std::string known_;
  std::vector<std::string> parts_;
};

std::string json_of(const Value& value) {
  return write_json(value, {.indent = 0, .show_secrets = true});
}

std::string json_of_items(const Value& list) {
  const std::string json = json_of(list);
  return json.substr(1, json.size() - 2);
}

Value without_loans(const Value& container, const std::vector<Loan>& loans) {
  std::vector<Entry> entries;
  for (const Entry& entry : container.entries())
    if (std::ranges::find(loans, entry.key, &Loan::field) == loans.end())
      entries.push_back(entry);
  return Value::dict(std::move(entries));
}

void add_container(PartlyKnownJson& json, const Value& container, const std::vector<Loan>& loans) {
  std::string rest = json_of(without_loans(container, loans));  // has a name at least
  rest.pop_back();
  json.add(rest);
  for (const Loan& loan : loans) {
    const Value& known = container.at(loan.field);
    const std::string begin = cat(",\"", loan.field, "\":["),
                      items = cat(loan.added(), ".map(each, ", loan.json, R"().join(","))");
    if (items_of(known).empty()) {
      json.add_expression(cat("(size(", loan.added(), R"() == 0 ? "" : )", cel_text(begin), " + ",
                              items, R"( + "]"))"));
    } else {
      json.add(cat(begin, json_of_items(known)));
      json.add_expression(cat("(size(", loan.added(), R"() == 0 ? "" : "," + )", items, ")"));
      json.add("]");
    }
  }
  json.add("}");
}

/// A container of the pod, with what the pod lends.
Result<std::string> container_expression(const Value& container, const std::vector<Loan>& loans) {
  std::string literal = TRY(cel_literal(without_loans(container, loans)));
  literal.pop_back();
  for (const Loan& loan : loans) {
    const Value& known = container.at(loan.field);
    literal +=
        cat(", ", cel_text(loan.field), ": dyn(",
            TRY(cel_literal(known.is_list() ? known : Value::list({}))), " + ", loan.added(), ")");
  }
  return cat(literal, "}");
}

size_t code_points(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char letter) { return (letter & 0xc0) != 0x80; }));
}

/// Writes the spec of the policy of a set.
class PolicyWriter {
 public:
  PolicyWriter(const Object& object, const Revision& revision)
      : document_(object.document),
        set_(workloads::workload_of(object)),
        template_(revision.pod_template.at("spec")),
        part_(only_part(set_, revision)),
        marked_(spec_with_injection_marks(part_, Value::list({part_}))) {}

  Result<Value> spec() {
    add_general_variables();
    TRY(add_containers("containers"));
    TRY(add_containers("initContainers"));
    if (lends_)
      for (PolicyVariable& variable : variables_for_loans())
        add_variable(std::move(variable.name), std::move(variable.expression));
    for (PolicyVariable& variable : of_containers_)
      add_variable(std::move(variable.name), std::move(variable.expression));
    TRY(add_named("volumes"));
    TRY(add_named("imagePullSecrets"));
    add_annotations();
    const std::string mutation = join(patches_, " + ");
    TRY(check_length(mutation));
    return Value::dict(
        {{"failurePolicy", "Ignore"},
         {"reinvocationPolicy", "Never"},
         {"matchConstraints", constraints()},
         {"matchConditions", conditions()},
         {"variables", Value::list(std::move(variables_))},
         {"mutations",
          Value::list({Value::dict({{"patchType", "JSONPatch"},
                                    {"jsonPatch", Value::dict({{"expression", mutation}})}})})}});
  }

 private:
  static Value only_part(const Workload& set, const Revision& revision) {
    return workloads::joined_sidecars({workloads::sidecar_of(set, revision, {})}).items()[0];
  }

  void add_variable(std::string name, std::string expression) {
    longest_ = std::max(longest_, code_points(expression));
    variables_.push_back(Value::dict({{"name", name}, {"expression", expression}}));
  }

  Status check_length(const std::string& mutation) const {
    if (std::max(longest_, code_points(mutation)) <= longest_expression)
      return {};
    return user_error(
        "it is too long for an admission policy, whose expressions have 100,000 "
        "letters at most");
  }

  void add_general_variables() {
    add_variable("own", cat("object.spec.containers.filter(c, !", is_marked, ")"));
    // Sidecars stand before them already.
    add_variable("first",
                 "size(variables.own) == 0 ? 0 : object.spec.containers.map(c, c.name)"
                 ".indexOf(variables.own[0].name)");
    add_variable("inits", "object.spec.?initContainers.orValue([])");
    add_variable("marked_inits", cat("variables.inits.filter(c, ", is_marked, ").map(c, c.name)"));
    add_variable("sets", annotation_expression(annotation::sidecar_list));
  }

  /// The containers of the set in the pod, each with what it lends. A hot one is two.
  Status add_containers(std::string_view list) {
    const auto known = items_of(part_.at(list)), marked = items_of(marked_.at(list));
    size_t at = 0;
    for (const Value& sidecar : items_of(template_.at(list))) {
      const bool is_pair = at < known.size() && known[at].at("name") != sidecar.at("name");
      const std::string name = cat(list == "containers" ? "c" : "i", at);
      std::vector<Loan> loans;
      if (at < known.size())
        loans = loans_of(sidecar, marked[at], name);
      lends_ = lends_ || !loans.empty();
      for (const Loan& loan : loans)
        of_containers_.insert(of_containers_.end(), loan.variables.begin(), loan.variables.end());
      for (size_t end = at + (is_pair ? 2 : 1); at < std::min(end, known.size()); ++at) {
        const std::string own_name = cat(list == "containers" ? "c" : "i", at);
        of_containers_.push_back({own_name, TRY(container_expression(marked[at], loans))});
        loans_[list == "containers" ? 0 : 1].push_back(loans);
      }
    }
    if (list == "containers")
      patch_containers();
    else
      patch_init_containers();
    return {};
  }

  void patch_containers() {
    std::vector<std::string> patches;
    const auto known = items_of(part_.at("containers"));
    size_t count = 0;
    for (size_t i = 0; i < known.size(); ++i) {
      const auto first = items_of(part_.at("before"));
      const bool is_first = std::ranges::find(first, known[i].at("name")) != first.end();
      patches.push_back(
          patch(is_first ? cat(R"("/spec/containers/" + string(variables.first + )", count++, ")")
                         : cel_text("/spec/containers/-"),
                cat("variables.c", i)));
    }
    if (!patches.empty())
      patches_.push_back(cat("[", join(patches, ", "), "]"));
  }

  /// They run one after the other: those of the pod first, then those of all sets by their names.
  void patch_init_containers() {
    std::vector<std::pair<Name, size_t>> order;
    for (const Value& container : items_of(part_.at("initContainers")))
      order.emplace_back(container.text_at("name"), order.size());
    if (order.empty())
      return;
    std::ranges::sort(order, {}, [](const auto& each) { return each.first.view(); });
    std::vector<std::string> patches;
    for (const auto& [name, index] : order)
      patches.push_back(
          patch(cat(R"("/spec/initContainers/" + string(size(variables.inits) + )", patches.size(),
                    " - size(variables.marked_inits.filter(n, n > ", cel_text(name), ")))"),
                cat("variables.i", index)));
    patches_.push_back(
        patch_if_missing("object.spec.initContainers", "/spec/initContainers", "[]"));
    patches_.push_back(cat("[", join(patches, ", "), "]"));
  }

  /// Volumes or Secrets. What the pod has of the same name stays.
  Status add_named(std::string_view list) {
    const Value& items = template_.at(list);
    if (items_of(items).empty())
      return {};
    add_variable(std::string(list), TRY(cel_literal(items)));
    const std::string field = cat("object.spec.", list);
    patches_.push_back(patch_if_missing(field, cat("/spec/", list), "[]"));
    patches_.push_back(cat("variables.", list, ".filter(v, !object.spec.?", list,
                           ".orValue([]).exists(o, o.name == v.name)).map(v, ",
                           patch(cel_text(cat("/spec/", list, "/-")), "v"), ")"));
    return {};
  }

  void add_annotations() {
    patches_.push_back(
        patch_if_missing("object.metadata.annotations", "/metadata/annotations", "{}"));
    std::vector<std::string> patches;
    const auto add = [&](std::string_view key, std::string_view value) {
      patches.push_back(patch(annotation_path(key), value));
    };
    add(annotation::sidecar_list,
        cat(R"((variables.sets == "" ? "" : variables.sets + ",") + )", cel_text(set_.name)));
    add_variable("part", part_json());
    add(annotation::sidecars, joined_json(annotation::sidecars, "variables.part", '[', ']'));
    if (part_.at("annotations").is_dict())
      for (const Entry& entry : part_.at("annotations").entries())
        if (entry.key != workloads::annotation::working)
          add(entry.key, cel_text(entry.value.text()));
    if (part_.at("working").is_dict())
      add(workloads::annotation::working,
          joined_json(workloads::annotation::working, cel_text(json_of_items(part_.at("working"))),
                      '{', '}'));
    patches_.push_back(cat("[", join(patches, ", "), "]"));
  }

  /// The JSON of a list or dict in an annotation, with one more item. What stands there is only
  /// believed if another policy can have written it.
  static std::string joined_json(std::string_view key, std::string_view item, char begin,
                                 char end) {
    const std::string known = annotation_expression(key);
    const std::string_view open(&begin, 1), close(&end, 1);
    return cat(R"((variables.sets != "" && )", known, ".startsWith(", cel_text(open), ") && ",
               known, ".endsWith(", cel_text(close), ") && size(", known, ") > 2 ? ", known,
               ".substring(0, size(", known, R"() - 1) + "," : )", cel_text(open), ") + ", item,
               " + ", cel_text(close));
  }

  /// What `fettle/sidecars` says of this set.
  std::string part_json() {
    PartlyKnownJson json;
    json.add("{");
    for (size_t i = 0; const Entry& entry : part_.entries()) {
      const bool are_init = entry.key == "initContainers";
      json.add(cat(i++ == 0 ? "" : ",", "\"", entry.key, "\":"));
      if (!are_init && entry.key != "containers") {
        json.add(json_of(entry.value));
        continue;
      }
      json.add("[");
      for (size_t at = 0; const Value& container : entry.value.items()) {
        json.add(at == 0 ? "" : ",");
        add_container(json, container, loans_[are_init ? 1 : 0][at++]);
      }
      json.add("]");
    }
    json.add("}");
    return json.expression();
  }

  /// Servers write these defaults into what has them not.
  Value constraints() const {
    const Value& spec = document_.at("spec");
    const Value rule = Value::dict({{"apiGroups", Value::list({""})},
                                    {"apiVersions", Value::list({"v1"})},
                                    {"operations", Value::list({"CREATE"})},
                                    {"resources", Value::list({"pods"})},
                                    {"scope", "*"}});
    return Value::dict({{"matchPolicy", "Equivalent"},
                        {"resourceRules", Value::list({rule})},
                        {"objectSelector", spec.at("selector")},
                        {"namespaceSelector", space_selector(spec)}});
  }

  /// As with OpenKruise, the system itself gets nothing.
  Value space_selector(const Value& spec) const {
    const Value& chosen = spec.at("namespaceSelector");
    std::vector<Value> rows(items_of(chosen.at("matchExpressions")).begin(),
                            items_of(chosen.at("matchExpressions")).end());
    const auto add = [&](std::string_view how, std::vector<Value> spaces) {
      rows.push_back(Value::dict({{"key", "kubernetes.io/metadata.name"},
                                  {"operator", how},
                                  {"values", Value::list(std::move(spaces))}}));
    };
    add("NotIn", {"kube-system", "kube-public"});
    if (!set_.pods_space.empty())
      add("In", {set_.pods_space});
    return with(chosen.is_dict() ? chosen : Value::dict({}), "matchExpressions",
                Value::list(std::move(rows)));
  }

  Value conditions() const {
    std::vector<Name> names;
    for (const char* list : {"containers", "initContainers"})
      for (const Value& container : items_of(part_.at(list)))
        names.emplace_back(container.text_at("name"));
    const std::string is_taken = cat("c, c.name in ", cel_texts(names));
    const auto row = [](std::string_view name, const std::string& expression) {
      return Value::dict({{"name", name}, {"expression", expression}});
    };
    return Value::list(
        {row("not-of-fettle", cat(annotation_expression(annotation::made), R"( == "")")),
         row("not-of-a-kubelet",
             cat(annotation_expression("kubernetes.io/config.mirror"), R"( == "")")),
         row("not-injected",
             cat("!(", cel_text(set_.name), " in ", annotation_expression(annotation::sidecar_list),
                 R"(.split(",")))")),
         row("no-name-taken",
             cat("!object.spec.containers.exists(", is_taken,
                 ") && !object.spec.?initContainers.orValue([]).exists(", is_taken, ")"))});
  }

  const Value& document_;
  const Workload set_;
  const Value template_;  ///< as the set has it
  const Value part_;      ///< as a pod has it that lends nothing
  const Value marked_;    ///< the same with `IS_INJECTED`
  bool lends_ = false;
  size_t longest_ = 0;
  std::vector<PolicyVariable> of_containers_;
  std::vector<std::vector<Loan>> loans_[2];  ///< of containers and of init containers
  std::vector<Value> variables_;
  std::vector<std::string> patches_;  ///< lists of them
};

Value policy_metadata(const Object& set) {
  return Value::dict({{"name", policy_name(set.name)},
                      {"labels", Value::dict({{"app.kubernetes.io/name", "fettle"}})},
                      {"ownerReferences", Value::list({owner_reference(set)})}});
}

}  // namespace

Name policy_name(const Name& set) { return cat(policy_prefix, set); }

Name set_of_policy(std::string_view policy) {
  return policy.starts_with(policy_prefix) ? Name(policy.substr(policy_prefix.size())) : Name();
}

Result<AdmissionPolicy> admission_policy(const Object& set, const Revision& revision) {
  const Name name = policy_name(set.name);
  if (name.view().size() > longest_policy_name)
    return user_error("its name is too long for an admission policy, which has 18 letters more");
  if (workloads::selector_of(set.document.at("spec").at("selector")).is_empty())
    return user_error("it selects no pods");
  AdmissionPolicy made;
  made.policy = Value::dict({{"kind", types::policies.kind},
                             {"metadata", policy_metadata(set)},
                             {"spec", TRY(PolicyWriter(set, revision).spec())}});
  if (json_of(made.policy).size() > largest_policy)
    return user_error("it is too large for an admission policy, which has 1 MB at most");
  made.binding = Value::dict({{"kind", types::policy_bindings.kind},
                              {"metadata", policy_metadata(set)},
                              {"spec", Value::dict({{"policyName", name}})}});
  return made;
}

bool is_policy_of(const Value& object, const Name& set_uid) {
  const ObjectMeta meta = meta_of(object);
  return meta.controller && meta.controller->kind == types::sidecar_sets.kind &&
         (set_uid.empty() || meta.controller->uid == set_uid) &&
         object.at("metadata").at("labels").text_at("app.kubernetes.io/name") == "fettle";
}

}  // namespace fettle::cluster
