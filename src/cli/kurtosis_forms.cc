#include "cli/kurtosis_forms.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "base/text.h"
#include "cli/columns.h"
#include "kinds/service.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t gap = 3;  ///< between columns
constexpr size_t header_width = 100;
constexpr size_t short_uuid_digits = 12;

std::string cut_uuid(const std::string& uuid, bool is_whole) {
  return is_whole ? uuid : uuid.substr(0, short_uuid_digits);
}

/// `===== User Services =====`, a line of about `header_width`.
std::string section(std::string_view title) {
  const std::string bar((header_width - title.size() - 2) / 2, '=');
  return cat(bar, " ", title, " ", bar);
}

/// An enclave of Kurtosis runs as soon as it exists, also without services.
std::string environment_status(const std::string& status) {
  return status == "deployed" || status == "empty" ? "RUNNING" : upper_case(status);
}

std::string service_status(const std::string& status) {
  return status == "running"                         ? "RUNNING"
         : status == "stopped" || status == "failed" ? "STOPPED"
                                                     : "UNKNOWN";
}

std::string line_of_value(const Value& value) {
  return value.is_text() ? value.text().str() : write_json(value);
}

/// `  VALUE` on a line for each.
std::string list_lines(const Value& list) {
  std::string lines;
  if (list.is_list())
    for (const Value& item : list.items())
      lines += cat("\n  ", line_of_value(item));
  return lines;
}

std::string pair_lines(const Value& dict) {
  std::string lines;
  if (dict.is_dict())
    for (const Entry& entry : dict.entries())
      lines += cat("\n  ", entry.key, ": ", line_of_value(entry.value));
  return lines;
}

}  // namespace

CommandOption kurtosis_form_option() {
  return {{"--format"}, "kurtosis", "the form that Kurtosis prints, for scripts that cut it apart",
          false,        false,      {"kurtosis"}};
}

Result<bool> has_kurtosis_form(const Face& face) {
  const std::string form = face.parsed.text("format");
  if (!form.empty() && form != "kurtosis")
    return user_error(cat("unknown form `", printable(form), "`; `--format` takes kurtosis"));
  return face.is_kurtosis || !form.empty();
}

std::string kurtosis_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  std::string text;
  for (const auto& row : rows) {
    text += text.empty() ? "" : "\n";
    for (size_t i = 0; i < row.size(); ++i)
      text +=
          row[i] + std::string(i + 1 < row.size() ? widths[i] - width_of(row[i]) + gap : 0, ' ');
  }
  return text;
}

std::string kurtosis_time(Time time) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm parts{};
  std::array<char, 64> text{};
  if (localtime_r(&seconds, &parts) == nullptr)
    return {};
  return {text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S %Z", &parts)};
}

std::vector<std::string> kurtosis_ports(const ServiceView& service) {
  if (service.outputs.is_null())
    return {"<none>"};
  std::vector<std::string> lines;
  const Dict asked = read_one<&Service::ports>(service.attributes),
             ports = read_one<&ServiceOutputs::ports>(service.outputs);
  for (const Entry& entry : ports.entries()) {
    const PortOutputs port = read<PortOutputs>(entry.value);
    const Hole<Name> application = read_one<&Port::application>(asked.at(entry.key));
    std::string& line = lines.emplace_back(
        cat(entry.key, ": ", port.number, "/", lower_case(port.transport.view())));
    if (const int64_t open = port.public_port.value_or(0); open > 0 && service.status == "running")
      line += cat(" -> ", application.empty() ? "" : cat(application.view(), "://"),
                  "127.0.0.1:", open);
  }
  if (lines.empty())
    lines.emplace_back("<none>");
  return lines;
}

