/// The machine: one label for each instruction, each with little code; rare cases are calls. `pc`
/// points behind the instruction, whose own address is `ip`.

#include "base/invariant.h"
#include "starlark/code/methods.h"
#include "starlark/eval/arithmetic.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/ops.h"
#include "starlark/eval/structure.h"
#include "starlark/eval/table.h"
#include "starlark/eval/vm.h"

#pragma GCC diagnostic ignored "-Wpedantic"  // labels as values

namespace fettle::starlark {
namespace {

uint64_t word_at(const Instruction* at) { return std::bit_cast<uint64_t>(*at); }

}  // namespace

Value run_frames(Vm& vm, size_t depth) {
  static const void* const labels[] = {
#define X(name) &&L_##name,
      FETTLE_OPS(X)
#undef X
  };
  Activation* frame = &vm.frames.back();
  const Instruction* pc = frame->pc;
  const Instruction* ip = pc;
  const Instruction* site_word = nullptr;
  Value* base = frame->base;
  const Value* constants = frame->code->constants.data();
  Value* globals = frame->code->module->globals.data();
  Heap* const heap = vm.heap_pointer;
  const bool recursion = vm.dialect().recursion;
  Activation* const bottom = vm.frames.begin() + depth;  // the first frame that runs here
  Activation* const last = vm.frames.begin() + vm.most_frames;

#define RA base[ip->a]
#define RB base[ip->b]
#define RC base[ip->c]
#define NEXT                   \
  do {                         \
    ip = pc++;                 \
    goto* labels[u16(ip->op)]; \
  } while (0)
#define SAVE() (frame->pc = pc)
#define LOAD_FRAME()                               \
  do {                                             \
    frame = &vm.frames.back();                     \
    pc = frame->pc;                                \
    base = frame->base;                            \
    constants = frame->code->constants.data();     \
    globals = frame->code->module->globals.data(); \
  } while (0)
#define TICK_BY(cost)                            \
  do {                                           \
    if ((vm.ticks -= (cost)) < 0) [[unlikely]] { \
      SAVE();                                    \
      if (!vm.look(true))                        \
        goto failed;                             \
    }                                            \
  } while (0)
#define TICK() TICK_BY(1)
#define MAY_COLLECT()                            \
  do {                                           \
    if (heap->wants_collection()) [[unlikely]] { \
      SAVE();                                    \
      if (!vm.look(true))                        \
        goto failed;                             \
    }                                            \
  } while (0)
#define GIVE(register, made)                \
  do {                                      \
    const Value made_value = (made);        \
    if (made_value.is_error()) [[unlikely]] \
      goto failed;                          \
    register = made_value;                  \
  } while (0)

  NEXT;

L_move:
  RA = RB;
  NEXT;
L_load_const:
  RA = constants[ip->wide()];
  NEXT;
L_load_small:
  RA = Value::small(static_cast<int32_t>(ip->wide()));
  NEXT;
L_load_global: {
  const Value value = globals[ip->wide()];
  if (value.is_unset()) [[unlikely]] {
    unset_global(vm, *frame->code->module, ip->wide());
    goto failed;
  }
  RA = value;
  NEXT;
}
L_store_global:
  globals[ip->wide()] = RA;
  NEXT;
L_load_cell: {
  const Value value = as<Cell>(RB)->value;
  if (value.is_unset()) [[unlikely]] {
    unset_local(vm, constants[ip->c]);
    goto failed;
  }
  RA = value;
  NEXT;
}
L_store_cell:
  as<Cell>(RA)->value = RB;
  NEXT;
L_load_free: {
  const Value value = as<Cell>(frame->function->cells()[ip->b])->value;
  if (value.is_unset()) [[unlikely]] {
    unset_local(vm, constants[ip->c]);
    goto failed;
  }
  RA = value;
  NEXT;
}
L_new_cell:
  MAY_COLLECT();
  RA = Value::object(make_cell(*heap, Value::unset()));
  NEXT;
L_check_local:
  if (RA.is_unset()) [[unlikely]] {
    unset_local(vm, constants[ip->wide()]);
    goto failed;
  }
  NEXT;
L_make_function: {
  MAY_COLLECT();
  const Code* code = frame->code->children[word_at(pc++)];
  Function* made = make_function(*heap, code, base + ip->b, base, frame->function);
  if (made == nullptr) {
    vm.fail_memory();
    goto failed;
  }
  RA = Value::object(made);
  NEXT;
}
L_negate: {
  const Value x = RB;
  if (x.is_small() && x.small() != Value::least_small) {
    RA = Value::of_word(u64(0) - x.word());
    NEXT;
  }
  goto unary;
}
L_positive:
L_invert:
unary:
  MAY_COLLECT();
  GIVE(RA, unary_operation(vm, ip->op, RB));
  NEXT;
L_logical_not: {
  const Value x = RB;
  RA = Value::boolean(x.is_bool() ? x.is_false() : !truth(x));
  NEXT;
}

// An operator of two registers, and one of a register and 16 bits of the instruction.
#define BINARY(name)                             \
  L_##name : {                                   \
    Value made;                                  \
    if (quick_##name(RB, RC, made)) [[likely]] { \
      RA = made;                                 \
      NEXT;                                      \
    }                                            \
    goto binary;                                 \
  }
#define BINARY_SMALL(name)                                         \
  L_##name##_small : {                                             \
    Value made;                                                    \
    const int64_t n = static_cast<int16_t>(ip->c);                 \
    if (quick_##name##_small(RB, n, made)) [[likely]] {            \
      RA = made;                                                   \
      NEXT;                                                        \
    }                                                              \
    MAY_COLLECT();                                                 \
    GIVE(RA, binary_operation(vm, Op::name, RB, Value::small(n))); \
    NEXT;                                                          \
  }
  BINARY(add)
  BINARY(subtract)
  BINARY(multiply)
  BINARY(divide)
  BINARY(floor_divide)
  BINARY(modulo)
  BINARY(bit_and)
  BINARY(bit_or)
  BINARY(bit_xor)
  BINARY(shift_left)
  BINARY(shift_right)
  BINARY_SMALL(add)
  BINARY_SMALL(subtract)
  BINARY_SMALL(multiply)
  BINARY_SMALL(floor_divide)
  BINARY_SMALL(modulo)
