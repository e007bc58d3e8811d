#include "remote/seats.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/text.h"

namespace fettle {

static_assert(std::atomic<Visitor>::is_always_lock_free, "processes share them");

void Seats::SeatsRelease::operator()(std::atomic<Visitor>* all) const { munmap(all, size); }

Seats::Seats(std::atomic<Visitor>* all, size_t count)
    : memory_(all, SeatsRelease{count * sizeof(*all)}), all_(all, count) {}

Result<Seats> Seats::make(size_t count) {
  void* const memory = mmap(nullptr, count * sizeof(std::atomic<Visitor>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return world_error(cat("no memory can be shared: ", lower_case(std::strerror(errno))));
  auto* const all = static_cast<std::atomic<Visitor>*>(memory);
  for (size_t i = 0; i < count; ++i)
    new (all + i) std::atomic<Visitor>(Visitor::nobody);
  return Seats(all, count);
}

std::optional<size_t> Seats::take(Visitor visitor) {
  const auto seat =
      std::ranges::find_if(all_, [](const auto& one) { return one.load() == Visitor::nobody; });
  if (seat == all_.end())
    return std::nullopt;
  *seat = visitor;
  return static_cast<size_t>(seat - all_.begin());
}

void Seats::keep_from_children() { madvise(memory_.get(), all_.size_bytes(), MADV_DONTFORK); }

size_t Seats::count(Visitor visitor) const {
  return static_cast<size_t>(
      std::ranges::count_if(all_, [&](const auto& one) { return one.load() == visitor; }));
}

bool Seats::move(size_t seat, Visitor visitor, size_t most) {
  const Visitor before = all_[seat].exchange(visitor);
  // Two who come at once may both find that they are too many; no one too many comes in.
  if (count(visitor) <= most)
    return true;
  all_[seat] = before;
  return false;
}

}  // namespace fettle
