#include "model/plugins/python_values.h"

#include "base/text.h"
#include "model/evaluate/plugin_context.h"
#include "model/values/convert.h"
#include "model/values/numbers.h"

namespace fettle::model {
namespace {

constexpr std::string_view instance_mark = "~i", unknown_mark = "~u", reference_mark = "~r",
                           own_reference_mark = "~n", dict_mark = "~d", dataclass_mark = "~c";

Value marked(std::string_view mark, Value value) {
  return Value::dict({{fettle::Name(mark), std::move(value)}});
}

constexpr size_t most_lent = size_t{64} << 20;

/// Makes no more when the size is over: the caller refuses what was made.
struct PythonMaker {
  using Product = Value;
  Python& python;
  std::span<const Symbol> wanted;
  size_t& size;

  Value unset() const { return Value(); }
  Value null() const { return Value(); }
  Value unknown() const { return marked(unknown_mark, 0); }
  Value boolean(bool value) const { return value; }
  Value integer(int64_t value) const { return value; }
  Value large(std::string_view digits) const { return Value::big_integer(digits); }
  Value real(double value) const { return value; }
  Value text(std::string_view text) const { return text; }
  /// Python knows its own references by the names that it gave them; one of std is told with its
  /// arguments.
  Value reference(const Datum& datum) const {
    if (datum.reference->is_of_python)
      return marked(own_reference_mark, datum.reference->arguments[0].view());
    std::vector<Value> told{python.number_of(datum), datum.reference->kind};
    for (const Datum& argument : datum.reference->arguments)
      told.push_back(PythonMaker{python, {}, size}.of(argument));
    return marked(reference_mark, Value::list(std::move(told)));
  }
  Value instance(Instance* instance) const {
    std::vector<Value> told{instance->number, instance->entity->full_name};
    if (Value known = known_of(*instance); !known.entries().empty())
      told.push_back(std::move(known));
    return marked(instance_mark, Value::list(std::move(told)));
  }
  Value list(const List& list) const {
    std::vector<Value> items;
    items.reserve(list.items.size());
    for (const Datum& item : list.items)
      items.push_back(of(item));
    return Value::list(std::move(items));
  }
  Value dict(const Dict& dict) const {
    bool is_plain = true;
    std::string_view before;
    for (const DictEntry& entry : dict.entries) {
      size += entry.key->view.size();
      is_plain = is_plain && !entry.key->view.starts_with('~') && before <= entry.key->view;
      before = entry.key->view;
    }
    if (!is_plain)
      return marked(dict_mark, pairs(dict));
    std::vector<Entry> entries;
    for (const DictEntry& entry : dict.entries)
      entries.push_back({fettle::Name(entry.key->view), of(entry.value)});
    return Value::dict(std::move(entries));
  }

  Value of(const Datum& datum) const {
    constexpr size_t usual_size = 16;
    const bool has_text = datum.tag == Tag::text || datum.tag == Tag::large;
    size += usual_size + (has_text ? datum.view().size() : 0);
    return size > most_lent ? Value() : convert(datum, PythonMaker{python, wanted, size});
  }

 private:
  /// What is told of an instance beside its number. Of others in it only the numbers are told, for
  /// relations lead through the whole model.
  Value known_of(const Instance& instance) const {
    std::vector<Entry> known;
    for (const Symbol name : wanted) {
      const uint32_t slot = instance.entity->slot(name);
      if (slot == no_slot)
        continue;
      const Datum& value = instance.cells[slot].value;
      const bool is_empty_option =
          value.tag == Tag::null && instance.entity->slots[slot]->shape == Shape::option;
      if (value.is_set() && !is_empty_option && python.tell(instance, slot))
        known.push_back({fettle::Name(python.name(name)), PythonMaker{python, {}, size}.of(value)});
    }
    return Value::dict(std::move(known));
  }
  Value pairs(const Dict& dict) const {
    std::vector<Value> made;
    for (const DictEntry& entry : dict.entries)
      made.push_back(Value::list({Value(entry.key->view), of(entry.value)}));
    return Value::list(std::move(made));
  }
};

class Taker {
 public:
  Taker(PluginCall& call, Python& python) : call_(call), python_(python) {}

