#include "model/evaluate/constructors.h"

#include "base/text.h"
#include "model/evaluate/assignment.h"
#include "model/evaluate/evaluator.h"
#include "model/evaluate/lookups.h"
#include "model/evaluate/streams.h"
#include "model/program/describe.h"
#include "model/program/suggest.h"
#include "model/program/text_form.h"

namespace fettle::model {

/// The values by slot while an instance is being made. Nested constructors stack theirs on top.
class Constructors::Values {
 public:
  Values(std::vector<Datum>& stack, size_t slots) : stack_(stack), base_(stack.size()) {
    stack_.resize(base_ + slots);
  }
  ~Values() { stack_.resize(base_); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  Datum& operator[](uint32_t slot) { return stack_[base_ + slot]; }

 private:
  std::vector<Datum>& stack_;
  size_t base_;
};

/// The entity that the constructor names. A short name may stand for a subtype of the relation to
/// which the instance goes.
Entity* Constructors::entity_of(const Constructor& node, const Destination* to) {
  if (node.entity != nullptr)
    return node.entity;
  std::vector<Entity*> candidates;
  if (to != nullptr && to->attribute->target != nullptr)
    for (Entity& entity : program_.entities)
      if (entity.name == node.type.name && entity.is_a(to->attribute->target))
        candidates.push_back(&entity);
  if (candidates.size() == 1)
    return candidates[0];
  if (candidates.empty()) {
    Place at = node.type.at;
    at.is_exact = 1;
    errors_.fail(
        at, cat("could not find type ", program_.text(node.type), " in namespace ", node.space),
        Importance::not_found, Teller::statement);
    return nullptr;
  }
  std::string names;
  for (const Entity* one : candidates)
    names += cat(names.empty() ? "'" : ", '", one->full_name, "'");
  errors_.fail(node.at,
               cat("Could not determine namespace for type ", program_.text(node.type), ". ",
                   candidates.size(), " possible candidates exists: [", names,
                   "]. To resolve this, use the fully qualified name instead of the short name."));
  return nullptr;
}

/// The slots of the named arguments, found once for each constructor.
bool Constructors::find_slots(const Constructor& node, const Entity& entity) {
  if (node.cached_entity == &entity)
    return true;
  std::vector<uint32_t> slots;
  for (const Argument& argument : node.arguments) {
    slots.push_back(argument.is_unpacked ? no_slot : entity.slot(argument.name));
    if (!argument.is_unpacked && slots.back() == no_slot) {
      const std::string& name = program_.symbols.name(argument.name);
      Place at = argument.at;
      at.is_exact = 1;
      errors_.fail(at, cat("no attribute ", name, " on type ", entity.full_name),
                   Importance::typing);
      errors_->meant = meant_attribute(program_, entity, name);
      errors_.tell(cat(name, " (", program_.location(at), ")"));
      return false;
    }
  }
  node.cached_slots = program_.arena.copy(std::span<const uint32_t>(slots));
  node.cached_entity = &entity;
  return true;
}

/// The values of `**dict` arguments.
Step Constructors::unpack(const Constructor& node, const Entity& entity, Frame* frame,
                          Values& values) {
  Step result = Step::done;
  for (const Argument& argument : node.arguments) {
    if (!argument.is_unpacked)
      continue;
    Datum dict;
    const Step step = evaluator_.evaluate(argument.value, frame, dict);
    if (step == Step::fail)
      return step;
    if (step == Step::wait) {
      result = step;
      continue;
    }
    if (dict.tag != Tag::dict)
      return errors_.fail_unpacking(argument);
    for (const DictEntry& entry : dict.dict->entries) {
      const uint32_t slot = entity.slot(program_.symbols.intern(entry.key->view));
      if (slot == no_slot)
        return errors_.fail(node.at,
                            cat("no attribute ", entry.key->view, " on type ", entity.full_name),
                            Importance::typing);
      const bool is_named = std::ranges::find(node.cached_slots, slot) != node.cached_slots.end();
      if (is_named || values[slot].is_set())
        return errors_.fail(node.at, cat("The attribute ", entry.key->view,
                                         " is set twice in the constructor call of ",
                                         program_.symbols.name(entity.name), "."));
      values[slot] = entry.value;
      instances_.identify(values[slot]);
    }
  }
  return result;
}

/// The values of the attributes of indexes: they decide which instance it is.
Step Constructors::find_keys(const Constructor& node, const Entity& entity, Frame* frame,
                             const Destination* to, Values& values) {
  Step result = Step::done;
  std::vector<uint32_t> missing;
  for (const uint32_t slot : entity.key_slots) {
    if (values[slot].is_set())
      continue;
    const auto given = std::ranges::find(node.cached_slots, slot);
    if (given != node.cached_slots.end()) {
      const Argument& argument =
          node.arguments[static_cast<size_t>(given - node.cached_slots.begin())];
      Datum datum;
      const Step step = evaluator_.evaluate(argument.value, frame, datum);
      if (step == Step::fail)
        return step;
      if (step == Step::wait)
        result = step;
      instances_.identify(datum);
      values[slot] = datum;
    } else if (entity.defaults[slot].is_set()) {
      values[slot] = entity.defaults[slot];
    } else {
      missing.push_back(slot);
    }
  }
  if (missing.size() == 1 && to != nullptr && to->attribute->inverse != nullptr &&
      !to->attribute->is_in_index && entity.slots[missing[0]] == to->attribute->inverse) {
    values[missing[0]] = Datum::of(to->owner);
    missing.clear();
  }
  if (missing.empty())
    return result;
  errors_.fail(node.at, missing_keys(program_, entity, missing), Importance::typing);
  errors_.set_in_unit(to != nullptr && std::ranges::any_of(missing, [&](uint32_t slot) {
                        return entity.slots[slot] == to->attribute->inverse;
                      }));
  return Step::fail;
}

/// Describes which instance each index has for these values.
std::string Constructors::matches_text(const Constructor& node, const Entity& entity,
                                       Values& values) {
  std::string text;
  for (const Index* index : entity.indexes) {
    Key key;
    std::vector<std::pair<Symbol, Datum>> pairs;
    for (const Symbol name : index->names) {
      Datum& value = pairs.emplace_back(name, values[entity.slot(name)]).second;
      (void)lookups_.as_key(node, *entity.slots[entity.slot(name)], value);
      instances_.append_key_of(key.text, value);
    }
    key.seal();
    const uint32_t number = index->instances.find(key);
    text += cat(text.empty() ? "" : "\n", "the index of ", index->entity->full_name, " with ",
                lookups_.key_text(pairs), " has ",
                number == KeyTable::none ? "no instance"
                                         : shown(program_, Datum::of(instances_.all()[number])));
  }
  return text + "\nOne constructor names one instance: give it the values of one of them.";
}

/// The instance that the indexes have for these values. `found` stays null if there is none.
Step Constructors::find_instance(const Constructor& node, Entity& entity, Values& values,
                                 Instance*& found) {
  keys_.resize(std::max(keys_.size(), entity.indexes.size()));
  for (size_t i = 0; i < entity.indexes.size(); ++i) {
    const Index* const index = entity.indexes[i];
    Key& key = keys_[i];
    key.text.clear();
    for (const Symbol name : index->names) {
      const uint32_t slot = entity.slot(name);
      if (values[slot].tag == Tag::reference)
        return errors_.fail(node.at, lookups_.no_key_text(name, values[slot]), Importance::typing,
                            Teller::statement);
      Datum value = values[slot];
      if (const Step step = lookups_.as_key(node, *entity.slots[slot], value); step != Step::done) {
        errors_.leave_to(Teller::statement);
        return step;
      }
      instances_.append_key_of(key.text, value);
    }
    key.seal();
    const uint32_t number = index->instances.find(key);
    if (number == KeyTable::none)
      continue;
    Instance* const known = instances_.all()[number];
    if (found != nullptr && found != known) {
      errors_.fail(node.at, "Inconsistent indexes detected!\n", Importance::typing);
      errors_->explanation = matches_text(node, entity, values);
      return Step::fail;
    }
    found = known;
    if (found->entity == &entity)
      continue;
    std::string what = "Type found in index is not an exact match";
    if (!found->entity->is_a(&entity)) {
      std::vector<std::pair<Symbol, Datum>> pairs;
      for (const Symbol name : index->names)
        pairs.emplace_back(name, values[entity.slot(name)]);
      what = cat("Duplicate key in index. ", lookups_.key_text(pairs));
    }
    errors_.fail(node.at,
                 cat(what, " (original at (", program_.location(node.at), ")) (duplicate at (",
                     program_.location(found->at), "))"),
                 Importance::duplicate, Teller::nobody);
    return Step::fail;
  }
  return Step::done;
}

/// Enters the instance into the indexes, and wakes tasks that looked for it.
void Constructors::enter(Instance* instance, bool is_new) {
  for (size_t i = 0; i < instance->entity->indexes.size(); ++i) {
    Index& index = *instance->entity->indexes[i];
    // No index had a key of a new instance.
    if (!is_new && index.instances.find(keys_[i]) != KeyTable::none)
      continue;
    index.instances.insert(program_.arena, keys_[i], instance->number);
    if (index.waiting.empty())
      continue;
    const auto waiting = index.waiting.find(keys_[i].text);
    if (waiting == index.waiting.end())
      continue;
    for (Task* task : waiting->second)
      schedule_.wake(task);
    index.waiting.erase(waiting);
  }
}

/// Sets an argument that no index needs: a constant at once, anything else by a task of its own.
bool Constructors::give_argument(const Constructor& node, const Argument& argument,
                                 Instance* instance, uint32_t slot, Frame* frame) {
  const Attribute& attribute = *instance->entity->slots[slot];
  // Null closes a relation that the other side may set before.
  const bool is_late = attribute.shape >= Shape::option && attribute.inverse != nullptr;
  if (argument.value->kind == ExprKind::constant &&
      !(is_late && as<Constant>(argument.value).value.tag == Tag::null))
    return assignment_.set_slot(instance, slot, as<Constant>(argument.value).value,
                                {&node, nullptr, false, location_of(argument.value)});
  if (attribute.shape == Shape::list) {
    Sink& sink = streams_.make_sink();
    sink.owner = instance;
    sink.slot = slot;
    sink.by = instance->number + 1;
    sink.constructor = &node;
    sink.statement = now_.task->has_statement() ? now_.task->statement : nullptr;
    sink.has_promise = true;
    relations_.promise(instance, slot);
    streams_.start(argument.value, frame, &sink);
    return true;
  }
  Task* task = schedule_.make(Task::Kind::argument, frame);
  task->expr = argument.value;
  task->target = instance;
  task->slot = slot;
  task->constructor = &node;
  task->at = argument.at;
  if (attribute.shape == Shape::option)
    relations_.promise(instance, slot, task->held);
  schedule_.push(task);
  return true;
}

/// Sets values, arguments and defaults, in this order.
bool Constructors::fill(const Constructor& node, Instance* instance, Frame* frame, Values& values) {
  const Entity& entity = *instance->entity;
  const uint32_t slots = static_cast<uint32_t>(entity.slots.size());
  for (uint32_t slot = 0; slot < slots; ++slot)
    if (values[slot].is_set()) {
      if (!assignment_.set_slot(instance, slot, values[slot], {&node, nullptr, true, node.at}))
        return false;
    }
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    const uint32_t slot = node.cached_slots[i];
    if (slot == no_slot || values[slot].is_set())
      continue;
    if (!give_argument(node, node.arguments[i], instance, slot, frame))
      return false;
    values[slot] = Datum::null();
  }
  for (uint32_t slot = 0; slot < slots; ++slot)
    if (entity.defaults[slot].is_set() && !values[slot].is_set() &&
        !assignment_.set_slot(instance, slot, entity.defaults[slot],
                              {&node, nullptr, false, entity.slots[slot]->at}))
      return false;
  return true;
}

Step Constructors::construct(const Constructor& node, Frame* frame, Datum& value,
                             const Destination* to) {
  Entity* entity = entity_of(node, to);
  if (entity == nullptr || !find_slots(node, *entity))
    return Step::fail;
  Values values(values_, entity->slots.size());
  if (const Step step = unpack(node, *entity, frame, values); step != Step::done)
    return step;
  if (const Step step = find_keys(node, *entity, frame, to, values); step != Step::done)
    return step;
  Instance* found = nullptr;
  if (const Step step = find_instance(node, *entity, values, found); step != Step::done)
    return step;
  const bool is_new = found == nullptr;
  Instance* instance = is_new ? instances_.make(entity, node.at, now_.depth + 1, now_.by) : found;
  constexpr uint32_t deepest = 20'000;
  if (instance->depth > deepest)
    return errors_.fail(node.at,
                        cat("instances of ", entity->full_name,
                            " are created endlessly (a livelock): each creates the next one, in "
                            "an implementation or a loop, ",
                            deepest, " so far"));
  value = Datum::of(instance);
  schedule_.remember({&node, frame}, {value, {}});
  if (!is_new)
    program_.constructions.push_back({instance, &node, now_.by});
  if (node.missing.name != nullptr)
    return errors_.fail_need(node.missing);
  {
    const ScopeGuard contributing(now_.by, instance->number + 1);
    enter(instance, is_new);
    if (!fill(node, instance, frame, values))
      return Step::fail;
  }
  if (is_new)
    select(instance);
  return errors_ ? Step::fail : Step::done;
}

Step Constructors::execute_argument(Task& task) {
  const Attribute& attribute = *task.target->entity->slots[task.slot];
  const Destination to{task.target, &attribute};
  Datum value;
  const Writer writer{task.constructor, nullptr, false, location_of(task.expr)};
  const Step step = evaluator_.evaluate(task.expr, task.frame, value, &to);
  if (step != Step::done)
    return errors_.tell(step, task.target, task.slot, writer);
  if (!assignment_.set_slot(task.target, task.slot, value, writer))
    return Step::fail;
  relations_.release(task.held);
  return Step::done;
}

/// Decides for every `implement` whether it applies to a new instance.
void Constructors::select(Instance* instance) {
  for (const Implement* implement : instance->entity->selected)
    schedule_.push(
        {.kind = Turn::Kind::implement, .target = instance->number + 1, .implement = implement});
}

}  // namespace fettle::model
