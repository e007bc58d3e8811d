#include "starlark/outside.h"

#include "starlark/lib/universe.h"

namespace fettle::starlark {

ResolveInput resolve_input(const Session::State& session, std::string_view file,
                           std::string_view source, std::span<const NamedValue> names) {
  const auto outside = [&session, names](std::string_view name) -> std::optional<Outside> {
    for (const NamedValue& named : names)
      if (named.name == name)
        return Outside{named.value, false};
    for (const auto& [known, value] : session.predeclared)
      if (known == name)
        return Outside{value, false};
    const Value value = universal(session.dialect, name);
    if (value.is_unset())
      return std::nullopt;
    return Outside{value, true};
  };
  const auto outside_names = [&session, names] {
    std::vector<std::string> all = universal_names(session.dialect);
    for (const NamedValue& named : names)
      all.emplace_back(named.name);
    for (const auto& [known, value] : session.predeclared)
      all.push_back(known);
    return all;
  };
  return {session.dialect, file, source, outside, outside_names};
}

}  // namespace fettle::starlark
