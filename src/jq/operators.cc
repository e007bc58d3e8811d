#include <cmath>

#include "base/budget.h"
#include "base/search.h"
#include "jq/natives.h"
#include "value/whole.h"

namespace fettle::jq {
namespace {

using whole::Operation;

tl::unexpected<Failure> cannot(std::string_view doing, const Json& a, const Json& b) {
  return fail("cannot ", doing, ": ", typed_preview(a), " and ", typed_preview(b));
}

Json computed(Operation operation, const Json& a, const Json& b) {
  std::optional<std::string> digits = whole::compute(operation, digits_of(a), digits_of(b));
  if (digits && digits->size() <= whole::most_digits)
    return Json::whole(std::move(*digits));
  Budget::current().refuse(cat("a number has more than ", whole::most_digits, " digits"));
  return {};
}

bool is_zero(const Json& number) { return compare(number, Json::integer(0)) == 0; }

/// Two numbers in the form for computing: both integers, both of any size, or both real.
struct Pair {
  enum class Sort : uint8_t { none, integer, whole, real } sort = Sort::none;
  Json a{}, b{};
};
Pair pair_of(const Json& given_a, const Json& given_b) {
  if (!given_a.is_number() || !given_b.is_number())
    return {};
  Json a = computable(given_a), b = computable(given_b);
  if (a.kind() == Json::Kind::real || b.kind() == Json::Kind::real)
    return {Pair::Sort::real, Json::real(*to_real(a)), Json::real(*to_real(b))};
  const bool is_small = a.kind() == Json::Kind::integer && b.kind() == Json::Kind::integer;
  return {is_small ? Pair::Sort::integer : Pair::Sort::whole, std::move(a), std::move(b)};
}

Json joined(const Json::List& a, const Json::List& b) {
  if (!Budget::current().has_room((a.size() + b.size()) * sizeof(Json)))
    return {};
  Json::List made(a);
  made.insert(made.end(), b.begin(), b.end());
  return Json::list(std::move(made));
}

Json merged(const Json::Dict& a, const Json::Dict& b) {
  Json::Dict made(a);
  made.insert(made.end(), b.begin(), b.end());
  return Json::dict(std::move(made));
}

Answer subtract(const Json& a, const Json& b) {
  const Pair pair = pair_of(a, b);
  int64_t small = 0;
  if (pair.sort == Pair::Sort::integer &&
      !__builtin_sub_overflow(pair.a.integer(), pair.b.integer(), &small))
    return Json::integer(small);
  if (pair.sort == Pair::Sort::real)
    return Json::real(pair.a.real() - pair.b.real());
  if (pair.sort != Pair::Sort::none)
    return computed(Operation::subtract, pair.a, pair.b);
  if (!a.is_list() || !b.is_list())
    return cannot("subtract", a, b);
  Json::List kept;
  for (const Json& item : a.items())
    if (std::ranges::none_of(b.items(),
                             [&](const Json& other) { return compare(item, other) == 0; }))
      kept.push_back(item);
  return Json::list(std::move(kept));
}

Json deeply_merged(const Json& a, const Json& b) {
  Json made = a;
  for (const Member& member : b.members()) {
    const Json* before = made.find(member.key.text());
    const bool both = before != nullptr && before->is_dict() && member.value.is_dict();
    Json value = both ? deeply_merged(*before, member.value) : member.value;
    made = std::move(made).with_member(member.key.text(), std::move(value));
  }
  return made;
}

Answer repeated(const Json& text, double times) {
  constexpr double most = 2147483647.0;
  if (times < 0 || std::isnan(times))
    return Json();
  const auto count = static_cast<uint64_t>(std::min(times, most));
  if (text.text().size() * count >= static_cast<uint64_t>(most))
    return fail("repeat string result too large: ", preview(text), " * ",
                preview(Json::real(times)));
  if (!Budget::current().has_room(text.text().size() * count))
    return Json();
  std::string made;
  made.reserve(text.text().size() * count);
  for (uint64_t i = 0; i < count && !text.text().empty(); ++i)
    made += text.text();
  return Json::text(std::move(made));
}

Answer multiply(const Json& a, const Json& b) {
  const Pair pair = pair_of(a, b);
  int64_t small = 0;
  if (pair.sort == Pair::Sort::integer &&
      !__builtin_mul_overflow(pair.a.integer(), pair.b.integer(), &small))
    return Json::integer(small);
  if (pair.sort == Pair::Sort::real)
    return Json::real(pair.a.real() * pair.b.real());
  if (pair.sort != Pair::Sort::none)
    return computed(Operation::multiply, pair.a, pair.b);
  if (a.is_dict() && b.is_dict())
    return deeply_merged(a, b);
  for (const auto& [text, times] : {std::pair(&a, &b), std::pair(&b, &a)})
    if (text->is_text())
      if (const std::optional<double> count = to_real(*times))
        return repeated(*text, *count);
  return cannot("multiply", a, b);
}

Json parts_of(std::string_view text, std::string_view separator) {
  Json::List parts;
  size_t begin = 0;
  while (begin < text.size() || !separator.empty()) {
    if (!Budget::current().has_room(parts.size() * sizeof(Json)))
      return {};
    const size_t end = separator.empty() ? begin + length_of_character(text, begin)
                                         : std::min(find_text(text, separator, begin), text.size());
    parts.push_back(Json::text(std::string(text.substr(begin, end - begin))));
    begin = end + separator.size();
    if (!separator.empty() && end == text.size())
      break;
  }
  return Json::list(std::move(parts));
}

Answer divide(const Json& a, const Json& b) {
  const Pair pair = pair_of(a, b);
  if (pair.sort != Pair::Sort::none && is_zero(pair.b))
    return fail("cannot divide ", typed_preview(pair.a), " by: ", typed_preview(pair.b));
  switch (pair.sort) {
    case Pair::Sort::integer: {
      const int64_t x = pair.a.integer(), y = pair.b.integer();
      if (y == -1)
        return subtract(Json::integer(0), pair.a);
      return x % y == 0 ? Json::integer(x / y)
                        : Json::real(static_cast<double>(x) / static_cast<double>(y));
    }
    case Pair::Sort::whole:
      if (is_zero(computed(Operation::modulo, pair.a, pair.b)))
        return computed(Operation::divide, pair.a, pair.b);
      return Json::real(*to_real(pair.a) / *to_real(pair.b));
    case Pair::Sort::real:
      return Json::real(pair.a.real() / pair.b.real());
    case Pair::Sort::none:
      break;
  }
  if (!a.is_text() || !b.is_text())
    return cannot("divide", a, b);
  return a.text().empty() ? Json::list({}) : parts_of(a.text(), b.text());
}

/// The remainder, with the sign of `a`.
Json rest_of(const Json& a, const Json& b) {
  if (a.kind() == Json::Kind::integer && b.kind() == Json::Kind::integer)
    return Json::integer(b.integer() == -1 ? 0 : a.integer() % b.integer());
  const auto size = [](const Json& number) {
    const std::string digits = digits_of(number);
    return Json::whole(digits.substr(digits.starts_with('-') ? 1 : 0));
  };
  const Json rest = computed(Operation::modulo, size(a), size(b));
  return digits_of(a).starts_with('-') ? computed(Operation::subtract, Json::integer(0), rest)
                                       : rest;
}

Answer modulo(const Json& a, const Json& b) {
  const Pair pair = pair_of(a, b);
  if (pair.sort == Pair::Sort::none)
    return cannot("modulo", a, b);
  const bool is_real = pair.sort == Pair::Sort::real;
  if (is_real && (std::isnan(pair.a.real()) || std::isnan(pair.b.real())))
    return Json::real(NAN);
  const Json divisor = is_real ? Json::integer(clamped(pair.b.real())) : pair.b;
  if (is_zero(divisor))
    return fail("cannot modulo ", typed_preview(pair.a), " by: ", typed_preview(pair.b));
  return rest_of(is_real ? Json::integer(clamped(pair.a.real())) : pair.a, divisor);
}

Answer negate(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::integer:
      return subtract(Json::integer(0), value);
    case Json::Kind::real:
      return Json::real(-value.real());
    case Json::Kind::whole:
      return computed(Operation::subtract, Json::integer(0), value);
    case Json::Kind::numeral:
      return Json::numeral(value.text().starts_with('-') ? value.text().substr(1)
                                                         : "-" + value.text());
    default:
      return fail("cannot negate: ", typed_preview(value));
  }
}

Answer plus(const Json& value) {
  if (!value.is_number())
    return fail("cannot plus: ", typed_preview(value));
  return value;
}

template <auto& function>
Answer binary(const Json&, Arguments given) {
  return function(given[0], given[1]);
}
template <auto& function>
Answer unary(const Json& input, Arguments) {
  return function(input);
}
template <bool (*holds)(int)>
Answer comparison(const Json&, Arguments given) {
  return Json::boolean(holds(compare(given[0], given[1])));
}

constexpr bool equal(int order) { return order == 0; }
constexpr bool unequal(int order) { return order != 0; }
constexpr bool greater(int order) { return order > 0; }
constexpr bool less(int order) { return order < 0; }
constexpr bool at_least(int order) { return order >= 0; }
constexpr bool at_most(int order) { return order <= 0; }

Answer alternative(const Json&, Arguments given) { return given[given[0].is_true() ? 0 : 1]; }

Answer split(const Json& input, Arguments given) {
  if (!input.is_text())
    return not_for("split", input);
  if (!given[0].is_text())
    return not_for("split", given[0]);
  return parts_of(input.text(), given[0].text());
}

}  // namespace

