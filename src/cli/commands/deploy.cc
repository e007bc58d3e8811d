#include "cli/commands/deploy.h"

#include "base/node_name.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "documents/deployments.h"
#include "documents/events.h"
#include "verbs/environments/plan_files.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

Colour colour_of(DeployState state) {
  switch (state) {
    case DeployState::deployed:
      return Colour::green;
    case DeployState::failed:
      return Colour::red;
    default:
      return Colour::yellow;
  }
}

Colour colour_of(LeftResource::Fate fate) {
  switch (fate) {
    case LeftResource::Fate::failed:
      return Colour::red;
    case LeftResource::Fate::skipped:
      return Colour::yellow;
    default:
      return Colour::grey;
  }
}

/// Tells of events as lines of JSON while they happen.
class EventTeller : public Audience {
 public:
  explicit EventTeller(const Face& face) : face_(face) {}
  void event(const Event& event) override {
    if (face_.json_lines)
      print_json_line(line_of(event));
  }

 private:
  const Face& face_;
};

/// Unchanged resources are only counted. With `--quiet`, only those that are not as wanted are
/// shown.
void print_resources(const Face& face, const ApplyReport& report) {
  for (const DeployedResource& resource : report.resources) {
    const bool is_told =
        resource.state != DeployState::deployed || resource.changed || !resource.printed.empty();
    if (!is_told || (face.quiet && resource.state == DeployState::deployed))
      continue;
    print(cat(in(colour_of(resource.state), to_string(resource.state), face.colour), " ",
              resource.id, resource.why.empty() ? "" : cat(": ", hanging(resource.why, 4))));
    print_changes(face, resource.changes);
    for (const std::string& line : resource.printed)
      print(cat("    ", in(Colour::grey, "printed: ", face.colour), line));
  }
  for (const LeftResource& left : report.left)
    if (!left.error.empty() || !face.quiet)
      print(cat(in(colour_of(left.fate), to_string(left.fate), face.colour), " ",
                shown_key(left.key), left.error.empty() ? "" : cat(": ", hanging(left.error, 4)),
                left.why.empty() ? "" : cat(": ", left.why)));
}

void print_summary(const Face& face, const ApplyReport& report) {
  std::string text = cat("version ", report.version, ": ", report.count(DeployState::deployed),
                         " of ", report.resources.size(), " deployed");
  for (int i = 1; i <= static_cast<int>(DeployState::available); ++i)
    if (const size_t count = report.count(static_cast<DeployState>(i)); count > 0)
      text += cat(", ", count, " ", to_string(static_cast<DeployState>(i)));
  text += orphans_text(report.orphans, report.shared, {}, "");
  print_error(
      in(Colour::grey, cat(text, ", ", short_duration(report.took.count())), face.terminal));
}

}  // namespace

CommandOption agent_option() {
  return {{"--agent"},
          "NAME=URI",
          "where the resources of an agent of the model are: `local:` is this machine, "
          "`agent://HOST` that of `fettle agent`; may be repeated",
          true};
}

CommandOption allow_undeclared_option() {
  return {{"--allow-undeclared"}, "", "leave out resources of which no type is declared"};
}

Status read_agents(const Face& face, ApplyRequest& request) {
  for (const std::string& agent : face.parsed.all("agent")) {
    const size_t equals = agent.find('=');
    if (equals == agent.npos || equals == 0)
      return user_error(cat("`--agent` must be NAME=URI, such as web1=local:, not `", agent, "`"));
    const std::string uri = agent.substr(equals + 1);
    if (constexpr std::string_view scheme = "agent://"; uri.starts_with(scheme))
      TRY(check_node_name(uri.substr(scheme.size()), "an agent"));
    request.agents[agent.substr(0, equals)] = uri;
  }
  return {};
}

void note_plan_file(const Face& face, const Workplace& place, const std::string& file) {
  if (is_standard_output(file))
    return;
  if (const Status noted = remember_plan_file(place.home, file); !noted)
    print_warning(face,
                  cat("the plan is not in the list of kept plans: ", to_string(noted.error())));
}

Result<std::optional<KeptPlan>> kept_plan_asked(const Face& face, std::string_view environment) {
  const std::string file = face.parsed.text("plan");
  if (file.empty())
    return std::optional<KeptPlan>();
  KeptPlan kept = TRY(read_plan_file(TRY(read_given(file)), shown_file(file)));
  if (kept.environment != environment)
    return user_error(
        cat("the plan `", file, "` is for `", kept.environment, "`, not for `", environment, "`"));
  return std::optional(std::move(kept));
}

std::vector<CommandOption> deploy_options() {
  return {
      agent_option(),
      {{"--prune"}, "", "remove what is no longer in the model (default: keep it as an orphan)"},
      {{"--parallelism"}, "N", "how many acts run at the same time (4)"},
      on_option()};
}

Result<ApplyRequest> deploy_request(const Face& face) {
  ApplyRequest request;
  for (const char* option : {"agent", "prune", "parallelism", "on"})
    if (face.parsed.has(option) && !face.parsed.flag("apply") && !face.parsed.has("plan"))
      return user_error(cat("`--", option, "` needs `--apply`"));
  TRY(read_agents(face, request));
  request.prune = face.parsed.flag("prune");
  const int64_t parallelism = TRY(face.parsed.number("parallelism", 4));
  if (parallelism < 1 || parallelism > 10'000)
    return user_error(cat("`--parallelism` must be a number from 1 to 10000, not ", parallelism));
  request.parallelism = static_cast<int>(parallelism);
  request.wait = !face.parsed.flag("no-lease-wait");
  return request;
}

Result<int> deploy(Face& face, const ApplyRequest& request) {
  Workplace* place = TRY(face.workplace());
  EventTeller teller(face);
  const ApplyReport report = TRY(apply_version(*place, request, &teller));
  if (face.json) {
    print_json(document_of(report));
  } else if (face.json_lines) {
    for (const DeployedResource& resource : report.resources)
      print_json_line(value_of(resource));
    for (const LeftResource& left : report.left)
      print_json_line(value_of(left));
    print_json_line(summary_of(report));
  } else {
    print_resources(face, report);
    if (!face.quiet)
      print_summary(face, report);
  }
  return report.exit_code();
}

}  // namespace fettle
