/// How a host makes values, and binds the arguments of its functions.

#include "starlark/host.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/invariant.h"
#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/structure.h"
#include "starlark/eval/table.h"
#include "starlark/lib/library.h"
#include "starlark/syntax/spelling.h"
#include "value/value.h"

namespace fettle::starlark {
namespace {

/// A host's function, owned by the heap of its value.
struct HostFunction {
  std::string name;
  NativeFunction function;
};

Value call_host(Vm& vm, const Arguments& a) {
  auto* host = static_cast<HostFunction*>(a.function->host);
  // Arguments stay where they are. Roots hold those that were gathered.
  Thread thread(static_cast<Thread::State*>(&vm));
  Call call{thread,
            host->name,
            {a.positional, a.count},
            {a.names, a.named_count},
            {a.named, a.named_count}};
  Result<Value> result = host->function(call);
  if (vm.failed)
    return Value::error();
  if (!result) {
    Error error = std::move(result).error();
    // An error without a place gets that of the call.
    if (error.where != Where{} || !error.trace.empty() || !error.excerpt.empty())
      return vm.fail_with_error(std::move(error));
    vm.blame = error.blame;
    return vm.fail(std::move(error.message));
  }
  if (result->is_error())
    return vm.fail_memory();
  return result->is_unset() ? Value::none() : *result;
}

bool fits(Value v, const Parameter& parameter) {
  if (parameter.want == Want::any)
    return true;
  const auto wants = [&](Want want) { return (u32(parameter.want) & u32(want)) != 0; };
  if (wants(Want::iterable) && is_iterable(v))
    return true;
  switch (type_of(v)) {
    case Type::none:
      return wants(Want::none);
    case Type::boolean:
      return wants(Want::boolean);
    case Type::integer:
      return wants(Want::integer);
    case Type::real:
      return wants(Want::real);
    case Type::text:
      return wants(Want::text);
    case Type::bytes:
      return wants(Want::bytes);
    case Type::list:
      return wants(Want::list);
    case Type::tuple:
      return wants(Want::tuple);
    case Type::dict:
      return wants(Want::dict);
    case Type::set:
      return wants(Want::set);
    case Type::function:
    case Type::builtin:
      return wants(Want::callable);
    case Type::structure:
      return wants(Want::structure);
    case Type::record:
      return wants(Want::record) &&
             (parameter.type == nullptr || record_type_of(v) == parameter.type);
    default:
      return false;
  }
}

std::string wanted_text(const Parameter& parameter) {
  static constexpr std::pair<Want, std::string_view> names[] = {
      {Want::none, "NoneType"},   {Want::boolean, "bool"},      {Want::integer, "int"},
      {Want::real, "float"},      {Want::text, "string"},       {Want::bytes, "bytes"},
      {Want::list, "list"},       {Want::tuple, "tuple"},       {Want::dict, "dict"},
      {Want::set, "set"},         {Want::callable, "callable"}, {Want::iterable, "iterable"},
      {Want::structure, "struct"}};
  std::vector<std::string> wanted;
  for (const auto& [want, name] : names) {
    // That None may stand for an optional one need not be said.
    const bool is_said = want != Want::none || !parameter.name.ends_with('?');
    if (is_said && (u32(parameter.want) & u32(want)) != 0)
      wanted.emplace_back(name);
  }
  if ((u32(parameter.want) & u32(Want::record)) != 0)
    wanted.push_back(parameter.type == nullptr ? "object" : parameter.type->name);
  return join(wanted, " or ");
}

/// Plain values live outside the heaps. While they are made, they count as memory in use.
bool take_plain(Vm& vm, uint64_t bytes) {
  vm.plain_bytes += bytes;
  if (vm.heap().may_take(vm.plain_bytes))
    return true;
  vm.fail_memory();
  return false;
}

/// Turns values of a program into plain ones, which are trees: a shared part counts at each place.
Result<fettle::Value> convert(Vm& vm, Value v, uint32_t depth) {
  constexpr uint32_t deepest = 1'000;
  if (depth > deepest)
    return user_error("value is nested too deeply");
  if (!vm.charge(16) || !take_plain(vm, sizeof(fettle::Value) + 48))
    return told(vm);
  switch (type_of(v)) {
    case Type::none:
      return fettle::Value();
    case Type::boolean:
      return fettle::Value(v.is_true());
    case Type::integer: {
      int64_t small = 0;
      if (to_int64(v, small))
        return fettle::Value(small);
      if (!charge_digits(vm, v))
        return told(vm);
      const std::string digits = integer_text(vm, v);
      return vm.failed ? Result<fettle::Value>(told(vm)) : fettle::Value::big_integer(digits);
    }
    case Type::real:
      if (!std::isfinite(float_of(v)))
        return user_error(cat("cannot use the non-finite float ", float_text(float_of(v))));
      return fettle::Value(float_of(v));
    case Type::text:
    case Type::bytes:
      if (!vm.charge(view_of(v).size() / 64) || !take_plain(vm, view_of(v).size()))
        return told(vm);
      return fettle::Value(view_of(v));
    case Type::list:
    case Type::tuple:
    case Type::set: {
      std::vector<fettle::Value> items;
      if (type_of(v) == Type::set) {
        for (const auto& [key, ignored] : entries_of(v))
          items.push_back(TRY(convert(vm, key, depth + 1)));
      } else {
        for (size_t i = 0; i < length_of(v); ++i)
          items.push_back(TRY(convert(vm, item_of(v, i), depth + 1)));
      }
      return fettle::Value::list(std::move(items));
    }
    case Type::range: {
      std::vector<fettle::Value> items;
      const auto* range = as<Range>(v);
      for (int64_t i = 0; i < range->length; ++i) {
        if (!vm.charge(4) || !take_plain(vm, sizeof(fettle::Value)))
          return told(vm);
        items.emplace_back(range->at(i));
      }
      return fettle::Value::list(std::move(items));
    }
    case Type::dict: {
      std::vector<Entry> entries;
      for (const auto& [key, value] : entries_of(v)) {
        if (!is_text(key))
          return user_error(cat("dict has ", type_name_of(key), " key, want string"));
        if (!vm.charge(16) || !take_plain(vm, sizeof(Entry) + view_of(key).size()))
          return told(vm);
        entries.push_back({text_of(key), TRY(convert(vm, value, depth + 1))});
      }
      return fettle::Value::dict(std::move(entries));
    }
    case Type::structure:
    case Type::record:
    case Type::module: {
      std::vector<Entry> entries;
      for (const auto& [name, value] : fields_of(v)) {
        if (type_of(value) != Type::builtin)
          entries.push_back({name, TRY(convert(vm, value, depth + 1))});
      }
      return fettle::Value::dict(std::move(entries));
    }
    default:
      return user_error(cat("cannot use a ", type_name_of(v), " as a plain value"));
  }
}

}  // namespace

Error told(Vm& vm) {
  return vm.frames.empty() ? vm.take_error() : user_error(vm.failure.message());
}

Result<fettle::Value> to_plain(Vm& vm, Value value) {
  vm.plain_bytes = 0;
  return convert(vm, value, 0);
}

// Signature.

Signature::Signature(std::string function, std::vector<Parameter> parameters)
    : function_(std::move(function)), parameters_(std::move(parameters)) {}

Result<std::vector<Value>> Signature::bind(const Call& call) const {
  const auto fail = [&](const auto&... pieces) {
    return user_error(cat(call.function, ": ", pieces...));
  };
  const size_t size = parameters_.size();
  if (call.positional.size() > size)
    return fail("got ", call.positional.size(), " arguments, want at most ", size);
  std::vector<Value> bound(size, Value::unset());
  std::copy(call.positional.begin(), call.positional.end(), bound.begin());
  for (size_t n = 0; n < call.named.size(); ++n) {
    const std::string_view name = view_of(call.names[n]);
    size_t slot = 0;
    while (slot < size && plain_name(parameters_[slot].name) != name)
      ++slot;
    if (slot == size) {
      std::vector<std::string_view> names;
      for (const Parameter& parameter : parameters_)
        names.push_back(plain_name(parameter.name));
      const std::string_view near = nearest_name(name, names);
      return fail("unexpected keyword argument \"", name, "\"",
                  near.empty() ? std::string() : cat(" (did you mean ", near, "?)"));
    }
    if (!bound[slot].is_unset())
      return fail("got multiple values for keyword argument \"", name, "\"");
    bound[slot] = call.named[n];
  }
  for (size_t i = 0; i < size; ++i) {
    const Parameter& parameter = parameters_[i];
    const std::string_view name = plain_name(parameter.name);
    if (bound[i].is_none() && parameter.name.ends_with("??"))
      bound[i] = Value::unset();
    if (bound[i].is_unset()) {
      if (!parameter.name.ends_with('?'))
        return fail("missing argument for ", name);
      continue;
    }
    const char* const quote = i < call.positional.size() ? "" : "\"";
    if (!fits(bound[i], parameter))
      return fail("for parameter ", quote, name, quote, ": got ", type_name_of(bound[i]), ", want ",
                  wanted_text(parameter));
  }
  return bound;
}

// Making values.

Value HeapAccess::integer(int64_t n) { return make_int(vm_.heap(), n); }
Value HeapAccess::integer(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+'))
    digits.remove_prefix(1);
  return parse_integer(vm_.heap(), digits, 10, negative);
}
Value HeapAccess::real(double x) { return make_float(vm_.heap(), x); }
Value HeapAccess::unknown() {
  Object* const made = vm_.heap().make<Unknown>(Kind::unknown);
  return made == nullptr ? Value::error() : Value::object(made);
}
Value HeapAccess::text(std::string_view text) { return make_text(vm_.heap(), text); }
Value HeapAccess::bytes(std::string_view bytes) { return make_bytes(vm_.heap(), bytes); }

Value HeapAccess::list(std::span<const Value> items) {
  List* list = make_list(vm_.heap(), items.size());
  if (list == nullptr)
    return Value::error();
  std::copy(items.begin(), items.end(), list->items);
  list->size = u32(items.size());
  return Value::object(list);
}

Value HeapAccess::tuple(std::span<const Value> items) {
  Tuple* tuple = make_tuple(vm_.heap(), items.size());
  if (tuple == nullptr)
    return Value::error();
  std::copy(items.begin(), items.end(), tuple->items());
  return Value::object(tuple);
}

Value HeapAccess::dict(std::span<const NamedValue> entries) {
  Dict* dict = make_dict(vm_, entries.size());
  if (dict == nullptr)
    return Value::error();
  for (const NamedValue& entry : entries) {
    if (!insert(Value::object(dict), text(entry.name), entry.value))
      return Value::error();
  }
  return Value::object(dict);
}

bool HeapAccess::insert(Value dict, Value key, Value value) {
  uint64_t hash = 0;
  return hash_of(vm_, key, hash) && table_put(vm_, as<Dict>(dict), key, hash, value);
}

Value HeapAccess::structure(std::span<const NamedValue> fields) {
  return make_fields(vm_.heap(), Kind::structure, Value::short_text("struct"), fields);
}

Value HeapAccess::structure_like(Value structure, std::span<const Value> values) {
  auto* const model = as<Structure>(structure);
  INVARIANT(is_kind(structure, Kind::structure) && model->count == values.size());
  auto* made = vm_.heap().make<Structure>(Kind::structure, sizeof(Structure) + values.size_bytes());
  if (made == nullptr)
    return Value::error();
  made->count = model->count;
  made->shape = model->shape;
  made->constructor = model->constructor;
  std::copy(values.begin(), values.end(), made->values());
  return Value::object(made);
}

Value HeapAccess::module(std::string_view name, std::span<const NamedValue> fields) {
  return make_fields(vm_.heap(), Kind::module, text(name), fields);
}

Value HeapAccess::record(const RecordType& type, std::span<const NamedValue> fields) {
  auto* record =
      vm_.heap().make<Record>(Kind::record, sizeof(Record) + type.fields.size() * sizeof(Value));
  if (record == nullptr)
    return Value::error();
  record->type = &type;
  record->count = u32(type.fields.size());
  std::fill_n(record->values(), record->count, Value::unset());
  for (const NamedValue& field : fields) {
    const auto at = std::find(type.fields.begin(), type.fields.end(), field.name);
    INVARIANT(at != type.fields.end());
    record->values()[at - type.fields.begin()] = field.value;
  }
  return Value::object(record);
}

Value HeapAccess::native(std::string_view name, NativeFunction function) {
  auto host = std::make_shared<HostFunction>(HostFunction{std::string(name), std::move(function)});
  const Value made = make_builtin(vm_.heap(), host->name.c_str(), call_host);
  as<Builtin>(made)->host = host.get();
  vm_.heap().keep(std::move(host));
  return made;
}

Result<Value> HeapAccess::json(std::string_view text) {
  Value result;
  std::string problem;
  if (!decode_json(vm_, text, result, problem))
    return vm_.failed ? told(vm_) : user_error(std::move(problem));
  return result;
}

Result<Value> HeapAccess::value(const fettle::Value& value) {
  using From = fettle::Value::Type;
  switch (value.type()) {
    case From::null:
      return Value::none();
    case From::boolean:
      return Value::boolean(value.boolean());
    case From::integer: {
      const std::optional<int64_t> n = value.integer();
      return n ? integer(*n) : integer(value.integer_digits());
    }
    case From::real:
      return real(value.real());
    case From::text:
      return text(value.text().view());
    case From::list: {
      std::vector<Value> items;
      for (const fettle::Value& item : value.items())
        items.push_back(TRY(this->value(item)));
      return list(items);
    }
    case From::dict: {
      const Value made = dict();
      for (const Entry& entry : value.entries()) {
        const Value inside = TRY(this->value(entry.value));
        if (!insert(made, text(entry.key.view()), inside))
          return Value::error();
      }
      return made;
    }
    default:
      return user_error(cat("a value that is ", to_string(value.type()), " has no Starlark form"));
  }
}

// Reading values.

}  // namespace fettle::starlark