  Result<Datum> of(const Value& value, uint32_t depth) {
    using Sort = Value::Type;
    if (depth > deepest_value)
      return user_error("value is nested too deeply");
    if (!call_.context.budget().spend(2))
      return user_error(call_.context.budget().refusal());
    switch (value.type()) {
      case Sort::null:
        return Datum::null();
      case Sort::boolean:
        return Datum::of(value.boolean());
      case Sort::integer:
        if (const std::optional<int64_t> small = value.integer())
          return Datum::of(*small);
        return whole_of(call_.context.program().arena, value.integer_digits());
      case Sort::real:
        return Datum::of(value.real());
      case Sort::text:
        return call_.context.make_text(value.text().view());
      case Sort::list:
        return list(value, depth);
      case Sort::dict:
        return dict(value, depth);
      default:
        return user_error("the plugin returned something that is not a value");
    }
  }

 private:
  Result<Datum> list(const Value& value, uint32_t depth) {
    std::vector<Datum> items;
    for (const Value& item : value.items())
      items.push_back(TRY(of(item, depth + 1)));
    return call_.context.make_list(items);
  }

  Result<Datum> dict(const Value& value, uint32_t depth) {
    if (const Value* told = value.find(instance_mark))
      return instance(*told);
    if (const Value* told = value.find(reference_mark)) {
      const Datum* const known =
          python_.reference(static_cast<size_t>(told->integer().value_or(-1)));
      return known != nullptr ? Result<Datum>(*known) : user_error("there is no such reference");
    }
    if (const Value* told = value.find(own_reference_mark))
      return own_reference(*told);
    if (value.find(unknown_mark) != nullptr)
      return Datum::unknown();
    if (const Value* told = value.find(dataclass_mark))
      return dataclass(*told, depth);
    std::vector<DictEntry> entries;
    const auto add = [&](std::string_view key, const Value& item) -> Status {
      entries.push_back({call_.context.make_text(key).text, TRY(of(item, depth + 1))});
      return {};
    };
    if (const Value* pairs = value.find(dict_mark)) {
      if (pairs->is_list())
        for (const Value& pair : pairs->items())
          if (pair.is_list() && pair.items().size() == 2 && pair.items()[0].is_text())
            TRY(add(pair.items()[0].text().view(), pair.items()[1]));
    } else {
      for (const Entry& entry : value.entries())
        TRY(add(entry.key.view(), entry.value));
    }
    return call_.context.make_dict(entries);
  }

  Result<Datum> instance(const Value& told) {
    const auto instances = call_.context.instances();
    const std::optional<int64_t> number =
        told.is_list() && !told.items().empty() ? told.items()[0].integer() : std::nullopt;
    if (!number || *number < 0 || static_cast<size_t>(*number) >= instances.size())
      return user_error("there is no such instance");
    return Datum::of(instances[static_cast<size_t>(*number)]);
  }

  /// A reference of a class that a module defines: its name in Python, its class, and the type that
  /// it stands for.
  Result<Datum> own_reference(const Value& told) {
    const std::span<const Value> parts = told.is_list() ? told.items() : std::span<const Value>();
    if (parts.size() != 3 || !std::ranges::all_of(parts, &Value::is_text))
      return user_error("the plugin returned something that is not a value");
    Arena& arena = call_.context.program().arena;
    const auto text = [&](size_t i) { return call_.context.make_text(to_text(parts[i])); };
    const Datum name = text(0);
    return Datum::of(static_cast<const Reference*>(arena.make<Reference>(
        text(1).view(), text(2).view(), arena.copy(std::span<const Datum>(&name, 1)), 0u, true)));
  }

