#include "cluster/kept_parts.h"

#include <algorithm>
#include <array>

#include "cluster/objects.h"
#include "cluster/types.h"
#include "value/with.h"

namespace fettle::cluster {
namespace {

/// Without some of its entries.
Value without_entries(const Value& dict, std::initializer_list<std::string_view> keys) {
  if (!dict.is_dict())
    return dict;
  std::vector<Entry> kept;
  for (const Entry& entry : dict.entries())
    if (std::ranges::find(keys, entry.key.view()) == keys.end())
      kept.push_back(entry);
  return Value::dict(std::move(kept));
}

/// What `read_node` and `node_images.h` read of it.
Value kept_of_node(const Value& node) {
  const Value& ready = condition_of(node.at("status").at("conditions"), "Ready");
  std::vector<Value> conditions;
  if (!ready.is_null())
    conditions.push_back(ready);
  return with(node,
              {{"metadata", without_entries(node.at("metadata"), {"managedFields", "annotations"})},
               {"spec", Value::dict({{"taints", node.at("spec").at("taints")}})},
               {"status", Value::dict({{"conditions", Value::list(std::move(conditions))}})}});
}

}  // namespace

bool KeptParts::are_less(std::string_view kind) {
  const std::array<std::string_view, 6> kinds{types::pods.kind,      types::nodes.kind,
                                              types::revisions.kind, types::claims.kind,
                                              types::spaces.kind,    types::node_images.kind};
  return std::ranges::find(kinds, kind) != kinds.end();
}

Value KeptParts::of(std::string_view kind, const Value& object) {
  if (!are_less(kind) || !object.is_dict())
    return object;
  if (kind == types::nodes.kind)
    return values_.shared(kept_of_node(object));
  if (object.at("metadata").find("managedFields") == nullptr)
    return object;
  return values_.shared(
      with(object, "metadata", without_entries(object.at("metadata"), {"managedFields"})));
}

std::vector<SharedJson::Path> KeptParts::left_out(std::string_view kind) {
  std::vector<SharedJson::Path> paths;
  if (are_less(kind))
    paths.push_back({"metadata", "managedFields"});
  if (kind == types::nodes.kind)
    paths.push_back({"status", "images"});
  return paths;
}

}  // namespace fettle::cluster
