#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/kurtosis_forms.h"
#include "cli/print.h"
#include "documents/services.h"
#include "kinds/service.h"
#include "verbs/environments/services.h"

namespace fettle {
namespace {

/// The parts that `--format` names.
Result<std::string> port_text(const Face& face, const std::string& protocol,
                              const std::string& number) {
  const std::string asked = face.parsed.text("format");
  const std::string format = !asked.empty()     ? asked
                             : protocol.empty() ? "ip,number"
                                                : "protocol,ip,number";
  if (face.is_kurtosis || asked == "kurtosis")
    return kurtosis_port(asked.empty() || asked == "kurtosis" ? "protocol,ip,number" : asked,
                         protocol, number);
  std::string text;
  for (const std::string_view part : split(format, ',')) {
    if (part == "protocol")
      text += protocol.empty() ? "" : protocol + "://";
    else if (part == "ip")
      text += cat(text.empty() || text.ends_with("://") ? "" : " ", "127.0.0.1");
    else if (part == "number")
      text += cat(text.ends_with("127.0.0.1") ? ":" : text.empty() ? "" : " ", number);
    else
      return user_error(
          cat("unknown part `", part, "` of a port, expected protocol, ip or number"));
  }
  return text;
}

Result<int> run_port_print(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_of(face, 0));
  const size_t at = face.parsed.has("enclave") ? 0 : 1;
  const RecordPointer service =
      TRY(find_service(*place, environment.name, face.parsed.argument(at)));
  const std::string id = face.parsed.argument(at + 1);
  if (id.empty())
    return user_error("name the port: `fettle port print ENCLAVE SERVICE PORT`");
  const Dict ports = read_one<&ServiceOutputs::ports>(service->outputs);
  const Value* const port = ports.find(id);
  if (port == nullptr) {
    std::vector<std::string> ids;
    for (const Entry& entry : ports.entries())
      ids.push_back(entry.key.str());
    return user_error(cat("the service `", service->applied->key.name, "` has no port `", id, "`",
                          ids.empty()                   ? "; it has no ports"
                          : suggestion(id, ids).empty() ? "; it has " + join(ids, ", ")
                                                        : suggestion(id, ids)));
  }
  const int64_t open = read_one<&PortOutputs::public_port>(*port).value_or(0);
  if (open == 0)
    return world_error(cat("the port `", id, "` is not published on this machine"));
  const std::string number = std::to_string(open);
  const Dict asked = read_one<&Service::ports>(service->applied->attributes);
  const std::string protocol = read_one<&Port::application>(asked.at(id)).get().str();
  const std::string text = TRY(port_text(face, protocol, number));
  if (face.json)
    print_json(port_document(protocol, port->integer_at("public")));
  else
    print(text);
  return 0;
}

}  // namespace

Command port_print_command() {
  return CommandGroup{"services", {environment_option()}}.reader(
      "port print", "ENCLAVE SERVICE PORT", 2, 3,
      "Prints the address of a service's port on this machine.",
      {"fettle port print shop web http", "fettle port print shop web http --format number"},
      run_port_print,
      {{{"--format"},
        "PARTS",
        "protocol, ip and number, separated by commas; or kurtosis: as Kurtosis joins them"}});
}

}  // namespace fettle
