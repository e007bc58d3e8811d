#include "model/export/python_export.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/export/attributes.h"
#include "model/plugins/python.h"
#include "model/plugins/python_values.h"
#include "value/json.h"

namespace fettle::model {
namespace {

constexpr size_t pairs_of_request = 500;

std::vector<std::string> texts_in(const Value& list) {
  std::vector<std::string> made;
  if (list.is_list())
    for (const Value& item : list.items())
      made.push_back(to_text(item));
  return made;
}

/// Whatever a process says, its parts are there.
std::span<const Value> items_in(const Value& list) {
  return list.is_list() ? list.items() : std::span<const Value>();
}
std::span<const Entry> entries_in(const Value& dict) {
  return dict.is_dict() ? dict.entries() : std::span<const Entry>();
}

/// The resource of an answer.
PythonMade made_of_answer(std::string type, const Value& told) {
  using Fate = PythonMade::Fate;
  PythonMade made{std::move(type), Fate::made, {}, {}};
  if (told.bool_at("ignored") || told.bool_at("unknown")) {
    made.fate = told.bool_at("ignored") ? Fate::ignored : Fate::unknown;
    return made;
  }
  made.id = fettle::Name(told.text_at("id"));
  const std::vector<std::string> unknown = texts_in(told.at("unknowns"));
  for (const Entry& field : entries_in(told.at("fields"))) {
    const bool is_unknown = std::ranges::find(unknown, field.key.view()) != unknown.end();
    made.fields.push_back({field.key, is_unknown ? Value::unknown() : field.value});
  }
  return made;
}

}  // namespace

PythonExport::PythonExport(const Model& model, const Declarations& declarations, IdOf id_of)
    : model_(model), declarations_(declarations), id_of_(std::move(id_of)) {}

/// Whether no other declaration is as near to the entity as that ancestor.
bool PythonExport::is_nearer(const Entity& entity, const Entity& ancestor) const {
  for (const Entity* one : entity.lineage) {
    if (declarations_.contains(one->full_name))
      return false;
    if (one == &ancestor)
      return true;
  }
  return false;
}

bool PythonExport::is_mentioned(const Entity& entity) const {
  const Entity* const resource = model_.entity("std::Resource");
  for (const Entity* ancestor : entity.lineage) {
    if (declarations_.contains(ancestor->full_name))
      return false;
    if (ancestor == resource || mentions_.resources.contains(ancestor->full_name))
      return true;
  }
  return false;
}

Status PythonExport::make_all() {
  mentions_ = python_mentions(model_.program);
  if (mentions_.resources.empty() && !mentions_.has_managers)
    return {};
  std::unordered_map<const Entity*, bool> mentioned;
  bool is_wanted = mentions_.has_managers;
  for (const Instance* instance : model_.instances()) {
    const auto [known, is_new] = mentioned.try_emplace(instance->entity, false);
    if (is_new)
      is_wanted |= known->second = is_mentioned(*instance->entity);
  }
  if (!is_wanted)
    return {};
  TRY(load());
  std::vector<std::pair<const Instance*, std::string>> wanted;
  for (const Instance* instance : model_.instances())
    for (const std::string& type : types_of(*instance->entity))
      wanted.emplace_back(instance, type);
  for (size_t i = 0; i < wanted.size(); i += pairs_of_request)
    TRY(make(std::span(wanted).subspan(i, std::min(pairs_of_request, wanted.size() - i))));
  return {};
}

Status PythonExport::load() {
  is_loaded_ = true;
  Python& python = *model_.program.python;
  for (const auto& [name, folder] : python_folders(model_.program)) {
    const Result<Value>& module = python.module(name, model_.program.plugin_time_limit);
    if (!module)
      problems_.emplace(name, to_string(module.error()));
    else if (const Value* problem = module->find("problem"))
      problems_.emplace(name, with_trace(*problem, "text"));
  }
  const Value told = TRY(ask(Value::dict({{"resources", true}})));
  for (const Value& resource : items_in(told.at("resources")))
    registered_.emplace_back(resource.text_at("entity"));
  handled_ = texts_in(told.at("handlers"));
  has_managers_ = told.bool_at("managers");
  if (mentions_.has_managers && !problems_.empty())  // one of them may be there
    return user_error(problem_text());
  return {};
}

const std::vector<std::string>& PythonExport::types_of(const Entity& entity) {
  static const std::vector<std::string> none;
  if (registered_.empty())
    return none;
  const auto [known, is_new] = types_.try_emplace(&entity);
  if (is_new)
    for (const std::string& type : registered_)
      for (const Entity* ancestor : entity.lineage)
        if (ancestor->full_name == type && is_nearer(entity, *ancestor))
          known->second.push_back(type);
  return known->second;
}

std::span<PythonMade> PythonExport::made_of(const Instance& instance) {
  const auto found = made_.find(instance.number);
  return found == made_.end() ? std::span<PythonMade>() : std::span(found->second);
}

Status PythonExport::make(std::span<const std::pair<const Instance*, std::string>> wanted) {
  std::vector<Value> pairs;
  for (const auto& [instance, type] : wanted)
    pairs.push_back(Value::list({TRY(lent(*instance, true)), Value(type)}));
  const Value told = TRY(ask(Value::dict({{"export", Value::list(std::move(pairs))}})));
  const std::span<const Value> made = items_in(told.at("made"));
  for (size_t i = 0; i < made.size() && i < wanted.size(); ++i) {
    const auto& [instance, type] = wanted[i];
    if (made[i].find("failed") != nullptr)
      return user_error(with_trace(made[i], "failed"))
          .context(cat("exporting the ", type, " of ", model_.where(instance->at)));
    made_[instance->number].push_back(made_of_answer(type, made[i]));
  }
  if (made.size() < wanted.size())
    return world_error("the process of the modules' Python gave no answer");
  for (const Entry& file : entries_in(told.at("files")))
    files.emplace(file.key.str(), to_text(file.value));
  return {};
}

std::string PythonExport::problem_text() const {
  const auto& [module, problem] = *problems_.begin();
  return cat("the Python of module ", module, " cannot be loaded: ", problem);
}

std::string PythonExport::problem_of(const Entity& entity) const {
  if (!is_loaded_ || !is_mentioned(entity))
    return {};
  if (!problems_.empty())
    return problem_text();
  for (const Entity* ancestor : entity.lineage)
    if (const auto found = mentions_.resources.find(ancestor->full_name);
        found != mentions_.resources.end())
      return cat(found->second.string(), " registers no resource type for it");
  return {};
}

Result<Value> PythonExport::ask(Value request) {
  return model_.program.python->ask(std::move(request), model_.program.plugin_time_limit,
                                    [this](const Value& asked) { return answer(asked); });
}

Result<Value> PythonExport::answer(const Value& asked) {
  if (const Value* read = asked.find("read"))
    return attribute(*read);
  if (const Value* name = asked.find("entity"))
    return entity_for_python(model_.program.python->program(), to_text(*name));
  if (const Value* number = asked.find("reference"))
    return References::of_number(model_, id_of_, *number);
  if (const Value* name = asked.find("instances")) {
    const Entity* const entity = model_.entity(to_text(*name));
    if (entity == nullptr)
      return Value();
    std::vector<Value> found;
    for (const Instance* instance : model_.instances_of(*entity))
      found.push_back(TRY(lent(*instance, false)));
    return Value::list(std::move(found));
  }
  if (asked.find("entities") != nullptr) {
    std::vector<Value> names;
    for (const Entity& entity : model_.program.entities)
      names.emplace_back(entity.full_name);
    return Value::list(std::move(names));
  }
  if (asked.find("project") != nullptr)
    return Value(model_.program.environment);
  if (const Value* text = asked.find("warn")) {
    model_.program.python->print(to_text(*text));
    return Value();
  }
  return user_error("an export does not answer this");
}

/// An instance; with the attributes that most serializers read, they need not be asked for.
Result<Value> PythonExport::lent(const Instance& instance, bool with_values) {
  std::vector<Value> told{Value(int64_t{instance.number}), Value(instance.entity->full_name)};
  if (with_values) {
    std::vector<Entry> values;
    for (uint32_t slot = 0; slot < instance.entity->slots.size(); ++slot) {
      const Attribute& attribute = *instance.entity->slots[slot];
      const Datum& value = instance.cells[slot].value;
      const bool is_there = attribute.shape == Shape::value || value.tag == Tag::instance;
      if (attribute.shape != Shape::list && is_there && value.is_set())
        values.push_back({fettle::Name(model_.program.symbols.name(attribute.name)),
                          TRY(lend_to_python(*model_.program.python, value))});
    }
    told.push_back(Value::dict(std::move(values)));
  }
  return Value::list(std::move(told));
}

Result<Value> PythonExport::attribute(const Value& read) {
  const auto [asked, name] = TRY(asked_attribute(model_.instances(), read));
  const Instance& instance = *asked;
  const auto [owner, slot] = end_of_path(model_, instance, name);
  if (owner != &instance || slot == no_slot)
    return Value::dict({{"missing", true}});
  Python& python = *model_.program.python;
  const Shape shape = instance.entity->slots[slot]->shape;
  if (shape == Shape::list) {
    std::vector<Value> members;
    for (const Datum& member : model_.members(instance, slot))
      members.push_back(TRY(lend_to_python(python, member)));
    return Value::dict({{"value", Value::list(std::move(members))}});
  }
  const Datum& value = instance.cells[slot].value;
  if (shape == Shape::option && (!value.is_set() || value.tag == Tag::null))
    return Value::dict({{"optional", true}});
  if (!value.is_set())
    return Value::dict({{"unset", true}});
  return Value::dict({{"value", TRY(lend_to_python(python, value))}});
}

Result<std::map<std::string, std::vector<fettle::Name>, std::less<>>> PythonExport::managed(
    std::span<const PythonNeeds> resources) {
  std::map<std::string, std::vector<fettle::Name>, std::less<>> changed;
  std::set<std::string_view> ids;
  std::vector<Value> given;
  for (const PythonNeeds& one : resources) {
    ids.insert(one.item->id);
    std::vector<Value> needs(one.item->needs.begin(), one.item->needs.end());
    std::vector<Entry> told{{"id", one.item->id}, {"needs", Value::list(std::move(needs))}};
    if (!made_.contains(one.instance->number)) {
      told.push_back({"instance", TRY(lent(*one.instance, false))});
      told.push_back(
          {"fields", one.item->attributes.is_dict() && !one.item->attributes.has_unknown()
                         ? one.item->attributes
                         : Value::dict({})});
    }
    given.push_back(Value::dict(std::move(told)));
  }
  const Value told = TRY(ask(Value::dict({{"dependencies", Value::list(std::move(given))}})));
  for (const Entry& one : entries_in(told.at("needs"))) {
    std::vector<fettle::Name>& needs = changed[one.key.str()];
    for (const std::string& need : texts_in(one.value)) {
      if (!ids.contains(need))
        return user_error(cat("a dependency manager lets ", one.key, " require ", need,
                              ", which is no resource of the model"));
      needs.emplace_back(need);
    }
  }
  return changed;
}

Result<std::vector<std::pair<fettle::Name, Value>>> PythonExport::handlers() {
  std::vector<std::pair<fettle::Name, Value>> found;
  std::set<std::string> types;
  for (const auto& [number, made] : made_)
    for (const PythonMade& one : made)
      if (std::ranges::find(handled_, one.type) != handled_.end())
        types.insert(one.type);
  if (types.empty())
    return found;
  const PythonEnvironment& environment = model_.program.python->environment();
  std::vector<Value> packages;
  for (const Path& one : environment.packages)
    packages.emplace_back(one.string());
  const Value sources = TRY(ask(Value::dict({{"sources", true}})));
  const Value source = write_json(Value::dict(
      {{"modules", sources.at("sources")}, {"packages", Value::list(std::move(packages))}}));
  for (const std::string& type : types)
    found.emplace_back(fettle::Name(type), Value::dict({{"name", type},
                                                        {"source", source},
                                                        {"interpreter", environment.interpreter}}));
  return found;
}

}  // namespace fettle::model
