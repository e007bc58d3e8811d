#include "starlark/code/code.h"

#include <algorithm>

namespace fettle::starlark {

uint32_t Code::place_of(uint32_t pc) const {
  if (pc == 0)  // not begun
    return entry_at;
  --pc;
  auto after =
      std::upper_bound(places.begin(), places.end(), pc,
                       [](uint32_t value, const PlaceEntry& entry) { return value < entry.pc; });
  return after == places.begin() ? at : std::prev(after)->at;
}

Code::Code()
    : id([] {
        static std::atomic<uint64_t> next{1};
        return next.fetch_add(1, std::memory_order_relaxed);
      }()) {}

Code::~Code() {
  for (Binding8* binding = bindings.load(); binding != nullptr;) {
    Binding8* next = binding->next;
    delete binding;
    binding = next;
  }
}

Where ModuleState::where(uint32_t at) const {
  std::call_once(has_lines_, [this] { lines_.emplace(source); });
  const auto [line, column] = lines_->at(at);
  return {file, line, column};
}

ModuleState::~ModuleState() {
  for (Code* code : codes)
    code->~Code();
}

}  // namespace fettle::starlark
