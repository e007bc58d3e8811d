#include "starlark/syntax/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>

#include "base/budget.h"

namespace fettle::starlark {

/// The first access to a small page costs as much as writing to it, so an arena that has become
/// large takes large pages.
void Arena::grow(size_t bytes) {
  constexpr size_t large = size_t{2} << 20;
  constexpr size_t many = 4;
  const bool is_large = blocks_.size() > many;
  size_t size = std::max<size_t>(bytes, blocks_.empty() ? 16 * 1024 : 512 * 1024);
  if (is_large)
    size = (size + large - 1) / large * large;
  const auto alignment =
      static_cast<std::align_val_t>(is_large ? large : alignof(std::max_align_t));
  auto* const block = static_cast<char*>(::operator new(size, alignment));
  if (is_large)
    madvise(block, size, MADV_HUGEPAGE);
  blocks_.emplace_back(block, Free{alignment});
  bytes_ += size;
  fettle::Budget::current().take(size);
  at_ = block;
  end_ = at_ + size;
}

}  // namespace fettle::starlark