binary:
  MAY_COLLECT();
  GIVE(RA, binary_operation(vm, ip->op, RB, RC));
  NEXT;
L_add_in_place: {
  Value made;
  if (quick_add(RB, RC, made)) [[likely]] {
    RA = made;
    NEXT;
  }
  MAY_COLLECT();
  SAVE();
  GIVE(RA, add_in_place(vm, RB, RC));
  NEXT;
}
L_or_in_place:
  MAY_COLLECT();
  SAVE();
  GIVE(RA, or_in_place(vm, RB, RC));
  NEXT;

#define COMPARE(name, symbol, are_words)                       \
  L_##name : {                                                 \
    const Value x = RB, y = RC;                                \
    if (are_words(x, y)) [[likely]] {                          \
      RA = Value::boolean(i64(x.word()) symbol i64(y.word())); \
      NEXT;                                                    \
    }                                                          \
    const int result = compare(vm, Op::name, x, y);            \
    if (result < 0)                                            \
      goto failed;                                             \
    RA = Value::boolean(result != 0);                          \
    NEXT;                                                      \
  }
  COMPARE(equal, ==, equal_as_words)
  COMPARE(not_equal, !=, equal_as_words)
  COMPARE(less, <, both_small)
  COMPARE(less_equal, <=, both_small)
  COMPARE(greater, >, both_small)
  COMPARE(greater_equal, >=, both_small)
L_contains:
L_contains_not: {
  const int result = contains(vm, RC, RB);
  if (result < 0)
    goto failed;
  RA = Value::boolean((result != 0) == (ip->op == Op::contains));
  NEXT;
}
L_jump:
  pc += static_cast<int32_t>(ip->wide());
  NEXT;
L_jump_true: {
  const Value x = RA;
  if (x.is_bool() ? x.is_true() : truth(x))
    pc += static_cast<int32_t>(ip->wide());
  NEXT;
}
L_jump_false: {
  const Value x = RA;
  if (x.is_bool() ? x.is_false() : !truth(x))
    pc += static_cast<int32_t>(ip->wide());
  NEXT;
}

