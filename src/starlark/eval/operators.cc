/// Operators by the types of their operands.

#include <cmath>

#include "starlark/eval/concatenate.h"
#include "starlark/eval/ops.h"
#include "starlark/eval/structure.h"
#include "starlark/eval/table.h"
#include "starlark/eval/texts.h"
#include "starlark/eval/times.h"

namespace fettle::starlark {

namespace {

std::string_view sign_of(Op op) {
  switch (op) {
    case Op::add:
    case Op::add_in_place:
      return "+";
    case Op::subtract:
      return "-";
    case Op::multiply:
      return "*";
    case Op::divide:
      return "/";
    case Op::floor_divide:
      return "//";
    case Op::modulo:
      return "%";
    case Op::bit_and:
      return "&";
    case Op::bit_or:
    case Op::or_in_place:
      return "|";
    case Op::bit_xor:
      return "^";
    case Op::shift_left:
      return "<<";
    default:
      return ">>";
  }
}

Value unknown(Vm& vm, Op op, Value x, Value y) {
  return vm.fail_with("unknown binary op: ", type_name_of(x), " ", sign_of(op), " ",
                      type_name_of(y));
}

/// The operand as a float. False: the integer is too large for one, and there is an error.
bool to_float(Vm& vm, Value v, double& x) {
  if (is_float(v)) {
    x = float_of(v);
    return true;
  }
  x = integer_to_double(v);
  if (std::isinf(x)) {
    vm.fail("int too large to convert to float");
    return false;
  }
  return true;
}

Value float_operation(Vm& vm, Op op, Value left, Value right) {
  --vm.ticks;
  double x = 0, y = 0;
  if (!to_float(vm, left, x) || !to_float(vm, right, y))
    return Value::error();
  switch (op) {
    case Op::add:
      return make_float(vm.heap(), x + y);
    case Op::subtract:
      return make_float(vm.heap(), x - y);
    case Op::multiply:
      return make_float(vm.heap(), x * y);
    case Op::divide:
      if (y == 0)
        return vm.fail("floating-point division by zero");
      return make_float(vm.heap(), x / y);
    case Op::floor_divide:
      if (y == 0)
        return vm.fail("floored division by zero");
      return make_float(vm.heap(), std::floor(x / y));
    case Op::modulo: {
      if (y == 0)
        return vm.fail("floating-point modulo by zero");
      double r = std::fmod(x, y);
      if (r != 0 && (r < 0) != (y < 0))
        r += y;
      return make_float(vm.heap(), r);
    }
    default:
      return unknown(vm, op, left, right);
  }
}

Value set_operation(Vm& vm, Op op, const Dict* a, const Dict* b) {
  if (!vm.charge(u64(3) * (u64(a->live) + b->live)))
    return Value::error();
  Dict* made = make_set(vm);
  bool ok = true;
  const auto put = [&](const TableEntry& entry) {
    ok = table_put(vm, made, entry.key, entry.hash, Value::none());
    return ok;
  };
  const auto put_if = [&](const Dict* other, bool wanted) {
    return [&, other, wanted](const TableEntry& entry) {
      return (table_find(vm, other, entry.key, entry.hash) != nullptr) != wanted || put(entry);
    };
  };
  switch (op) {
    case Op::bit_or:
      table_each(a, put);
      table_each(b, put);
      break;
    case Op::bit_and:
      table_each(a, put_if(b, true));
      break;
    case Op::subtract:
      table_each(a, put_if(b, false));
      break;
    default:
      table_each(a, put_if(b, false));
      table_each(b, put_if(a, false));
      break;
  }
  return ok ? Value::object(made) : vm.fail_memory();
}

Value merge_dicts(Vm& vm, const Dict* a, const Dict* b) {
  if (!vm.charge(u64(3) * (u64(a->live) + b->live)))
    return Value::error();
  Dict* made = make_dict(vm, a->live);
  if (made == nullptr)
    return vm.fail_memory();
  const auto put = [&](const TableEntry& entry) {
    return table_put(vm, made, entry.key, entry.hash, entry.value);
  };
  if (!table_each(a, put) || !table_each(b, put))
    return vm.fail_memory();
  return Value::object(made);
}

/// `a + b` for structures with the same constructor: it has the fields of both, and those of `b`
/// count.
Value merge_structures(Vm& vm, Structure* a, Structure* b) {
  const bool same =
      a->constructor.same(b->constructor) || keys_equal(vm, a->constructor, b->constructor);
  if (!same) {
    std::string left, right;
    if (!write_repr(vm, left, a->constructor) || !write_repr(vm, right, b->constructor))
      return Value::error();
    return vm.fail_with("cannot add structs of different constructors: ", left, " + ", right);
  }
  if (!vm.charge(u64(8) * (u64(a->count) + b->count)))
    return Value::error();
  std::vector<Value> names, values;
  uint32_t i = 0, j = 0;
  while (i < a->count || j < b->count) {
    int order_;
    if (i == a->count)
      order_ = 1;
    else if (j == b->count)
      order_ = -1;
    else
      order_ = view_of(a->shape->names()[i]).compare(view_of(b->shape->names()[j]));
    if (order_ < 0) {
      names.push_back(a->shape->names()[i]);
      values.push_back(a->values()[i++]);
    } else {
      names.push_back(b->shape->names()[j]);
      values.push_back(b->values()[j++]);
      i += order_ == 0;
    }
  }
  return make_structure(vm.heap(), Kind::structure, a->constructor, names, values);
}

}  // namespace

Value binary_operation(Vm& vm, Op op, Value x, Value y) {
  if (is_int(x) && is_int(y)) {
    if (op == Op::divide)
      return float_operation(vm, op, x, y);
    return integer_binary(vm, op, x, y);
  }
  if (is_int(x) && (op == Op::shift_left || op == Op::shift_right))
    return vm.fail_with("got ", type_name_of(y), ", want int");
  if (is_number(x) && is_number(y))
    return float_operation(vm, op, x, y);
  const Kind a = kind_of(x), b = kind_of(y);
  if (a != Kind::string &&
      (a == Kind::time || a == Kind::duration || b == Kind::time || b == Kind::duration)) {
    const Value result = time_binary(vm, op, x, y);
    return result.is_unset() ? unknown(vm, op, x, y) : result;
  }
  switch (op) {
    case Op::add:
      if (a != b)
        break;
      switch (a) {
        case Kind::string:
          return concatenate(vm, view_of(x), view_of(y), a);
        case Kind::bytes:
          return concatenate(vm, view_of(x), view_of(y), a);
        case Kind::list:
          return join_lists(vm, as<List>(x), as<List>(y));
        case Kind::tuple:
          return join_tuples(vm, as<Tuple>(x), as<Tuple>(y));
        case Kind::structure:
          return merge_structures(vm, as<Structure>(x), as<Structure>(y));
        default:
          break;
      }
      break;
    case Op::multiply:
      if (is_int(y) && is_repeatable(x))
        return repeat(vm, x, y);
      if (is_int(x) && is_repeatable(y))
        return repeat(vm, y, x);
      break;
    case Op::modulo:
      if (a == Kind::string)
        return percent_format(vm, x, y);
      break;
    case Op::bit_or:
      if (a == Kind::dict && b == Kind::dict)
        return merge_dicts(vm, as<Dict>(x), as<Dict>(y));
      [[fallthrough]];
    case Op::bit_and:
    case Op::bit_xor:
    case Op::subtract:
      if (a == Kind::set && b == Kind::set)
        return set_operation(vm, op, as<Dict>(x), as<Dict>(y));
      break;
    default:
      break;
  }
  return unknown(vm, op, x, y);
}

Value unary_operation(Vm& vm, Op op, Value x) {
  if (is_int(x)) {
    if (op == Op::positive)
      return x;
    if (x.is_object() && !vm.charge(x.object()->count / 8))
      return Value::error();
    return op == Op::negate ? integer_negate(vm.heap(), x) : integer_invert(vm.heap(), x);
  }
  if (is_float(x) && op != Op::invert)
    return op == Op::positive ? x : make_float(vm.heap(), -float_of(x));
  return vm.fail_with("unknown unary op: ",
                      op == Op::negate     ? "- "
                      : op == Op::positive ? "+ "
                                           : "~ ",
                      type_name_of(x));
}

bool check_mutable(Vm& vm, Object* object, const char* verb) {
  if (!object->is_frozen() && object->count == 0) [[likely]]
    return true;
  const std::string_view what = object->kind == Kind::list ? "list" : "hash table";
  if (object->is_frozen())
    vm.fail_with("cannot ", verb, " frozen ", what);
  else
    vm.fail_with("cannot ", verb, " ", what, " during iteration");
  return false;
}

Value add_in_place(Vm& vm, Value x, Value y) {
  if (is_kind(x, Kind::string) && x.object()->count >= 128 && is_text(y) && !view_of(y).empty())
    return append_text(vm, x, view_of(y));
  if (!is_list(x) || !is_iterable(y))
    return binary_operation(vm, Op::add, x, y);
  auto* list = as<List>(x);
  if (!check_mutable(vm, list, "apply += to"))
    return Value::error();
  if (is_list(y)) {
    const uint32_t size = as<List>(y)->size;
    const size_t wanted = size_t{list->size} + size;
    if (!vm.charge(size / 4))
      return Value::error();
    if (wanted > list->capacity &&
        !list_reserve(vm.heap(), list,
                      std::max<size_t>(wanted, list->capacity + list->capacity / 2)))
      return vm.fail_memory();
    if (!copy_values(vm.heap(), as<List>(y)->items, size, list->items + list->size))
      return Value::error();
    list->size += size;
    return x;
  }
  if (!vm.heap().may_take(length_hint(y) * sizeof(Value)))
    return vm.fail_memory();
  const bool ok = for_each(vm, y, [&](Value item) { return list_push(vm.heap(), list, item); });
  return ok ? x : vm.failed ? Value::error() : vm.fail_memory();
}

Value or_in_place(Vm& vm, Value x, Value y) {
  const bool dicts = is_dict(x) && is_dict(y);
  const bool sets = vm.is_spec() && is_set(x) && is_set(y);
  if (!dicts && !sets)
    return binary_operation(vm, Op::bit_or, x, y);
  if (!check_mutable(vm, x.object(), "apply |= to"))
    return Value::error();
  if (x.same(y))
    return x;
  if (!vm.charge(u64(3) * as<Dict>(y)->live))
    return Value::error();
  const bool ok = table_each(as<Dict>(y), [&](const TableEntry& entry) {
    return table_put(vm, as<Dict>(x), entry.key, entry.hash, entry.value);
  });
  return ok ? x : vm.fail_memory();
}

}  // namespace fettle::starlark
