#include "model/std/places.h"

namespace fettle::model {

const Module* find_module(const Program& program, std::string_view name) {
  const auto found = program.modules.find(std::string(name));
  return found == program.modules.end() ? nullptr : &found->second;
}

std::string_view module_of(const Program& program, uint32_t file) {
  // Namespaces and files have the same numbers.
  if (file >= program.spaces.size())
    return {};
  const std::string_view name = program.spaces[file].name;
  return name.substr(0, name.find("::"));
}

}  // namespace fettle::model