  /// A dataclass becomes an instance.
  Result<Datum> dataclass(const Value& told, uint32_t depth) {
    const std::span<const Value> parts = told.is_list() ? told.items() : std::span<const Value>();
    if (parts.size() != 2 || !parts[0].is_text())
      return user_error("the plugin returned something that is not a value");
    const std::string name = to_text(parts[0]);
    Entity* const entity = python_.entity(name);
    const auto is_data = [](const Entity* one) { return one->full_name == "std::Dataclass"; };
    if (entity == nullptr || std::ranges::none_of(entity->lineage, is_data))
      return user_error(cat("the plugin returned the dataclass ", name,
                            ", and there is no entity of that name that extends std::Dataclass"));
    const Datum attributes = TRY(of(parts[1], depth + 1));
    Datum made;
    if (!call_.context.construct(*entity, attributes, call_.node, made))
      return user_error(cat("an instance of ", name, " cannot be made here"));
    return made;
  }

  PluginCall& call_;
  Python& python_;
};

std::string type_text(const Attribute& attribute) {
  if (attribute.shape != Shape::value)
    return attribute.target->full_name;
  return cat(attribute.type.name, attribute.type.is_list ? "[]" : "",
             attribute.type.is_nullable ? "?" : "");
}

/// An attribute; of a relation also how many it takes, and its other end.
Value told_of(const Program& program, const Attribute& attribute) {
  std::vector<Entry> told{{"type", type_text(attribute)},
                          {"owner", attribute.owner->full_name},
                          {"is_relation", attribute.shape != Shape::value}};
  if (attribute.shape != Shape::value) {
    told.push_back({"is_optional", attribute.count.lower == 0});
    told.push_back({"is_multi", attribute.count.upper != 1});
  }
  if (const Attribute* const end = attribute.inverse) {
    told.push_back({"end", program.symbols.name(end->name)});
    told.push_back({"end_owner", end->owner->full_name});
  }
  return Value::dict(std::move(told));
}

}  // namespace

Result<Value> lend_to_python(Python& python, const Datum& datum, std::span<const Symbol> wanted,
                             size_t& size) {
  Value made = PythonMaker{python, wanted, size}.of(datum);
  if (size > most_lent)
    return user_error(cat("a value is larger than ", most_lent >> 20, " MiB"));
  return made;
}

Result<Value> lend_to_python(Python& python, const Datum& datum) {
  size_t size = 0;
  return lend_to_python(python, datum, {}, size);
}

Result<std::pair<Instance*, std::string_view>> asked_attribute(std::span<Instance* const> instances,
                                                               const Value& read) {
  const std::span<const Value> parts = read.is_list() ? read.items() : std::span<const Value>();
  const std::optional<int64_t> number =
      parts.size() == 2 && parts[0].is_integer() ? parts[0].integer() : std::nullopt;
  if (!number || *number < 0 || static_cast<size_t>(*number) >= instances.size() ||
      !parts[1].is_text())
    return user_error("there is no such instance");
  return std::pair(instances[static_cast<size_t>(*number)], parts[1].text().view());
}

Result<Datum> take_from_python(PluginCall& call, Python& python, const Value& value) {
  return Taker(call, python).of(value, 0);
}

Result<Value> entity_for_python(Program& program, std::string_view full_name) {
  const Entity* const entity = python_of(program).entity(full_name);
  if (entity == nullptr)
    return user_error(cat("could not find type ", full_name));
  const auto names_of = [](const auto& entities, const Entity* but) {
    std::vector<Value> names;
    for (const Entity* one : entities)
      if (one != but)
        names.emplace_back(one->full_name);
    return Value::list(std::move(names));
  };
  std::vector<Entry> attributes;
  for (const Attribute* one : entity->slots)
    attributes.push_back({fettle::Name(program.symbols.name(one->name)), told_of(program, *one)});
  std::vector<Value> indexes;
  for (const Index* index : entity->indexes) {
    std::vector<Value> names;
    for (const Symbol name : index->names)
      names.emplace_back(program.symbols.name(name));
    indexes.push_back(Value::list(std::move(names)));
  }
  return Value::dict({{"name", entity->full_name},
                      {"parents", names_of(entity->lineage, entity)},
                      {"extends", names_of(entity->parents, nullptr)},
                      {"indexes", Value::list(std::move(indexes))},
                      {"attributes", Value::dict(std::move(attributes))}});
}

}  // namespace fettle::model
