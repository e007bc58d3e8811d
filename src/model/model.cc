#include "model/model.h"

#include "base/text.h"
#include "model/evaluate/machine.h"

namespace fettle::model {

Model::Model() = default;
Model::~Model() = default;

std::span<Instance* const> Model::instances() const { return machine->instances(); }

std::vector<const Instance*> Model::instances_of(const Entity& entity) const {
  std::vector<const Instance*> found;
  for (const Instance* instance : instances())
    if (instance->entity->is_a(&entity))
      found.push_back(instance);
  return found;
}

const Entity* Model::entity(std::string_view full_name) const {
  for (const Entity& entity : program.entities)
    if (entity.full_name == full_name)
      return &entity;
  return nullptr;
}

namespace {
uint32_t slot_of(const Program& program, const Instance& instance, std::string_view name) {
  const std::vector<Attribute*>& slots = instance.entity->slots;
  for (uint32_t slot = 0; slot < slots.size(); ++slot)
    if (program.symbols.name(slots[slot]->name) == name)
      return slot;
  return no_slot;
}
}  // namespace

const Datum* Model::value(const Instance& instance, std::string_view attribute) const {
  const uint32_t slot = slot_of(program, instance, attribute);
  if (slot == no_slot || !instance.cells[slot].value.is_set())
    return nullptr;
  return &instance.cells[slot].value;
}

std::span<const Datum> Model::members(const Instance& instance, uint32_t slot) const {
  const Cell& cell = instance.cells[slot];
  if (instance.entity->slots[slot]->target == nullptr)
    return {};
  if (const DelayedList* const delayed = cell.delayed())
    return delayed->items;
  if (cell.value.tag == Tag::list)
    return cell.value.list->items;
  return cell.value.is_set() && cell.value.tag != Tag::null ? std::span(&cell.value, 1)
                                                            : std::span<const Datum>();
}

std::span<const Datum> Model::members(const Instance& instance, std::string_view relation) const {
  const uint32_t slot = slot_of(program, instance, relation);
  return slot == no_slot ? std::span<const Datum>() : members(instance, slot);
}

const Instance* Model::contributor(Contributor by) const {
  return by == 0 ? nullptr : instances()[by - 1];
}

const std::deque<Construction>& Model::constructions() const { return program.constructions; }
const std::deque<Repetition>& Model::repetitions() const {
  return machine->contributions().repetitions();
}
std::span<const ReadMark> Model::readings() const { return machine->contributions().readings(); }
std::span<const Allocation> Model::allocations() const {
  return machine->contributions().allocations();
}

std::string Model::where(Place at) const {
  return cat(program.files[at.file].name, ":", uint64_t{at.line}, ":", uint64_t{at.column});
}

}  // namespace fettle::model
