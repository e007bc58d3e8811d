#include "model/program/suggest.h"

#include <algorithm>

#include "base/text.h"
#include "model/syntax/lexer.h"

namespace fettle::model {
namespace {

constexpr std::string_view plain_types[] = {"any", "bool", "dict",   "float",
                                            "int", "list", "number", "string"};

/// The nearest in the order of their names, since tables have no order.
std::string nearest_of(std::string_view name, std::vector<std::string> names) {
  std::ranges::sort(names);
  return std::string(nearest(name, names));
}

void append_types(const Program& program, const Space& space, std::vector<std::string>& names) {
  for (const auto& [name, entity] : space.entities)
    names.push_back(program.symbols.name(name));
  for (const auto& [name, type] : space.typedefs)
    names.push_back(program.symbols.name(name));
}

}  // namespace

std::string meant_type(Program& program, const Space& from, const QualifiedName& name) {
  std::vector<std::string> names;
  const std::string& wanted = program.symbols.name(name.name);
  if (name.space.empty()) {
    for (const Space* space = program.space(from.name); space != nullptr;
         space = program.enclosing(*space))
      append_types(program, *space, names);
    names.insert(names.end(), std::begin(plain_types), std::end(plain_types));
    return nearest_of(wanted, std::move(names));
  }
  const Space* const space = program.imported(from, name.space);
  if (space == nullptr)
    return {};
  names = shipped_plugins(*space);
  append_types(program, *space, names);
  const std::string found = nearest_of(wanted, std::move(names));
  return found.empty() ? found : cat(name.space, "::", found);
}

std::string meant_attribute(const Program& program, const Entity& entity, std::string_view name) {
  std::vector<std::string> names;
  for (const Attribute* attribute : entity.slots)
    names.push_back(program.symbols.name(attribute->name));
  return nearest_of(name, std::move(names));
}

std::string meant_variable(Program& program, const QualifiedName& name) {
  const Space& here = program.spaces[name.at.file];  // a namespace is a file, numbered alike
  const Space* const space = name.space.empty() ? &here : program.imported(here, name.space);
  if (space == nullptr || space->unit.body == nullptr)
    return {};
  std::vector<std::string> names;
  for (const Symbol local : space->unit.body->locals)
    names.push_back(program.symbols.name(local));
  const std::string& wanted = program.symbols.name(name.name);
  const std::string found = nearest_of(wanted, std::move(names));
  if (name.space.empty())
    return found.empty() ? std::string(nearest(wanted, mistakable_words())) : found;
  return found.empty() ? found : cat(name.space, "::", found);
}

}  // namespace fettle::model
