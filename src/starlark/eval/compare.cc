/// Equality and order. Nested values are walked with a stack of its own.

#include <cmath>

#include "starlark/eval/ops.h"
#include "starlark/eval/structure.h"
#include "starlark/eval/table.h"

namespace fettle::starlark {
namespace {

constexpr size_t deepest_comparison = 1'000'000;

int three_way(auto a, auto b) { return a < b ? -1 : a > b; }

/// NaN is equal to itself and above every other number.
int compare_floats(double x, double y) {
  if (x < y)
    return -1;
  if (x > y)
    return 1;
  if (x == y)
    return 0;
  return three_way(std::isnan(x), std::isnan(y));
}

int compare_numbers(Value x, Value y) {
  if (is_int(x))
    return is_int(y) ? compare_integers(x, y) : compare_integer_float(x, float_of(y));
  if (is_int(y))
    return -compare_integer_float(y, float_of(x));
  return compare_floats(float_of(x), float_of(y));
}

bool ranges_equal(const Range* a, const Range* b) {
  return a->length == b->length &&
         (a->length == 0 || (a->start == b->start && (a->length == 1 || a->step == b->step)));
}

void note_looks(Value x, Value y) {
  note_look(x);
  note_look(y);
}

/// Compares values that need no walk: 1 or 0. -1: they need one.
int equal_scalars(Value x, Value y) {
  if (is_number(x) && is_number(y))
    return compare_numbers(x, y) == 0;
  if (!x.is_object() || !y.is_object()) {
    note_looks(x, y);
    return x.same(y);
  }
  const Object* a = x.object();
  const Object* b = y.object();
  if (a->kind != b->kind) {
    note_looks(x, y);
    return 0;
  }
  switch (a->kind) {
    case Kind::string:
    case Kind::bytes: {
      const auto* s = static_cast<const String*>(a);
      const auto* t = static_cast<const String*>(b);
      return a == b || (s->count == t->count && s->view() == t->view());
    }
    case Kind::range:
      return ranges_equal(static_cast<const Range*>(a), static_cast<const Range*>(b));
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::set:
    case Kind::structure:
    case Kind::record:
      return -1;
    case Kind::duration:
      return static_cast<const DurationObject*>(a)->nanoseconds ==
             static_cast<const DurationObject*>(b)->nanoseconds;
    case Kind::time: {
      const auto* s = static_cast<const TimeObject*>(a);
      const auto* t = static_cast<const TimeObject*>(b);
      return s->seconds == t->seconds && s->nanoseconds == t->nanoseconds;
    }
    default:
      note_looks(x, y);
      return a == b;
  }
}

/// Charges for two long texts or integers, which are compared byte by byte.
bool charge_comparison(Vm& vm, Value x, Value y) {
  if (!x.is_object() || !y.is_object() || x.object() == y.object())
    return true;
  const uint64_t size = std::min(x.object()->count, y.object()->count);
  switch (x.object()->kind) {
    case Kind::string:
    case Kind::bytes:
      return size <= 256 || vm.charge(size / 32);
    case Kind::big_int:
      return size <= 512 || vm.charge(size / 8);
    default:
      return true;
  }
}

/// A pair of containers that is being compared.
struct Pair {
  Object* a;
  Object* b;
  uint32_t next;
};

class Comparer {
 public:
  /// `are_keys`: a key equals itself. For other values, starlark-go looks at the parts.
  Comparer(Vm& vm, bool are_keys) : vm_(vm), are_keys_(are_keys) {}

  /// 1, 0, or -1 after an error.
  int equal(Value x, Value y) {
    int result = visit(x, y);
    while (result == 1 && !pairs_.empty()) {
      if (pairs_.size() > deepest_comparison) {
        vm_.fail("comparison exceeded maximum recursion depth");
        return -1;
      }
      if (!vm_.charge(pairs_.back().a->kind == Kind::dict ? 2 : 1))
        return -1;
      result = step();
    }
    return result;
  }

