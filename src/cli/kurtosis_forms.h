#pragma once
/// Answers in the forms of Kurtosis, line by line and column by column, for scripts that cut them
/// apart with `awk`, `grep` and `sed`: for a program that is called `kurtosis`, or `--format
/// kurtosis`. Fixed: headings, the order of columns, three blanks between them, short uuids, one
/// line for each port. Without colours, which the original leaves out for scripts, too.

#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "verbs/environments/environments.h"

namespace fettle {

/// The release whose forms these are.
inline constexpr std::string_view kurtosis_version = "1.20.0";

CommandOption kurtosis_form_option();
/// Whether an answer has them. Error (`Blame::user`): `--format` names others.
Result<bool> has_kurtosis_form(const Face& face);

/// Columns as wide as they need, three blanks between; the first row is the heading.
std::string kurtosis_table(const std::vector<std::vector<std::string>>& rows);
/// `Mon, 02 Jan 2006 15:04:05 CET`, in the zone of this machine.
std::string kurtosis_time(Time time);
/// `http: 80/tcp -> http://127.0.0.1:32768`, one for each port; `<none>` if there is none.
std::vector<std::string> kurtosis_ports(const ServiceView& service);

/// `enclave ls`, with the status of each, sorted by the time at which they were made.
std::string kurtosis_environments(std::vector<std::pair<Environment, std::string>> environments,
                                  bool has_whole_uuids);
/// `enclave inspect`.
std::string kurtosis_environment(const EnvironmentView& view, bool has_whole_uuids);
/// `service inspect`. `attributes`: as they may be shown.
std::string kurtosis_service(const ServiceView& service, const Value& attributes,
                             bool has_whole_uuid);
/// `port print --format PARTS`. `protocol` may be empty. Error (`Blame::user`): an unknown part, or
/// parts in another order than protocol, ip, number.
Result<std::string> kurtosis_port(std::string_view parts, const std::string& protocol,
                                  std::string_view number);
/// `version` and `engine status`.
std::string kurtosis_version_text(std::string_view own_version);
std::string kurtosis_engine_text(bool is_running);

}  // namespace fettle
