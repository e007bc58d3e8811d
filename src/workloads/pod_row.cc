#include "workloads/pod_row.h"

#include <algorithm>
#include <array>

namespace fettle::workloads {
namespace {

constexpr std::array<std::string_view, 7> names{
    "", "PreparingNormal", "Normal", "PreparingUpdate", "Updating", "Updated", "PreparingDelete"};

}  // namespace

const PodTag PodRow::nobody;

std::string_view to_string(Lifecycle lifecycle) { return names[static_cast<size_t>(lifecycle)]; }

const Name& name_of(Lifecycle lifecycle) {
  static const std::array<Name, names.size()> shared = [] {
    std::array<Name, names.size()> made;
    std::ranges::copy(names, made.begin());
    return made;
  }();
  return shared[static_cast<size_t>(lifecycle)];
}

Lifecycle lifecycle_of(std::string_view text) {
  for (size_t i = 1; i < names.size(); ++i)
    if (names[i] == text)
      return static_cast<Lifecycle>(i);
  return Lifecycle::none;
}

bool may_be_held(Lifecycle lifecycle) {
  return lifecycle == Lifecycle::preparing_normal || lifecycle == Lifecycle::preparing_update ||
         lifecycle == Lifecycle::updated || lifecycle == Lifecycle::preparing_delete;
}

}  // namespace fettle::workloads