 private:
  int visit(Value x, Value y) {
    const int scalars = equal_scalars(x, y);
    if (scalars >= 0)
      return charge_comparison(vm_, x, y) ? scalars : -1;
    Object* a = x.object();
    Object* b = y.object();
    if (a == b && (are_keys_ || vm_.is_spec()))
      return 1;
    switch (a->kind) {
      case Kind::list:
        if (static_cast<List*>(a)->size != static_cast<List*>(b)->size)
          return 0;
        break;
      case Kind::tuple:
        if (a->count != b->count)
          return 0;
        break;
      case Kind::dict:
      case Kind::set:
        if (static_cast<Dict*>(a)->live != static_cast<Dict*>(b)->live)
          return 0;
        break;
      case Kind::structure: {
        auto* s = static_cast<Structure*>(a);
        auto* t = static_cast<Structure*>(b);
        if (s->count != t->count)
          return 0;
        const bool same_constructor = s->constructor.same(t->constructor) ||
                                      equal_scalars(s->constructor, t->constructor) == 1;
        if (!same_constructor)
          return 0;
        if (s->shape != t->shape) {
          for (uint32_t i = 0; i < s->count; ++i) {
            if (equal_scalars(s->shape->names()[i], t->shape->names()[i]) != 1)
              return 0;
          }
        }
        break;
      }
      default:
        if (static_cast<Record*>(a)->type != static_cast<Record*>(b)->type || a->count != b->count)
          return 0;
        break;
    }
    pairs_.push_back({a, b, 0});
    return 1;
  }

  int done() {
    pairs_.pop_back();
    return 1;
  }

  int items(Value* a, Value* b, uint32_t size) {
    Pair& pair = pairs_.back();
    const uint32_t i = pair.next++;
    return i < size ? visit(a[i], b[i]) : done();
  }

  int step() {
    Pair& pair = pairs_.back();
    switch (pair.a->kind) {
      case Kind::list: {
        auto* a = static_cast<List*>(pair.a);
        return a->size == 0 ? done() : items(a->items, static_cast<List*>(pair.b)->items, a->size);
      }
      case Kind::tuple:
        return pair.a->count == 0 ? done()
                                  : items(static_cast<Tuple*>(pair.a)->items(),
                                          static_cast<Tuple*>(pair.b)->items(), pair.a->count);
      case Kind::structure:
        return pair.a->count == 0 ? done()
                                  : items(static_cast<Structure*>(pair.a)->values(),
                                          static_cast<Structure*>(pair.b)->values(), pair.a->count);
      case Kind::record:
        return pair.a->count == 0 ? done()
                                  : items(static_cast<Record*>(pair.a)->values(),
                                          static_cast<Record*>(pair.b)->values(), pair.a->count);
      default:
        break;
    }
    auto* a = static_cast<Dict*>(pair.a);
    while (pair.next < a->used && a->entries[pair.next].key.is_unset())
      ++pair.next;
    if (pair.next >= a->used)
      return done();
    const TableEntry& entry = a->entries[pair.next++];
    const TableEntry* other = table_find(vm_, static_cast<Dict*>(pair.b), entry.key, entry.hash);
    if (other == nullptr)
      return vm_.failed ? -1 : 0;
    return a->kind == Kind::set ? 1 : visit(entry.value, other->value);
  }

