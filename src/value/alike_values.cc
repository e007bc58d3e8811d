#include "value/alike_values.h"

#include <algorithm>

namespace fettle {
namespace {

/// What is inside of more dicts and lists than these is one part.
constexpr int deepest = 16;

/// A place inside of a dict or list at which values differ, as a whole or inside.
struct Branch {
  uint32_t place = 0;          ///< of the entry or item
  uint32_t part = 0;           ///< as a whole: the number of the part
  std::vector<Branch> inside;  ///< in their order; empty: as a whole
};
using Branches = std::vector<Branch>;

size_t size_of(const Value& value) {
  return value.is_dict() ? value.entries().size() : items_of(value).size();
}

const Value& child_at(const Value& value, size_t place) {
  return value.is_dict() ? value.entries()[place].value : value.items()[place];
}

/// Whether they differ only inside of what they have.
bool are_alike(const Value& a, const Value& b) {
  if (a.type() != b.type() || (!a.is_dict() && !a.is_list()) || size_of(a) != size_of(b))
    return false;
  return a.is_list() || std::ranges::equal(a.entries(), b.entries(), {}, &Entry::key, &Entry::key);
}

/// Equal for values that are alike at all depths.
Digest shape_of(const Value& value, int depth = 0) {
  Digest shape{static_cast<uint64_t>(value.is_dict()), size_of(value)};
  if ((!value.is_dict() && !value.is_list()) || depth >= deepest)
    return {0, 2};
  for (size_t i = 0; i < size_of(value); ++i) {
    if (value.is_dict())
      shape = combine(shape, value.entries()[i].key.digest());
    if (const Value& child = child_at(value, i); child.is_dict() || child.is_list())
      shape = combine(shape, shape_of(child, depth + 1));
  }
  return shape;
}

/// Whether a value that is like another one differs from it at these places only.
bool fits(const Branches& branches, const Value& base, const Value& value) {
  if (!are_alike(base, value))
    return false;
  auto next = branches.begin();
  for (size_t i = 0; i < size_of(base); ++i) {
    const bool is_branch = next != branches.end() && next->place == i;
    const Value &was = child_at(base, i), &is = child_at(value, i);
    if (is_branch ? !next->inside.empty() && was != is && !fits(next->inside, was, is) : was != is)
      return false;
    next += is_branch ? 1 : 0;
  }
  return true;
}

/// The places at which two that are alike differ, and some that are known.
Branches widened(const Branches& known, const Value& base, const Value& value, int depth = 0) {
  Branches branches;
  auto next = known.begin();
  for (size_t i = 0; i < size_of(base); ++i) {
    const bool is_known = next != known.end() && next->place == i;
    const Value &was = child_at(base, i), &is = child_at(value, i);
    if (is_known && (was == is || next->inside.empty())) {
      branches.push_back(*next);
    } else if (was != is) {
      Branch& branch = branches.emplace_back();
      branch.place = static_cast<uint32_t>(i);
      if (depth + 1 < deepest && are_alike(was, is))
        branch.inside = widened(is_known ? next->inside : Branches(), was, is, depth + 1);
    }
    next += is_known ? 1 : 0;
  }
  return branches;
}

/// Returns how many parts there are.
uint32_t number(Branches& branches, uint32_t next = 0) {
  for (Branch& branch : branches) {
    branch.part = next;
    next = branch.inside.empty() ? next + 1 : number(branch.inside, next);
  }
  return next;
}

void take_parts(const Branches& branches, const Value& value, Value* parts) {
  for (const Branch& branch : branches) {
    const Value& child = child_at(value, branch.place);
    if (branch.inside.empty())
      parts[branch.part] = child;
    else
      take_parts(branch.inside, child, parts);
  }
}

Value with_parts(const Branches& branches, const Value& base, const Value* parts) {
  if (branches.empty())
    return base;
  const auto changed = [&](const Branch& branch) {
    return branch.inside.empty() ? parts[branch.part]
                                 : with_parts(branch.inside, child_at(base, branch.place), parts);
  };
  if (base.is_dict()) {
    std::vector<Entry> entries(base.entries().begin(), base.entries().end());
    for (const Branch& branch : branches)
      entries[branch.place].value = changed(branch);
    return Value::dict(std::move(entries));
  }
  std::vector<Value> items(base.items().begin(), base.items().end());
  for (const Branch& branch : branches)
    items[branch.place] = changed(branch);
  return Value::list(std::move(items));
}

}  // namespace

struct AlikeValues::Form {
  Value base;
  Branches branches;
  uint32_t parts = 0;
};

Value AlikeValues::Kept::value() const {
  return form_ == nullptr ? Value() : with_parts(form_->branches, form_->base, parts_.get());
}

Value AlikeValues::Kept::at(std::initializer_list<std::string_view> keys) const {
  if (form_ == nullptr)
    return {};
  const Value* found = &form_->base;
  const Branches* inside = &form_->branches;
  for (const std::string_view key : keys) {
    const Value* const child = found->find(key);
    if (child == nullptr)
      return {};
    const auto place =
        inside->empty() ? size_t{0}
                        : static_cast<size_t>(std::ranges::find_if(found->entries(),
                                                                   [&](const Entry& entry) {
                                                                     return &entry.value == child;
                                                                   }) -
                                              found->entries().begin());
    const auto branch = std::ranges::find(*inside, place, &Branch::place);
    static const Branches none;
    const bool is_whole = branch != inside->end() && branch->inside.empty();
    found = is_whole ? &parts_[branch->part] : child;
    inside = branch == inside->end() || is_whole ? &none : &branch->inside;
  }
  return with_parts(*inside, *found, parts_.get());
}

AlikeValues::Kept AlikeValues::keep(const Value& value, Digest group) {
  std::shared_ptr<const Form>& form = forms_[combine(group, shape_of(value))];
  if (form == nullptr || (form->base != value && !are_alike(form->base, value))) {
    form = std::make_shared<const Form>(Form{value, {}, 0});
  } else if (form->base != value && !fits(form->branches, form->base, value)) {
    Form wider{form->base, widened(form->branches, form->base, value), 0};
    wider.parts = number(wider.branches);
    form = std::make_shared<const Form>(std::move(wider));
  }
  Kept kept;
  kept.form_ = form;
  if (form->parts > 0) {
    kept.parts_ = std::make_unique<Value[]>(form->parts);
    take_parts(form->branches, value, kept.parts_.get());
  }
  if (forms_.size() > most_)
    forget_unused();
  return kept;
}

void AlikeValues::forget_unused() {
  std::erase_if(forms_, [](const auto& form) { return form.second.use_count() == 1; });
  most_ = std::max<size_t>(64, 2 * forms_.size());
}

}  // namespace fettle