#define JUMP(name, operation, symbol, wanted, are_words)                 \
  L_##name : {                                                           \
    const Value x = RA, y = RB;                                          \
    bool holds;                                                          \
    if (are_words(x, y)) [[likely]] {                                    \
      holds = i64(x.word()) symbol i64(y.word());                        \
    } else {                                                             \
      const int result = compare(vm, Op::operation, x, y);               \
      if (result < 0)                                                    \
        goto failed;                                                     \
      holds = result != 0;                                               \
    }                                                                    \
    if (holds == wanted)                                                 \
      pc += static_cast<int16_t>(ip->c);                                 \
    NEXT;                                                                \
  }                                                                      \
  L_##name##_small : {                                                   \
    const Value x = RA;                                                  \
    const int64_t n = static_cast<int16_t>(ip->b);                       \
    bool holds;                                                          \
    if (x.is_small()) [[likely]] {                                       \
      holds = i64(x.word()) symbol n * 8;                                \
    } else {                                                             \
      const int result = compare(vm, Op::operation, x, Value::small(n)); \
      if (result < 0)                                                    \
        goto failed;                                                     \
      holds = result != 0;                                               \
    }                                                                    \
    if (holds == wanted)                                                 \
      pc += static_cast<int16_t>(ip->c);                                 \
    NEXT;                                                                \
  }
  JUMP(jump_equal, equal, ==, true, equal_as_words)
  JUMP(jump_not_equal, not_equal, !=, true, equal_as_words)
  JUMP(jump_less, less, <, true, both_small)
  JUMP(jump_not_less, less, <, false, both_small)
  JUMP(jump_less_equal, less_equal, <=, true, both_small)
  JUMP(jump_not_less_equal, less_equal, <=, false, both_small)
  JUMP(jump_greater, greater, >, true, both_small)
  JUMP(jump_not_greater, greater, >, false, both_small)
  JUMP(jump_greater_equal, greater_equal, >=, true, both_small)
  JUMP(jump_not_greater_equal, greater_equal, >=, false, both_small)

L_get_index: {
  const Value object = RB, key = RC;
  if (object.is_object()) [[likely]] {
    const Kind kind = object.object()->kind;
    if (kind == Kind::list && key.is_small()) {
      auto* list = as<List>(object);
      int64_t i = key.small();
      if (i < 0)
        i += list->size;
      if (u64(i) < list->size) [[likely]] {
        RA = list->items[i];
        NEXT;
      }
    } else if (kind == Kind::dict) {
      --vm.ticks;
      uint64_t hash;
      if (!hash_of(vm, key, hash))
        goto failed;
      if (const TableEntry* entry = table_find(vm, as<Dict>(object), key, hash)) [[likely]] {
        RA = entry->value;
        NEXT;
      }
    }
  }
  MAY_COLLECT();
  GIVE(RA, get_index(vm, RB, RC));
  NEXT;
}
L_set_index: {
  const Value object = RA, key = RB;
  if (object.is_object()) [[likely]] {
    Object* const o = object.object();
    if (o->kind == Kind::list && key.is_small() && !o->is_frozen() && o->count == 0) {
      auto* list = static_cast<List*>(o);
      int64_t i = key.small();
      if (i < 0)
        i += list->size;
      if (u64(i) < list->size) [[likely]] {
        list->items[i] = RC;
        NEXT;
      }
    } else if (o->kind == Kind::dict && !o->is_frozen() && o->count == 0) {
      --vm.ticks;
      MAY_COLLECT();
      uint64_t hash;
      if (!hash_of(vm, key, hash))
        goto failed;
      if (!table_put(vm, static_cast<Dict*>(o), key, hash, RC)) {
        vm.fail_memory();
        goto failed;
      }
      NEXT;
    }
  }
  if (!set_index(vm, RA, RB, RC))
    goto failed;
  NEXT;
}
L_get_key: {
  const Value object = RB;
  const Value& key = constants[ip->c];
  --vm.ticks;
  if (is_dict(object)) [[likely]] {
    if (const TableEntry* entry = table_find_text(as<Dict>(object), key, hash_of_text(key)))
        [[likely]] {
      RA = entry->value;
      NEXT;
    }
  }
  GIVE(RA, get_index(vm, object, key));
  NEXT;
}
L_set_key: {
  const Value object = RA;
  const Value& key = constants[ip->b];
  if (is_dict(object) && !object.object()->is_frozen() && object.object()->count == 0) [[likely]] {
    --vm.ticks;
    MAY_COLLECT();
    if (!table_put(vm, as<Dict>(object), key, hash_of_text(key), RC)) {
      vm.fail_memory();
      goto failed;
    }
    NEXT;
  }
  if (!set_index(vm, object, key, RC))
    goto failed;
  NEXT;
}
L_get_attribute: {
  const Value name = constants[word_at(pc)];
  const Instruction* cache = pc + 1;
  pc += 2;
  const Value field = own_field(RB, name, cache);
  if (!field.is_unset()) [[likely]] {
    RA = field;
    NEXT;
  }
  MAY_COLLECT();
  GIVE(RA, get_attribute(vm, RB, name));
  NEXT;
}
L_set_attribute: {
  const Value name = constants[word_at(pc++)];
  if (!set_attribute(vm, RA, name, RB))
    goto failed;
  NEXT;
}
L_slice:
  MAY_COLLECT();
  GIVE(RA, get_slice(vm, base[ip->b], base[ip->b + 1], base[ip->b + 2], base[ip->b + 3]));
  NEXT;

