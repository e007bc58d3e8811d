/// Hashes of keys. Tuples, structures and records are walked without recursion.

#include <cmath>

#include "starlark/eval/ops.h"

namespace fettle::starlark {
namespace {

constexpr size_t deepest_key = 1'000'000;

bool is_long(const Object* o) {
  return (o->kind == Kind::string || o->kind == Kind::bytes)
             ? o->count > 4096
             : o->kind == Kind::big_int && o->count > 64;
}

uint64_t hash_float(double x) {
  if (std::isnan(x))
    return 0x7ff8dead;
  if (std::isinf(x) || std::trunc(x) != x)
    return hash_integer(Value::small(i64(std::bit_cast<uint64_t>(x) >> 4)));
  if (std::fabs(x) < 1e18)
    return hash_integer(Value::small(i64(x)));
  // The hash of the equal integer, through its limbs.
  int exponent = 0;
  const auto mantissa = uint64_t(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
  const auto shift = size_t(exponent - 53);
  struct {
    BigInt header;
    uint64_t limbs[1024 / 64 + 2];
  } big{};
  big.header.kind = Kind::big_int;
  big.header.extra = x < 0;
  uint64_t* const limbs = big.header.limbs();
  limbs[shift / 64] = mantissa << (shift % 64);
  if (shift % 64 != 0)
    limbs[shift / 64 + 1] = mantissa >> (64 - shift % 64);
  big.header.count = u32(shift / 64 + 2);
  while (big.header.count > 0 && limbs[big.header.count - 1] == 0)
    --big.header.count;
  return hash_integer(Value::object(&big.header));
}

/// The hash of a value that equals only itself, from its number in the heap. No address takes part,
/// since the order of probing must not depend on one. Values that were made one after another are
/// neighbours in the index of a table, sixteen in a cache line, because a table that is larger than
/// the caches waits for each line. Nobody can choose which lines these are.
uint64_t hash_of_serial(uint64_t salt, uint64_t serial) {
  constexpr uint64_t group = 16;
  const uint64_t mixed = hash_of_small(i64(salt * 0x9E3779B97F4A7C15u + serial / group));
  const uint64_t member = serial % group;
  // The high bits are set, too: an index compares them before it looks at a key.
  return ((mixed & ~(group - 1)) | member) ^ member << 60;
}

bool is_identity(const Object* o) { return o->kind == Kind::function || o->kind == Kind::builtin; }

uint64_t hash_of_identity(const Object* o) {
  if (o->kind == Kind::builtin)
    return hash_of_serial(0, static_cast<const Builtin*>(o)->serial);
  const auto* function = static_cast<const Function*>(o);
  return hash_of_serial(1 + function->code->at, function->serial);
}

/// Walks tuples, structures and records of hashable values, without recursion.
class Hasher {
 public:
  explicit Hasher(Vm& vm) : vm_(vm) {}

  /// 1; 0 for a value without a hash, which is put into `refused`; or -1 after an error.
  int run(Value v, uint64_t& hash) {
    for (Value next = v;;) {
      if (!one(next))
        return vm_.failed ? -1 : 0;
      while (!levels_.empty() && levels_.back().next == levels_.back().size)
        levels_.pop_back();
      if (levels_.empty())
        break;
      if (levels_.size() > deepest_key) {
        vm_.fail("value is nested too deeply to be hashed");
        return -1;
      }
      if (!vm_.charge(1))
        return -1;
      next = levels_.back().items[levels_.back().next++];
    }
    sum_ = (sum_ ^ hash_seed()) * 0xd6e8feb86659fd93u;
    hash = sum_ ^ sum_ >> 31;
    return 1;
  }
  Value refused;

 private:
  struct Level {
    const Value* items;
    uint32_t size;
    uint32_t next;
  };

  void add(uint64_t more) { sum_ = std::rotl(sum_ * 0x9E3779B97F4A7C15u + more, 23); }
  bool open(uint64_t salt, const Value* items, uint32_t count) {
    add(count + salt);
    levels_.push_back({items, count, 0});
    return true;
  }

  bool one(Value v) {
    if (v.is_unset())
      return add(77), true;
    if (!v.is_object() || is_text(v) || is_float(v) || is_kind(v, Kind::big_int)) {
      uint64_t simple = 0;
      if (!hash_of(vm_, v, simple))
        return false;
      return add(simple), true;
    }
    Object* o = v.object();
    switch (o->kind) {
      case Kind::bytes:
        if (!vm_.charge(o->count / 32))
          return false;
        return add(hash_text(static_cast<String*>(o)->view()) + 1), true;
      case Kind::tuple:
        return open(0xABCD, static_cast<Tuple*>(o)->items(), o->count);
      case Kind::structure:
        return open(0xBCDE, static_cast<Structure*>(o)->values(), o->count);
      case Kind::record:
        return open(0xCDEF, static_cast<Record*>(o)->values(), o->count);
      case Kind::function:
      case Kind::builtin:
        return add(hash_of_identity(o)), true;
      case Kind::duration:
        return add(u64(static_cast<DurationObject*>(o)->nanoseconds)), true;
      case Kind::time:
        return add(u64(static_cast<TimeObject*>(o)->seconds)), true;
      default:
        refused = v;
        return false;
    }
  }

  Vm& vm_;
  uint64_t sum_ = 0;
  std::vector<Level> levels_;
};

/// 1, 0 for a value without a hash, or -1 after an error.
int find_hash(Vm& vm, Value v, uint64_t& hash, Value& refused) {
  if (v.is_small()) {
    hash = hash_integer(v);
    return 1;
  }
  // When a key is found, it is compared with the one that is there.
  if (v.is_object() && is_long(v.object()) &&
      !vm.charge(v.object()->count / (is_kind(v, Kind::big_int) ? 1 : 64)))
    return -1;
  if (is_text(v)) {
    hash = hash_of_text(v);
  } else if (is_float(v)) {
    hash = hash_float(float_of(v));
  } else if (!v.is_object()) {
    hash = hash_integer(Value::small(i64(v.word() >> 3) + 0x1234567));
  } else if (is_kind(v, Kind::big_int)) {
    hash = hash_integer(v);
  } else if (is_identity(v.object())) {
    hash = hash_of_identity(v.object());
  } else {
    Hasher hasher(vm);
    const int found = hasher.run(v, hash);
    refused = hasher.refused;
    return found;
  }
  return 1;
}

}  // namespace

bool hash_of_any(Vm& vm, Value v, uint64_t& hash) {
  Value refused;
  const int found = find_hash(vm, v, hash, refused);
  if (found == 0)
    vm.fail_with(is_list(refused) || is_dict(refused) || is_set(refused) ? "unhashable type: "
                                                                         : "unhashable: ",
                 type_name_of(refused));
  return found == 1;
}

bool hash_if_any(Vm& vm, Value v, uint64_t& hash) {
  Value refused;
  return find_hash(vm, v, hash, refused) == 1;
}

}  // namespace fettle::starlark
