#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/deploy.h"
#include "cli/print.h"
#include "documents/versions.h"

namespace fettle {
namespace {

Result<int> run_release(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(model_environment(face));
  std::optional<uint64_t> version;
  if (const std::string text = face.parsed.argument(0); !text.empty()) {
    if (text.size() > 15 || text.find_first_not_of("0123456789") != text.npos)
      return user_error(cat("`", text, "` is not a version number"));
    version = std::stoull(text);
  }
  ApplyRequest apply = TRY(deploy_request(face));
  apply.plan = TRY(kept_plan_asked(face, environment.name.view()));
  if (apply.plan && apply.plan->version) {
    if (version && version != apply.plan->version)
      return user_error(
          cat("the plan is for version ", *apply.plan->version, ", not for version ", *version));
    version = apply.plan->version;
  }
  if (face.parsed.flag("apply") || apply.plan) {
    apply.environment = environment.name;
    apply.version = version;
    apply.releases = true;
    return deploy(face, apply);
  }
  const uint64_t number = TRY(release_version(*place, environment.name, version));
  if (face.json || face.json_lines)
    print_json(release_document(number));
  else
    print(face.quiet ? cat(number) : cat("released version ", number, " of ", environment.name));
  return 0;
}

}  // namespace

Command release_command() {
  Command command;
  command.words = "versions release";
  command.tells_lines = true;
  command.arguments = "[VERSION]";
  command.most = 1;
  command.group = "models";
  command.summary = "Releases a version (default: the newest); `--apply` deploys it.";
  command.examples = {"fettle versions release 3 -e networks",
                      "fettle versions release -e networks --apply --agent web1=local:"};
  command.options = deploy_options();
  command.options.insert(command.options.begin(), {{"--apply"}, "", "deploy it"});
  command.options.push_back(
      {{"--plan"},
       "FILE",
       "apply the plan of `fettle plan --out FILE`; fails when something else is due"});
  command.options.insert(command.options.begin(), model_environment_option());
  command.run = run_release;
  return command;
}

}  // namespace fettle
