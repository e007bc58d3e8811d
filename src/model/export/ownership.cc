#include "model/export/ownership.h"

namespace fettle::model {

Ownership::Ownership(const Model& model, bool with_contributors) : model_(model) {
  const size_t count = model.instances().size();
  member_of_.assign(count, 0);
  direct_.assign(count, 0);
  find_sets();
  find_direct();
  if (with_contributors)
    find_contributors();
}

void Ownership::find_contributors() {
  const size_t count = model_.instances().size();
  first_.assign(count, none);
  link_children();
  // Sets in their order, so that the contributors of an instance are sorted.
  std::vector<std::vector<uint32_t>> of_set(names_.size());
  for (uint32_t number = 0; number < count; ++number)
    if (direct_[number] != 0)
      of_set[direct_[number]].push_back(number);
  for (SetNumber set = 0; set < names_.size(); ++set) {
    std::vector<uint32_t> open;
    if (set == 0)
      open.push_back(0);
    for (const uint32_t number : of_set[set]) {
      first_[number] = set;
      open.push_back(number + 1);
    }
    spread(set, open);
  }
}

void Ownership::find_sets() {
  const Entity* entity = model_.entity("std::ResourceSet");
  if (entity == nullptr)
    return;
  for (const Instance* set : model_.instances_of(*entity)) {
    const Datum* name = model_.value(*set, "name");
    if (name == nullptr || name->tag != Tag::text)
      continue;
    names_.emplace_back(name->view());
    sets_.push_back(set);
  }
}

void Ownership::find_direct() {
  std::unordered_map<const Instance*, SetNumber> numbers;
  for (SetNumber set = 1; set < names_.size(); ++set) {
    numbers.emplace(sets_[set], set);
    for (const Datum& member : model_.members(*sets_[set], "resources")) {
      if (member.tag != Tag::instance)
        continue;
      SetNumber& of = member_of_[member.instance->number];
      if (of == 0)
        of = direct_[member.instance->number] = set;
      else if (of != set)
        also_member_of_.emplace(member.instance->number, set);
    }
  }
  const auto constructs = [&](Contributor by, SetNumber set) {
    if (by != 0 && direct_[by - 1] == 0)
      direct_[by - 1] = set;
  };
  for (SetNumber set = 1; set < names_.size(); ++set) {
    direct_[sets_[set]->number] = set;
    constructs(sets_[set]->maker, set);
  }
  for (const Construction& again : model_.constructions())
    if (const auto set = numbers.find(again.instance); set != numbers.end())
      constructs(again.by, set->second);
}

void Ownership::link_children() {
  const std::span<Instance* const> instances = model_.instances();
  children_begin_.assign(instances.size() + 2, 0);
  const auto each = [&](const auto& act) {
    for (const Instance* instance : instances)
      act(instance->maker, instance->number);
    for (const Construction& again : model_.constructions())
      act(again.by, again.instance->number);
  };
  each([&](Contributor by, uint32_t) { ++children_begin_[by + 1]; });
  for (size_t i = 1; i < children_begin_.size(); ++i)
    children_begin_[i] += children_begin_[i - 1];
  children_.resize(children_begin_.back());
  std::vector<uint32_t> next(children_begin_.begin(), children_begin_.end() - 1);
  each([&](Contributor by, uint32_t number) { children_[next[by]++] = number; });
}

/// `open` has the contributors whose children the set contributes, too.
void Ownership::spread(SetNumber set, std::vector<uint32_t>& open) {
  while (!open.empty()) {
    const uint32_t by = open.back();
    open.pop_back();
    for (uint32_t i = children_begin_[by]; i < children_begin_[by + 1]; ++i)
      if (visit(children_[i], set))
        open.push_back(children_[i] + 1);
  }
}

/// False: the instance belongs to a set itself, or was visited for this one.
bool Ownership::visit(uint32_t number, SetNumber set) {
  if (direct_[number] != 0)
    return false;
  if (first_[number] == none) {
    first_[number] = set;
    return true;
  }
  if (first_[number] == set)
    return false;
  std::vector<SetNumber>& all = several_[number];
  if (all.empty())
    all.push_back(first_[number]);
  if (all.back() == set)
    return false;
  all.push_back(set);
  return true;
}

SetNumber Ownership::also_member_of(const Instance& instance) const {
  const auto found = also_member_of_.find(instance.number);
  return found == also_member_of_.end() ? 0 : found->second;
}

std::span<const SetNumber> Ownership::contributors(const Instance& instance) const {
  if (const auto found = several_.find(instance.number); found != several_.end())
    return found->second;
  static constexpr SetNumber rest = 0;
  const SetNumber& first = first_[instance.number];
  return std::span(first == none ? &rest : &first, 1);
}

std::span<const SetNumber> Ownership::contributors(Contributor by) const {
  static constexpr SetNumber rest = 0;
  return by == 0 ? std::span(&rest, 1) : contributors(*model_.contributor(by));
}

}  // namespace fettle::model
