#include "base/text.h"
#include "model/machine.h"
#include "model/text_form.h"

namespace fettle::model {

Step Machine::fail(Place at, std::string message, int rank) {
  if (!failure_)
    failure_ = Failure{program_.error_at(at, std::move(message)), rank};
  return Step::fail;
}

Entity* Machine::entity_of(const Constructor& node, const Destination* to) {
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
    fail(node.at, cat("could not find type ", program_.text(node.type), " in namespace __config__"),
         20);
    return nullptr;
  }
  std::string names;
  for (const Entity* one : candidates)
    names += cat(names.empty() ? "" : ", ", one->full_name);
  fail(node.at, cat("Could not determine namespace for type ", program_.text(node.type), ". ",
                    candidates.size(), " possible candidates exists: [", names,
                    "]. To resolve this, use the fully qualified name instead of the short name."));
  return nullptr;
}

Instance* Machine::new_instance(Entity* entity, Place at, uint32_t depth) {
  const size_t slots = entity->slots.size();
  auto* made = static_cast<Instance*>(program_.arena.take(sizeof(Instance) + slots * sizeof(Cell)));
  made->entity = entity;
  made->number = static_cast<uint32_t>(instances_.size());
  made->depth = depth;
  made->at = at;
  made->maker = by_;
  for (size_t i = 0; i <= slots; ++i)
    new (&made->cells[i]) Cell();
  instances_.push_back(made);
  selected_.push_back(false);
  return made;
}

