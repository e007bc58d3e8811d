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

}  // namespace

Value spec_on_node(const Value& spec, const Name& node) {
  const Value term = Value::dict({{"matchFields", Value::list({named_node(node)})}});
  const Value terms = Value::dict({{"nodeSelectorTerms", Value::list({term})}});
  const Value& affinity = spec.at("affinity");
  Value made =
      with(spec, "affinity",
           with(affinity, "nodeAffinity", with(affinity.at("nodeAffinity"), required, terms)));
  std::vector<Value> tolerations(items_of(spec.at("tolerations")).begin(),
                                 items_of(spec.at("tolerations")).end());
  for (const Value& each : items_of(workloads::daemon_tolerations()))
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