std::string kurtosis_environments(std::vector<std::pair<Environment, std::string>> environments,
                                  bool has_whole_uuids) {
  std::ranges::sort(environments, [](const auto& a, const auto& b) {
    return std::pair(a.first.created, a.first.name.view()) <
           std::pair(b.first.created, b.first.name.view());
  });
  std::vector<std::vector<std::string>> rows{{"UUID", "Name", "Status", "Creation Time"}};
  for (const auto& [environment, status] : environments)
    rows.push_back(
        {cut_uuid(environment.uuid, has_whole_uuids), environment.name.str(),
         environment_status(status),
         environment.uuid.empty() ? std::string() : cat(" ", kurtosis_time(environment.created))});
  return kurtosis_table(rows);
}

std::string kurtosis_environment(const EnvironmentView& view, bool has_whole_uuids) {
  const Environment& environment = view.environment;
  std::vector<std::vector<std::string>> files{{"UUID", "Name"}},
      services{{"UUID", "Name", "Ports", "Status"}};
  for (const ArtifactView& artifact : view.artifacts)
    files.push_back({cut_uuid(artifact.uuid, has_whole_uuids), artifact.name});
  for (const ServiceView& service : view.services) {
    const std::vector<std::string> ports = kurtosis_ports(service);
    for (size_t i = 0; i < ports.size(); ++i)
      services.push_back({i == 0 ? cut_uuid(service.uuid, has_whole_uuids) : "",
                          i == 0 ? service.name : "", ports[i],
                          i == 0 ? service_status(service.status) : ""});
  }
  const bool is_production = environment.detail.bool_at("production");
  return cat(kurtosis_table({{"Name:", environment.name.str()},
                             {"UUID:", cut_uuid(environment.uuid, has_whole_uuids)},
                             {"Status:", environment_status(view.status)},
                             {"Creation Time:", kurtosis_time(environment.created)},
                             {"Flags:", is_production ? "production" : ""}}),
             "\n\n", section("Files Artifacts"), "\n", kurtosis_table(files), "\n\n",
             section("User Services"), "\n", kurtosis_table(services), "\n");
}

std::string kurtosis_service(const ServiceView& service, const Value& attributes,
                             bool has_whole_uuid) {
  std::string ports;
  for (const std::string& line : kurtosis_ports(service))
    ports += cat("\n  ", line);
  return cat("Name: ", service.name, "\nUUID: ", cut_uuid(service.uuid, has_whole_uuid),
             "\nStatus: ", service_status(service.status),
             "\nImage: ", line_of_value(attributes.at("image")), "\nPorts:", ports,
             "\nENTRYPOINT:", list_lines(attributes.at("entrypoint")),
             "\nCMD:", list_lines(attributes.at("cmd")),
             "\nENV:", pair_lines(attributes.at("env")));
}

Result<std::string> kurtosis_port(std::string_view parts, const std::string& protocol,
                                  std::string_view number) {
  constexpr std::array<std::string_view, 3> known{"protocol", "ip", "number"};
  const std::vector<std::string_view> asked = split(parts, ',');
  std::vector<size_t> places;
  for (const std::string_view part : asked) {
    const auto found = std::ranges::find(known, part);
    if (found == known.end())
      return user_error(
          cat("unknown part `", printable(part), "` of a port, expected protocol, ip or number"));
    places.push_back(static_cast<size_t>(found - known.begin()));
  }
  if (!std::ranges::is_sorted(places))
    return user_error("the parts of a port must be in the order protocol, ip, number");
  const bool is_alone = asked.size() == 1;
  std::string text;
  for (const size_t place : places)
    text += place == 0   ? protocol.empty() || is_alone ? protocol : cat(protocol, "://")
              : place == 1 ? std::string("127.0.0.1")
                         : cat(is_alone ? "" : ":", number);
  return text;
}

std::string kurtosis_version_text(std::string_view own_version) {
  return cat("CLI Version:   ", kurtosis_version,
             "\n\nTo see the engine version (provided it is running): kurtosis engine status\n"
             "This is fettle ",
             own_version, ", called by the name of Kurtosis.");
}

std::string kurtosis_engine_text(bool is_running) {
  return is_running ? cat("A Kurtosis engine is running with the following info:\nVersion:   ",
                          kurtosis_version)
                    : std::string("No Kurtosis engine is running");
}

}  // namespace fettle
