/// Plugins that return references: values that are looked up when the model is deployed.

#include "base/text.h"
#include "model/std/groups.h"

namespace fettle::model {
namespace {

constexpr uint32_t deepest_reference = 200;

bool give_reference(PluginCall& call, std::string_view kind, std::string_view element) {
  Arena& arena = call.context.program().arena;
  uint32_t depth = 0;
  for (const Datum& argument : call.arguments)
    if (argument.tag == Tag::reference)
      depth = std::max(depth, argument.reference->depth + 1);
  if (depth > deepest_reference)
    return call.fail(
        cat("RecursionError: more than ", deepest_reference, " references in one another"));
  return call.give(Datum::of(static_cast<const Reference*>(arena.make<Reference>(
      kind, element, arena.copy(std::span<const Datum>(call.arguments)), depth))));
}

bool to_int(PluginCall& call) { return give_reference(call, "IntReference", "int"); }
bool to_environment(PluginCall& call) {
  return give_reference(call, "EnvironmentReference", "string");
}

bool to_fact(PluginCall& call) {
  for (const Entity* entity : call[0].instance->entity->lineage)
    if (entity->full_name == "std::Resource")
      return give_reference(call, "FactReference", "string");
  return call.fail("Exception: Facts can only be retreived from resources.");
}

constexpr std::array references_rows{
    PluginRow{"create_int_reference", "(value: any) -> any", to_int},
    PluginRow{"create_environment_reference", "(name: Reference[string] | string) -> any",
              to_environment},
    PluginRow{"create_fact_reference", "(resource: std::Resource, fact_name: string) -> any",
              to_fact},
};

}  // namespace

std::span<const PluginRow> references_plugins() { return references_rows; }

}  // namespace fettle::model
