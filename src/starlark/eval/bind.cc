#include "starlark/eval/bind.h"

#include <algorithm>

#include "base/text.h"
#include "starlark/eval/table.h"
#include "starlark/syntax/spelling.h"

namespace fettle::starlark {
namespace {

/// The arguments of one call, gathered where no register can overwrite them.
struct CallArguments {
  std::vector<Value> positional;
  std::vector<Value> names;
  std::vector<Value> named;
};

/// Whether it runs here, or where this module is loaded from.
bool is_running(const Vm& vm, const Code* code) {
  for (const Vm* each = &vm; each != nullptr; each = each->caller) {
    if (each->active[code->id % Vm::active_slots] == 0)
      continue;
    if (each->is_deep()) {
      const auto found = each->deep.find(code);
      if (found != each->deep.end() && found->second > 0)
        return true;
      continue;
    }
    for (const Activation& frame : each->frames)
      if (frame.code == code)
        return true;
  }
  return false;
}

/// Checks depth and recursion, makes room, and pushes the frame. The prologue runs once the
/// parameters are in place.
bool push_frame(Vm& vm, Function* function, Value* base, uint16_t into) {
  const Code* code = function->code;
  if (!vm.dialect().recursion && is_running(vm, code)) {
    vm.push_frame({code, function, nullptr, base, nullptr, into});  // never begun
    vm.fail_with("function ", code->name, " called recursively");
    return false;
  }
  if (vm.frames.size() >= vm.most_frames) {
    vm.fail("Starlark stack overflow: too many nested calls");
    return false;
  }
  if (base + code->registers > vm.soft_end && !vm.extend_stack(base + code->registers)) {
    vm.fail("Starlark stack overflow");
    return false;
  }
  vm.ticks -= code->cost - 1;  // the first was counted with the call
  vm.push_frame({code, function, code->instructions.data(), base, nullptr, into});
  return true;
}

void run_prologue(Vm& vm, const Code* code, Value* base) {
  for (const uint16_t r : code->cell_registers)
    base[r] = Value::object(make_cell(vm.heap(), base[r]));
  for (const uint16_t r : code->unset_registers)
    base[r] = Value::unset();
}

/// An error of a call.
template <typename... Pieces>
bool fail_call(Vm& vm, const Code* code, const Pieces&... pieces) {
  vm.fail_with("function ", code->name, " ", pieces...);
  return false;
}

/// Puts an argument that is named into the register of its parameter, else into `rest`, which may
/// be null.
bool place_named(Vm& vm, const Code* code, Value* base, Value name, Value value, Dict* rest) {
  const size_t parameters = code->parameters;
  for (size_t slot = 0; slot < parameters; ++slot) {
    if (!code->register_names[slot].same(name) &&
        !(name.is_object() && view_of(code->register_names[slot]) == view_of(name)))
      continue;
    if (!base[slot].is_unset())
      return fail_call(vm, code, "got multiple values for parameter ", quoted_name(name));
    base[slot] = value;
    return true;
  }
  if (rest == nullptr)
    return fail_call(vm, code, "got an unexpected keyword argument ", quoted_name(name));
  bool fresh = true;
  if (!table_put(vm, rest, name, hash_of_text(name), value, &fresh)) {
    vm.fail_memory();
    return false;
  }
  return fresh || fail_call(vm, code, "got multiple values for parameter ", quoted_name(name));
}

/// Gives parameters from `first` on that were given nothing their defaults.
bool place_defaults(Vm& vm, const Function* function, Value* base, size_t first) {
  const Code* code = function->code;
  const size_t parameters = code->parameters;
  const size_t defaults = function->defaults == nullptr ? 0 : function->defaults->count;
  std::vector<size_t> missing;
  for (size_t i = first; i < parameters; ++i) {
    if (!base[i].is_unset())
      continue;
    if (i + defaults >= parameters)
      base[i] = function->defaults->items()[i + defaults - parameters];
    if (base[i].is_unset())
      missing.push_back(i);
  }
  if (missing.empty())
    return true;
  std::string list;
  for (const size_t i : missing)
    list += cat(list.empty() ? "" : ", ", view_of(code->register_names[i]));
  return fail_call(vm, code, "missing ", missing.size(), " argument", missing.size() > 1 ? "s" : "",
                   " (", list, ")");
}

/// Puts arguments into the registers of the parameters, as the specification says.
bool place_arguments(Vm& vm, Function* function, Value* base, std::span<const Value> positional,
                     std::span<const Value> names, std::span<const Value> named) {
  const Code* code = function->code;
  const size_t parameters = code->parameters;
  const size_t by_position = parameters - code->keyword_only;
  const size_t defaults = function->defaults == nullptr ? 0 : function->defaults->count;
  if (parameters == 0 && !code->has_rest && !code->has_named_rest) {
    const size_t given = positional.size() + named.size();
    return given == 0 || fail_call(vm, code, "accepts no arguments (", given, " given)");
  }
  Dict* named_rest = nullptr;
  if (code->has_named_rest)
    named_rest = make_dict(vm);
  vm.ticks -= i64(code->has_named_rest ? 2 + named.size() : 0);
  size_t count = positional.size();
  if (count > by_position) {
    if (!code->has_rest)
      return fail_call(vm, code, "accepts ", defaults > code->keyword_only ? "at most " : "",
                       by_position, " positional argument", by_position == 1 ? "" : "s", " (",
                       count, " given)");
    count = by_position;
  }
  for (size_t i = 0; i < count; ++i)
    base[i] = positional[i];
  for (size_t i = count; i < parameters; ++i)
    base[i] = Value::unset();
  if (code->has_rest) {
    Tuple* rest = make_tuple(vm.heap(), positional.size() - count);
    vm.ticks -= i64(1 + (positional.size() - count) / 8);
    if (rest == nullptr) {
      vm.fail_memory();
      return false;
    }
    std::copy(positional.begin() + i64(count), positional.end(), rest->items());
    base[parameters] = Value::object(rest);
  }
  if (named_rest != nullptr)
    base[parameters + (code->has_rest ? 1 : 0)] = Value::object(named_rest);
  for (size_t n = 0; n < named.size(); ++n)
    if (!place_named(vm, code, base, names[n], named[n], named_rest))
      return false;
  return place_defaults(vm, function, base, count);
}

bool gather(Vm& vm, Value* at, const CallSite& site, CallArguments& all) {
  const Value* next = at + 1;
  all.positional.assign(next, next + site.positional);
  next += site.positional;
  all.names.assign(site.names, site.names + site.named);
  all.named.assign(next, next + site.named);
  next += site.named;
  // The argument behind `**` is looked at first, as in starlark-go.
  if (site.named_rest) {
    const Value rest = next[site.rest ? 1 : 0];
    if (!is_dict(rest)) {
      vm.fail_with("argument after ** must be a mapping, not ", type_name_of(rest));
      return false;
    }
    if (!vm.charge(u64(4) * as<Dict>(rest)->live))
      return false;
    const bool ok = table_each(as<Dict>(rest), [&](const TableEntry& entry) {
      if (!is_text(entry.key)) {
        vm.fail_with("keywords must be strings, not ", type_name_of(entry.key));
        return false;
      }
      all.names.push_back(entry.key);
      all.named.push_back(entry.value);
      return true;
    });
    if (!ok)
      return false;
  }
  if (site.rest) {
    const Value rest = *next;
    if (!is_iterable(rest)) {
      vm.fail_with("argument after * must be iterable, not ", type_name_of(rest));
      return false;
    }
    if (!vm.heap().may_take(length_hint(rest) * 16)) {
      vm.fail_memory();
      return false;
    }
    if (!for_each(vm, rest, [&](Value item) {
          all.positional.push_back(item);
          return true;
        }))
      return false;
  }
  return true;
}

}  // namespace

std::string quoted_name(Value name) {
  std::string text;
  quote_text(text, view_of(name));
  return text;
}

bool enter_function(Vm& vm, Function* function, Value* base, const Arguments& arguments,
                    uint16_t into) {
  const Code* code = function->code;
  if (!push_frame(vm, function, base, into))
    return false;
  const bool in_place = arguments.positional == base;
  if (arguments.named_count == 0 && code->simple_arity >= 0 &&
      arguments.count <= u32(code->simple_arity)) {
    const auto arity = u32(code->simple_arity);
    if (!in_place)
      std::copy_n(arguments.positional, arguments.count, base);
    const uint32_t missing = arity - arguments.count;
    const uint32_t defaults = function->defaults == nullptr ? 0 : function->defaults->count;
    if (missing <= defaults) {
      for (uint32_t i = 0; i < missing; ++i)
        base[arguments.count + i] = function->defaults->items()[defaults - missing + i];
      if (code->has_prologue)
        run_prologue(vm, code, base);
      return true;
    }
  }
  CallArguments all;
  all.positional.assign(arguments.positional, arguments.positional + arguments.count);
  all.names.assign(arguments.names, arguments.names + arguments.named_count);
  all.named.assign(arguments.named, arguments.named + arguments.named_count);
  if (!place_arguments(vm, function, base, all.positional, all.names, all.named)) {
    vm.frames.back().pc = nullptr;  // the frame stays: a back-trace names what was called
    return false;
  }
  if (code->has_prologue)
    run_prologue(vm, code, base);
  return true;
}

/// The default of a parameter. Unset: it has none.
static Value default_of(Function* function, uint32_t slot) {
  const Code* code = function->code;
  return slot + code->defaults >= code->parameters
             ? function->defaults->items()[slot + code->defaults - code->parameters]
             : Value::unset();
}

static bool has_defaults(const Binding8& binding, Function* function) {
  return std::ranges::none_of(
      binding.missing, [function](uint16_t slot) { return default_of(function, slot).is_unset(); });
}

bool enter_with_names(Vm& vm, Function* function, Value* base, const CallSite& site,
                      uint16_t into) {
  const Code* code = function->code;
  constexpr size_t most_cached = 16;
  const Binding8* known = site.cache.load(std::memory_order_acquire);
  if (known != nullptr && known->callee == code->id && has_defaults(*known, function)) [[likely]] {
    if (!push_frame(vm, function, base, into))
      return false;
    if (!known->is_in_place) {
      Value named[most_cached];
      std::copy_n(base + site.positional, site.named, named);
      for (uint32_t i = 0; i < site.named; ++i)
        base[known->slots[i]] = named[i];
    }
    for (const uint16_t slot : known->missing)
      base[slot] = default_of(function, slot);
    if (code->has_prologue)
      run_prologue(vm, code, base);
    return true;
  }
  Arguments arguments;
  arguments.positional = base;
  arguments.count = site.positional;
  arguments.names = site.names;
  arguments.named = base + site.positional;
  arguments.named_count = site.named;
  if (!enter_function(vm, function, base, arguments, into))
    return false;
  if (known == nullptr && !code->has_rest && !code->has_named_rest && site.named <= most_cached &&
      site.positional <= u32(code->parameters - code->keyword_only)) {
    auto made = std::make_unique<Binding8>();
    made->callee = code->id;
    bool all = true;
    for (uint32_t n = 0; n < site.named; ++n) {
      uint32_t slot = 0;
      while (slot < code->parameters &&
             view_of(code->register_names[slot]) != view_of(site.names[n]))
        ++slot;
      all = all && slot < code->parameters && slot >= site.positional;
      made->slots[n] = u16(slot);
    }
    const std::span<const uint16_t> slots(made->slots, site.named);
    for (uint32_t slot = site.positional; slot < code->parameters; ++slot) {
      if (std::ranges::find(slots, slot) == slots.end())
        made->missing.push_back(u16(slot));
    }
    made->is_in_place = true;
    for (uint32_t n = 0; n < site.named; ++n)
      made->is_in_place = made->is_in_place && slots[n] == site.positional + n;
    if (all) {
      // The call site's own code owns what the site remembers.
      const Code* owner = vm.frames[vm.frames.size() - 2].code;
      Binding8* kept = made.get();
      kept->next = owner->bindings.load(std::memory_order_relaxed);
      const Binding8* none = nullptr;
      if (site.cache.compare_exchange_strong(none, kept, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        made.release();
        while (
            !owner->bindings.compare_exchange_weak(kept->next, kept, std::memory_order_release)) {
        }
      }
    }
  }
  return true;
}

Value call_native(Vm& vm, Value called, const Arguments& given) {
  if (!is_kind(called, Kind::builtin))
    return vm.fail_with("invalid call of non-function (", type_name_of(called), ")");
  auto* builtin = as<Builtin>(called);
  Arguments arguments = given;
  arguments.self = builtin->self;
  arguments.function = builtin;
  arguments.name = builtin->name;
  vm.native = builtin->name;
  return builtin->native(vm, arguments);
}

/// The arguments where they are: in registers behind the called value.
static Arguments arguments_of(const CallSite& site, const Value* at) {
  Arguments arguments;
  arguments.positional = at + 1;
  arguments.count = site.positional;
  arguments.names = site.names;
  arguments.named = at + 1 + site.positional;
  arguments.named_count = site.named;
  return arguments;
}

Value invoke_method(Vm& vm, Native native, const char* name, const Value* at,
                    const CallSite& site) {
  Arguments arguments = arguments_of(site, at);
  arguments.self = *at;
  arguments.name = name;
  vm.native = name;
  const Value result = native(vm, arguments);
  if (!result.is_error())
    vm.native = nullptr;
  return result;
}

Value call_general(Vm& vm, Value* at, const CallSite& site, uint16_t into, bool& entered) {
  const Value called = at[0];
  if (!site.rest && !site.named_rest)
    return call_native(vm, called, arguments_of(site, at));
  CallArguments all;
  if (!gather(vm, at, site, all))
    return Value::error();
  Arguments arguments;
  arguments.positional = all.positional.data();
  arguments.count = u32(all.positional.size());
  arguments.names = all.names.data();
  arguments.named = all.named.data();
  arguments.named_count = u32(all.named.size());
  if (is_kind(called, Kind::function)) {
    if (!enter_function(vm, as<Function>(called), at + 1, arguments, into))
      return Value::error();
    entered = true;
    return Value::none();
  }
  // Gathered values have no register, and a native function may call back.
  RootScope roots(vm);
  for (const Value v : all.positional)
    roots.add(v);
  for (const Value v : all.named)
    roots.add(v);
  return call_native(vm, called, arguments);
}

}  // namespace fettle::starlark
