#include "states/target_index.h"

#include <algorithm>

#include "base/text.h"
#include "states/reference.h"
#include "states/sources.h"

namespace fettle::states {
namespace {

/// The length of a `[…]` at the beginning of a pattern. 0: it is a plain bracket.
size_t set_length(std::string_view pattern) {
  size_t end = 1;
  if (end < pattern.size() && pattern[end] == '!')
    ++end;
  if (end < pattern.size() && pattern[end] == ']')
    ++end;
  end = pattern.find(']', end);
  return end == pattern.npos ? 0 : end + 1;
}

bool is_in_set(std::string_view set, char c) {
  const bool is_inverse = set[1] == '!';
  const std::string_view inside = set.substr(is_inverse ? 2 : 1, set.size() - (is_inverse ? 3 : 2));
  const auto code = static_cast<unsigned char>(c);
  bool is_found = false;
  for (size_t i = 0; i < inside.size(); ++i) {
    const auto low = static_cast<unsigned char>(inside[i]);
    auto high = low;
    if (i + 2 < inside.size() && inside[i + 1] == '-')
      high = static_cast<unsigned char>(inside[i += 2]);
    is_found |= low <= code && code <= high;
  }
  return is_found != is_inverse;
}

void sort_unique(std::vector<uint32_t>& numbers, size_t begin) {
  const auto first = numbers.begin() + static_cast<ptrdiff_t>(begin);
  std::sort(first, numbers.end());
  numbers.erase(std::unique(first, numbers.end()), numbers.end());
}

}  // namespace

bool is_pattern(std::string_view text) { return text.find_first_of("*?[") != text.npos; }

/// After a mismatch, the last `*` takes one character more.
bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = pattern.npos, begin = 0;
  while (t < text.size()) {
    const char c = p < pattern.size() ? pattern[p] : '\0';
    const size_t set = c == '[' ? set_length(pattern.substr(p)) : 0;
    if (p < pattern.size() && c == '*') {
      star = p++;
      begin = t;
    } else if (set > 0 && is_in_set(pattern.substr(p, set), text[t])) {
      p += set;
      ++t;
    } else if (p < pattern.size() && set == 0 && (c == '?' || c == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++begin;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

void TargetIndex::add(uint32_t number, const Name& state, const Name& id, const Name& name,
                      const Name& sls) {
  const auto here = static_cast<uint32_t>(items_.size());
  items_.push_back({state, id, name, sls, number});
  const auto chain = [&](Chains& chains, const Name& text, uint32_t Item::* next) {
    const auto [known, is_new] = chains.emplace(Key{state, text}, Chain{here, here});
    if (is_new)
      return;
    items_[known->second.last].*next = here;
    known->second.last = here;
  };
  chain(by_id_, id, &Item::next_of_id);
  if (name != id)
    chain(by_name_, name, &Item::next_of_name);
  ids_by_state_[state].push_back(here);
}

Name TargetIndex::state_of(const Name& state) const {
  if (has_state(state))
    return state;
  const size_t dot = state.view().rfind('.');
  if (dot == std::string_view::npos)
    return state;
  const Name prefix = state.view().substr(0, dot);
  return has_state(prefix) ? prefix : state;
}

void TargetIndex::find_exact(const Name& state, std::string_view id,
                             std::vector<uint32_t>& found) const {
  const size_t begin = found.size();
  const Key key{state, id};
  if (const auto chain = by_id_.find(key); chain != by_id_.end())
    for (uint32_t i = chain->second.first; i != none; i = items_[i].next_of_id)
      found.push_back(items_[i].number);
  const bool has_ids = found.size() > begin;
  if (const auto chain = by_name_.find(key); chain != by_name_.end())
    for (uint32_t i = chain->second.first; i != none; i = items_[i].next_of_name)
      found.push_back(items_[i].number);
  if (has_ids)
    sort_unique(found, begin);
}

void TargetIndex::find_pattern(const Name& state, std::string_view pattern,
                               std::vector<uint32_t>& found) {
  const auto known = ids_by_state_.find(state);
  if (known == ids_by_state_.end())
    return;
  for (const uint32_t i : known->second) {
    const Item& item = items_[i];
    comparisons_ += pattern.size() * (1 + item.id.size() + item.name.size());
    if (!is_complete())
      return;
    if (matches(pattern, item.id) || (item.name != item.id && matches(pattern, item.name)))
      found.push_back(item.number);
  }
}

void TargetIndex::find_narrow(const Name& state, std::string_view id, std::string_view name,
                              std::vector<uint32_t>& found) {
  const auto chain = by_id_.find(Key{state, id});
  if (chain == by_id_.end())
    return;
  for (uint32_t i = chain->second.first; i != none; i = items_[i].next_of_id)
    if (items_[i].name == name)
      found.push_back(items_[i].number);
}

void TargetIndex::find_file(std::string_view ref, std::vector<uint32_t>& found) {
  Name last;
  bool is_last = false;
  for (const Item& item : items_) {
    if (item.sls != last || last.empty()) {
      last = item.sls;
      is_last = is_ref_of(ref, last) || (is_pattern(ref) && matches(ref, last));
      comparisons_ += ref.size();
    }
    if (is_last)
      found.push_back(item.number);
  }
}

void TargetIndex::find(const Name& state, const Name& target, std::vector<uint32_t>& found) {
  const auto [id, name] = halves_of_id(target);
  if (!name.empty()) {
    const size_t before = found.size();
    find_narrow(state, id, name, found);
    if (found.size() > before)
      return;
  }
  const bool may_be_file = state == "sls";
  const bool is_exact = !is_pattern(target);
  if (is_exact && !may_be_file) {
    find_exact(state, target, found);
    return;
  }
  const auto [known, is_new] = known_.emplace(Key{state, target}, std::vector<uint32_t>());
  if (is_new) {
    std::vector<uint32_t>& all = known->second;
    if (is_exact)
      find_exact(state, target, all);
    else
      find_pattern(state, target, all);
    if (may_be_file) {
      find_file(target, all);
      sort_unique(all, 0);
    }
  }
  found.insert(found.end(), known->second.begin(), known->second.end());
}

std::string TargetIndex::suggestion_for(const Name& state, const Name& target) const {
  std::vector<std::string_view> candidates;
  const auto known = ids_by_state_.find(state);
  constexpr size_t most = 2000;
  if (known == ids_by_state_.end()) {
    for (const auto& [other, items] : ids_by_state_)
      candidates.push_back(other);
    std::sort(candidates.begin(), candidates.end());
    return suggestion(state, candidates);
  }
  for (const uint32_t i : known->second) {
    candidates.push_back(items_[i].id);
    if (items_[i].name != items_[i].id)
      candidates.push_back(items_[i].name);
    if (candidates.size() > most)
      break;
  }
  return suggestion(target, candidates);
}

}  // namespace fettle::states
