#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/text.h"
#include "store/store.h"

namespace fettle {
namespace {

/// When a process started, in clock ticks since the boot; empty when there is no such process.
std::string start_of(int64_t process) {
  std::ifstream file(cat("/proc/", process, "/stat"));
  std::string line;
  std::getline(file, line);
  // The name in brackets may hold anything; the fields that follow it are plain.
  const size_t bracket = line.rfind(')');
  if (bracket == line.npos)
    return {};
  const auto fields = split(std::string_view(line).substr(bracket + 2), ' ');
  constexpr size_t start_field = 19;  // the 22nd of the line
  const bool zombie = !fields.empty() && fields[0] == "Z";
  return fields.size() > start_field && !zombie ? std::string(fields[start_field]) : std::string();
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace

Holder this_process(std::string what, Time now) {
  const auto process = static_cast<int64_t>(getpid());
  return {process, start_of(process), boot_id(), std::move(what), now};
}

bool is_alive(const Holder& holder) {
  return holder.boot == boot_id() && !holder.process_started.empty() &&
         start_of(holder.process) == holder.process_started;
}

}  // namespace fettle
