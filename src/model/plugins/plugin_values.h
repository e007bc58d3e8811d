#pragma once
/// Turns values of a model into values for outside plugins, and back.

#include <deque>
#include <unordered_set>

#include "model/evaluate/plugin.h"
#include "starlark/starlark.h"
#include "value/value.h"

namespace fettle::model {

/// An attribute that a struct lacks because it has no value yet, or because no program may get it.
struct Withheld {
  std::string name;
  Instance* instance = nullptr;
  uint32_t slot = 0;
  Tag tag = Tag::unset;  ///< or of what is unknown or a reference in it
};

/// What was lent to a program in Starlark. It may pass on, or leave alone, unknowns and references
/// in lists and dicts: these are `hidden`.
struct PluginLoan {
  struct HiddenDatum {
    HiddenDatum(starlark::Thread& thread, starlark::Value value, const Datum& hidden)
        : stands_for_it(thread, value), datum(hidden) {}
    starlark::Handle stands_for_it;
    Datum datum;
  };
  bool withholds = true;  ///< attributes that are not there are left out; else they count as read
  std::vector<Withheld> withheld;
  std::deque<HiddenDatum> hidden;
  std::unordered_set<uint64_t> containers;  ///< lists and dicts, by word

  const HiddenDatum* find(starlark::Value value) const;
};

/// Why a plugin does not get a reference.
std::string reference_text(std::string_view name);

/// An instance becomes a struct (or dict) of its attributes with `__instance__`, its number. Error:
/// something unknown or unset is read; then the result of the call is unknown, or the call waits.
Result<starlark::Value> to_starlark(PluginCall& call, starlark::Thread& thread, const Datum& datum,
                                    PluginLoan& lent);
Result<Value> to_value(PluginCall& call, const Datum& datum);
/// An error if the program looked at something hidden.
Status check_looks(PluginCall& call, const PluginLoan& lent);

/// A hidden value is itself where it was lent. Anywhere else, it counts as read.
Result<Datum> from_starlark(PluginCall& call, starlark::Thread& thread, starlark::Value value,
                            const PluginLoan& lent);
Result<Datum> from_value(PluginCall& call, const Value& value);

}  // namespace fettle::model
