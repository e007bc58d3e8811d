#include "cluster/daemon_pods.h"

#include <algorithm>

#include "value/with.h"
#include "workloads/place.h"

namespace fettle::cluster {
namespace {

constexpr const char* required = "requiredDuringSchedulingIgnoredDuringExecution";

Value named_node(const Name& node) {
  return Value::dict(
      {{"key", "metadata.name"}, {"operator", "In"}, {"values", Value::list({Value(node)})}});
}

const Value& dict_at(const Value& dict, std::string_view key) {
  static const Value none = Value::dict({});
  const Value& found = dict.at(key);
  return found.is_dict() ? found : none;
}

}  // namespace

Value spec_on_node(const Value& spec, const Name& node) {
  const Value term = Value::dict({{"matchFields", Value::list({named_node(node)})}});
  const Value terms = Value::dict({{"nodeSelectorTerms", Value::list({term})}});
  const Value& affinity = dict_at(spec, "affinity");
  std::vector<Entry> entries;
  for (const Entry& entry : spec.entries())
    if (entry.key != "nodeName")
      entries.push_back(entry);
  const Value made = with(
      Value::dict(std::move(entries)), "affinity",
      with(affinity, "nodeAffinity", with(dict_at(affinity, "nodeAffinity"), required, terms)));
  std::vector<Value> tolerations(items_of(spec.at("tolerations")).begin(),
                                 items_of(spec.at("tolerations")).end());
  for (const Value& each : items_of(workloads::daemon_tolerations(spec)))
    if (std::ranges::find(tolerations, each) == tolerations.end())
      tolerations.push_back(each);
  return with(made, "tolerations", Value::list(std::move(tolerations)));
}

Name node_of_spec(const Value& spec) {
  const Value& terms = spec.at("affinity").at("nodeAffinity").at(required).at("nodeSelectorTerms");
  for (const Value& term : items_of(terms))
    for (const Value& field : items_of(term.at("matchFields")))
      if (field.text_at("key") == "metadata.name" && items_of(field.at("values")).size() == 1)
        return items_of(field.at("values")).front().text();
  return spec.text_at("nodeName");
}

}  // namespace fettle::cluster