L_call: {
  Value* at = base + ip->a;
  const Value called = at[0];
  if (is_kind(called, Kind::function)) [[likely]] {
    auto* function = as<Function>(called);
    const Code* code = function->code;
    TICK_BY(code->cost);
    SAVE();
    const int64_t missing = code->simple_arity - int64_t{ip->b};
    if (missing >= 0 && missing <= code->defaults && !code->has_prologue &&
        at + 1 + code->registers <= vm.soft_end && vm.frames.end() < last &&
        (recursion || (vm.active_of(code) == 0 && !vm.is_within_function))) [[likely]] {
      const uint16_t into = ip->c;
      base = at + 1;
      if (missing != 0) {
        const Value* fallbacks = function->defaults->items() + (code->defaults - missing);
        for (int64_t i = 0; i < missing; ++i)
          base[ip->b + i] = fallbacks[i];
        vm.ticks -= code->cost - 1;
      }
      pc = code->instructions.data();
      frame = vm.push_frame({code, function, pc, base, nullptr, into});
      constants = code->constants.data();
      globals = code->module->globals.data();
      NEXT;
    }
    goto call_value;
  }
  TICK();
  if (is_kind(called, Kind::builtin)) {
    auto* builtin = as<Builtin>(called);
    SAVE();
    MAY_COLLECT();
    const Value result = invoke(vm, *builtin, at + 1, ip->b);
    frame = &vm.frames.back();
    GIVE(base[ip->c], result);
    NEXT;
  }
  vm.fail_with("invalid call of non-function (", type_name_of(called), ")");
  goto failed;
}
L_check_method: {
  const auto* row = std::bit_cast<const MethodRow*>(word_at(pc + 1));
  const Instruction* words = pc;
  pc += 3;
  const Value self = RA;
  if (row != nullptr && row->of[static_cast<size_t>(kind_of(self))] != nullptr) [[likely]]
    NEXT;
  const Value name = constants[word_at(words)];
  if (!own_field(self, name, words + 2).is_unset())
    NEXT;
  SAVE();
  if (get_attribute(vm, self, name).is_error())
    goto failed;
  NEXT;
}
L_call_method: {
  Value* at = base + ip->a;
  const Value self = at[0];
  const auto* row = std::bit_cast<const MethodRow*>(word_at(pc + 1));
  const Instruction* words = pc;
  pc += 3;
  TICK();
  if (row != nullptr) {
    if (const Native native = row->of[static_cast<size_t>(kind_of(self))]) [[likely]] {
      SAVE();
      MAY_COLLECT();
      const Value result = invoke(vm, native, row->name, self, at + 1, ip->b);
      frame = &vm.frames.back();
      if (result.is_error()) [[unlikely]]
        goto failed;
      base[ip->c] = result;
      NEXT;
    }
  }
  const Value name = constants[word_at(words)];
  Value called = own_field(self, name, words + 2);
  SAVE();
  if (called.is_unset())
    called = get_attribute(vm, self, name);
  if (called.is_error()) [[unlikely]] {
    pc = words;
    SAVE();
    goto failed;
  }
  at[0] = called;
  goto call_value;
}
call_value: {  // in R a, with plain arguments behind it
  Value* at = base + ip->a;
  Arguments arguments;
  arguments.positional = at + 1;
  arguments.count = ip->b;
  if (is_kind(at[0], Kind::function)) {
    if (!enter_function(vm, as<Function>(at[0]), at + 1, arguments, ip->c))
      goto failed;
    LOAD_FRAME();
    NEXT;
  }
  const Value result = call_native(vm, at[0], arguments);
  frame = &vm.frames.back();
  GIVE(base[ip->c], result);
  vm.native = nullptr;
  NEXT;
}
L_call_method_general: {
  Value* at = base + ip->a;
  const auto* row = std::bit_cast<const MethodRow*>(word_at(pc + 1));
  const Instruction* words = pc;
  pc += 4;
  TICK();
  SAVE();
  MAY_COLLECT();
  const Value self = at[0];
  if (row != nullptr) {
    if (const Native native = row->of[static_cast<size_t>(kind_of(self))]) [[likely]] {
      const CallSite& site = frame->code->call_sites[word_at(words + 3)];
      const Value result = invoke_method(vm, native, row->name, at, site);
      frame = &vm.frames.back();
      GIVE(base[ip->c], result);
      NEXT;
    }
  }
  const Value name = constants[word_at(words)];
  Value called = own_field(self, name, words + 2);
  if (called.is_unset())
    called = get_attribute(vm, self, name);
  if (called.is_error()) [[unlikely]] {
    pc = words;
    SAVE();
    goto failed;
  }
  at[0] = called;
  site_word = words + 3;
  goto call_site;
}
L_call_general:
  site_word = pc++;
  TICK();
  SAVE();
  MAY_COLLECT();
