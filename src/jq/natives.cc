#include "jq/natives.h"

namespace fettle::jq {

const Natives& native_functions() {
  static const Natives table = [] {
    Natives made;
    for (const auto group :
         {operators(), plain_functions(), text_functions(), list_functions(), format_functions(),
          number_functions(), time_functions(), regex_functions()})
      for (const Native& native : group)
        made.emplace(std::pair(native.name, static_cast<size_t>(native.arity)), &native);
    return made;
  }();
  return table;
}

const Native* find_native(std::string_view name, size_t arity) {
  const auto found = native_functions().find({name, arity});
  return found == native_functions().end() ? nullptr : found->second;
}

}  // namespace fettle::jq