Step Machine::construct(const Constructor& node, Frame* frame, Datum& value,
                        const Destination* to) {
  Entity* entity = entity_of(node, to);
  if (entity == nullptr)
    return Step::fail;
  std::vector<Argument> arguments;
  std::vector<std::pair<uint32_t, Datum>> known;  // values by slot
  const auto slot_named = [&](Symbol name, Place at) {
    const uint32_t slot = entity->slot(name);
    if (slot == no_slot)
      fail(at, cat("no attribute ", program_.symbols.name(name), " on type ", entity->full_name),
           10);
    return slot;
  };
  Step result = Step::done;
  for (const Argument& argument : node.arguments) {
    if (!argument.is_unpacked) {
      if (slot_named(argument.name, argument.at) == no_slot)
        return Step::fail;
      arguments.push_back(argument);
      continue;
    }
    Datum dict;
    const Step step = evaluate(argument.value, frame, dict);
    if (step == Step::fail)
      return step;
    if (step == Step::wait) {
      result = step;
      continue;
    }
    if (dict.tag != Tag::dict)
      return fail(argument.at, cat("The ** operator can only be applied to dictionaries, got ",
                                   text_of(program_, dict)));
    for (const DictEntry& entry : dict.dict->entries) {
      const uint32_t slot = slot_named(program_.symbols.intern(entry.key->view), argument.at);
      if (slot == no_slot)
        return Step::fail;
      for (const auto& [other, ignored] : known)
        if (other == slot)
          return fail(argument.at,
                      cat("The attribute ", entry.key->view,
                          " is set twice in the constructor call of ", entity->full_name, "."));
      for (const Argument& other : node.arguments)
        if (!other.is_unpacked && entity->slot(other.name) == slot)
          return fail(argument.at,
                      cat("The attribute ", entry.key->view,
                          " is set twice in the constructor call of ", entity->full_name, "."));
      known.emplace_back(slot, entry.value);
    }
  }
  if (result != Step::done)
    return result;
  const auto known_at = [&](uint32_t slot) -> const Datum* {
    for (const auto& [other, datum] : known)
      if (other == slot)
        return &datum;
    return nullptr;
  };
  // The attributes of indexes come first: they decide which instance it is.
  std::vector<uint32_t> missing;
  for (const Index* index : entity->indexes)
    for (const Symbol name : index->names) {
      const uint32_t slot = entity->slot(name);
      if (known_at(slot) != nullptr)
        continue;
      const Argument* given = nullptr;
      for (const Argument& argument : arguments)
        if (argument.name == name)
          given = &argument;
      Datum datum;
      if (given != nullptr) {
        const Step step = evaluate(given->value, frame, datum);
        if (step == Step::fail)
          return step;
        if (step == Step::wait)
          result = step;
      } else if (entity->defaults[slot].is_set()) {
        datum = entity->defaults[slot];
      } else if (std::find(missing.begin(), missing.end(), slot) == missing.end()) {
        missing.push_back(slot);
        continue;
      }
      if (datum.is_set())
        known.emplace_back(slot, datum);
    }
  if (missing.size() == 1 && to != nullptr && to->attribute->inverse != nullptr &&
      !to->attribute->is_in_index && entity->slots[missing[0]] == to->attribute->inverse) {
    known.emplace_back(missing[0], Datum::of(to->owner));
    missing.clear();
  }
  if (!missing.empty()) {
    std::string message = "Invalid Constructor call:";
    for (const uint32_t slot : missing) {
      const std::string& name = program_.symbols.name(entity->slots[slot]->name);
      message += cat("\n\t* Missing attribute '", name, "'. The attribute ", name,
                     " is part of an index and should be set in the constructor.");
    }
    return fail(node.at, message, 10);
  }
  if (result != Step::done)
    return result;
  Instance* found = nullptr;
  std::vector<std::pair<Index*, std::string>> keys;
  for (Index* index : entity->indexes) {
    std::string key;
    for (const Symbol name : index->names) {
      const Datum datum = *known_at(entity->slot(name));
      if (datum.tag == Tag::unknown)
        key += cat("?", instances_.size());
      Datum exact = datum;
      if (exact.tag == Tag::integer &&
          entity->slots[entity->slot(name)]->type.base == Base::floating)
        exact = Datum::of(static_cast<double>(datum.integer));
      append_key(key, exact);
    }
    const auto at = index->instances.find(key);
    if (at != index->instances.end()) {
      if (found != nullptr && found != at->second)
        return fail(node.at, "Inconsistent indexes detected!", 10);
      found = at->second;
    }
    keys.emplace_back(index, std::move(key));
  }
  if (found != nullptr && found->entity != entity) {
    if (found->entity->is_a(entity) || entity->is_a(found->entity))
      return fail(
          node.at,
          cat("Type found in index is not an exact match (original at (",
              program_.files[found->at.file].name, ":", found->at.line, ")) (duplicate at (",
              program_.files[node.at.file].name, ":", node.at.line, "))"),
          10);
    return fail(
        node.at,
        cat("Duplicate key in index. ", text_of(program_, Datum::of(found)), " (original at (",
            program_.files[found->at.file].name, ":", found->at.line, ")) (duplicate at (",
            program_.files[node.at.file].name, ":", node.at.line, "))"),
        10);
  }
  const bool is_new = found == nullptr;
  Instance* instance = is_new ? new_instance(entity, node.at, depth_ + 1) : found;
  if (instance->depth > 20'000)
    return fail(node.at,
                cat("the implementations of ", entity->full_name,
                    " create instances without end (a livelock): 20000 are nested in one another"));
  value = Datum::of(instance);
  scratch_[{&node, frame}].value = value;
  if (!is_new)
    constructions_.push_back({instance, &node, by_});
  const Contributor maker = std::exchange(by_, instance->number + 1);
  for (const auto& [slot, datum] : known)
    if (!set_slot(instance, slot, datum, node.at))
      return Step::fail;
  for (auto& [index, key] : keys) {
    if (!is_new && index->instances.contains(key))
      continue;
    index->instances[key] = instance;
    if (const auto waiting = index->waiting.find(key); waiting != index->waiting.end()) {
      for (Task* task : waiting->second)
        if (--task->missing == 0)
          push(task);
      index->waiting.erase(waiting);
    }
  }
  for (const Argument& argument : arguments) {
    const uint32_t slot = entity->slot(argument.name);
    if (known_at(slot) != nullptr)
      continue;
    const Attribute& attribute = *entity->slots[slot];
    if (argument.value->kind == ExprKind::constant) {
      if (!set_slot(instance, slot, as<Constant>(argument.value).value, argument.at))
        return Step::fail;
      known.emplace_back(slot, Datum::null());
      continue;
    }
    known.emplace_back(slot, Datum::null());
    if (attribute.shape == Shape::list) {
      Sink& sink = sinks_.emplace_back();
      sink.owner = instance;
      sink.slot = slot;
      sink.at = argument.at;
      sink.by = instance->number + 1;
      promise(delayed_of(instance, slot), sink.held);
      stream(argument.value, frame, &sink);
      continue;
    }
    Task* task = new_task(Task::Kind::argument, frame);
    task->expr = argument.value;
    task->target = instance;
    task->slot = slot;
    task->at = argument.at;
    if (attribute.shape == Shape::option) {
      task->held = &held_.emplace_back();
      promise(delayed_of(instance, slot), *task->held);
    }
    push(task);
  }
  for (uint32_t slot = 0; slot < entity->slots.size(); ++slot)
    if (entity->defaults[slot].is_set() && known_at(slot) == nullptr)
      if (!set_slot(instance, slot, entity->defaults[slot], entity->slots[slot]->at))
        return Step::fail;
  by_ = maker;
  if (!is_new)
    return Step::done;
  if (entity->selected.empty())
    return fail(node.at, cat("Unable to select implementation for entity ",
                             program_.symbols.name(entity->name)));
  for (const Implement* implement : entity->selected) {
    Task* task = new_task(Task::Kind::implement, new_frame(nullptr, instance, 0));
    task->target = instance;
    task->implement = implement;
    task->at = node.at;
    push(task);
  }
  return Step::done;
}

bool Machine::set_slot(Instance* owner, uint32_t slot, const Datum& value, Place at) {
  switch (owner->entity->slots[slot]->shape) {
    case Shape::value:
    case Shape::one:
      return set_value(owner, slot, value, at);
    case Shape::option:
      return set_option(owner, slot, value, at);
    case Shape::list:
      break;
  }
  if (value.tag == Tag::list) {
    for (const Datum& item : value.list->items)
      if (!add_item(owner, slot, item, at, true))
        return false;
    return true;
  }
  if (value.tag != Tag::null)
    return add_item(owner, slot, value, at, true);
  Delayed& delayed = delayed_of(owner, slot);
  if (!delayed.items.empty()) {
    fail(at, cat("Can not assign null to a list that has values: ",
                 text_of(program_, make_list(delayed.items))));
    return false;
  }
  freeze(delayed);
  return true;
}

/// Remembers an equal value of another contributor.
void Machine::repeat(Instance* owner, uint32_t slot, const Datum& value, Contributor first,
                     Place at) {
  if (first != by_ && by_ != owner->number + 1)
    repetitions_.push_back({owner, slot, by_, value, at});
}

bool Machine::set_cell(Cell& cell, const Datum& value, Place at) {
  if (cell.value.is_set()) {
    if (is_equal(cell.value, value))
      return true;
    const auto where = [&](Place place) {
      return cat(program_.files[place.file].name, ":", place.line, ":", place.column);
    };
    fail(at,
         cat("value set twice:\n\told value: ", text_of(program_, cell.value), "\n\t\tset at ",
             where(cell.set_at), "\n\tnew value: ", text_of(program_, value), "\n\t\tset at ",
             where(at)),
         51);
    return false;
  }
  cell.value = value;
  cell.set_at = at;
  cell.by = by_;
  wake(cell, false);
  return true;
}

bool Machine::set_value(Instance* owner, uint32_t slot, const Datum& value, Place at) {
  const Attribute& attribute = *owner->entity->slots[slot];
  const bool was_set = owner->cells[slot].value.is_set();
  if (attribute.shape == Shape::one) {
    if (value.tag != Tag::unknown &&
        (value.tag != Tag::instance || !value.instance->entity->is_a(attribute.target))) {
      fail(at,
           cat("Could not set attribute `", program_.symbols.name(attribute.name),
               "` on instance `", text_of(program_, Datum::of(owner)), "`: Invalid value '",
               text_of(program_, value), "', expected ", attribute.target->full_name),
           11);
      return false;
    }
  } else if (std::string why; !accepts(attribute.type, value, why)) {
    fail(at,
         cat("Could not set attribute `", program_.symbols.name(attribute.name), "` on instance `",
             text_of(program_, Datum::of(owner)), "`: ", why),
         11);
    return false;
  }
  const Contributor first = owner->cells[slot].by;
  if (!set_cell(owner->cells[slot], value, at))
    return false;
  if (was_set)
    repeat(owner, slot, value, first, at);
  if (attribute.inverse != nullptr && !was_set && value.tag == Tag::instance)
    return set_inverse(owner, attribute, value.instance, at);
  return true;
}

bool Machine::set_inverse(Instance* owner, const Attribute& attribute, Instance* other, Place at) {
  const uint32_t slot = other->entity->slot(attribute.inverse->name);
  if (attribute.inverse->shape == Shape::list)
    return add_item(other, slot, Datum::of(owner), at, false);
  Cell& cell = other->cells[slot];
  if (cell.value.tag == Tag::instance && cell.value.instance == owner)
    return true;
  return set_slot(other, slot, Datum::of(owner), at);
}

bool Machine::set_option(Instance* owner, uint32_t slot, const Datum& value, Place at) {
  Cell& cell = owner->cells[slot];
  if (value.tag != Tag::null)
    return set_value(owner, slot, value, at);
  return set_cell(cell, value, at);
}

bool Machine::add_item(Instance* owner, uint32_t slot, const Datum& value, Place at,
                       bool sets_inverse) {
  const Attribute& attribute = *owner->entity->slots[slot];
  if (value.tag != Tag::unknown &&
      (value.tag != Tag::instance || !value.instance->entity->is_a(attribute.target))) {
    fail(at,
         cat("Could not set attribute `", program_.symbols.name(attribute.name), "` on instance `",
             text_of(program_, Datum::of(owner)), "`: Invalid value '", text_of(program_, value),
             "', expected ", attribute.target->full_name),
         11);
    return false;
  }
  Delayed& delayed = delayed_of(owner, slot);
  if (value.tag == Tag::instance) {
    constexpr size_t few = 8;
    if (delayed.items.size() < few) {
      for (const Datum& item : delayed.items)
        if (item.tag == Tag::instance && item.instance == value.instance) {
          repeat(owner, slot, value, item.by, at);
          return true;
        }
    } else {
      if (delayed.members.empty())
        for (const Datum& item : delayed.items)
          delayed.members.emplace(item.instance, item.by);
      const auto [known, is_new] = delayed.members.emplace(value.instance, by_);
      if (!is_new) {
        repeat(owner, slot, value, known->second, at);
        return true;
      }
    }
  }
  if (delayed.cell->value.is_set()) {
    if (delayed.items.size() >= attribute.count.upper)
      fail(at, cat("Exceeded relation arity on attribute '", program_.symbols.name(attribute.name),
                   "' of instance '", text_of(program_, Datum::of(owner)), "'"));
    else
      fail(at, "List modified after freeze", 50);
    return false;
  }
  delayed.items.push_back(value);
  delayed.items.back().by = by_;
  const std::vector<Sink*> listeners = delayed.listeners;
  for (Sink* sink : listeners)
    if (!deliver(*sink, value, at))
      return false;
  wake(*delayed.cell, true);
  if (delayed.items.size() == attribute.count.upper)
    freeze(delayed);
  else if (delayed.potential > 0)
    consider(delayed);
  if (sets_inverse && attribute.inverse != nullptr && value.tag == Tag::instance)
    return set_inverse(owner, attribute, value.instance, at);
  return true;
}

}  // namespace fettle::model
