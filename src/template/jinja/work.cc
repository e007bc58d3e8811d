/// The questions before work on a value, and the errors when it is refused.

#include "template/jinja/value.h"

namespace fettle::jinja {

Status begin_work(const Value& value) {
  constexpr uint64_t of_a_byte = 24;  // as a view of a character
  Budget& budget = Budget::current();
  const uint64_t size = value.is_text()   ? value.text().size()
                        : value.is_list() ? value.list().items.size()
                        : value.is_dict() ? value.dict_data().entries.size()
                                          : 0;
  if (!budget.spend(size / 4) || !budget.has_room(size * of_a_byte))
    return budget_error(budget);
  return {};
}

Status add(std::string& made, std::string_view more) {
  constexpr size_t longest = size_t{1} << 26;
  Budget& budget = Budget::current();
  if (made.size() + more.size() > longest)
    return raise("MemoryError", "the result is too long");
  if (!budget.spend(cost::value + more.size() / 32) || !budget.has_room(made.size() + more.size()))
    return budget_error(budget);
  made += more;
  return {};
}

Error budget_error(const Budget& budget) {
  if (budget.is_out_of_memory())
    return raise("MemoryError", budget.refusal());
  return raise("RuntimeError", "the template takes too many steps");
}

}  // namespace fettle::jinja
