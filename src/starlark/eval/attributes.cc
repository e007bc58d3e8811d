/// Fields and methods by name.

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/text.h"
#include "starlark/code/methods.h"
#include "starlark/eval/ops.h"
#include "starlark/eval/structure.h"
#include "starlark/eval/times.h"
#include "starlark/syntax/spelling.h"

namespace fettle::starlark {

int find_slot(const Shape* shape, Value name) {
  const auto* names = const_cast<Shape*>(shape)->names();
  uint32_t low = 0, high = shape->count;
  const std::string_view wanted = view_of(name);
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    const int order_ = names[middle].same(name) ? 0 : view_of(names[middle]).compare(wanted);
    if (order_ == 0)
      return int(middle);
    if (order_ < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

Value record_field(const Record* record, Value name) {
  const std::string_view wanted = view_of(name);
  const std::vector<std::string>& fields = record->type->fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == wanted)
      return const_cast<Record*>(record)->values()[i];
  }
  return Value::unset();
}

namespace {

std::atomic_ref<uint64_t> cache_at(const Instruction* at) {
  return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(const_cast<Instruction*>(at)));
}

/// A field of a structure, found through the cache of the instruction.
inline Value cached_field(Structure* structure, Value name, const Instruction* cache) {
  const std::atomic_ref<uint64_t> word = cache_at(cache);
  const uint64_t known = word.load(std::memory_order_relaxed);
  if (known >> 16 == structure->shape->id) [[likely]]
    return structure->values()[known & 0xffff];
  const int slot = find_slot(structure->shape, name);
  if (slot < 0)
    return Value::unset();
  if (slot < 0xffff)
    word.store(structure->shape->id << 16 | u64(slot), std::memory_order_relaxed);
  return structure->values()[slot];
}

}  // namespace

Value own_field(Value object, Value name, const Instruction* cache) {
  if (!object.is_object())
    return Value::unset();
  switch (object.object()->kind) {
    case Kind::structure:
    case Kind::module:
      return cached_field(as<Structure>(object), name, cache);
    case Kind::record:
      return record_field(as<Record>(object), name);
    default:
      return Value::unset();
  }
}

Value get_attribute(Vm& vm, Value object, Value name, bool optional) {
  const Kind kind = kind_of(object);
  switch (kind) {
    case Kind::structure:
    case Kind::module:
      vm.ticks -= std::bit_width(as<Structure>(object)->count) / 4;
      if (const int slot = find_slot(as<Structure>(object)->shape, name); slot >= 0)
        return as<Structure>(object)->values()[slot];
      break;
    case Kind::record:
      if (const Value field = record_field(as<Record>(object), name); !field.is_unset())
        return field;
      break;
    case Kind::time:
    case Kind::duration:
      if (const Value field = time_field(vm, object, view_of(name)); !field.is_unset())
        return field;
      break;
    default:
      break;
  }
  const MethodRow* row = find_method_row(view_of(name));
  if (row != nullptr && row->of[static_cast<size_t>(kind)] != nullptr)
    return make_builtin(vm.heap(), row->name, row->of[static_cast<size_t>(kind)], object);
  if (optional)
    return Value::unset();
  if (kind == Kind::duration)
    return vm.fail_with("unrecognized ", type_name_of(object), " attribute \"", view_of(name),
                        "\"");
  const std::vector<std::string> names = attribute_names(vm, object);
  std::string_view near =
      nearest_name(view_of(name), std::vector<std::string_view>(names.begin(), names.end()));
  // Records do not exist in starlark-go, so their hints may differ.
  if (near.empty() && kind == Kind::record)
    near = nearest(view_of(name), names);
  const std::string text = cat(type_name_of(object), " has no .", view_of(name), " ",
                               kind == Kind::structure ? "attribute" : "field or method");
  return vm.fail({Failure::Kind::program, text,
                  near.empty() ? std::string() : cat(" (did you mean .", near, "?)")});
}

std::vector<std::string> attribute_names(Vm&, Value object) {
  std::vector<std::string> names;
  switch (kind_of(object)) {
    case Kind::structure:
    case Kind::module: {
      auto* structure = as<Structure>(object);
      for (uint32_t i = 0; i < structure->count; ++i)
        names.emplace_back(view_of(structure->shape->names()[i]));
      break;
    }
    case Kind::record: {
      auto* record = as<Record>(object);
      for (uint32_t i = 0; i < record->count; ++i) {
        if (!record->values()[i].is_unset())
          names.push_back(record->type->fields[i]);
      }
      std::sort(names.begin(), names.end());
      break;
    }
    case Kind::time:
      names = {"day",    "hour", "minute",    "month", "nanosecond",
               "second", "unix", "unix_nano", "year"};
      break;
    case Kind::duration:
      names = {"hours", "microseconds", "milliseconds", "minutes", "nanoseconds", "seconds"};
      break;
    default:
      break;
  }
  for (const std::string_view method : method_names(kind_of(object)))
    names.emplace_back(method);
  std::sort(names.begin(), names.end());
  return names;
}

bool set_attribute(Vm& vm, Value object, Value name, Value) {
  vm.fail_with("can't assign to .", view_of(name), " field of ", type_name_of(object));
  return false;
}

}  // namespace fettle::starlark
