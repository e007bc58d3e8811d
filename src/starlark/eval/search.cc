#include "starlark/eval/texts.h"

namespace fettle::starlark {

bool find_charged(Vm& vm, std::string_view text, std::string_view wanted, size_t& at) {
  const size_t window = std::max<size_t>(65536, 4 * wanted.size());
  for (size_t from = 0;; from += window) {
    const std::string_view part = text.substr(from, window + wanted.size());
    const bool last = text.size() - from <= window;
    at = find_text(part, wanted);
    const bool found = at != std::string_view::npos;
    if (!charge_search(vm, found ? at + wanted.size() : part.size(), wanted.size()))
      return false;
    if (found)
      at += from;
    if (found || last)
      return true;
  }
}

}  // namespace fettle::starlark
