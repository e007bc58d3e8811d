/// Single pods: `logs`, `pod exec`, `cp`, `describe pod`.

#include "verbs/fleet/pods.h"

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/service_common.h"
#include "cli/commands/workload_common.h"
#include "cli/formats.h"
#include "cli/named_files.h"
#include "cli/print.h"
#include "documents/containers.h"
#include "documents/workloads.h"
#include "verbs/fleet/pod_document.h"

namespace fettle {
namespace {

/// `web-1`, `pod/web-1`.
std::string pod_name(std::string name) {
  for (const std::string_view kind : {"pod/", "pods/", "po/"})
    if (name.starts_with(kind))
      return name.substr(kind.size());
  return name;
}

struct ChosenPod {
  Workplace* place;
  PodContainerView container;
};

Result<ChosenPod> choose(Face& face, const std::string& pod) {
  Workplace* place = TRY(face.workplace());
  std::vector<std::string> others;
  PodContainerView found = TRY(find_container(*place, fleet_of(face), space_of(face), pod_name(pod),
                                              face.parsed.text("container"), &others));
  if (!face.parsed.has("container") && !others.empty() && !face.quiet)
    print_error(cat("container `", found.container,
                    "` is used; `-c NAME` chooses another one: ", join(others, ", ")));
  return ChosenPod{place, std::move(found)};
}

/// Into the document as values where there is one, else to the terminal as they are.
Status tell_logs(const ChosenPod& chosen, const LogOptions& options, LineDocument* document) {
  const auto read = [&](const StreamSink& sink) {
    return read_pod_logs(*chosen.place, chosen.container, options, sink,
                         chosen.place->interrupt->acts_token());
  };
  if (document == nullptr)
    return read(to_terminal);
  return tell_lines_as_values(
      {{"pod", chosen.container.pod}, {"container", chosen.container.container}}, {},
      document->sink(), read);
}

Result<int> pod_logs(Face& face) {
  LogOptions options;
  options.follow = face.parsed.flag("follow");
  options.timestamps = face.parsed.flag("timestamps");
  const int64_t tail = TRY(face.parsed.number("tail", -1));
  if (tail < -1)
    return user_error(cat("`--tail` must be a number of lines, not ", tail));
  options.tail = static_cast<int>(std::min<int64_t>(tail, INT32_MAX));
  const bool as_values = face.json || face.json_lines;
  options.timestamps |= as_values;
  const Workplace& place = *TRY(face.workplace());
  options.since = TRY(moment_asked(face, place, "since"));
  options.until = TRY(moment_asked(face, place, "until"));
  const ChosenPod chosen = TRY(choose(face, face.parsed.argument(0)));
  LineDocument document(face);
  const Status told = tell_logs(chosen, options, as_values ? &document : nullptr);
  const bool was_interrupted = chosen.place->interrupt->asked() > 0;
  if (!was_interrupted)
    TRY(told);
  document.end();
  return was_interrupted ? interrupted_code : 0;
}

Result<int> pod_exec(Face& face) {
  ExecOptions options;
  options.command.assign(face.parsed.arguments.begin() + 1, face.parsed.arguments.end());
  options.user = face.parsed.text("user");
  options.input = face.parsed.flag("interactive");
  options.tty = face.parsed.flag("tty");
  ExecOutput output(face);
  TRY(output.check(options));
  const ChosenPod chosen = TRY(choose(face, face.parsed.argument(0)));
  const std::stop_token stop = chosen.place->interrupt->acts_token();
  if (!options.input && !options.tty)
    return output.end(
        TRY(run_in_pod(*chosen.place, chosen.container, options, output.sink(), stop)));
  return output.end(
      TRY(talk_with(std::move(options), [&](const ExecOptions& with, const TalkEnds& ends) {
        return talk_in_pod(*chosen.place, chosen.container, with, ends, output.sink(), stop);
      })));
}

/// `POD:PATH` as two; nothing before a colon is a path of this machine.
std::pair<std::string, std::string> place_of(const std::string& word) {
  const size_t colon = word.find(':');
  if (colon == word.npos || word.find('/') < colon)
    return {"", word};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

Result<int> pod_copy(Face& face) {
  const auto [from_pod, from] = place_of(face.parsed.argument(0));
  const auto [to_pod, to] = place_of(face.parsed.argument(1));
  if (from_pod.empty() == to_pod.empty())
    return user_error("one side must be in a pod, `POD:PATH`, and the other on this machine");
  if (from.empty() || to.empty())
    return user_error("both sides need a path");
  const ChosenPod chosen = TRY(choose(face, from_pod.empty() ? to_pod : from_pod));
  const std::stop_token stop = chosen.place->interrupt->acts_token();
  TRY(from_pod.empty() ? copy_in(*chosen.place, chosen.container, from, to, stop)
                       : copy_out(*chosen.place, chosen.container, from, to, stop));
  if (face.json)
    print_json(copy_document(face.parsed.argument(0), face.parsed.argument(1)));
  return 0;
}

std::string pairs_text(const Value& dict) {
  std::vector<std::string> texts;
  if (dict.is_dict())
    for (const Entry& entry : dict.entries())
      texts.push_back(cat(entry.key, "=", to_text(entry.value)));
  return texts.empty() ? "<none>" : join(texts, ", ");
}

std::string state_text(const Value& state) {
  if (!state.is_dict() || state.entries().empty())
    return "Unknown";
  const Entry& entry = state.entries()[0];
  if (entry.key == "running")
    return "Running";
  const std::string reason(entry.value.text_at("reason"));
  const std::string name = entry.key == "waiting" ? "Waiting" : "Terminated";
  return reason.empty() ? name : cat(name, " (", reason, ")");
}

void print_containers(const Value& document, const char* spec, const char* statuses) {
  const Value &containers = document.at("spec").at(spec),
              &rows = document.at("status").at(statuses);
  if (!containers.is_list())
    return;
  std::vector<std::vector<std::string>> all{{"  CONTAINER", "IMAGE", "STATE", "READY", "RESTARTS"}};
  for (const Value& container : containers.items()) {
    const std::string name(container.text_at("name"));
    Value row;
    if (rows.is_list())
      for (const Value& each : rows.items())
        if (each.text_at("name") == name)
          row = each;
    all.push_back({cat("  ", name), std::string(container.text_at("image")),
                   row.is_null() ? "Missing" : state_text(row.at("state")),
                   row.bool_at("ready") ? "true" : "false",
                   std::to_string(row.integer_at("restartCount"))});
  }
  print(table(all));
}

void print_pod_document(const Value& document) {
  const Value &metadata = document.at("metadata"), &status = document.at("status");
  const auto line = [](std::string_view name, std::string_view text) {
    print(cat(name, ":", std::string(name.size() < 12 ? 13 - name.size() : 1, ' '),
              text.empty() ? "<none>" : text));
  };
  line("Name", metadata.text_at("name"));
  line("Namespace", metadata.text_at("namespace"));
  line("Node", node_text(document.at("spec").text_at("nodeName")));
  line("Labels", pairs_text(metadata.at("labels")));
  line("Annotations", pairs_text(metadata.at("annotations")));
  line("Status", pod_row_text(document).status);
  if (!status.text_at("message").empty())
    line("Message", status.text_at("message"));
  line("IP", status.text_at("podIP"));
  print("Containers:");
  if (document.at("spec").at("initContainers").is_list())
    print_containers(document, "initContainers", "initContainerStatuses");
  print_containers(document, "containers", "containerStatuses");
  const Value& conditions = status.at("conditions");
  if (!conditions.is_list())
    return;
  std::vector<std::vector<std::string>> rows{{"  CONDITION", "STATUS", "SINCE", "MESSAGE"}};
  for (const Value& each : conditions.items())
    rows.push_back({cat("  ", each.text_at("type")), std::string(each.text_at("status")),
                    std::string(each.text_at("lastTransitionTime")),
                    std::string(each.text_at("message"))});
  print("Conditions:");
  print(table(rows));
}

Result<int> pod_describe(Face& face) {
  Workplace* place = TRY(face.workplace());
  const PodDescription found =
      TRY(describe_pod(*place, fleet_of(face), space_of(face), pod_name(face.parsed.argument(0))));
  const Value answer = document_of(*place, found);
  if (const Format& format = format_of(face.output); format.kind != Format::Kind::text) {
    format.print(answer);
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"  TIME", "EVENT", "TEXT"}};
  for (const Event& event : found.events)
    rows.push_back({cat("  ", to_string(event.time)),
                    cat(to_string(event.type), " ", to_string(event.verb)), event.text});
  print_pod_document(answer.at("pod"));
  print("Events:");
  print(table(rows));
  return 0;
}

}  // namespace

std::vector<Command> pod_commands() {
  const CommandGroup group{"workloads", workload_options()};
  const CommandOption container{
      {"-c", "--container"}, "NAME", "the container (default: the first)"};
  Command description = group.reader(
      "describe pod", "NAME", 1, 1, "Describes a pod: containers, conditions and events.",
      {"fettle describe pod web-x2x7k", "fettle describe pod web-x2x7k -o json"}, pod_describe);
  description.outputs = {"yaml"};
  const std::vector<CommandOption> talking = talk_options();
  Command logging = group.reader(
      "logs", "POD", 1, 1, "Shows the logs of a container of a pod.",
      {"fettle logs web-x2x7k --tail 20", "fettle logs web-x2x7k -c main -f"}, pod_logs,
      {container,
       {{"-f", "--follow"}, "", "follow new lines"},
       {{"--tail"}, "LINES", "the last N lines (default: all)"},
       {{"--since"}, "WHEN", "only lines since then: an age such as 10m, or a time"},
       {{"--until"}, "WHEN", "only lines until then"},
       {{"--timestamps"}, "", "show the time of each line"}});
  logging.tells_lines = true;
  return {
      description, logging,
      group.reader(
          "pod exec", "POD -- COMMAND…", 2, 999,
          "Runs a command in a container of a pod and ends with its exit code.",
          {"fettle pod exec web-x2x7k -- ls /etc", "fettle pod exec -it web-x2x7k -c main -- sh"},
          pod_exec,
          {container, {{"-u", "--user"}, "USER", "the user who runs it"}, talking[0], talking[1]}),
      with_files(group.make("cp", "FROM TO", 2, 2,
                            "Copies a file or folder out of a pod, `POD:PATH`, or into it.",
                            {"fettle cp web-x2x7k:/etc/hosts hosts",
                             "fettle cp page.html web-x2x7k:/www/"},
                            pod_copy, {container}),
                 [](const CommandLine& parsed, NamedFiles& named) {
                   name_copied(parsed.argument(0), parsed.argument(1), named);
                 })};
}

}  // namespace fettle
