#include "model/evaluate/plugin_context.h"

#include "model/evaluate/cells.h"
#include "model/evaluate/evaluator.h"
#include "model/evaluate/type_checks.h"

namespace fettle::model {

bool PluginContext::accepts(const Type& type, const Datum& value, Reason& why) {
  return types_.accepts(type, value, why);
}

Step PluginContext::read_attribute(Instance* instance, uint32_t slot, Datum& value, Place at) {
  return cells_.read(instance, slot, value, at);
}

bool PluginContext::read_or_null(Instance* instance, uint32_t slot, Datum& value) {
  return cells_.read_or_null(instance, slot, value);
}

Step PluginContext::read_visible(const Call& node, Frame* frame, std::string_view name,
                                 Datum& value) {
  for (const Name* visible : node.visible)
    if (program().symbols.name(visible->name.name) == name)
      return evaluator_.evaluate_name(*visible, frame, value);
  return Step::fail;
}

}  // namespace fettle::model
