#include "model/export/instance_view.h"

#include <algorithm>

#include "model/export/attributes.h"

namespace fettle::model {
namespace {

constexpr int deepest = 3;

}  // namespace

class InstanceViews::Viewer {
 public:
  Viewer(InstanceViews& views, const Model& model, bool& has_unknown)
      : views_(views), heap_(views.thread_.heap()), model_(model), has_unknown_(has_unknown) {}

  starlark::Value view(const Instance& instance, int depth) {
    Layout& layout = views_.layout(model_, *instance.entity, depth);
    std::vector<starlark::Value> values;
    values.reserve(layout.slots.size());
    for (const uint32_t slot : layout.slots) {
      const std::optional<starlark::Value> value = field(instance, slot, depth);
      if (!value)
        return view_of_some(instance, layout, depth);
      values.push_back(*value);
    }
    if (layout.first)
      return heap_.structure_like(layout.first->get(), values);
    const starlark::Value made = structure(instance, layout.slots, values);
    layout.first.emplace(views_.thread_, made);
    return made;
  }

 private:
  /// The view of an instance that lacks some fields of its layout.
  starlark::Value view_of_some(const Instance& instance, const Layout& layout, int depth) {
    std::vector<uint32_t> slots;
    std::vector<starlark::Value> values;
    for (const uint32_t slot : layout.slots)
      if (const std::optional<starlark::Value> value = field(instance, slot, depth)) {
        slots.push_back(slot);
        values.push_back(*value);
      }
    return structure(instance, slots, values);
  }

  starlark::Value structure(const Instance& instance, std::span<const uint32_t> slots,
                            std::span<const starlark::Value> values) {
    std::vector<starlark::NamedValue> fields;
    for (size_t i = 0; i < slots.size(); ++i)
      fields.push_back(
          {model_.program.symbols.name(instance.entity->slots[slots[i]]->name), values[i]});
    return heap_.structure(fields);
  }

  std::optional<starlark::Value> field(const Instance& instance, uint32_t slot, int depth) {
    if (instance.entity->slots[slot]->shape == Shape::list) {
      std::vector<starlark::Value> items;
      for (const Datum& member : model_.members(instance, slot))
        if (member.tag == Tag::instance)
          items.push_back(view(*member.instance, depth + 1));
      return heap_.list(items);
    }
    const Datum& value = instance.cells[slot].value;
    switch (value.tag) {
      case Tag::instance:
        return depth < deepest ? std::optional(view(*value.instance, depth + 1)) : std::nullopt;
      case Tag::integer:
        return heap_.integer(value.integer);
      case Tag::text:
        return heap_.text(value.view());
      default:
        return plain(value);
    }
  }

  std::optional<starlark::Value> plain(const Datum& value) {
    const Result<Value> made = attribute_value(value);
    has_unknown_ |= made && made->has_unknown();
    if (!made || made->has_unknown())
      return std::nullopt;
    const Result<starlark::Value> given = heap_.value(*made);
    return given ? std::optional(*given) : std::nullopt;
  }

  InstanceViews& views_;
  starlark::HeapAccess heap_;
  const Model& model_;
  bool& has_unknown_;
};

InstanceViews::Layout& InstanceViews::layout(const Model& model, const Entity& entity, int depth) {
  const auto [place, is_new] = layouts_.try_emplace({&entity, depth});
  Layout& layout = place->second;
  if (!is_new)
    return layout;
  for (uint32_t slot = 0; slot < entity.slots.size(); ++slot)
    if (entity.slots[slot]->shape != Shape::list || depth == 0)
      layout.slots.push_back(slot);
  const auto name = [&](uint32_t slot) -> const std::string& {
    return model.program.symbols.name(entity.slots[slot]->name);
  };
  std::sort(layout.slots.begin(), layout.slots.end(),
            [&](uint32_t a, uint32_t b) { return name(a) < name(b); });
  return layout;
}

starlark::Value InstanceViews::view(const Model& model, const Instance& instance,
                                    bool& has_unknown) {
  return Viewer(*this, model, has_unknown).view(instance, 0);
}

}  // namespace fettle::model