  Vm& vm_;
  bool are_keys_;
  std::vector<Pair> pairs_;
};

/// The order of two lists or tuples is that of the first items that differ.
int compare_sequences(Vm& vm, Op op, Value x, Value y) {
  const auto items_of = [](Value v) {
    return is_list(v) ? as<List>(v)->items : as<Tuple>(v)->items();
  };
  const auto size_of = [](Value v) { return is_list(v) ? as<List>(v)->size : v.object()->count; };
  for (size_t depth = 0;; ++depth) {
    if (depth > deepest_comparison) {
      vm.fail("comparison exceeded maximum recursion depth");
      return -1;
    }
    const uint32_t a = size_of(x), b = size_of(y);
    uint32_t i = 0;
    for (; i < a && i < b; ++i) {
      if (!vm.charge(1))
        return -1;
      const int same = equal_values(vm, items_of(x)[i], items_of(y)[i]);
      if (same < 0)
        return -1;
      if (same == 0)
        break;
    }
    if (i == a || i == b) {
      switch (op) {
        case Op::less:
          return a < b;
        case Op::less_equal:
          return a <= b;
        case Op::greater:
          return a > b;
        default:
          return a >= b;
      }
    }
    const Value p = items_of(x)[i], q = items_of(y)[i];
    if (kind_of(p) != kind_of(q) || (!is_list(p) && !is_tuple(p)))
      return compare(vm, op, p, q);
    x = p;
    y = q;
  }
}

bool holds(Op op, int order_) {
  switch (op) {
    case Op::less:
      return order_ < 0;
    case Op::less_equal:
      return order_ <= 0;
    case Op::greater:
      return order_ > 0;
    default:
      return order_ >= 0;
  }
}

std::string_view comparison_sign(Op op) {
  switch (op) {
    case Op::less:
      return "<";
    case Op::less_equal:
      return "<=";
    case Op::greater:
      return ">";
    case Op::greater_equal:
      return ">=";
    case Op::equal:
      return "==";
    default:
      return "!=";
  }
}

/// 1, 0, or -1 after an error.
int is_subset(Vm& vm, const Dict* a, const Dict* b) {
  const bool all = a->live <= b->live && table_each(a, [&](const TableEntry& entry) {
                     return table_find(vm, b, entry.key, entry.hash) != nullptr;
                   });
  return vm.failed ? -1 : all;
}

}  // namespace

int equal_values(Vm& vm, Value x, Value y) {
  const int scalars = equal_scalars(x, y);
  if (scalars >= 0) {
    return charge_comparison(vm, x, y) ? scalars : -1;
  }
  return Comparer(vm, false).equal(x, y);
}

bool keys_equal(Vm& vm, Value x, Value y) {
  const int scalars = equal_scalars(x, y);
  return scalars >= 0 ? scalars != 0 : Comparer(vm, true).equal(x, y) == 1;
}

int compare(Vm& vm, Op op, Value x, Value y) {
  if (op == Op::equal || op == Op::not_equal) {
    const int same = equal_values(vm, x, y);
    return same < 0 ? same : (same != 0) == (op == Op::equal);
  }
  if (!charge_comparison(vm, x, y))
    return -1;
  if (is_number(x) && is_number(y))
    return holds(op, compare_numbers(x, y));
  if (is_text(x) && is_text(y))
    return holds(op, view_of(x).compare(view_of(y)));
  const Kind kind = kind_of(x);
  if (kind == kind_of(y)) {
    switch (kind) {
      case Kind::boolean:
        return holds(op, three_way(x.is_true(), y.is_true()));
      case Kind::bytes:
        return holds(op, view_of(x).compare(view_of(y)));
      case Kind::list:
      case Kind::tuple:
        return compare_sequences(vm, op, x, y);
      case Kind::set: {
        if (vm.is_spec())
          break;
        const auto* a = as<Dict>(x);
        const auto* b = as<Dict>(y);
        if (!vm.charge(u64(2) * (u64(a->live) + b->live)))
          return -1;
        switch (op) {
          case Op::less:
            return a->live < b->live ? is_subset(vm, a, b) : 0;
          case Op::less_equal:
            return is_subset(vm, a, b);
          case Op::greater:
            return b->live < a->live ? is_subset(vm, b, a) : 0;
          default:
            return is_subset(vm, b, a);
        }
      }
      case Kind::duration:
        return holds(
            op, three_way(as<DurationObject>(x)->nanoseconds, as<DurationObject>(y)->nanoseconds));
      case Kind::time: {
        const auto* a = as<TimeObject>(x);
        const auto* b = as<TimeObject>(y);
        return holds(op, a->seconds != b->seconds ? three_way(a->seconds, b->seconds)
                                                  : three_way(a->nanoseconds, b->nanoseconds));
      }
      default:
        break;
    }
  }
  vm.fail({Failure::Kind::no_order,
           cat(type_name_of(x), " ", comparison_sign(op), " ", type_name_of(y), " not implemented"),
           {}});
  return -1;
}

int order(Vm& vm, Value x, Value y) {
  if (!charge_comparison(vm, x, y))
    return -2;
  if (is_number(x) && is_number(y))
    return compare_numbers(x, y);
  if (is_text(x) && is_text(y)) {
    const int result = view_of(x).compare(view_of(y));
    return three_way(result, 0);
  }
  const int less = compare(vm, Op::less, x, y);
  if (less != 0)
    return less < 0 ? -2 : -1;
  const int more = compare(vm, Op::less, y, x);
  return more < 0 ? -2 : more;
}

}  // namespace fettle::starlark
