/// `controller`: keeps all workloads of a fleet as they are wanted.

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"
#include "documents/events.h"
#include "documents/workloads.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

/// Says what is done, as it happens.
class ControllerTeller : public Audience {
 public:
  ControllerTeller(const Face& face) : face_(face) {}
  void event(const Event& event) override {
    if (face_.json_lines) {
      print_json_line(line_of(event));
      return;
    }
    const bool matters = event.type == EventType::done || event.type == EventType::failed;
    const Name& kind = event.key.kind;
    if (!matters || face_.quiet || face_.json ||
        (kind != "pod" && kind != "image" && kind != "claim"))
      return;
    std::string line = cat(to_string(event.time), " ", to_string(event.type), " ",
                           to_string(event.verb), " ", shown_key(event.key));
    if (!event.text.empty())
      line += cat(": ", event.text);
    print(event.type == EventType::failed ? in(Colour::red, line, face_.colour) : line);
  }

 private:
  const Face& face_;
};

Result<int> keep(Face& face) {
  Workplace* place = TRY(face.workplace());
  place->command = "fettle controller";
  place->role = Holder::Role::controller;
  if (const std::string gates = face.parsed.text("feature-gates"); !gates.empty())
    TRY(put_gates(*place, fleet_of(face), gates));
  ControllerTeller teller(face);
  BringOptions options;
  options.keeps = true;
  options.wait_for_others = !face.parsed.flag("no-lease-wait");
  options.audience = &teller;
  const bool speaks = !face.quiet && !face.json && !face.json_lines;
  if (speaks)
    print_error(cat("keeping the workloads of `", fleet_of(face), "`; press Ctrl-C to stop"));
  place->interrupt->expect();
  const BringResult brought = TRY(bring_workloads(*place, fleet_of(face), options));
  if (face.json)
    print_json(document_of(brought));
  if (speaks)
    print_error("stopped; the workloads keep running");
  return 0;
}

}  // namespace

Command controller_command() {
  Command command = CommandGroup{"workloads", {workload_options()[0]}}.reader(
      "controller", "", 0, 0,
      "Keeps the workloads of a fleet as their manifests say, until you stop it.\n"
      "Handles probes, restarts, lost nodes, hooks, and what `apply` stores in the meantime.",
      {"fettle controller", "fettle controller -e fleet --output jsonl"}, keep, {gates_option()});
  command.tells_lines = true;
  return command;
}

}  // namespace fettle
