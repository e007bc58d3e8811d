#pragma once
/// Finds the states that requisites name: by ID or name, exactly or by a pattern, or by `id[name]`.
/// `sls` names all states of a file, and those of `sls.run` like any others. An exact look-up costs
/// the same however many states there are.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "value/name.h"

namespace fettle::states {

/// Whether a text matches a pattern with `*`, `?` and `[…]`, as Python's `fnmatch` does.
bool matches(std::string_view pattern, std::string_view text);
bool is_pattern(std::string_view text);

class TargetIndex {
 public:
  /// Numbers must come in ascending order.
  void add(uint32_t number, const Name& state, const Name& id, const Name& name, const Name& sls);

  /// Appends what `state: target` names, ascending, each once.
  void find(const Name& state, const Name& target, std::vector<uint32_t>& found);
  bool has_state(const Name& state) const { return ids_by_state_.contains(state); }
  /// The state that a `state.function` probably means, or the state itself.
  Name state_of(const Name& state) const;
  /// `, did you mean …?` for a target that was not found.
  std::string suggestion_for(const Name& state, const Name& target) const;
  /// False: patterns took so many comparisons that no more are made.
  bool is_complete() const { return comparisons_ <= most_comparisons; }

 private:
  static constexpr uint64_t most_comparisons = 1'000'000'000;
  static constexpr uint32_t none = UINT32_MAX;

  struct Key {
    Name state;
    Name text;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return key.state.hash() * 31 + key.text.hash(); }
  };
  struct Item {
    Name state, id, name, sls;
    uint32_t number;
    uint32_t next_of_id = none;    ///< the next one with this state and ID
    uint32_t next_of_name = none;  ///< … and with this name, if that differs
  };
  /// The states with one text: the first and the last.
  struct Chain {
    uint32_t first, last;
  };
  using Chains = boost::unordered_flat_map<Key, Chain, KeyHash>;

  void find_exact(const Name& state, std::string_view id, std::vector<uint32_t>& found) const;
  void find_pattern(const Name& state, std::string_view pattern, std::vector<uint32_t>& found);
  void find_narrow(const Name& state, std::string_view id, std::string_view name,
                   std::vector<uint32_t>& found);
  void find_file(std::string_view ref, std::vector<uint32_t>& found);

  std::vector<Item> items_;
  Chains by_id_, by_name_;
  boost::unordered_flat_map<Name, std::vector<uint32_t>, NameHash> ids_by_state_;
  /// Results for patterns and files.
  boost::unordered_flat_map<Key, std::vector<uint32_t>, KeyHash> known_;
  uint64_t comparisons_ = 0;
};

}  // namespace fettle::states
