#include "model/export/instance_view.h"

#include "model/export/attributes.h"

namespace fettle::model {
namespace {

constexpr int deepest = 3;

class Viewer {
 public:
  Viewer(starlark::HeapAccess heap, const Model& model, bool& has_unknown)
      : heap_(heap), model_(model), has_unknown_(has_unknown) {}

  starlark::Value view(const Instance& instance, int depth) {
    std::vector<starlark::Named> fields;
    for (uint32_t slot = 0; slot < instance.entity->slots.size(); ++slot) {
      const Attribute& attribute = *instance.entity->slots[slot];
      const std::string_view name = model_.program.symbols.name(attribute.name);
      if (const std::optional<starlark::Value> value = field(instance, slot, attribute, depth))
        fields.push_back({name, *value});
    }
    return heap_.structure(fields);
  }

 private:
  std::optional<starlark::Value> field(const Instance& instance, uint32_t slot,
                                       const Attribute& attribute, int depth) {
    if (attribute.shape == Shape::list) {
      if (depth > 0)
        return std::nullopt;
      std::vector<starlark::Value> items;
      for (const Datum& member : model_.members(instance, slot))
        if (member.tag == Tag::instance)
          items.push_back(view(*member.instance, depth + 1));
      return heap_.list(items);
    }
    const Datum& value = instance.cells[slot].value;
    if (value.tag == Tag::instance)
      return depth < deepest ? std::optional(view(*value.instance, depth + 1)) : std::nullopt;
    const Result<Value> made = to_value(model_, value);
    if (made && made->has_unknown()) {
      has_unknown_ = true;
      return std::nullopt;
    }
    if (!made)
      return std::nullopt;
    const Result<starlark::Value> given = heap_.value(*made);
    return given ? std::optional(*given) : std::nullopt;
  }

  starlark::HeapAccess heap_;
  const Model& model_;
  bool& has_unknown_;
};

}  // namespace

starlark::Value view_of(starlark::HeapAccess heap, const Model& model, const Instance& instance,
                        bool& has_unknown) {
  return Viewer(heap, model, has_unknown).view(instance, 0);
}

}  // namespace fettle::model