Answer sum(const Json& a, const Json& b) {
  const Pair pair = pair_of(a, b);
  int64_t small = 0;
  if (pair.sort == Pair::Sort::integer &&
      !__builtin_add_overflow(pair.a.integer(), pair.b.integer(), &small))
    return Json::integer(small);
  if (pair.sort == Pair::Sort::real)
    return Json::real(pair.a.real() + pair.b.real());
  if (pair.sort != Pair::Sort::none)
    return computed(Operation::add, pair.a, pair.b);
  if (a.is_null())
    return b;
  if (b.is_null())
    return a;
  if (a.is_text() && b.is_text())
    return Budget::current().has_room(a.text().size() + b.text().size())
               ? Json::text(a.text() + b.text())
               : Json();
  if (a.is_list() && b.is_list())
    return a.items().empty() ? b : b.items().empty() ? a : joined(a.items(), b.items());
  if (a.is_dict() && b.is_dict())
    return a.members().empty() ? b : b.members().empty() ? a : merged(a.members(), b.members());
  return cannot("add", a, b);
}

std::span<const Native> operators() {
  static const Native table[] = {
      {"_add", 2, binary<sum>},
      {"_subtract", 2, binary<subtract>},
      {"_multiply", 2, binary<multiply>},
      {"_divide", 2, binary<divide>},
      {"_modulo", 2, binary<modulo>},
      {"_negate", 0, unary<negate>},
      {"_plus", 0, unary<plus>},
      {"_equal", 2, comparison<equal>},
      {"_notequal", 2, comparison<unequal>},
      {"_greater", 2, comparison<greater>},
      {"_less", 2, comparison<less>},
      {"_greatereq", 2, comparison<at_least>},
      {"_lesseq", 2, comparison<at_most>},
      {"_alternative", 2, alternative},
      {"split", 1, split},
  };
  return table;
}

}  // namespace fettle::jq
