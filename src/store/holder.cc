#include "store/holder.h"

#include <array>

#include <unistd.h>

#include "base/text.h"

namespace fettle {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

Holder this_process(std::string what, Time now, Holder::Role role) {
  return {static_cast<int64_t>(getpid()), host_name(), std::move(what), now, role};
}

std::string to_string(const Holder& holder) {
  const bool is_here = holder.machine.empty() || holder.machine == host_name();
  return cat("`", holder.what, "` (process ", holder.process,
             is_here ? "" : cat(" of ", holder.machine), ", since ", to_string(holder.since), ")");
}

}  // namespace fettle
