#pragma once
/// Names as small numbers, so that evaluation never compares texts.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fettle::model {

using Symbol = uint32_t;

class Symbols {
 public:
  Symbol intern(std::string_view name) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end())
      return found->second;
    names_.emplace_back(name);
    const Symbol number = static_cast<Symbol>(names_.size() - 1);
    numbers_.emplace(names_.back(), number);
    return number;
  }
  const std::string& name(Symbol symbol) const { return names_[symbol]; }
  size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, Symbol> numbers_;
};

}  // namespace fettle::model