call_site: {
  Value* at = base + ip->a;
  const CallSite& site = frame->code->call_sites[word_at(site_word)];
  const Value called = at[0];
  if (is_kind(called, Kind::function) && !site.rest && !site.named_rest) {
    if (!enter_with_names(vm, as<Function>(called), at + 1, site, ip->c))
      goto failed;
    LOAD_FRAME();
    NEXT;
  }
  bool entered = false;
  const Value result = call_general(vm, at, site, ip->c, entered);
  if (result.is_error())
    goto failed;
  if (entered) {
    LOAD_FRAME();
    NEXT;
  }
  frame = &vm.frames.back();
  vm.native = nullptr;
  base[ip->c] = result;
  NEXT;
}
L_return_none:
L_return_value: {
  const Value result = ip->op == Op::return_none ? Value::none() : RA;
  const uint16_t into = frame->into;
  vm.pop_frame();
  if (frame == bottom)
    return result;
  LOAD_FRAME();
  base[into] = result;
  NEXT;
}
L_make_list: {
  --vm.ticks;
  MAY_COLLECT();
  List* list = make_list(*heap, ip->c);
  for (uint32_t i = 0; i < ip->c; ++i)
    list->items[i] = base[ip->b + i];
  list->size = ip->c;
  RA = Value::object(list);
  NEXT;
}
L_make_tuple: {
  --vm.ticks;
  MAY_COLLECT();
  Tuple* tuple = make_tuple(*heap, ip->c);
  if (tuple == nullptr) {
    vm.fail_memory();
    goto failed;
  }
  for (uint32_t i = 0; i < ip->c; ++i)
    tuple->items()[i] = base[ip->b + i];
  RA = Value::object(tuple);
  NEXT;
}
L_make_dict: {
  --vm.ticks;
  MAY_COLLECT();
  Dict* dict = make_dict(vm, ip->wide());
  if (dict == nullptr) {
    vm.fail_memory();
    goto failed;
  }
  RA = Value::object(dict);
  NEXT;
}
L_make_dict_of: {
  const Value* keys = constants + word_at(pc++);
  vm.ticks -= 1 + ip->c;
  MAY_COLLECT();
  RA = Value::object(make_dict_of(*heap, {keys, ip->c}, base + ip->b));
  NEXT;
}
L_append: {
  auto* list = as<List>(RA);
  if (list->size < list->capacity) [[likely]] {
    list->items[list->size++] = RB;
    NEXT;
  }
  MAY_COLLECT();
  if (!list_push(*heap, as<List>(RA), RB)) {
    vm.fail_memory();
    goto failed;
  }
  NEXT;
}
L_put_new:
L_put: {
  --vm.ticks;
  MAY_COLLECT();
  uint64_t hash;
  if (!hash_of(vm, RB, hash))
    goto failed;
  bool fresh = true;
  if (!table_put(vm, as<Dict>(RA), RB, hash, RC, &fresh)) {
    vm.fail_memory();
    goto failed;
  }
  if (!fresh && ip->op == Op::put_new) {
    std::string text;
    if (write_repr(vm, text, RB))
      vm.fail_with("duplicate key: ", text);
    goto failed;
  }
  NEXT;
}
L_iterate: {
  const Value over = RB;
  Iteration state;
  if (!begin_iteration(over, state)) {
    vm.fail_with(type_name_of(over), " value is not iterable");
    goto failed;
  }
  RA = over;
  base[ip->a + 1] = Value::small(0);
  NEXT;
}
L_next: {
  TICK_BY(1 + ip->c);
  const Value over = RA;
  const int64_t position = base[ip->a + 1].small();
  const Kind kind = over.object()->kind;
  if (kind == Kind::list || kind == Kind::tuple) {
    const bool is_list = kind == Kind::list;
    const uint32_t size = is_list ? as<List>(over)->size : over.object()->count;
    if (position < size) [[likely]] {
      const Value* items = is_list ? as<List>(over)->items : as<Tuple>(over)->items();
      base[ip->b] = items[position];
      base[ip->a + 1] = Value::small(position + 1);
      ++pc;
      NEXT;
    }
  } else {
    Iteration state{over, position};
    Value item;
    if (next_item(vm, state, item)) {
      if (item.is_error()) {
        vm.fail_memory();
        goto failed;
      }
      base[ip->a + 1] = Value::small(state.position);
      base[ip->b] = item;
      ++pc;
      NEXT;
    }
  }
  pc += word_at(pc) + 1;
  NEXT;
}
L_end_iteration:
  end_iteration(RA);
  NEXT;
