#include "workloads/read/gates.h"

#include <algorithm>

#include "base/text.h"

namespace fettle::workloads {
namespace {

constexpr std::string_view daemon_gate = "KruiseDaemon";

struct Gate {
  std::string_view name;
  bool Gates::* member;
  bool needs_daemon = false;  ///< it cannot be on while `KruiseDaemon` is off
};

constexpr Gate gates[] = {
    {"PreDownloadImageForInPlaceUpdate", &Gates::pre_download, true},
    {"PreDownloadImageForDaemonSetUpdate", &Gates::pre_download_daemon_set, true},
    {"CloneSetPartitionRollback", &Gates::partition_rollback},
    {"PreparingUpdateAsUpdate", &Gates::preparing_update_as_update},
    {"InPlaceWorkloadVerticalScaling", &Gates::resize},
    {"InPlaceUpdateEnvFromMetadata", &Gates::environment},
    {"RecreatePodWhenChangeVCTInCloneSetGate", &Gates::claim_hash},
    {"CloneSetShortHash", &Gates::short_hash},
};

Status check(const GateWords& words) {
  const auto daemon = words.find(std::string(daemon_gate));
  if (daemon == words.end() || daemon->second)
    return {};
  for (const Gate& gate : gates)
    if (const auto found = words.find(std::string(gate.name));
        gate.needs_daemon && found != words.end() && found->second)
      return user_error(
          cat("gate `", gate.name, "` cannot be on while `", daemon_gate, "` is off"));
  return {};
}

}  // namespace

Result<GateWords> read_gates(std::string_view text) {
  GateWords words;
  std::vector<std::string> names{std::string(daemon_gate)};
  for (const Gate& gate : gates)
    names.emplace_back(gate.name);
  for (const std::string_view each : split(text, ',')) {
    if (trim(each).empty())
      continue;
    const size_t equals = each.find('=');
    const std::string name(trim(each.substr(0, equals)));
    const std::string value =
        equals == each.npos ? std::string() : lower_case(trim(each.substr(equals + 1)));
    if (std::ranges::find(names, name) == names.end())
      return user_error(cat("unknown gate `", clipped(printable(name), 80), "`",
                            suggestion(name, names), "; known are ", join(names, ", ")));
    if (value != "true" && value != "false")
      return user_error(cat("gate `", name, "` must be `true` or `false`, not `",
                            clipped(printable(value), 40), "`"));
    words[name] = value == "true";
  }
  TRY(check(words));
  return words;
}

Result<GateWords> merged_gates(GateWords before, const GateWords& words) {
  // An earlier setting gives way when the gate that it depends on is turned off.
  if (const auto daemon = words.find(std::string(daemon_gate));
      daemon != words.end() && !daemon->second)
    for (const Gate& gate : gates)
      if (gate.needs_daemon)
        before.erase(std::string(gate.name));
  for (const auto& [name, is_on] : words)
    before[name] = is_on;
  TRY(check(before));
  return before;
}

Gates gates_of(const GateWords& words) {
  Gates found;
  const auto daemon = words.find(std::string(daemon_gate));
  found.daemon = daemon == words.end() || daemon->second;
  for (const Gate& gate : gates) {
    if (const auto said = words.find(std::string(gate.name)); said != words.end())
      found.*gate.member = said->second;
    if (gate.needs_daemon && !found.daemon)
      found.*gate.member = false;
  }
  return found;
}

Value value_of(const GateWords& words) {
  std::vector<Entry> entries;
  for (const auto& [name, is_on] : words)
    entries.push_back({name, is_on});
  return Value::dict(std::move(entries));
}

GateWords gate_words_of(const Value& value) {
  GateWords words;
  if (value.is_dict())
    for (const Entry& entry : value.entries())
      words[entry.key.str()] = entry.value == Value(true);
  return words;
}

}  // namespace fettle::workloads
