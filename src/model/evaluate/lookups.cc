#include "model/evaluate/lookups.h"

#include "base/text.h"
#include "model/evaluate/casts.h"
#include "model/evaluate/evaluator.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"

namespace fettle::model {

Step Lookups::in_dict(const MapLookup& node, Frame* frame, Datum& value) {
  Datum object;
  Datum key;
  const Step first = evaluator_.evaluate(node.object, frame, object);
  if (first == Step::fail)
    return first;
  const Step second = evaluator_.evaluate(node.key, frame, key);
  if (second == Step::fail || first == Step::wait || second == Step::wait)
    return second == Step::fail ? second : Step::wait;
  if (object.tag == Tag::unknown || key.tag == Tag::unknown) {
    value = Datum::unknown();
    return Step::done;
  }
  if (object.tag != Tag::dict)
    return errors_.fail(node.at, cat("dict lookup is only possible on dicts, ",
                                     shown(program_, object), " is not an object"));
  if (key.tag != Tag::text)
    return errors_.fail(
        node.at, cat("dict keys must be string, ", shown(program_, key), " is not a string"));
  if (const Datum* found = object.dict->find(key.view())) {
    value = *found;
    return Step::done;
  }
  std::string options;
  for (const DictEntry& entry : object.dict->entries)
    options += cat(options.empty() ? "" : ",", entry.key->view);
  return errors_.fail(node.at,
                      cat("key ", key.view(), " not found in dict, options are [", options, "]"),
                      Importance::no_key);
}

Step Lookups::in_index(Entity* entity, std::span<const Argument> arguments, Frame* frame,
                       const Expr* node, IndexKeys keys, Datum& value) {
  Step result = Step::done;
  for (const Argument& argument : arguments) {
    Datum datum;
    const Step step = evaluator_.evaluate(argument.value, frame, datum);
    if (step == Step::fail)
      return step;
    if (step == Step::wait) {
      result = step;
      continue;
    }
    const auto add = [&](Symbol name, const Datum& given) {
      for (const auto& [other, ignored] : keys)
        if (other == name)
          return errors_.fail(node->at, cat("Attribute ", program_.symbols.name(name),
                                            " provided twice in index lookup"));
      keys.emplace_back(name, given);
      return Step::done;
    };
    Step added = Step::done;
    if (!argument.is_unpacked)
      added = add(argument.name, datum);
    else if (datum.tag != Tag::dict)
      return errors_.fail_unpacking(argument);
    else
      for (const DictEntry& entry : datum.dict->entries)
        if (added == Step::done)
          added = add(program_.symbols.intern(entry.key->view), entry.value);
    if (added != Step::done)
      return added;
  }
  return result == Step::done ? look_up(entity, std::move(keys), node, value) : result;
}

/// An attribute of type float is looked up by the `float()` of the value.
Step Lookups::as_key(const Expr& node, const Attribute& attribute, Datum& value) {
  const Type& type = attribute.type;
  const bool is_real = type.base == Base::floating && type.constraint == nullptr;
  if (!is_real || value.tag == Tag::floating || (value.tag == Tag::null && type.is_nullable))
    return Step::done;
  return cast(program_, errors_, node, "float", Datum(value), value);
}

Step Lookups::look_up(Entity* entity, IndexKeys keys, const Expr* node, Datum& value) {
  std::ranges::sort(keys, {}, [&](const auto& key) -> const std::string& {
    return program_.symbols.name(key.first);
  });
  for (const auto& [name, datum] : keys)
    if (datum.tag == Tag::unknown) {
      value = datum;
      return Step::done;
    }
  for (Index* index : entity->indexes) {
    if (!std::equal(keys.begin(), keys.end(), index->names.begin(), index->names.end(),
                    [](const auto& a, Symbol b) { return a.first == b; }))
      continue;
    Key key;
    for (auto& [name, datum] : keys) {
      if (datum.tag == Tag::reference)
        return errors_.fail(node->at, no_key_text(name, datum), Importance::typing);
      if (const Step step = as_key(*node, *entity->slots[entity->slot(name)], datum);
          step != Step::done)
        return step;
      instances_.append_key_of(key.text, datum);
    }
    key.seal();
    if (const uint32_t number = index->instances.find(key); number != KeyTable::none) {
      Instance* const found = instances_.all()[number];
      if (!found->entity->is_a(entity))
        return errors_.fail(
            node->at,
            cat("No match in index on type ", entity->full_name, " with key ", key_text(keys)),
            Importance::not_found);
      value = Datum::of(found);
      contributions_.read(found, no_slot, node->at);
      return Step::done;
    }
    if (now_.is_probing)
      return Step::wait;
    ++now_.task->missing;
    if (now_.is_checking)
      return Step::wait;
    index->waiting[key.text].push_back(now_.task);
    missing_[now_.task] = {cat(entity->full_name, " with key ", key_text(keys)), node};
    return Step::wait;
  }
  std::string pairs;
  for (const auto& [name, datum] : keys)
    pairs += cat(pairs.empty() ? "" : ", ", "('", program_.symbols.name(name), "', ",
                 quoted(program_, datum), ")");
  return errors_.fail(
      node->at, cat("No index defined on ", entity->full_name, " for this lookup: [", pairs, "]"),
      Importance::not_found);
}

Step Lookups::in_relation(const ShortLookup& node, Frame* frame, Datum& value) {
  Datum object;
  if (const Step step = evaluator_.evaluate(node.relation->object, frame, object);
      step != Step::done)
    return step;
  if (object.tag == Tag::unknown) {
    value = object;
    return Step::done;
  }
  const Symbol name = node.relation->name;
  const uint32_t slot = object.tag == Tag::instance ? object.instance->entity->slot(name) : no_slot;
  const Attribute* relation = slot == no_slot ? nullptr : object.instance->entity->slots[slot];
  if (relation == nullptr || relation->target == nullptr)
    return errors_.fail(
        node.at,
        cat("short index lookup is only possible on relations, ",
            relation == nullptr ? "None" : program_.symbols.name(name), " is an attribute"),
        Importance::typing);
  if (relation->inverse == nullptr)
    return errors_.fail(
        node.at,
        cat("short index lookup is only possible on bi-drectional relations, ",
            relation->owner->full_name, ".", program_.symbols.name(name), " is unidirectional"),
        Importance::typing);
  return in_index(relation->target, node.arguments, frame, &node,
                  {{relation->inverse->name, object}}, value);
}

std::string Lookups::key_text(std::span<const std::pair<Symbol, Datum>> keys) const {
  std::string made;
  for (const auto& [name, datum] : keys)
    made +=
        cat(made.empty() ? "" : ", ", program_.symbols.name(name), "=", quoted(program_, datum));
  return made;
}

std::string Lookups::no_key_text(Symbol name, const Datum& value) const {
  return cat("Invalid value `", shown(program_, value), "` in index for attribute ",
             program_.symbols.name(name), ": references can not be used in indexes.");
}

void Lookups::tell_missing(std::vector<Failure>& failures) const {
  for (const Index& index : program_.indexes)
    for (const auto& [key, tasks] : index.waiting)
      for (const Task* task : tasks) {
        const MissingInstance& missing = missing_.at(task);
        Failure made{program_.error_at(missing.node->at, ""), Importance::not_found};
        made.reasons.push_back(
            {cat("No match in index on type ", missing.keys), reported_in(program_, missing.node)});
        failures.push_back(std::move(made));
      }
}

}  // namespace fettle::model