L_iterate_range: {
  SAVE();
  if (!begin_range(vm, base + ip->b, ip->c, base + ip->a))
    goto failed;
  NEXT;
}
L_next_range: {
  const uint64_t left = base[ip->a + 1].word();
  if (left == 0) {
    if (is_kind(RA, Kind::range)) {
      TICK_BY(1 + ip->c);
      const auto* range = as<Range>(RA);
      const int64_t position = base[ip->a + 2].small();
      if (position < range->length) {
        base[ip->b] = make_int(*heap, range->at(position));
        base[ip->a + 2] = Value::small(position + 1);
        ++pc;
        NEXT;
      }
    }
    pc += word_at(pc) + 1;
    NEXT;
  }
  TICK_BY(1 + ip->c);
  base[ip->b] = RA;
  RA = Value::of_word(RA.word() + base[ip->a + 2].word());
  base[ip->a + 1] = Value::of_word(left - 8);
  ++pc;
  NEXT;
}
L_unpack: {
  const Value over = RB;
  Value* into = base + ip->a;
  const uint32_t wanted = ip->c;
  if (is_tuple(over) && over.object()->count == wanted) {
    for (uint32_t i = 0; i < wanted; ++i)
      into[i] = as<Tuple>(over)->items()[i];
    NEXT;
  }
  if (is_list(over) && as<List>(over)->size == wanted) {
    for (uint32_t i = 0; i < wanted; ++i)
      into[i] = as<List>(over)->items[i];
    NEXT;
  }
  if (!unpack(vm, over, into, wanted))
    goto failed;
  NEXT;
}
L_length:
  TICK();
  if (const Value of = RB; of.is_short_text()) {
    RA = Value::small(i64(of.short_text().size()));
    NEXT;
  } else if (is_kind(of, Kind::string) || is_kind(of, Kind::tuple)) {
    RA = Value::small(of.object()->count);
    NEXT;
  }
  GIVE(RA, length_value(vm, RB));
  NEXT;
L_load_module: {
  SAVE();
  const bool loaded = load_names(vm, frame->code->load_sites[ip->wide()], &RA);
  frame = &vm.frames.back();
  if (!loaded)
    goto failed;
  NEXT;
}
L_tick:
  TICK_BY(1 + ip->c);
  NEXT;

failed:
  frame = &vm.frames.back();
  if (frame->pc != nullptr)  // else the function has not begun
    frame->pc = pc;
  vm.capture_trace(pc);
  unwind(vm, depth);
  return Value::error();
}

}  // namespace fettle::starlark
