/// How a host reads values.

#include <algorithm>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/structure.h"
#include "starlark/eval/table.h"
#include "starlark/host.h"
#include "starlark/lib/library.h"
#include "starlark/starlark.h"
#include "value/value.h"

namespace fettle::starlark {

Type type_of(Value v) {
  switch (kind_of(v)) {
    case Kind::none:
      return Type::none;
    case Kind::boolean:
      return Type::boolean;
    case Kind::big_int:
      return Type::integer;
    case Kind::boxed_float:
      return Type::real;
    case Kind::string:
      return Type::text;
    case Kind::bytes:
      return Type::bytes;
    case Kind::list:
      return Type::list;
    case Kind::tuple:
      return Type::tuple;
    case Kind::dict:
      return Type::dict;
    case Kind::set:
      return Type::set;
    case Kind::range:
      return Type::range;
    case Kind::function:
      return Type::function;
    case Kind::builtin:
      return Type::builtin;
    case Kind::structure:
      return Type::structure;
    case Kind::record:
      return Type::record;
    case Kind::module:
      return Type::module;
    default:
      return Type::other;
  }
}

bool is_unknown(Value value) { return is_kind(value, Kind::unknown); }
bool was_looked_at(Value unknown) { return (unknown.object()->flags & Object::looked_at) != 0; }
std::string_view type_name(Value value) { return type_name_of(value); }
std::string text_of(Value value) {
  return is_text(value) || is_bytes(value) ? std::string(view_of(value)) : std::string();
}
std::optional<int64_t> integer_of(Value value) {
  int64_t n = 0;
  return is_int(value) && to_int64(value, n) ? std::optional(n) : std::nullopt;
}
std::optional<double> real_of(Value value) {
  if (is_int(value))
    return integer_to_double(value);
  return is_float(value) ? std::optional(float_of(value)) : std::nullopt;
}
bool truth_of(Value value) { return truth(value); }
size_t length_of(Value value) { return length_hint(value); }
Value item_of(Value sequence, size_t index) {
  return is_list(sequence) ? as<List>(sequence)->items[index] : as<Tuple>(sequence)->items()[index];
}

std::vector<std::pair<Value, Value>> entries_of(Value dict) {
  std::vector<std::pair<Value, Value>> entries;
  if (is_dict(dict) || is_set(dict)) {
    table_each(as<Dict>(dict), [&](const TableEntry& entry) {
      entries.emplace_back(entry.key, entry.value);
      return true;
    });
  }
  return entries;
}

std::vector<std::pair<std::string, Value>> fields_of(Value object) {
  std::vector<std::pair<std::string, Value>> fields;
  if (is_kind(object, Kind::structure) || is_kind(object, Kind::module)) {
    auto* structure = as<Structure>(object);
    for (uint32_t i = 0; i < structure->count; ++i)
      fields.emplace_back(view_of(structure->shape->names()[i]), structure->values()[i]);
  } else if (is_kind(object, Kind::record)) {
    auto* record = as<Record>(object);
    for (uint32_t i = 0; i < record->count; ++i) {
      if (!record->values()[i].is_unset())
        fields.emplace_back(record->type->fields[i], record->values()[i]);
    }
  }
  return fields;
}

std::optional<Value> field_of(Value object, std::string_view name) {
  for (const auto& [known, value] : fields_of(object)) {
    if (known == name)
      return value;
  }
  return std::nullopt;
}

std::optional<Value> find_in(Value dict, std::string_view key) {
  if (!is_dict(dict))
    return std::nullopt;
  const TableEntry* entry = nullptr;
  if (key.size() <= 7) {
    const Value text = Value::short_text(key);
    entry = table_find_text(as<Dict>(dict), text, hash_of_text(text));
  } else {
    table_each(as<Dict>(dict), [&](const TableEntry& each) {
      if (is_text(each.key) && view_of(each.key) == key)
        entry = &each;
      return entry == nullptr;
    });
  }
  return entry == nullptr ? std::nullopt : std::optional(entry->value);
}

const RecordType* record_type_of(Value value) {
  return is_kind(value, Kind::record) ? as<Record>(value)->type : nullptr;
}

Result<std::string> repr_of(Thread& thread, Value value) {
  std::string text;
  if (!write_repr(thread.state(), text, value))
    return told(thread.state());
  return text;
}
namespace {

/// The digits of an integer that is no longer than a line.
std::string short_integer(const BigInt& big) {
  constexpr uint64_t chunk = 10'000'000'000'000'000'000u;  // 19 digits
  std::vector<uint64_t> limbs(big.limbs(), big.limbs() + big.count);
  std::string digits;
  while (!limbs.empty()) {
    __extension__ unsigned __int128 rest = 0;
    for (size_t i = limbs.size(); i-- > 0;) {
      rest = rest << 64 | limbs[i];
      limbs[i] = u64(rest / chunk);
      rest %= chunk;
    }
    while (!limbs.empty() && limbs.back() == 0)
      limbs.pop_back();
    const std::string part = std::to_string(u64(rest));
    digits.insert(0, limbs.empty() ? part : std::string(19 - part.size(), '0') + part);
  }
  return cat(big.negative() ? "-" : "", digits);
}

}  // namespace

std::string brief_of(Value value) {
  constexpr uint32_t short_limbs = 8;
  std::string text;
  if (is_text(value))
    quote_text(text, view_of(value));
  else if (value.is_small())
    text = std::to_string(value.small());
  else if (is_int(value) && value.object()->count <= short_limbs)
    text = short_integer(*as<BigInt>(value));
  else if (is_float(value))
    text = float_text(float_of(value));
  else
    text = value.is_none()   ? "None"
           : value.is_bool() ? value.is_true() ? "True" : "False"
                             : cat("of type ", type_name_of(value));
  return text;
}
Result<std::string> str_of(Thread& thread, Value value) {
  std::string text;
  if (!write_str(thread.state(), text, value))
    return told(thread.state());
  return text;
}
Result<bool> equal(Thread& thread, Value a, Value b) {
  const bool same = keys_equal(thread.state(), a, b);
  if (thread.state().failed)
    return told(thread.state());
  return same;
}
void freeze(Value value) { freeze_value(value, false); }
Result<fettle::Value> to_value(Thread& thread, Value value) {
  return to_plain(thread.state(), value);
}

Result<std::string> to_json(Thread& thread, Value value) {
  std::string text, problem;
  if (!encode_json(thread.state(), text, value, problem))
    return thread.state().failed ? told(thread.state()) : user_error(std::move(problem));
  return text;
}

std::vector<ParameterInfo> parameters_of(Value value) {
  std::vector<ParameterInfo> infos;
  if (!is_kind(value, Kind::function))
    return infos;
  const auto* function = as<Function>(value);
  const Code* code = function->code;
  const size_t defaults = function->defaults == nullptr ? 0 : function->defaults->count;
  for (size_t i = 0; i < code->parameters; ++i) {
    ParameterInfo info;
    info.name = std::string(view_of(code->register_names[i]));
    info.has_default = i + defaults >= code->parameters &&
                       !function->defaults->items()[i + defaults - code->parameters].is_unset();
    if (info.has_default)
      info.otherwise = function->defaults->items()[i + defaults - code->parameters];
    info.keyword_only = i + code->keyword_only >= code->parameters;
    infos.push_back(std::move(info));
  }
  size_t next = code->parameters;
  if (code->has_rest)
    infos.push_back(
        {std::string(view_of(code->register_names[next++])), false, false, true, false, {}});
  if (code->has_named_rest)
    infos.push_back(
        {std::string(view_of(code->register_names[next])), false, false, false, true, {}});
  return infos;
}

std::string function_name_of(Value v) {
  if (is_kind(v, Kind::function))
    return std::string(as<Function>(v)->code->name);
  return is_kind(v, Kind::builtin) ? as<Builtin>(v)->name : "";
}
std::string function_name(Value function) { return function_name_of(function); }
std::string docstring_of(Value function) {
  return is_kind(function, Kind::function) ? std::string(as<Function>(function)->code->docstring)
                                           : std::string();
}

}  // namespace fettle::starlark
