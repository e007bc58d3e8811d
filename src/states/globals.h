#pragma once
/// Arguments that mean the same for every state and never reach its function: requisites, and what
/// is to be done around the call. To add one: a row in `globals.cc`; a setting also a field in
/// `settings.h`.

#include <cstdint>
#include <span>
#include <string_view>

namespace fettle::states {

/// What binds one state to others.
enum class Requisite : uint8_t {
  require,    ///< it succeeded, or would (`None`)
  watch,      ///< it succeeded; when it has changes, `mod_watch` is called after the function
  onchanges,  ///< it succeeded and has changes
  onfail,     ///< it failed, or did not run because something it needs failed
  prereq,     ///< it would have changes; it runs after this one
  listen,     ///< it has changes: `mod_watch` is called once, after everything else
  arg_bind,   ///< it left a state, from which arguments are taken
  order,      ///< nothing: it goes first, however it ends
};

std::string_view to_string(Requisite requisite);

struct GlobalArgument {
  enum class Role : uint8_t {
    requisite,
    inverse,  ///< a requisite of those that it names
    use,      ///< copies arguments of another state
    use_in,
    setting,
    place,    ///< `name`, `names`, `order`
    ignored,  ///< without meaning here; Idem ignores it silently
    refused,  ///< it would matter, and is not done
  };
  std::string_view name;
  Role role;
  Requisite requisite = Requisite::require;
  bool any = false;            ///< one of those that it names is enough
  std::string_view text = {};  ///< what it means, for `doc`
};

/// None: an argument of the function.
const GlobalArgument* find_global(std::string_view name);
std::span<const GlobalArgument> global_arguments();

}  // namespace fettle::states
